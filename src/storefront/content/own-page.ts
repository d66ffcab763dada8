import type { Block } from '../../content/blocks.ts';
import { isPublic, pathOfPage } from '../../content/pages/page.ts';
import {
  findBySlug,
  findLocalesOfSlug,
  findPlaced,
  findShown,
  type ShownPage,
} from '../../content/pages/queries.ts';
import type { PageKind } from '../../content/pages/schema.ts';
import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { notFound } from '../../http/errors.ts';
import { html, plainText } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { findOrRender, pageCache, visitorOptions } from '../page-cache.ts';
import { blocksMarkdown } from '../markdown/list-markdown.ts';
import { pageLength, type Page } from '../page.ts';
import type { PageResponse, Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { findBlockRefs, loadBlockData } from '../../content/block-data.ts';
import { noteBelow, renderBlocks } from './blocks.ts';
import { postDetails } from './post-details.ts';

const ownPages = pageCache<Page>('own pages', 8);

/** The pages and posts that a shop writes itself. */
export function ownPagePages(pages: Pages): void {
  pages.get('/pages/:slug', (visit, { params }) => ownPage(visit, 'page', params['slug']!));
  pages.get('/posts/:slug', (visit, { params }) => ownPage(visit, 'post', params['slug']!));
}

async function ownPage(visit: Visit, kind: PageKind, slug: string): Promise<PageResponse> {
  const page = await loadOwnPage(visit, kind, slug);
  if (!page) return otherLanguage(visit, kind, slug);
  if (!isPublic(page, visit.db.now)) throw notFound();
  return (await renderOwnPage(visit, page))!;
}

interface CachedPage {
  settingsVersion: number;
  page: ShownPage;
}

const foundCache: CacheKind<CachedPage> = { name: 'found pages', limit: { megabytes: 7 } };

/** Drafts too. Every change of a page changes the version of the settings. */
async function loadOwnPage(visit: Visit, kind: PageKind, slug: string): Promise<ShownPage | undefined> {
  const { db, shopId, settings, locale } = visit;
  const cache = db.caches.of(foundCache);
  const key = `${shopId} ${locale} ${kind} ${slug}`;
  const cached = cache.get(key);
  if (cached?.settingsVersion === settings.version) return cached.page;
  const page = await findBySlug(db, shopId, locale, kind, slug);
  // Only addresses that exist are remembered, because a client can invent any number of others.
  if (page) {
    const entry = { settingsVersion: settings.version, page };
    cache.set(key, entry, 2 * JSON.stringify(page.text.blocks).length + 1_000);
  }
  return page;
}

/**
 * The address of a page in another language leads to the page in the visitor's own, else in the language of the
 * address, unless the visitor has asked for another one.
 */
async function otherLanguage(visit: Visit, kind: PageKind, slug: string): Promise<Redirect> {
  const { db, shopId, locale, settings } = visit;
  const found = await findLocalesOfSlug(db, shopId, kind, slug, settings.locales);
  for (const { pageId, locale: other } of found) {
    const own = await findShown(db, shopId, pageId, locale);
    if (own && isPublic(own, db.now)) return new Redirect(shopPath(visit, pathOfPage(kind, own.text.slug)!));
    const shown = !visit.isLocaleNamed && (await findShown(db, shopId, pageId, other));
    if (shown && isPublic(shown, db.now)) {
      return new Redirect(shopPath({ ...visit, locale: other }, pathOfPage(kind, slug)!, { locale: other }));
    }
  }
  throw notFound();
}

export async function renderOwnPage(visit: Visit, page: ShownPage): Promise<Page | undefined> {
  const { blocks } = page.text;
  const { versionStamp } = await findBlockRefs(visit, visit.db, blocks);
  const name = `${page.kind} ${page.pageId}`;
  return findOrRender(ownPages, visit, name, versionStamp, async (snapshot) => {
    const { content, stamp, expires } = await renderContent(visit, snapshot, page);
    return { content, versionStamp: stamp, expires, length: pageLength(content) };
  });
}

/** The page of a snapshot of the database, and what it was made of. */
export async function renderContent(visit: Visit, db: Queries, page: ShownPage) {
  const { kind, picture, text, slugs } = page;
  const { blocks } = text;
  const title = text.title ?? '';
  const refs = await findBlockRefs(visit, db, blocks);
  const data = await loadBlockData(visit, db, blocks, refs, visitorOptions(visit, 'list'));
  const hasHero = blocks[0]?.type === 'hero';
  const rendered = await renderBlocks(visit, blocks, data, { title, isMainHero: hasHero });
  const description = text.description ?? text.summary ?? firstText(blocks);
  const content: Page = {
    isShared: true,
    takesOwnStyle: true,
    title: text.pageTitle ?? title,
    ...(description !== '' && { description }),
    path: pathOfPage(kind, text.slug)!,
    paths: Object.fromEntries(
      Object.entries(slugs).map(([locale, slug]) => [locale, pathOfPage(kind, slug)!]),
    ),
    ...(picture !== null && { image: picture }),
    ...(rendered.head && { head: rendered.head }),
    frames: rendered.frames,
    markdown: blocksMarkdown(title, blocks),
    main: html`<article class="content">
      ${!hasHero && html`<h1>${title}</h1>`} ${kind === 'post' && postDetails(visit, page)} ${rendered.main}
      ${noteBelow(visit, rendered)}
    </article>`,
  };
  return { content, stamp: refs.versionStamp, expires: data.expires };
}

const MAX_DESCRIPTION_LENGTH = 300;

/** The beginning of the first text, for search engines. */
export function firstText(blocks: readonly Block[]): string {
  for (const block of blocks) {
    const text = 'html' in block && block.html !== undefined ? block.html : '';
    const plain = plainText(text, MAX_DESCRIPTION_LENGTH).replaceAll('\n', ' ').trim();
    if (plain !== '') return plain;
  }
  return '';
}

interface CachedPlace {
  settingsVersion: number;
  pages: readonly ShownPage[];
}

const placeCache: CacheKind<CachedPlace> = { name: 'placed pages', limit: { megabytes: 5 } };

/** The public front page, or top of a category, in the visitor's language, else in the default one. */
export async function loadPlaced(
  visit: Visit,
  categoryId: string | undefined,
): Promise<ShownPage | undefined> {
  const { db, shopId, settings, locale } = visit;
  const cache = db.caches.of(placeCache);
  const key = `${shopId} ${categoryId ?? 'home'}`;
  let cached = cache.get(key);
  if (cached?.settingsVersion !== settings.version) {
    const pages = await findPlaced(db, shopId, categoryId);
    cached = { settingsVersion: settings.version, pages };
    cache.set(key, cached, 2 * JSON.stringify(pages).length + 200);
  }
  const shown = cached.pages.filter((page) => isPublic(page, db.now));
  return (
    shown.find(({ text }) => text.locale === locale) ??
    shown.find(({ text }) => text.locale === settings.defaultLocale)
  );
}

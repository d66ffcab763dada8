import type { Static } from 'typebox';
import { keepFormerAddresses } from '../../catalogue/redirects/save.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { toSeconds } from '../../http/dates.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { hasAddress, pageOf, pathOfPage, type StoredPage, type StoredText } from './page.ts';
import { imageKeysOf } from './pictures.ts';
import {
  countPages,
  deletePageRow,
  deleteTexts,
  findCategoryId,
  findPage,
  findTexts,
  insertPage,
  insertTexts,
  insertVersion,
  lockPage,
  updatePageRow,
  updateSearchWords,
  type ListedPage,
  type PageRow,
} from './queries.ts';
import { MAX_PAGES, type PageAnswer, type PageBody } from './schema.ts';
import { searchTextOf } from './search-text.ts';

/** Adds a page. The version of the settings moves first, as with every change of the pages, so changes are serialised. */
export async function addPage(
  tx: Transaction,
  shopId: string,
  body: PageBody,
  author: string,
): Promise<string> {
  await moveSettingsVersion(tx, shopId);
  const settings = await shopSettings(tx, shopId);
  const { texts, ...facts } = pageOf(body, undefined, settings, tx.now);
  if ((await countPages(tx, shopId)) >= MAX_PAGES) throw new Refusal('TOO_MANY_PAGES', { limit: MAX_PAGES });
  const pageId = newId(tx.now);
  const categoryId = facts.kind === 'category' ? await requireCategory(tx, shopId, body.category) : null;
  const page = { ...facts, pageId, categoryId, version: 1, createdAt: tx.now, changedAt: tx.now };
  await insertPage(tx, shopId, page);
  await writeTexts(tx, shopId, page, texts);
  await keepVersion(tx, shopId, pageId, 1, body, texts, author);
  recordChange(tx, shopId, pageId);
  return pageId;
}

export async function replacePage(
  tx: Transaction,
  shopId: string,
  pageId: string,
  body: PageBody,
  author: string,
): Promise<void> {
  await moveSettingsVersion(tx, shopId);
  const stored = await lockPage(tx, shopId, pageId);
  if (!stored) throw notFound();
  const settings = await shopSettings(tx, shopId);
  const { kind } = stored;
  if (body.kind !== kind) throw invalid('UNKNOWN_VALUE', 'kind');
  const { texts, ...facts } = pageOf(body, stored, settings, tx.now);
  const version = stored.version + 1;
  await updatePageRow(tx, shopId, { ...facts, pageId, version, changedAt: tx.now });
  const former = await deleteTexts(tx, shopId, pageId);
  await writeTexts(tx, shopId, { pageId, kind }, texts);
  if (hasAddress(kind)) {
    const pathsOf = (slugs: readonly { slug: string | null }[]) =>
      slugs.flatMap(({ slug }) => pathOfPage(kind, slug) ?? []);
    await keepFormerAddresses(tx, shopId, {
      kind: 'page',
      id: pageId,
      before: pathsOf(former),
      after: pathsOf(texts),
    });
  }
  await keepVersion(tx, shopId, pageId, version, body, texts, author);
  recordChange(tx, shopId, pageId);
}

async function writeTexts(
  tx: Transaction,
  shopId: string,
  page: Pick<StoredPage, 'pageId' | 'kind'>,
  texts: readonly StoredText[],
): Promise<void> {
  await insertTexts(tx, shopId, page, texts);
  if (hasAddress(page.kind)) await updateSearchWords(tx, shopId, page.pageId, texts.map(searchTextOf));
}

export async function removePage(tx: Transaction, shopId: string, pageId: string): Promise<void> {
  await moveSettingsVersion(tx, shopId);
  if ((await deletePageRow(tx, shopId, pageId)) === 0) throw notFound();
  recordChange(tx, shopId, pageId);
}

async function requireCategory(
  tx: Transaction,
  shopId: string,
  alias: string | null | undefined,
): Promise<string> {
  const categoryId = alias ? await findCategoryId(tx, shopId, alias) : undefined;
  if (categoryId === undefined) throw invalid('UNKNOWN_VALUE', 'category');
  return categoryId;
}

export const MAX_AUTHOR_LENGTH = 254;

function keepVersion(
  tx: Transaction,
  shopId: string,
  pageId: string,
  version: number,
  body: PageBody,
  texts: readonly StoredText[],
  author: string,
): Promise<void> {
  const content = pageContentOf(body, texts);
  return insertVersion(tx, shopId, pageId, {
    version,
    author: author.slice(0, MAX_AUTHOR_LENGTH),
    content,
    imageKeys: imageKeysOf(content),
  });
}

/** A page as a version of it holds it. */
export function pageContentOf(body: PageBody, texts: readonly StoredText[]): PageBody {
  const { kind, category, published, publishAt, author, picture } = body;
  return { kind, category, published, publishAt, author, picture, texts: [...texts] } as PageBody;
}

const recordChange = (tx: Transaction, shopId: string, pageId: string) =>
  recordEvents(tx, shopId, [
    { type: 'SETTINGS_CHANGED', resourceId: null, data: { changed: [`pages/${pageId}`] } },
  ]);

/** A page as the API shows it, with its blocks. */
export async function loadPage(
  db: Queries,
  shopId: string,
  pageId: string,
): Promise<Static<typeof PageAnswer> | undefined> {
  const row = await findPage(db, shopId, pageId);
  return row && { ...pageFieldsOf(row), texts: await findTexts(db, shopId, pageId) };
}

export function pageFieldsOf(row: PageRow | ListedPage) {
  const { pageId, kind, category, publishAt, author, picture, version } = row;
  return {
    pageId,
    kind,
    category,
    published: publishAt !== null,
    publishAt: publishAt && toSeconds(publishAt),
    author,
    picture,
    version,
    creationDate: toSeconds(row.createdAt),
    lastChangeDate: toSeconds(row.changedAt),
  };
}

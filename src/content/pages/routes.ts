import { Type, type Static } from 'typebox';
import { keepFormerAddresses } from '../../catalogue/redirects/save.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { toSeconds } from '../../http/dates.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { imageKeysOf } from './pictures.ts';
import { pagePreviews, previewPath } from './preview.ts';
import { hasAddress, pageOf, pathOfPage, type StoredPage, type StoredText } from './page.ts';
import {
  countPages,
  deletePageRow,
  deleteTexts,
  findCategoryId,
  findPage,
  findPages,
  findTexts,
  insertPage,
  insertTexts,
  insertVersion,
  lockPage,
  replacePreview,
  updatePageRow,
  updateSearchWords,
  type ListedPage,
  type PageRow,
} from './queries.ts';
import { searchTextOf } from './search-text.ts';
import { KINDS, MAX_PAGES, PageAnswer, PageBody, PageList } from './schema.ts';

const { parameters, pageOf: rangeOf } = paging({ standard: 20, maximum: 100 });

const shared = {
  under: 'manage',
  tag: 'pages',
  labels: [],
  constraints: {
    page_text_slug: () => new Refusal('PAGE_SLUG_TAKEN'),
    page_of_home: () => new Refusal('PAGE_PLACE_TAKEN'),
    page_of_category: () => new Refusal('PAGE_PLACE_TAKEN'),
  },
} as const;

/** Callers without a token may read legal texts, but nobody may read drafts without one. */
const READ = { allOf: ['legal_read', 'legal_write'] } as const;
const params = Type.Object({ pageId: Id });

export const listPages = operation({
  ...shared,
  method: 'GET',
  path: '/pages',
  name: 'listPages',
  summary: 'List pages',
  description: 'The pages that the shop writes itself, without their blocks; the last changed first.',
  access: READ,
  query: Type.Object({
    ...parameters,
    kind: Type.Optional(
      Type.Enum([...KINDS], { description: 'Only pages of this kind. Absent: all.', examples: ['post'] }),
    ),
  }),
  answer: PageList,
});

export const getPage = operation({
  ...shared,
  method: 'GET',
  path: '/pages/:pageId',
  name: 'getPage',
  summary: 'Get page',
  access: READ,
  params,
  answer: PageAnswer,
});

export const createPage = operation({
  ...shared,
  method: 'POST',
  path: '/pages',
  name: 'createPage',
  summary: 'Create page',
  description: 'A page, a post, the front page, or the top of a category.',
  access: 'legal_write',
  body: PageBody,
  status: 201,
  answer: PageAnswer,
});

export const updatePage = operation({
  ...shared,
  method: 'PUT',
  path: '/pages/:pageId',
  name: 'updatePage',
  summary: 'Update page',
  description:
    'Replaces the page in all its languages, except its kind and category. What it was before is kept as a version.',
  access: 'legal_write',
  params,
  body: PageBody,
  answer: PageAnswer,
});

export const deletePage = operation({
  ...shared,
  method: 'DELETE',
  path: '/pages/:pageId',
  name: 'deletePage',
  summary: 'Delete page',
  description: 'Also deletes its versions. Without a front page of its own, a shop has the built-in one.',
  access: 'legal_write',
  params,
  status: 204,
});

export const previewPage = operation({
  ...shared,
  method: 'PUT',
  path: '/pages/:pageId/preview',
  name: 'previewPage',
  summary: 'Preview page',
  description:
    'Stores what the page would be, for its preview alone: the public page stays as it is. The answer is the address of the preview, which works for an hour for everybody who knows it.',
  access: 'legal_write',
  params,
  body: PageBody,
  answer: Type.Object(
    {
      path: Type.String({
        description: 'The path of the preview on the host of the shop, or below /shop/{shopId}.',
        examples: ['/page-preview/0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E/1795000000000.Zx'],
      }),
    },
    { title: 'page preview' },
  ),
  secretAnswer: 'sealed',
});

/** The pages that a shop writes itself. */
export function pages(api: Operations, { loadKey }: { loadKey: () => Promise<Buffer> }): void {
  api.read(listPages, async ({ db, shopId, query }) => {
    const range = rangeOf(query);
    const [results, rows] = await Promise.all([
      countPages(db, shopId, query.kind),
      findPages(db, shopId, query.kind, range),
    ]);
    return paged(
      range,
      results,
      rows.map((row) => ({ ...factsOf(row), texts: row.texts })),
    );
  });

  api.read(getPage, async ({ db, shopId, params: { pageId } }) => {
    const page = await loadPage(db, shopId, pageId);
    if (!page) throw notFound();
    return page;
  });

  api.write(createPage, async ({ tx, shopId, body, caller, created }) => {
    const pageId = await addPage(tx, shopId, body, caller.app?.name ?? '');
    created({ pageId });
    return (await loadPage(tx, shopId, pageId))!;
  });

  api.write(updatePage, async ({ tx, shopId, params: { pageId }, body, caller }) => {
    await replacePage(tx, shopId, pageId, body, caller.app?.name ?? '');
    return (await loadPage(tx, shopId, pageId))!;
  });

  api.write(previewPage, async ({ tx, shopId, params: { pageId }, body, caller }) => {
    const stored = await lockPage(tx, shopId, pageId);
    if (!stored) throw notFound();
    const { texts } = pageOf(body, stored, await shopSettings(tx, shopId), tx.now);
    const content = contentOf(body, texts);
    await replacePreview(tx, shopId, pageId, {
      author: (caller.app?.name ?? '').slice(0, MAX_AUTHOR_LENGTH),
      content,
      imageKeys: imageKeysOf(content),
    });
    return { path: previewPath(pageId, pagePreviews(await loadKey()).token(shopId, pageId, tx.now)) };
  });

  api.write(deletePage, async ({ tx, shopId, params: { pageId } }) => {
    await removePage(tx, shopId, pageId);
  });
}

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

const MAX_AUTHOR_LENGTH = 254;

function keepVersion(
  tx: Transaction,
  shopId: string,
  pageId: string,
  version: number,
  body: PageBody,
  texts: readonly StoredText[],
  author: string,
): Promise<void> {
  const content = contentOf(body, texts);
  return insertVersion(tx, shopId, pageId, {
    version,
    author: author.slice(0, MAX_AUTHOR_LENGTH),
    content,
    imageKeys: imageKeysOf(content),
  });
}

/** A page as a version of it holds it. */
function contentOf(body: PageBody, texts: readonly StoredText[]): PageBody {
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
  return row && { ...factsOf(row), texts: await findTexts(db, shopId, pageId) };
}

function factsOf(row: PageRow | ListedPage) {
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

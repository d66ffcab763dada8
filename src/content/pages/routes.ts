import { Type } from 'typebox';
import { notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id } from '../../http/schemas.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { imageKeysOf } from './pictures.ts';
import { pagePreviews, previewPath } from './preview.ts';
import { pageOf } from './page.ts';
import { countPages, findPages, lockPage, replacePreview } from './queries.ts';
import {
  addPage,
  pageContentOf,
  pageFieldsOf,
  loadPage,
  MAX_AUTHOR_LENGTH,
  removePage,
  replacePage,
} from './save-page.ts';
import { PAGE_KINDS, PageAnswer, PageBody, PageList } from './schema.ts';

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
      Type.Enum([...PAGE_KINDS], {
        description: 'Only pages of this kind. Absent: all.',
        examples: ['post'],
      }),
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
      rows.map((row) => ({ ...pageFieldsOf(row), texts: row.texts })),
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
    const content = pageContentOf(body, texts);
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

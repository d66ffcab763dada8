import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { BLOCK_TYPES, MAX_BLOCKS } from '../blocks.ts';
import { MAX_VERSIONS } from './queries.ts';
import { slugOf } from './page.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  await service.db.run(sql`delete from shop`);
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other');
  await service.db.transaction((tx) =>
    applySettings(tx, 'Harbour', { locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] } }),
  );
  token = await givenToken(service, 'Harbour');
  service.setClock(undefined);
});
afterAll(() => service.close());

const path = (rest = '', shopId = 'Harbour') => `/manage/shops/${shopId}/pages${rest}`;
const create = (body: unknown) => service.call('POST', path(), { token, body });
const replace = (id: string, body: unknown) => service.call('PUT', path(`/${id}`), { token, body });
const get = (id: string) => service.call('GET', path(`/${id}`), { token });

const ABOUT = {
  kind: 'page',
  published: true,
  texts: [
    { locale: 'en_GB', title: 'About us', blocks: [{ type: 'richText', html: '<p>Hello</p>' }] },
    { locale: 'de_DE', title: 'Über uns', blocks: [] },
  ],
};

const everything = () =>
  Promise.all([
    service.db.many(sql`select * from page order by page_id`),
    service.db.many(sql`select * from page_text order by page_id, locale`),
    service.db.many(sql`select * from page_version order by page_id, version`),
    service.db.many<{ shopId: string; version: number }>(sql`
      select shop_id as "shopId", settings_version as version from shop order by shop_id`),
  ]);

describe('a page', () => {
  test('is created, read, replaced and deleted, and every change moves the version of the settings', async () => {
    service.setClock(new Date('2026-11-18T10:00:00Z'));
    const created = await create(ABOUT);
    expect([created.status, created.body]).toEqual([
      201,
      {
        pageId: expect.any(String),
        kind: 'page',
        category: null,
        published: true,
        publishAt: '2026-11-18T10:00:00Z',
        author: null,
        picture: null,
        version: 1,
        creationDate: '2026-11-18T10:00:00Z',
        lastChangeDate: '2026-11-18T10:00:00Z',
        texts: [
          {
            locale: 'de_DE',
            title: 'Über uns',
            slug: 'ueber-uns',
            pageTitle: null,
            description: null,
            summary: null,
            pictureText: null,
            blocks: [],
          },
          {
            locale: 'en_GB',
            title: 'About us',
            slug: 'about-us',
            pageTitle: null,
            description: null,
            summary: null,
            pictureText: null,
            blocks: [{ type: 'richText', html: '<p>Hello</p>' }],
          },
        ],
      },
    ]);
    const { pageId } = created.body;
    expect((await get(pageId)).body).toEqual(created.body);

    const [, , , before] = await everything();
    const changed = await replace(pageId, {
      kind: 'page',
      texts: [{ locale: 'en_GB', title: 'We', blocks: [] }],
    });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { version: 2, published: false, publishAt: null, texts: [{ locale: 'en_GB', slug: 'we' }] },
    ]);
    const [, , versions, after] = await everything();
    expect(versions).toHaveLength(2);
    expect(after[0]!.version).toBe(before[0]!.version + 1);

    expect((await service.call('DELETE', path(`/${pageId}`), { token })).status).toBe(204);
    expect((await get(pageId)).status).toBe(404);
    expect(await service.db.many(sql`select from page_version`)).toEqual([]);
  });

  test('keeps the moment of its publication when it is saved again', async () => {
    service.setClock(new Date('2026-11-18T10:00:00Z'));
    const { body } = await create(ABOUT);
    service.setClock(new Date('2026-11-19T10:00:00Z'));
    expect((await replace(body.pageId, ABOUT)).body.publishAt).toBe('2026-11-18T10:00:00Z');
    const later = { ...ABOUT, publishAt: '2026-12-24T08:00:00+01:00' };
    expect((await replace(body.pageId, later)).body.publishAt).toBe('2026-12-24T07:00:00Z');
  });

  test('is listed without its blocks, by kind', async () => {
    const { body } = await create(ABOUT);
    await create({ ...ABOUT, kind: 'post' });
    const all = await service.call('GET', path(), { token });
    expect([all.status, all.body.results]).toEqual([200, 2]);
    const pages = await service.call('GET', path('?kind=page'), { token });
    expect(pages.body).toMatchObject({
      results: 1,
      items: [
        {
          pageId: body.pageId,
          texts: [
            { locale: 'de_DE', title: 'Über uns', slug: 'ueber-uns' },
            { locale: 'en_GB', title: 'About us', slug: 'about-us' },
          ],
        },
      ],
    });
  });

  test('of another shop does not exist', async () => {
    const { body } = await create(ABOUT);
    const other = await givenToken(service, 'Other');
    const before = await everything();
    for (const [method, given] of [['GET'], ['PUT', ABOUT], ['DELETE']] as const) {
      const answer = await service.call(method, path(`/${body.pageId}`, 'Other'), {
        token: other,
        ...(given && { body: given }),
      });
      expect([method, answer.status]).toEqual([method, 404]);
    }
    expect(await everything()).toEqual(before);
  });

  test('is not read without a token, although legal texts are', async () => {
    expect((await service.call('GET', path())).status).toBe(401);
    const reader = await givenToken(service, 'Harbour', ['legal_read']);
    expect((await service.call('GET', path(), { token: reader })).status).toBe(403);
  });

  test('keeps its newest versions', async () => {
    const { body } = await create(ABOUT);
    for (let saved = 0; saved < MAX_VERSIONS + 2; saved++) await replace(body.pageId, ABOUT);
    const versions = await service.db.many<{ version: number }>(sql`
      select version from page_version order by version`);
    expect(versions.map(({ version }) => version)).toEqual(
      Array.from({ length: MAX_VERSIONS }, (_, index) => index + 4),
    );
  });
});

describe('refused is', () => {
  const withBlock = (block: object) => ({
    kind: 'page',
    texts: [{ locale: 'en_GB', title: 'T', blocks: [block] }],
  });
  const html = '<p></p>'.padEnd(20_000, 'x');

  test.each([
    ['a kind of block that does not exist', withBlock({ type: 'iframe' }), 'texts.0.blocks.0.type'],
    ['a block without its kind', withBlock({ html: 'x' }), 'texts.0.blocks.0.type'],
    ['a heading without a text', withBlock({ type: 'heading', level: '2' }), 'texts.0.blocks.0.text'],
    ['a text that is too long', withBlock({ type: 'richText', html: `${html}x` }), 'texts.0.blocks.0.html'],
    [
      'a picture that is a script',
      withBlock({ type: 'picture', picture: 'javascript:alert(1)' }),
      'texts.0.blocks.0.picture',
    ],
    [
      'a link to another host that looks like a path',
      withBlock({ type: 'button', link: '//evil.example', linkText: 'x' }),
      'texts.0.blocks.0.link',
    ],
    [
      'a video of another site',
      withBlock({ type: 'video', video: 'https://evil.example/watch?v=aqz-KE-bpKQ', title: 'x' }),
      'texts.0.blocks.0.video',
    ],
    ['a locale twice', { ...ABOUT, texts: [ABOUT.texts[0], ABOUT.texts[0]] }, 'texts.1.locale'],
    ['a page without a title', { kind: 'page', texts: [{ locale: 'en_GB', blocks: [] }] }, 'texts.0.title'],
    [
      'a slug with a slash',
      { kind: 'page', texts: [{ locale: 'en_GB', title: 'x', slug: 'a/b', blocks: [] }] },
      'texts.0.slug',
    ],
    ['an unknown category', { ...ABOUT, kind: 'category', category: 'nowhere' }, 'category'],
  ])('%s', async (_, body, field) => {
    const before = await everything();
    const answer = await create(body);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(field)]);
    expect(await everything()).toEqual(before);
  });

  test.each([
    ['PAGE_TOO_LONG', Array.from({ length: 6 }, () => ({ type: 'richText', html }))],
    ['PAGE_WITH_TOO_MANY_LISTS', Array.from({ length: 11 }, () => ({ type: 'products', source: 'newest' }))],
    [
      'PAGE_WITH_TOO_MANY_PICTURES',
      Array.from({ length: 5 }, () => ({
        type: 'gallery',
        pictures: Array.from({ length: 24 }, () => ({ picture: '/media/x.png' })),
      })),
    ],
    ['TOO_LONG', Array.from({ length: MAX_BLOCKS + 1 }, () => ({ type: 'spacer', size: 'small' }))],
  ])('more than a page can have: %s', async (_code, blocks) => {
    const before = await everything();
    const answer = await create({ kind: 'page', texts: [{ locale: 'en_GB', title: 'T', blocks }] });
    expect(answer.status).toBe(400);
    expect(await everything()).toEqual(before);
  });

  test('a slug of another page of the same language', async () => {
    await create(ABOUT);
    const before = await everything();
    const second = { kind: 'page', texts: [{ locale: 'en_GB', title: 'X', slug: 'about-us', blocks: [] }] };
    expect((await create(second)).status).toBe(409);
    expect(await everything()).toEqual(before);
    // A post has addresses of its own, and so has another language.
    expect((await create({ ...second, kind: 'post' })).status).toBe(201);
  });

  test('a second front page', async () => {
    const home = { kind: 'home', texts: [{ locale: 'en_GB', blocks: [] }] };
    expect((await create(home)).status).toBe(201);
    const before = await everything();
    expect((await create(home)).status).toBe(409);
    expect(await everything()).toEqual(before);
  });

  test('another kind for a page that exists, and a language that the shop does not offer', async () => {
    const { body } = await create(ABOUT);
    expect((await replace(body.pageId, { ...ABOUT, kind: 'post' })).status).toBe(400);
    const french = { kind: 'page', texts: [{ locale: 'fr_FR', title: 'Nous', blocks: [] }] };
    expect((await create(french)).status).toBe(400);
  });
});

test('unknown fields of a block are ignored', async () => {
  const block = { type: 'gallery', onclick: 'x', pictures: [{ picture: '/media/x.png', style: 'y' }] };
  const { body } = await create({ kind: 'page', texts: [{ locale: 'en_GB', title: 'T', blocks: [block] }] });
  expect(body.texts[0].blocks).toEqual([{ type: 'gallery', pictures: [{ picture: '/media/x.png' }] }]);
});

test('slugs are made of titles', () => {
  expect(slugOf('Über uns & Straße', 'page')).toBe('ueber-uns-strasse');
  expect(slugOf('Crème brûlée – 2026!', 'page')).toBe('creme-brulee-2026');
  expect(slugOf('О нас', 'page')).toBe('о-нас');
  expect(slugOf('???', 'page')).toBe('page');
});

test('there are eighteen kinds of blocks', () => {
  expect(BLOCK_TYPES).toHaveLength(18);
});

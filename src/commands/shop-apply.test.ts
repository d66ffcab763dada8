import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { databaseUrl, startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { refreshListing } from '../catalogue/products/listing.ts';
import type { CommandCall } from './command.ts';
import { handlers } from './shop.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Quay');
});
afterAll(() => service.close());

/** Runs `shop apply` with this file, and gives what it printed. */
async function apply(yaml: string, options: CommandCall['options'] = {}): Promise<string[]> {
  const file = path.join(service.config.KONTOR_DATA, 'shop.yaml');
  await writeFile(file, yaml);
  return run('shop apply', ['Quay', file], options);
}

async function run(
  command: 'shop apply' | 'shop export-settings',
  given: string[],
  options: CommandCall['options'],
): Promise<string[]> {
  const DATABASE_URL = databaseUrl(service.database);
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await handlers[command]({ config: { ...service.config, DATABASE_URL }, arguments: given, options });
    return printed.mock.calls.map(([text]) => String(text).trim());
  } finally {
    printed.mockRestore();
  }
}

async function givenProduct(number: string, name: object, prices: object): Promise<void> {
  await service.db.transaction(async (tx) => {
    const productId = newId(tx.now);
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      values ('Quay', ${productId}, ${number}, 'regular', ${tx.now}, 1, true, ${prices}, ${{ name }})`);
    await refreshListing(tx, 'Quay', [productId]);
  });
}

test('makes the lists of products anew when locales or currencies change', async () => {
  await givenProduct('anchor', { en_GB: 'Anchor', de_DE: 'Wurfanker' }, { EUR: 500, GBP: 900 });
  await givenProduct('buoy', { en_GB: 'Buoy', de_DE: 'Boje' }, { EUR: 600, GBP: 100 });
  const numbers = async (query: string) => {
    const { body } = await service.call('GET', `/Quay/products?${query}`);
    expect(body.results).toBe(2);
    return body.items.map(({ productNumber }: { productNumber: string }) => productNumber);
  };
  expect(await numbers('locale=de_DE')).toEqual(['anchor', 'buoy']);
  expect(await numbers('sort=price')).toEqual(['anchor', 'buoy']);

  expect(await apply('locales: { default: en_GB, items: [en_GB, de_DE] }')).toEqual([
    '+ locales.items.de_DE',
    '1 change applied to Quay.',
  ]);
  expect(await numbers('locale=de_DE')).toEqual(['buoy', 'anchor']);
  expect(await numbers('locale=en_GB')).toEqual(['anchor', 'buoy']);

  await apply('currencies: { default: GBP, items: [GBP, EUR], rates: { EUR: 1.2 } }');
  expect(await numbers('sort=price')).toEqual(['buoy', 'anchor']);

  await apply('locales: { default: de_DE, items: [de_DE] }');
  const locales = await service.db.many(sql`select distinct locale from listing where shop_id = 'Quay'`);
  expect(locales).toEqual([{ locale: 'de_DE' }]);
});

describe('pages', () => {
  const LOCALES = 'locales: { default: en_GB, items: [en_GB, de_DE] }';
  const folderOf = (name: string) => path.join(service.config.KONTOR_DATA, name);
  const pages = () =>
    service.db.many(sql`
      select page.kind, version, publish_at, locale, slug, title, blocks from page
      join page_text on page_text.shop_id = page.shop_id and page_text.page_id = page.page_id
      where page.shop_id = 'Quay' order by page.kind, slug, locale`);
  const given = async (files: Record<string, string>) => {
    const folder = folderOf(`pages-${Object.keys(files).join('-')}`);
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    return folder;
  };

  test('are written from a folder, once, and come out as they went in', async () => {
    const about = `kind: page
published: true
texts:
  - locale: de_DE
    title: Über uns
    blocks:
      - { type: richText, html: <p>Am Kai.</p> }
  - locale: en_GB
    title: About us
    slug: about
    blocks: [{ type: faq, questions: [{ question: Why?, answer: <p>So.</p> }] }]
`;
    const folder = await given({
      'about.yaml': about,
      'front.yaml': 'kind: home\ntexts: [{ locale: en_GB, blocks: [{ type: spacer, size: small }] }]',
      'news.yaml':
        'kind: post\npublished: true\npublishAt: 2026-01-02T03:04:05Z\nauthor: Ina\ntexts: [{ locale: en_GB, title: News, blocks: [] }]',
    });
    await apply(LOCALES);
    const lines = ['+ pages.page.ueber-uns', '+ pages.home', '+ pages.post.news'];
    expect(await apply(LOCALES, { pages: folder, 'dry-run': true })).toEqual([
      ...lines,
      'Nothing was written. Without --dry-run, 3 changes would be applied to Quay.',
    ]);
    expect(await pages()).toEqual([]);
    expect(await apply(LOCALES, { pages: folder })).toEqual([...lines, '3 changes applied to Quay.']);
    const written = await pages();
    expect(written).toHaveLength(4);
    expect(await apply(LOCALES, { pages: folder })).toEqual(['Nothing to change.']);
    expect(await pages()).toEqual(written);

    const copy = folderOf('exported');
    const [settings] = await run('shop export-settings', ['Quay'], { pages: copy });
    expect((await readdir(copy)).toSorted()).toEqual(['home.yaml', 'page-ueber-uns.yaml', 'post-news.yaml']);
    expect(await readFile(path.join(copy, 'post-news.yaml'), 'utf8')).toBe(`kind: post
published: true
publishAt: 2026-01-02T03:04:05Z
author: Ina
texts:
  - locale: en_GB
    slug: news
    title: News
    blocks: []
`);
    expect(await apply(settings!, { pages: copy })).toEqual(['Nothing to change.']);

    // Another address in one language: it is the same page by the other one, and its old address leads to it.
    const renamed = about.replace('slug: about', 'slug: who-we-are');
    expect(await apply(LOCALES, { pages: await given({ 'renamed.yaml': renamed }) })).toEqual([
      '~ pages.page.ueber-uns',
      '1 change applied to Quay.',
    ]);
    expect(await service.db.many(sql`select source from redirect where shop_id = 'Quay'`)).toEqual([
      { source: '/pages/about' },
    ]);
    expect(await pages()).toHaveLength(4);
  });

  test.each([
    ['kind: page\ntexts: [', 'line 2'],
    ['kind: page\ntexts: []', 'validation error LIST_EMPTY on field texts'],
    [
      'kind: page\ntexts: [{ locale: en_GB, title: A, blocks: [{ type: script }] }]',
      'UNKNOWN_VALUE on field texts.0.blocks.0.type',
    ],
    [
      'kind: page\ntexts: [{ locale: en_GB, title: A, blocks: [{ type: spacer, size: small, lien: true }] }]',
      'texts.0.blocks.0.lien is unknown.',
    ],
    ['kind: page\ntexts: [{ locale: fr_FR, title: A, blocks: [] }]', 'fr_FR'],
    ['kind: category\ncategory: none\ntexts: [{ locale: en_GB, blocks: [] }]', 'on field category'],
  ])('%j is refused, and nothing is written', async (text, problem) => {
    const before = await pages();
    const folder = await given({
      'a.yaml': 'kind: post\ntexts: [{ locale: en_GB, title: New, blocks: [] }]',
      'b.yaml': text,
    });
    await expect(apply(LOCALES, { pages: folder })).rejects.toThrow(problem);
    await expect(apply(LOCALES, { pages: folder })).rejects.toThrow('b.yaml');
    expect(await pages()).toEqual(before);
  });

  test('two files of one page are refused', async () => {
    const text = 'kind: home\ntexts: [{ locale: en_GB, blocks: [] }]';
    const folder = await given({ 'one.yaml': text, 'two.yaml': text });
    await expect(apply(LOCALES, { pages: folder })).rejects.toThrow('it is the same page as');
  });
});

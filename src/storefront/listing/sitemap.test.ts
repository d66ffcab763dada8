import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { PAGES } from '../../shops/legal/schema.ts';

let service: Service;

beforeAll(async () => {
  service = await startDemo();
});
afterAll(() => service.close());

async function get(url: string) {
  const { statusCode, headers, body } = await service.app.inject({
    url,
    headers: { host: 'kontor.example' },
  });
  return { status: statusCode, headers, text: body };
}

const SHOP = 'http://kontor.example/shop/DemoShop';
const locations = ({ text }: { text: string }) =>
  [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, address]) => address!.replaceAll('&amp;', '&'));

describe('the sitemap', () => {
  test('is a list of files: one of pages, and those of products', async () => {
    const { status, headers, text } = await get('/shop/DemoShop/sitemap.xml');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">' +
        `<sitemap><loc>${SHOP}/sitemap/0.xml</loc></sitemap><sitemap><loc>${SHOP}/sitemap/1.xml</loc></sitemap>` +
        '</sitemapindex>\n',
    );
  });

  test('names the front page, visible categories, legal pages and the newsletter, in all languages', async () => {
    const hidden = await service.db.many<{ alias: string }>(sql`
      update category set visible = false where shop_id = 'DemoShop' and category_id = (
        select category_id from category where shop_id = 'DemoShop' and parent_id is not null
        order by number desc limit 1
      ) returning alias`);
    const visible = await service.db.many<{ alias: string }>(sql`
      select alias from category where shop_id = 'DemoShop' and visible and parent_id is not null order by number`);
    const answer = await get('/shop/DemoShop/sitemap/0.xml');
    const texts = await service.db.many<{ path: string; locale: string }>(sql`
      select '/legal/' || page as path, locale from legal_page where shop_id = 'DemoShop'`);
    const paths = [
      '',
      ...visible.map(({ alias }) => `/Categories/${alias}`),
      ...PAGES.map(({ page }) => `/legal/${page}`),
      '/newsletter',
    ];
    // A legal page is named in the languages that it has a text in.
    const isThere = (path: string, locale: string) =>
      !path.startsWith('/legal/') || texts.some((text) => text.path === path && text.locale === locale);
    expect(locations(answer)).toEqual(
      paths.flatMap((path) =>
        ['en_GB', 'de_DE', 'fr_FR']
          .filter((locale) => isThere(path, locale))
          .map((locale) => `${SHOP}${path}${locale === 'en_GB' ? '' : `?locale=${locale}`}`),
      ),
    );
    expect(answer.text).not.toContain(hidden[0]!.alias);
    expect(answer.text).toContain(
      `<url><loc>${SHOP}/newsletter?locale=de_DE</loc>` +
        `<xhtml:link rel="alternate" hreflang="en-GB" href="${SHOP}/newsletter" />` +
        `<xhtml:link rel="alternate" hreflang="de-DE" href="${SHOP}/newsletter?locale=de_DE" />` +
        `<xhtml:link rel="alternate" hreflang="fr-FR" href="${SHOP}/newsletter?locale=fr_FR" /></url>`,
    );
  });

  test('names the products of lists: no variations, nothing invisible', async () => {
    const products = await service.db.many<{ number: string }>(sql`
      select product_number as number from product
      where shop_id = 'DemoShop' and visible and kind <> 'variation' order by product_number`);
    const answer = await get('/shop/DemoShop/sitemap/1.xml');
    expect(
      locations(answer)
        .filter((address) => !address.includes('?'))
        .toSorted(),
    ).toEqual(products.map(({ number }) => `${SHOP}/Products/${encodeURIComponent(number)}`).toSorted());
    expect(locations(answer)).toHaveLength(3 * products.length);
  });

  test('of a shop with one language has no alternates', async () => {
    await givenShop(service, 'Small');
    expect((await get('/shop/Small/sitemap/0.xml')).text).toContain(
      '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">' +
        '<url><loc>http://kontor.example/shop/Small</loc></url></urlset>',
    );
    expect(locations(await get('/shop/Small/sitemap.xml'))).toEqual([
      'http://kontor.example/shop/Small/sitemap/0.xml',
    ]);
  });

  test('has so many files that each can be read at once, and misses no product', async () => {
    await service.db.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      select 'DemoShop', gen_random_uuid(), 'MANY-' || number, 'regular', ${service.db.now}, 1, true, '{"EUR": 100}',
        '{}'
      from generate_series(1, 1200) as number`);
    // As the listing would be, without the words of a search.
    await service.db.run(sql`
      insert into listing (shop_id, locale, product_id, visible, name, price, text, words, facets)
      select shop_id, 'en_GB', product_id, true, product_number, 100, product_number, '', '{}' from product
      where shop_id = 'DemoShop' and product_number like 'MANY-%'`);
    await service.db.run(sql`
      update listing_size set products = products + 1200
      where shop_id = 'DemoShop' and category_id = '00000000-0000-0000-0000-000000000000' and visible`);
    const files = locations(await get('/shop/DemoShop/sitemap.xml'));
    expect(files).toHaveLength(3);
    const pages = await Promise.all(files.slice(1).map((address) => get(new URL(address).pathname)));
    for (const page of pages) expect(locations(page).length).toBeLessThanOrEqual(3_000);
    const many = pages.flatMap(locations).filter((address) => /MANY-\d+$/.test(address));
    expect(new Set(many).size).toBe(1200);
    expect(many).toHaveLength(1200);
  });

  test.each(['3.xml', '99.xml', '01.xml', '-1.xml', 'x.xml', '1', '9999999999.xml', '%00.xml'])(
    'has no file %s',
    async (file) => {
      expect((await get(`/shop/DemoShop/sitemap/${file}`)).status).toBe(404);
    },
  );

  test('of a shop that is closed or unknown does not exist', async () => {
    await givenShop(service, 'Closed');
    await service.db.run(sql`
      update shop set public_catalogue = false, settings_version = settings_version + 1 where shop_id = 'Closed'`);
    expect((await get('/shop/Closed/sitemap.xml')).status).toBe(404);
    expect((await get('/shop/Unknown/sitemap.xml')).status).toBe(404);
  });
});

test('robots.txt keeps search engines from what is not for them, and names no shop', async () => {
  const { status, headers, text } = await get('/robots.txt');
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text.split('\n')).toEqual([
    'User-agent: *',
    'Disallow: /rs/',
    'Disallow: /manage/',
    'Disallow: /shop/*/cart',
    'Disallow: /shop/*/checkout',
    'Disallow: /shop/*/wishlist',
    'Disallow: /shop/*/search',
    'Disallow: /shop/*/suggest',
    'Disallow: /shop/*/newsletter/',
    '',
  ]);
});

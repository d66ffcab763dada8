import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeSettings, givenProduct, givenSmallShop } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { markdownLink, markdownText, prefersMarkdown } from '../../http/markdown.ts';

const NOW = new Date('2026-11-15T08:30:00Z');
const HOST = 'http://kontor.example';

let service: Service;
beforeAll(async () => {
  service = await startDemo({}, NOW);
});
afterAll(() => service.close());

async function get(path: string, headers: Record<string, string> = {}) {
  const url = path.startsWith('/shop/') ? path : `/shop/DemoShop${path}`;
  const answer = await service.app.inject({
    method: 'GET',
    url,
    headers: { host: 'kontor.example', ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, text: answer.body };
}

const MARKDOWN = { accept: 'text/markdown, text/html;q=0.8' };

describe('a product as Markdown', () => {
  test('says what its page says, at an address of its own and by what a client accepts', async () => {
    const named = await get('/Products/AP-110.md');
    expect([named.status, named.headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(named.headers['link']).toBe(`<${HOST}/shop/DemoShop/Products/AP-110>; rel="canonical"`);
    expect(named.headers['vary']).toBe('Accept');
    const lines = named.text.split('\n');
    expect(lines.slice(0, 3)).toEqual([
      '# Beacon Espresso Machine',
      '',
      'One boiler, one lever, no display.',
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([
        '- €389.00 instead of €449.00',
        '- plus €2.40 recycling fee',
        '- €391.40 in total',
        '- incl. 19% VAT',
        '- Manufacturer: Beacon',
        '- Product number: AP-110',
        '- Pressure (bar): 15',
        '## Description',
        `[Buy](${HOST}/shop/DemoShop/Products/AP-110)`,
      ]),
    );
    const accepted = await get('/Products/AP-110', MARKDOWN);
    expect([accepted.status, accepted.text, accepted.headers['vary']]).toEqual([200, named.text, 'Accept']);
  });

  test('in other languages and for a variation', async () => {
    const german = await get('/Products/AP-110.md?locale=de_DE');
    expect(german.text.split('\n')).toEqual(
      expect.arrayContaining(['# Beacon Espressomaschine', '- inkl. 19 % MwSt.', '## Beschreibung']),
    );
    const lamp = (await get('/Products/LA-101.md?locale=fr_FR')).text;
    expect(lamp).toContain('## Variantes');
    expect(lamp).toContain(`](${HOST}/shop/DemoShop/Products/LA-102.md?locale=fr_FR)`);
  });

  test('the page itself stays a page, and names the other form', async () => {
    for (const headers of [{ accept: '' }, { accept: 'text/html,*/*;q=0.8' }, { accept: '*/*' }]) {
      const { status, headers: sent, text } = await get('/Products/AP-110', headers);
      expect([status, sent['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(String(sent['vary'])).toMatch(/^Accept(?:,|$)/);
      const [, address] = /<link\s+rel="alternate"\s+type="text\/markdown"\s+href="([^"]+)"/.exec(text) ?? [];
      expect(address).toBe(`${HOST}/shop/DemoShop/Products/AP-110.md`);
    }
  });

  test('what is hidden, unknown or of another shop stays hidden', async () => {
    for (const path of [
      '/Products/ZZ-100.md',
      '/Products/NO-SUCH.md',
      '/Products/.md',
      '/cart.md',
      '/Categories/none.md',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    const { shopId } = await givenSmallShop(service);
    expect((await get(`/shop/${shopId}/Products/AP-110.md`)).status).toBe(404);
    expect((await get('/cart', MARKDOWN)).headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('a client that has it already gets nothing', async () => {
    const first = await get('/Products/AP-110.md', { 'accept-encoding': 'identity' });
    const etag = String(first.headers['etag']);
    const again = await get('/Products/AP-110.md', { 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await get('/Products/AP-110', { 'if-none-match': etag })).status).toBe(200);
  });

  test('a product whose number ends with .md has its own page', async () => {
    const shop = await givenSmallShop(service);
    await givenProduct(shop, { number: 'README.md' });
    const page = `/shop/${shop.shopId}/Products/README.md`;
    expect((await get(page)).headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await get(`${page}.md`)).text).toContain('Product number: README.md');
  });

  test('what a merchant writes stays in its place', async () => {
    const shop = await givenSmallShop(service);
    const evil = '# [Ignore](https://evil.example) <script>alert(1)</script>\n## **all** `rules`';
    await givenProduct(shop, {
      number: 'EVIL',
      facts: {
        name: { en_GB: evil },
        manufacturer: '1. first\n- second',
        description: { en_GB: '<h1># Heading</h1><pre>---\n===</pre><p>&lt;img src=x&gt; ![a](b)</p>' },
      },
    });
    const { text } = await get(`/shop/${shop.shopId}/Products/EVIL.md`);
    const headings = text.split('\n').filter((line) => line.startsWith('#'));
    expect(headings[0]).toBe(
      String.raw`# \# \[Ignore\](https://evil.example) \<script\>alert(1)\</script\> ## \*\*all\*\* \`rules\``,
    );
    expect(headings.slice(1).toSorted()).toEqual(
      ['## Delivery', '## Description'].slice(headings.length === 3 ? 0 : 1),
    );
    expect(text).toContain(String.raw`\# Heading`);
    expect(text).toContain(String.raw`\<img src=x\> !\[a\](b)`);
    expect(text).not.toMatch(/(?<!\\)<|^(?:---|===)/m);
    expect(text).toContain('- Manufacturer: 1. first - second');
  });
});

test('a category lists its products and what is below it', async () => {
  const { status, text } = await get('/Categories/appliances.md');
  expect(status).toBe(200);
  const lines = text.split('\n');
  expect(lines[0]).toBe('# Appliances');
  expect(lines).toContain(`- [Beacon Espresso Machine](${HOST}/shop/DemoShop/Products/AP-110.md): €389.00`);
  const kitchen = await get('/Categories/kitchen', MARKDOWN);
  expect(kitchen.text).toContain(`- [Appliances](${HOST}/shop/DemoShop/Categories/appliances.md)`);
});

test('legal pages and pages of the shop have it too', async () => {
  const legal = await get('/legal/rights-of-withdrawal.md');
  expect([legal.status, legal.headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
  expect(legal.text).toMatch(/^# /);
  const [page] = await service.db.many<{ slug: string }>(sql`
    select slug from page_text where shop_id = 'DemoShop' and locale = 'en_GB' and slug is not null limit 1`);
  if (page) expect((await get(`/pages/${page.slug}.md`)).text).toMatch(/^# /);
});

describe('llms.txt', () => {
  test('says what the shop sells, where it delivers and how to buy', async () => {
    const { status, headers, text } = await get('/llms.txt');
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    const lines = text.split('\n');
    expect(lines[0]).toBe('# Harbour & Hearth'.replace('&', String.raw`\&`));
    expect(lines).toEqual(
      expect.arrayContaining([
        '## Categories',
        `- [Kitchen](${HOST}/shop/DemoShop/Categories/kitchen.md)`,
        `  - [Appliances](${HOST}/shop/DemoShop/Categories/appliances.md)`,
        '## Information',
        `- [All addresses](${HOST}/shop/DemoShop/sitemap.xml)`,
        '## Delivery',
        '## Buying',
        'A person puts products into the cart on their pages and places the order there.',
      ]),
    );
    expect((await get('/llms.txt?locale=de_DE')).text).toContain('## Kategorien');
  });

  test('on its own host it names the protocol of assistants, if they are let in', async () => {
    const shop = await givenSmallShop(service, { assistants: { open: true } });
    const host = `${shop.shopId.toLowerCase()}.localhost`;
    const read = async () =>
      (await service.app.inject({ method: 'GET', url: '/llms.txt', headers: { host } })).body;
    const open = await read();
    if (open.includes('Buying')) expect(open).toContain(`http://${host}/.well-known/ucp`);
    await changeSettings(shop, { assistants: { open: false } });
    expect(await read()).not.toContain('.well-known');
  });

  test('a shop that is not open has none', async () => {
    const shop = await givenSmallShop(service);
    await changeSettings(shop, { publicCatalogue: false });
    expect((await get(`/shop/${shop.shopId}/llms.txt`)).status).toBe(404);
  });
});

test.each([
  [undefined, false],
  ['*/*', false],
  ['text/html', false],
  ['text/markdown', true],
  ['text/markdown, text/html', true],
  ['text/html, text/markdown;q=0.9', false],
  ['text/html;q=0.7, text/markdown;q=0.9', true],
  ['text/markdown;q=0', false],
  ['text/markdown;q=x', false],
])('%s prefers Markdown: %s', (accept, is) => {
  expect(prefersMarkdown(accept)).toBe(is);
});

test.each([
  ['a\u2028b\r\n\tc\u0000d', 'a b c d'],
  ['2026. was', String.raw`2026\. was`],
  ['- a', String.raw`\- a`],
  ['a_b*c|d~e&f', String.raw`a\_b\*c\|d\~e\&f`],
])('the text %j is written %j', (text, written) => {
  expect(markdownText(text)).toBe(written);
});

test('an address can not end its link', () => {
  expect(markdownLink('a](b', 'https://x.example/a) [b](<c')).toBe(
    String.raw`[a\](b](https://x.example/a%29%20[b]%28%3cc)`,
  );
});

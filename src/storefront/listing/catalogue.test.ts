import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySettings } from '../../shops/settings/file.ts';
import { givenSmallShop } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import { cookieOfCurrency, loadAppScripts, readOwnPage, readPage } from '../../../test/storefront.ts';
import type { Service } from '../../../test/service.ts';

const NOW = new Date('2026-11-15T08:30:00Z');

let service: Service;
const token = 'demo-all';

beforeAll(async () => {
  service = await startDemo({}, NOW, { hasImages: true });
  await loadAppScripts(service);
});
afterAll(() => service.close());

const read = (path: string, headers: Record<string, string> = {}) =>
  readPage(service, `/DemoShop${path}`, headers);

const namesOf = (main: string, level = 'h2') =>
  [...main.matchAll(new RegExp(`<${level}><a href="[^"]*">([^<]*)</a></${level}>`, 'g'))].map(
    ([, name]) => name!,
  );

/** `[label, address]` of the links with a number of hits behind them. */
const choicesOf = (main: string) =>
  [...main.matchAll(/<a href="([^"]+)">([^<]*) <small>\((\d+)\)<\/small><\/a>/g)].map(
    ([, href, name, hits]) => ({
      name,
      hits: Number(hits),
      href: href!.replaceAll('&amp;', '&'),
    }),
  );

async function categoryOf(alias: string) {
  const { body: roots } = await service.call('GET', '/DemoShop/categories');
  const idsOf = (category: { subCategories: { href: string }[] }) =>
    category.subCategories.map(({ href }) => href.split('/').at(-1)!);
  let open: string[] = roots.flatMap(idsOf);
  for (;;) {
    const [next, ...rest] = open;
    const { body } = await service.call('GET', `/DemoShop/categories/${next}`);
    if (body.alias === alias) return body;
    open = [...rest, ...idsOf(body)];
  }
}

describe('the front page', () => {
  test('slogan, categories with pictures, offers, what is new', async () => {
    const { status, main, lines, text } = await read('');
    expect(status).toBe(200);
    expect(text).toContain('<title>Harbour &amp; Hearth</title>');
    expect(lines.slice(0, 3)).toEqual([
      'Small things from the seaside',
      'Coffee from the roaster next door, lamps like lighthouses, and what a kitchen by the harbour needs.',
      'Discover our coffee',
    ]);
    const cards = [
      ...main.matchAll(/href="\/shop\/DemoShop\/Categories\/([^"]+)"\s*>\s*<img\s+src="[^"]+_m\.png"/g),
    ];
    expect(cards.map(([, alias]) => alias)).toEqual([
      'coffee',
      'tea',
      'drinks',
      'kitchen',
      'lamps',
      'books',
      'gifts',
    ]);
    expect(new Set(namesOf(main, 'h3'))).toEqual(
      new Set([
        'Anchor Socks',
        'Old Ferry Black Tea 250 g',
        'Reefline Paring Knife',
        // What was added last fills the row.
        'Knots Audio Course',
        'The Quiet Harbour Cookbook',
        'Tides and Tables (eBook)',
      ]),
    );
    const [offers, fresh] = [lines.indexOf('Offers'), lines.indexOf('New in the shop')];
    expect(lines.slice(offers, fresh)).toContain('Anchor Socks');
    expect(lines.slice(fresh, fresh + 7)).toEqual([
      'New in the shop',
      'Reefline Paring Knife',
      'New',
      '€24.50',
      'In stock',
      'Add to cart: Reefline Paring Knife',
      'Add to wish list: Reefline Paring Knife',
    ]);
    expect(lines.at(-1)).toBe('All prices incl. VAT, plus shipping costs');
  });

  test('no two categories have one picture', async () => {
    for (const locale of ['en_GB', 'de_DE', 'fr_FR']) {
      const { main } = await read(`?locale=${locale}`);
      const pictures = [...main.matchAll(/Categories\/[^"]+"\s*>\s*<img\s+src="([^"]+)"/g)].map(
        ([, src]) => src,
      );
      expect(pictures).toHaveLength(7);
      expect(new Set(pictures).size).toBe(7);
    }
  });

  test('in German and in pounds', async () => {
    const cookie = await cookieOfCurrency(service, 'DemoShop', 'GBP');
    const { lines, main } = await read('?locale=de_DE', { cookie });
    expect(lines).toEqual(
      expect.arrayContaining(['Unser Sortiment', 'Kaffee', 'Ankersocken', '10,20 £ pro Paar']),
    );
    expect(main).toContain('href="/shop/DemoShop/Categories/coffee?locale=de_DE"');
  });

  test('of a shop without anything', async () => {
    expect(await readPage(service, '/EmptyShop')).toMatchObject({ status: 200 });
  });
});

describe('a category', () => {
  test('its products as the API lists them', async () => {
    const { status, main, lines, text, json } = await read('/Categories/appliances');
    expect(status).toBe(200);
    expect(text).toContain('<title>Appliances | Harbour &amp; Hearth</title>');
    expect(lines.slice(0, 4)).toEqual(['Home', 'Kitchen', 'Appliances', 'Appliances']);
    const { categoryId } = await categoryOf('appliances');
    const { body } = await service.call(
      'GET',
      `/DemoShop/products?categoryId=${categoryId}&resultsPerPage=24`,
    );
    expect(lines).toContain(`${body.results} products`);
    expect(lines.at(-1)).toBe('All prices incl. VAT, plus shipping costs');
    expect(namesOf(main)).toEqual(body.items.map(({ name }: { name: string }) => name));
    const { body: category } = await service.call('GET', `/DemoShop/categories/${categoryId}`);
    const { json: toldOf } = await readOwnPage(service, 'DemoShop', '/Categories/appliances');
    expect(toldOf('page.events')).toEqual([
      { name: 'category:view', detail: { category, products: body.items } },
    ]);
    expect(json('page.breadcrumb').itemListElement.map(({ name }: { name: string }) => name)).toEqual([
      'Home',
      'Kitchen',
      'Appliances',
    ]);
    expect(main).toMatch(/<img\s+src="[^"]+AP-120_1_m\.png"\s+width="500"\s+height="375"\s+alt=""/);
  });

  const showSubcategories = (categoriesShowSubcategories: boolean) =>
    service.db.transaction((tx) => applySettings(tx, 'DemoShop', { categoriesShowSubcategories }));

  test('texts, and those below it with pictures when it shows no products', async () => {
    await showSubcategories(false);
    const { main, lines } = await read('/Categories/coffee?locale=de_DE');
    expect(lines).toEqual([
      'Startseite',
      'Kaffee',
      'Kaffee',
      'In kleinen Mengen geröstet, eine Straße vom Kai entfernt.',
      'Bohnen',
      'Gemahlen',
    ]);
    expect(main.match(/<img/g)).toHaveLength(2);
    await showSubcategories(true);
    const root = await read('/Categories');
    expect(root.lines.slice(0, 3)).toEqual(['Home', 'Home page', 'Home page']);
    expect(root.text).toContain('/shop/DemoShop/Categories" />');
    expect((await read('/Categories/press')).lines).toContain('There are no products here yet.');
  });

  test('the products of its subcategories, with facets for them', async () => {
    const { main, lines, text } = await read('/Categories/coffee?locale=de_DE');
    expect(lines).toContain('2 Artikel');
    expect(namesOf(main)).toEqual(['Quayside Filterkaffee, gemahlen 500 g', 'Tidewater Espressobohnen']);
    expect(text).toContain('href="/shop/DemoShop/Categories/beans?locale=de_DE"');
    const [beans, ground] = choicesOf(main);
    const weights = choicesOf(main)
      .map(({ name }) => name)
      .filter((name) => name?.endsWith('g') && name.includes(' '));
    expect(weights).toEqual(['250 g', '500 g', '1 kg']);
    expect([beans, ground]).toMatchObject([
      { name: 'Bohnen', hits: 1 },
      { name: 'Gemahlen', hits: 1 },
    ]);
    const chosen = await readPage(service, beans!.href.replace('/shop', ''));
    expect(namesOf(chosen.main)).toEqual(['Tidewater Espressobohnen']);
    expect(chosen.lines).toContain('1 Artikel');
    expect(namesOf((await read('/Categories/coffee?sort=price-desc')).main)).toEqual([
      'Quayside Filter Roast, ground 500 g',
      'Tidewater Espresso Beans',
    ]);
    expect(namesOf((await read('/Categories/coffee?sort=new')).main)).toEqual([
      'Quayside Filter Roast, ground 500 g',
      'Tidewater Espresso Beans',
    ]);
    // A product that is in a category and in one below it is shown once; the page of the archive does not exist.
    const kitchen = await read('/Categories/kitchen');
    expect(kitchen.lines).toContain('8 products');
    expect(choicesOf(kitchen.main).map(({ name, hits }) => [name, hits])).toEqual(
      expect.arrayContaining([
        ['Appliances', 3],
        ['Knives', 3],
        ['Books and audio', 1],
      ]),
    );
    await showSubcategories(false);
    expect(namesOf((await read('/Categories/kitchen')).main)).toEqual([
      'Engraved Driftwood Board',
      'The Quiet Harbour Cookbook',
    ]);
    await showSubcategories(true);
  });

  test('sorted', async () => {
    const sorted = async (sort: string) => namesOf((await read(`/Categories/appliances?sort=${sort}`)).main);
    expect(await sorted('price')).toEqual([
      'Beacon Kettle 1.7 l',
      'Beacon Burr Grinder',
      'Beacon Espresso Machine',
    ]);
    expect(await sorted('price-desc')).toEqual([
      'Beacon Espresso Machine',
      'Beacon Burr Grinder',
      'Beacon Kettle 1.7 l',
    ]);
    expect(await sorted('nonsense')).toEqual(await sorted('name'));
    const { body } = await service.call('POST', '/DemoShop/search/products', {
      token,
      body: { query: 'beacon', sortBy: 'POSITION_DESC' },
    });
    expect(await sorted('new')).toEqual(body.items.map(({ name }: { name: string }) => name));
  });

  test('facets with the numbers of the search', async () => {
    const { main } = await read('/Categories/lamps');
    const choices = choicesOf(main);
    expect(choices.map(({ name, hits }) => [name, hits])).toEqual([
      ['Brass', 1],
      ['Slate', 1],
      ['Large', 1],
      ['Small', 1],
    ]);
    const chosen = await readPage(service, choices[0]!.href.replace('/shop', ''));
    expect(namesOf(chosen.main)).toEqual(['Lantern Point Lamp']);
    expect(chosen.text).toContain('<meta name="robots" content="noindex" />');
    expect(chosen.main).toMatch(/Remove filter:<\/span>\s*Brass/);
    expect(chosen.main).toMatch(/href="\/shop\/DemoShop\/Categories\/lamps"\s*>Remove all filters/);
    const cheap = await read('/Categories/lamps?max=10');
    expect(namesOf(cheap.main)).toEqual(['Dock Light LED Bulb']);
    expect(namesOf((await read('/Categories/lamps?min=80,00')).main)).toEqual(['Lantern Point Lamp']);
    const wrong = await read('/Categories/lamps?min=%3Cb%3E');
    expect(wrong.main).toMatch(/value="&lt;b&gt;"\s+aria-invalid="true" aria-describedby="list.min.error"/);
    expect(wrong.lines).toContain('Please enter an amount such as 12.50.');
    expect((await read('/Categories/lamps?f=m%3ANobody')).lines).toContain(
      'No products match all of these filters.',
    );
    expect((await read('/Categories/lamps?f=x&f=c%3Aabc')).text).not.toContain('noindex');
  });

  test('without facets where the category says so', async () => {
    const { categoryId } = await categoryOf('knives');
    const knives = () => read('/Categories/knives');
    expect((await knives()).main).toContain('class="facets"');
    await service.call('PUT', `/DemoShop/categories/${categoryId}`, {
      token,
      body: { categoryId, name: 'Sharp knives', facetedSearchShowFacetsOnCategory: false },
    });
    const { main, lines } = await knives();
    expect(lines).toContain('Sharp knives');
    expect(main).not.toContain('class="facets"');
  });

  test('what is not there does not exist', async () => {
    for (const path of [
      'archive',
      'nothing',
      'lamps?page=2',
      'lamps?page=0',
      'lamps?page=x',
      'press?page=2',
      'lamps?f=m%3ABeacon&page=2',
    ]) {
      expect(await read(`/Categories/${path}`)).toMatchObject({ status: 404 });
    }
    expect(await readPage(service, '/EmptyShop/Categories/lamps')).toMatchObject({ status: 404 });
  });

  test('never stale: price, stock, name', async () => {
    const { body } = await service.call('POST', '/DemoShop/products/find', {
      token,
      body: { productNumber: 'AP-100' },
    });
    const { productId } = body.items[0];
    const patch = (path: string, value: unknown) =>
      service.call('PATCH', `/DemoShop/products/${productId}`, {
        token,
        body: [{ op: 'replace', path, value }],
        headers: { 'content-type': 'application/json-patch+json' },
      });
    expect((await read('/Categories/appliances')).lines).toContain('€49.90');
    await patch('/priceInfo/price/amount', 44);
    expect((await read('/Categories/appliances')).lines).toContain('€44.00');
    await patch('/stocklevel', 0);
    expect((await read('/Categories/appliances')).lines).toContain('Not in stock');
    await patch('/name', 'Beacon Jug');
    expect((await read('/Categories/appliances')).lines).toContain('Beacon Jug');
    await patch('/visible', false);
    expect((await read('/Categories/appliances')).lines).toContain('2 products');
  });
});

test('long lists have pages, and filters on demand', async () => {
  const { shopId, token } = await givenSmallShop(service);
  const { body: roots } = await service.call('GET', `/${shopId}/categories`);
  const { body: category } = await service.call('POST', `/${shopId}/categories/${roots[0].categoryId}`, {
    token,
    body: { name: 'Many' },
  });
  await service.call('PUT', `/${shopId}/categories/${category.categoryId}`, {
    token,
    body: { categoryId: category.categoryId, visible: true, name: 'Many' },
  });
  const names = Array.from({ length: 50 }, (_, index) => `Thing ${String(index).padStart(2, '0')}`);
  for (const [index, name] of names.entries()) {
    const { body } = await service.call('POST', `/${shopId}/products`, {
      token,
      body: { name, price: index + 1, visible: true, manufacturer: index % 2 === 0 ? 'Even' : 'Odd' },
    });
    await service.call('POST', `/${shopId}/product-category-assignments`, {
      token,
      body: `categoryId=${category.categoryId}&productId=${body.productId}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  }
  const path = `/${shopId}/Categories/${category.alias}`;
  const first = await readPage(service, path);
  expect(namesOf(first.main)).toEqual(names.slice(0, 24));
  expect(first.lines).toEqual(
    expect.arrayContaining(['50 products', 'Page 1 of 3', 'Show filters', 'Next page']),
  );
  expect(first.main).toContain(`rel="next" href="/shop${path}?page=2"`);
  expect(first.main).not.toContain('rel="prev"');
  const last = await readPage(service, `${path}?page=3`);
  expect(namesOf(last.main)).toEqual(names.slice(48));
  expect(last.main).toContain(`rel="prev" href="/shop${path}?page=2"`);
  expect(last.text).toContain(`${path}?page=3" />`);
  expect(await readPage(service, `${path}?page=4`)).toMatchObject({ status: 404 });
  const filters = await readPage(service, `${path}?filter=1`);
  expect(choicesOf(filters.main).map(({ name, hits }) => [name, hits])).toEqual([
    ['Even', 25],
    ['Odd', 25],
  ]);
  const odd = await readPage(service, `${path}?f=m%3AOdd&page=2&sort=price-desc`);
  expect(namesOf(odd.main)).toEqual(['Thing 01']);
});

describe('the search', () => {
  test('finds what the API finds', async () => {
    const { body } = await service.call('POST', '/DemoShop/search/products?resultsPerPage=24', {
      token,
      body: { query: 'tea' },
    });
    const { status, main, lines, text } = await read('/search?q=tea');
    expect(status).toBe(200);
    expect(namesOf(main)).toEqual(body.items.map(({ name }: { name: string }) => name));
    expect(lines[0]).toBe('Results for “tea”');
    expect(lines).toContain(`${body.results} products`);
    expect(text).toContain('<meta name="robots" content="noindex" />');
    // The field in the header keeps the words.
    expect(text).toMatch(/name="q"\s+maxlength="200"\s+required\s+value="tea"/);
    const seen = body.items.map(({ productId }: { productId: string }) => productId);
    const { json } = await readOwnPage(service, 'DemoShop', '/search?q=tea');
    const [{ name, detail }] = json('page.events');
    expect(name).toBe('searchResults:view');
    expect(detail.query).toEqual({ q: 'tea', token: 'tea' });
    expect(detail.products.map(({ productId }: { productId: string }) => productId)).toEqual(seen);
    const manufacturers = body.facets.find(
      ({ attributeName }: { attributeName: string }) => attributeName === 'Manufacturer',
    );
    for (const { name: label, matches } of manufacturers.values) {
      if (matches < body.results)
        expect(choicesOf(main)).toContainEqual(expect.objectContaining({ name: label, hits: matches }));
    }
  });

  test('says what it found instead', async () => {
    const { lines, main } = await read('/search?q=bacon&locale=de_DE');
    expect(lines).toContain('Zu „bacon“ wurde nichts gefunden. Dies sind die Ergebnisse für „beacon“.');
    expect(namesOf(main)).toHaveLength(2);
  });

  test('helps when there is nothing', async () => {
    const { status, lines, main } = await read(`/search?q=${encodeURIComponent('<xyzzy>"')}`);
    expect(status).toBe(200);
    expect(lines[0]).toBe('Nothing was found for “<xyzzy>"”');
    expect(lines).toContain('Check the spelling.');
    expect(main).toContain('value="&lt;xyzzy&gt;&quot;"');
    expect(main).toContain('href="/shop/DemoShop/Categories/coffee"');
    expect(lines).toContain('You might like these');
    expect(namesOf(main, 'h3')).toContain('Anchor Socks');
    for (const query of ['', '?q=', '?q=%20', '?q="']) {
      expect(await read(`/search${query}`)).toMatchObject({ status: 200 });
    }
    expect(await read('/search?q=tea&page=9')).toMatchObject({ status: 404 });
  });
});

describe('suggestions', () => {
  const suggest = async (query: string, headers: Record<string, string> = {}) => {
    const response = await service.app.inject({ url: `/shop/DemoShop/suggest?${query}`, headers });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    return response.json<{ count: string; products: object[] }>();
  };

  test('name, address, picture and price', async () => {
    expect(await suggest('q=harb')).toEqual({
      count: '4 suggestions',
      note: '',
      products: [
        {
          name: 'Harbour Cider 0.5 l',
          href: '/shop/DemoShop/Products/DR-120',
          image: { url: expect.stringMatching(/DR-120_1_xs\.png$/), width: 50, height: 38 },
          price: '€2.95',
        },
        {
          name: 'The Quiet Harbour Cookbook',
          href: '/shop/DemoShop/Products/BK-110',
          image: { url: expect.stringMatching(/BK-110_1_xs\.png$/), width: 50, height: 38 },
          price: '€28.00',
        },
        // Books of Harbour Press follow those whose names contain the word.
        expect.objectContaining({ name: 'Knots Audio Course' }),
        expect.objectContaining({ name: 'Tides and Tables (eBook)' }),
      ],
    });
    const cookie = await cookieOfCurrency(service, 'DemoShop', 'GBP');
    expect(await suggest('q=espressobohn&locale=de_DE', { cookie })).toMatchObject({
      count: '1 Vorschlag',
      products: [
        {
          name: 'Tidewater Espressobohnen',
          href: '/shop/DemoShop/Products/CB-100?locale=de_DE',
          price: '8,42 £',
        },
      ],
    });
    expect(await suggest('q=gift+card')).toMatchObject({ products: [{ image: null }] });
  });

  test('of other words say so', async () => {
    expect(await suggest('q=lantren')).toMatchObject({
      count: '2 suggestions',
      note: 'Nothing was found for “lantren”. These are the results for “lantern”.',
    });
  });

  test('not before two characters, and not more than eight', async () => {
    expect(await suggest('q=h')).toEqual({ count: '0 suggestions', note: '', products: [] });
    expect((await suggest('')).products).toEqual([]);
    expect((await suggest('q=er')).products.length).toBeLessThanOrEqual(8);
  });
});

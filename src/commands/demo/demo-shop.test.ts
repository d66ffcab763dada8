import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDemo } from '../../../test/demo.ts';
import { givenVisitor } from '../../../test/visitor.ts';
import { startService, type Service } from '../../../test/service.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { mediaCleanup } from '../../platform/media/sweep.ts';
import { settingsFormat } from '../../composition/settings-format.ts';
import { applySettings, exportSettings } from '../../shops/settings/file.ts';
import { addDemoFiles } from './add-files.ts';
import { createDemoShops } from './demo-shop.ts';

const now = new Date('2026-11-15T08:30:00Z');
const reader = 'demo-read';
const merchant = 'demo-all';

let service: Service;
/** Ids by product number. */
const ids = new Map<string, string>();

beforeAll(async () => {
  service = await startDemo({}, now, { hasImages: true });
  const { rows } = await service.db.pool.query<{ number: string; id: string }>(
    `select product_number as number, upper(product_id::text) as id from product where shop_id = 'DemoShop'`,
  );
  for (const { number, id } of rows) ids.set(number, id);
});

afterAll(() => service.close());

async function read(path: string, token = reader) {
  const answer = await service.call('GET', `/DemoShop${path}`, { token });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

const status = async (path: string, token = reader) =>
  (await service.call('GET', `/DemoShop${path}`, { token })).status;

const idOf = (number: string) => ids.get(number)!;
const product = (number: string, query = '', token = reader) =>
  read(`/products/${idOf(number)}${query}`, token);

const numbers = (answer: { items: { productNumber: string }[] }) =>
  answer.items.map(({ productNumber }) => productNumber);

/** By name, in pages of ten. */
const LISTED = [
  ['GI-120', 'AP-120', 'AP-110', 'AP-100', 'LA-110', 'GI-100', 'TE-100', 'GI-110', 'TE-120', 'DR-120'],
  ['BK-120', 'LA-100', 'DR-110', 'RO-100', 'TE-110', 'CB-200', 'KN-100', 'KN-110', 'KN-120', 'ZZ-110'],
  ['DR-100', 'BK-110', 'BK-100', 'CB-100'],
];

const gross = (amount: number, formatted: string, currency = 'EUR') => ({
  taxType: 'GROSS',
  formatted,
  amount,
  currency,
});

describe('categories', () => {
  interface Title {
    title: string;
    href: string;
  }
  const titles = ({ subCategories }: { subCategories: Title[] }) => subCategories.map(({ title }) => title);

  test('the tree, in the order of the shop', async () => {
    const [root] = await read('/categories');
    expect(root).toMatchObject({ alias: 'Categories', name: 'Home page', parent: null });
    expect(titles(root)).toEqual([
      'Coffee',
      'Tea',
      'Cold drinks',
      'Kitchen',
      'Lamps',
      'Books and audio',
      'Gifts',
      'Press',
    ]);
    expect(await read(`/categories/${root.categoryId}/sequence`, merchant)).toEqual([
      'coffee',
      'tea',
      'drinks',
      'kitchen',
      'lamps',
      'books',
      'gifts',
      'archive',
      'press',
    ]);
    const [german] = await read('/categories?locale=de_DE');
    expect(german.name).toBe('Startseite');
    expect(titles(german)).toContain('Kaltgetränke');
    const below = Object.fromEntries(
      await Promise.all(
        root.subCategories.map(async ({ title, href }: Title) => {
          const path = href.slice(href.indexOf('/categories'));
          return [title, titles(await read(`${path}?locale=de_DE`))];
        }),
      ),
    );
    expect(below).toMatchObject({
      Coffee: ['Bohnen', 'Gemahlen'],
      Tea: ['Grüner Tee', 'Schwarz- und Kräutertee'],
      Kitchen: ['Messer', 'Geräte'],
      Gifts: [],
    });
  });

  test('special offers, hidden ones and those outside of the navigation', async () => {
    const { rows } = await service.db.pool.query<{ alias: string; id: string }>(
      `select alias, upper(category_id::text) as id from category where shop_id = 'DemoShop'`,
    );
    expect(rows).toHaveLength(16);
    const category = (alias: string) => `/categories/${rows.find((row) => row.alias === alias)!.id}`;
    expect(await read(category('drinks'))).toMatchObject({ specialOffer: true, visibleInNavigation: true });
    expect(await read(category('press'))).toMatchObject({ visible: true, visibleInNavigation: false });
    expect(await status(category('archive'))).toBe(404);
    expect(await read(`${category('archive')}?includeInvisible=true`, merchant)).toMatchObject({
      visible: false,
      name: 'Archive',
    });
  });
});

describe('lists', () => {
  test('regular products and masters by name, no variations', async () => {
    for (const [index, page] of LISTED.entries()) {
      const answer = await read(`/products?page=${index + 1}`);
      expect([answer.results, answer.page, answer.resultsPerPage]).toEqual([24, index + 1, 10]);
      expect(numbers(answer)).toEqual(page);
    }
    const invisible = await read('/products?resultsPerPage=100&includeInvisible=true', merchant);
    expect(invisible.results).toBe(25);
    expect(numbers(invisible)).toContain('ZZ-100');
  });

  test('the dearest are last by price, and a master stands at its cheapest variation', async () => {
    const { items } = await read('/products?sort=price&resultsPerPage=100');
    const listed = numbers({ items });
    expect([listed[0], listed.at(-1)]).toEqual(['ZZ-110', 'AP-110']);
    expect(listed.slice(-3)).toEqual(['LA-100', 'AP-120', 'AP-110']);
    expect(listed.indexOf('CB-100')).toBeLessThan(listed.indexOf('BK-100'));
  });

  test('categories hold what they are for', async () => {
    const { rows } = await service.db.pool.query<{ alias: string; id: string }>(
      `select alias, category_id as id from category where shop_id = 'DemoShop'`,
    );
    const held = await Promise.all(
      rows.map(async ({ alias, id }) => [
        alias,
        numbers(await read(`/products?categoryId=${id}`)).toSorted(),
      ]),
    );
    expect(Object.fromEntries(held)).toEqual({
      Categories: [],
      coffee: [],
      beans: ['CB-100'],
      ground: ['CB-200'],
      tea: [],
      green: ['TE-100'],
      black: ['TE-110', 'TE-120'],
      drinks: ['DR-100', 'DR-110', 'DR-120'],
      kitchen: ['BK-110', 'GI-100'],
      knives: ['KN-100', 'KN-110', 'KN-120'],
      appliances: ['AP-100', 'AP-110', 'AP-120'],
      lamps: ['LA-100', 'LA-110'],
      books: ['BK-100', 'BK-110', 'BK-120'],
      gifts: ['GI-100', 'GI-110', 'GI-120', 'RO-100'],
      archive: ['ZZ-110'],
      press: [],
    });
  });

  test('each product is found by its number', async () => {
    expect(ids.size).toBe(34);
    for (const number of ids.keys()) {
      const body = { productNumber: number };
      const answer = await service.call('POST', '/DemoShop/products/find', { token: merchant, body });
      expect([answer.status, numbers(answer.body)]).toEqual([200, [number]]);
    }
  });

  test.each([
    ['beacon', ['AP-120', 'AP-110', 'AP-100']],
    ['beacon%2Bgrinder', ['AP-120']],
    ['%22sharpening+stone%22', ['KN-120']],
    ['tea', ['TE-100', 'TE-120', 'TE-110']],
    ['sencha', ['TE-100']],
    ['lamp', ['LA-100']],
  ])('q=%s finds %j', async (q, found) => {
    expect(numbers(await read(`/products?q=${q}`))).toEqual(found);
  });

  test('what is invisible does not exist for readers', async () => {
    for (const path of ['', '/slideshow', '/custom-attributes', '/crossselling']) {
      expect(await status(`/products/${idOf('ZZ-100')}${path}`)).toBe(404);
    }
    expect(await product('ZZ-100', '', merchant)).toMatchObject({ visible: false, forSale: false });
    expect(await product('ZZ-110')).toMatchObject({ visible: true, forSale: false });
    const both = await read(`/products?id=${idOf('ZZ-100')}&id=${idOf('TE-100')}`);
    expect(numbers(both)).toEqual(['TE-100']);
  });

  test('names in German with umlauts, in French with accents', async () => {
    expect((await product('TE-100', '?locale=de_DE')).name).toBe('Fog Lane Grüntee 100 g');
    expect((await product('KN-110', '?locale=de_DE')).name).toBe('Reefline Schälmesser');
    expect((await product('AP-100', '?locale=fr_FR')).name).toBe('Bouilloire Beacon 1,7 l');
    expect((await product('AP-120', '?locale=fr_FR')).name).toBe('Moulin à café Beacon');
    expect((await product('CB-104', '?locale=de_DE')).name).toBe('Tidewater Espressobohnen');
  });
});

describe('prices', () => {
  test.each([
    ['CB-101', '100 g = 3.96 €', 3.96],
    ['CB-102', '100 g = 3.50 €', 3.5],
    ['CB-103', '100 g = 3.10 €', 3.1],
    ['CB-104', '100 g = 4.16 €', 4.16],
    ['CB-200', '100 g = 2.56 €', 2.56],
    ['TE-100', '100 g = 7.20 €', 7.2],
    ['TE-110', '100 g = 3.58 €', 3.58],
    ['TE-120', '100 g = 7.00 €', 7],
    ['DR-100', '1 l = 4.39 €', 4.39],
    ['DR-110', '1 l = 1.71 €', 1.71],
    ['DR-120', '1 l = 5.90 €', 5.9],
  ])('the base price of %s is %s', async (number, formatted, amount) => {
    const { basePrice } = (await product(number)).priceInfo;
    expect([basePrice.formatted, basePrice.refPrice.amount]).toEqual([formatted, amount]);
  });

  test('there is none without a reference', async () => {
    expect((await product('KN-110')).priceInfo.basePrice).toBeNull();
  });

  test.each([
    ['DR-100', { depositPrice: 0.25, ecoParticipationPrice: null, priceWithDeposits: 1.7 }],
    ['DR-110', { depositPrice: 3.3, ecoParticipationPrice: null, priceWithDeposits: 17.7 }],
    ['DR-120', { depositPrice: 0.08, ecoParticipationPrice: null, priceWithDeposits: 3.03 }],
    ['AP-100', { depositPrice: null, ecoParticipationPrice: 0.5, priceWithDeposits: 50.4 }],
    ['AP-110', { depositPrice: null, ecoParticipationPrice: 2.4, priceWithDeposits: 391.4 }],
    ['AP-120', { depositPrice: null, ecoParticipationPrice: 1.2, priceWithDeposits: 120.2 }],
    ['LA-110', { depositPrice: null, ecoParticipationPrice: 0.1, priceWithDeposits: 7 }],
    ['TE-100', { depositPrice: null, ecoParticipationPrice: null, priceWithDeposits: 7.2 }],
  ])('%s with its deposit and eco fee', async (number, expected) => {
    const { priceInfo } = await product(number);
    const amounts = Object.keys(expected).map((key) => [key, priceInfo[key]?.amount ?? null]);
    expect(Object.fromEntries(amounts)).toEqual(expected);
  });

  test.each([
    ['CB-200', 10.88, 14.08],
    ['DR-100', 1.23, 1.6],
    ['AP-110', 330.65, 427.9],
    ['BK-110', 23.8, 30.8],
  ])('%s in pounds and dollars', async (number, pounds, dollars) => {
    const amount = async (currency: string) =>
      (await product(number, `?currency=${currency}`)).priceInfo.price.amount;
    expect([await amount('GBP'), await amount('USD')]).toEqual([pounds, dollars]);
  });

  test('of the masters, the range of their variations', async () => {
    expect((await product('CB-100')).priceInfo).toMatchObject({
      price: gross(9.9, '9.90 €'),
      lowestPrice: gross(9.9, '9.90 €'),
      highestPrice: gross(31, '31.00 €'),
      lowestRefPriceFormatted: '100 g = 3.10 €',
    });
    expect((await product('LA-100')).priceInfo).toMatchObject({
      lowestPrice: gross(79, '79.00 €'),
      highestPrice: gross(99, '99.00 €'),
    });
    for (const number of ['KN-100', 'TE-100']) {
      expect((await product(number)).priceInfo).toMatchObject({
        lowestPrice: null,
        highestPrice: null,
        lowestRefPriceFormatted: null,
      });
    }
  });

  test('the lowest price, where variations have one of their own', async () => {
    expect((await read(`/products/${idOf('CB-100')}/lowest-price`)).priceInfo.price).toEqual(
      gross(9.9, '9.90 €'),
    );
    expect((await read(`/products/${idOf('LA-100')}/lowest-price`)).priceInfo.price).toEqual(
      gross(79, '79.00 €'),
    );
    expect(await status(`/products/${idOf('KN-100')}/lowest-price`)).toBe(404);
    expect(await status(`/products/${idOf('TE-100')}/lowest-price`)).toBe(404);
  });

  test('variations of the knife ask what their master asks', async () => {
    for (const number of ['KN-101', 'KN-102']) {
      expect((await product(number)).priceInfo.price).toEqual(gross(64, '64.00 €'));
    }
  });

  interface Tier {
    quantity: { amount: number };
    price: { amount: number };
  }
  const tiers = (list: Tier[]) => list.map(({ quantity, price }) => [quantity.amount, price.amount]);

  test('tiers, and prices of customer groups', async () => {
    const coffee = await product('CB-200');
    expect(tiers(coffee.bulkPriceInfo)).toEqual([
      [5, 11.9],
      [10, 10.9],
    ]);
    const [cafes, ...others] = coffee.customerSpecificPriceInfo;
    expect([cafes.customerGroup, others]).toEqual(['Cafes', []]);
    expect(tiers(cafes.priceInfo)).toEqual([
      [1, 12.16],
      [5, 11.31],
      [10, 10.36],
    ]);
    expect(cafes.priceInfo[1].priceSavings).toEqual({
      percent: { percentage: 5, formatted: '5 %' },
      regularBulkPrice: gross(11.9, '11.90 €'),
    });
    const { customerSpecificPriceInfo: knife } = await product('KN-110');
    expect(knife[0].customerGroup).toBe('Staff');
    expect(tiers(knife[0].priceInfo)).toEqual([[1, 19.6]]);
    expect(tiers((await product('LA-110')).bulkPriceInfo)).toEqual([[10, 5.9]]);
    expect((await product('AP-110')).bulkPriceInfo).toEqual([]);
  });

  test('the price before a reduction, which the tea has and the cider has not', async () => {
    expect((await product('TE-110')).priceInfo).toMatchObject({
      price: gross(8.95, '8.95 €'),
      manufacturerPrice: gross(11.5, '11.50 €'),
      lowestPrice30Days: gross(10.95, '10.95 €'),
    });
    expect((await product('DR-120')).priceInfo.lowestPrice30Days).toBeNull();
    const { rows } = await service.db.pool.query(
      `select product_number as number, (price / 100.0)::float8 as price, valid_from::date::text as day
      from price_history join product using (shop_id, product_id)
      where product_number in ('TE-110', 'DR-120') order by number, valid_from`,
    );
    expect(rows).toEqual([
      { number: 'DR-120', price: 2.65, day: '2025-10-11' },
      { number: 'DR-120', price: 2.95, day: '2026-10-01' },
      { number: 'TE-110', price: 10.95, day: '2025-10-11' },
      { number: 'TE-110', price: 8.95, day: '2026-11-05' },
    ]);
  });

  test('tax classes', async () => {
    const classOf = async (number: string) => {
      const { name, percentage } = (await product(number)).priceInfo.taxClass;
      return [name, percentage];
    };
    expect(await classOf('CB-101')).toEqual(['reduced', 7]);
    expect(await classOf('KN-101')).toEqual(['standard', 19]);
    expect(await classOf('GI-110')).toEqual(['no VAT', 0]);
    expect(await classOf('BK-100')).toEqual(['eBooks', 7]);
    expect(await classOf('BK-110')).toEqual(['reduced', 7]);
    expect(await classOf('BK-120')).toEqual(['Digital products and services', 19]);
  });
});

describe('stock', () => {
  test.each([
    ['CB-101', 'OnStock', 'In stock', 120],
    ['CB-103', 'WarnStock', 'In stock', 8],
    ['CB-104', 'OutStock', 'Not in stock', 0],
    ['TE-120', 'OutStock', 'Not in stock', 0],
    ['DR-120', 'OutStock', 'Not in stock', -2],
    ['AP-120', 'WarnStock', 'In stock', 3],
    ['AP-110', 'OnStock', 'In stock<br />can be shipped within 3-5 days', 6],
    ['RO-100', 'OnStock', 'In stock', 850],
    ['BK-100', null, '', null],
    ['CB-100', null, '', null],
  ])('%s is %s', async (number, availability, availabilityText, stocklevel) => {
    expect(await product(number)).toMatchObject({ availability, availabilityText, stocklevel });
  });

  test('those that are out of stock and watched, the most wanted first', async () => {
    const { results, items } = await read('/watched-products', merchant);
    expect(results).toBe(3);
    expect(
      items.map((item: { productNumber: string; watchers: number }) => [item.productNumber, item.watchers]),
    ).toEqual([
      ['TE-120', 5],
      ['CB-104', 3],
      ['DR-120', 1],
    ]);
    const { rows } = await service.db.pool.query(
      `select count(*)::int as count from watcher where product_id = '${idOf('KN-120')}'`,
    );
    expect(rows).toEqual([{ count: 2 }]);
  });

  test('what changed of late', async () => {
    const changed = async (path: string) => {
      const { items } = await read(`/products/updated/${path}`, merchant);
      return items.map((entry: { item: { productNumber: string }; lastUpdated: string }) => [
        entry.item.productNumber,
        entry.lastUpdated,
      ]);
    };
    expect(await changed('attributes')).toEqual([['KN-110', '2026-11-14T08:30:00Z']]);
    expect(await changed('attributes?changedAfter=2026-10-01')).toEqual([
      ['KN-110', '2026-11-14T08:30:00Z'],
      ['BK-110', '2026-10-26T08:30:00Z'],
    ]);
    expect((await changed('stocklevel')).toSorted()).toEqual([
      ['CB-101', '2026-11-13T08:30:00Z'],
      ['CB-102', '2026-11-13T08:30:00Z'],
    ]);
  });
});

describe('specials', () => {
  test('order units', async () => {
    const unitOf = async (number: string, query = '') => {
      const { orderUnit, minOrder, intervalOrder, priceInfo } = await product(number, query);
      return [orderUnit, minOrder, intervalOrder, priceInfo.quantity.unit];
    };
    expect(await unitOf('DR-100')).toEqual(['piece(s)', 6, 6, 'piece(s)']);
    expect(await unitOf('DR-110')).toEqual(['crate(s)', 1, 1, 'crate(s)']);
    expect(await unitOf('DR-110', '?locale=de_DE')).toEqual(['Kasten', 1, 1, 'Kasten']);
    expect(await unitOf('RO-100')).toEqual(['meter(s)', 2, 0.5, 'm']);
    expect(await unitOf('GI-120')).toEqual(['pair(s)', 1, 1, 'pair(s)']);
  });

  test('the crate goes by freight or is fetched', async () => {
    const names = await Promise.all(
      (await product('DR-110')).shippingMethodsRestrictedTo.map(async ({ href }: { href: string }) => {
        const { name } = await read(href.slice(href.indexOf('/shipping-methods')));
        return name;
      }),
    );
    expect(names).toEqual(['Customer pickup', 'Freight']);
    expect((await product('DR-100')).shippingMethodsRestrictedTo).toBeNull();
  });

  test('the new knife, until its mark ends', async () => {
    const { isNew, newnessDate } = await product('KN-110');
    expect([isNew, newnessDate]).toEqual([true, '2026-12-15T08:30:00Z']);
    expect(await product('KN-100')).toMatchObject({ isNew: false, newnessDate: null });
  });

  test('offers, keywords, features, a number, a video, an engraving', async () => {
    expect(await product('TE-110')).toMatchObject({ specialOffer: true, isManufacturerPriceRRP: true });
    expect(await product('GI-120')).toMatchObject({
      specialOffer: true,
      manufacturer: null,
      priceInfo: { manufacturerPrice: gross(15, '15.00 €') },
    });
    expect(await product('TE-100')).toMatchObject({ searchKeywords: ['sencha', 'loose leaf'] });
    expect(await product('BK-110')).toMatchObject({ ean: '4012345678901', upc: null });
    expect((await product('KN-120')).videos).toEqual([{ type: 'YouTube', source: 'hh0Saltbox1' }]);
    expect(await product('GI-100')).toMatchObject({
      isCustomizable: true,
      customizableTextLength: 40,
      customizableHeadlineText: 'Your engraving',
    });
    expect((await product('GI-100', '?locale=fr_FR')).customizableHeadlineText).toBe('Votre gravure');
    expect(await product('BK-100')).toMatchObject({ deliveryWeight: null, isInWishlist: false });
    expect((await product('GI-110')).deliveryWeight).toEqual({ amount: 10, unit: 'g' });
    expect((await product('AP-110', '?locale=de_DE')).essentialFeatures).toBe(
      '15 bar, Messingkessel, Tank 1,8 l',
    );
  });

  test('all but two of the visible listed products say who makes them', async () => {
    const { items } = await read('/products?resultsPerPage=100');
    const makers = new Set<string>(
      items.map(({ manufacturer }: { manufacturer: string | null }) => String(manufacturer)),
    );
    expect([...makers].toSorted()).toEqual([
      'Beacon',
      'Fog Lane Teas',
      'Harbour Press',
      'Lantern Point',
      'Reefline',
      'Slipway Drinks',
      'Tidewater Roasters',
      'null',
    ]);
    const unmade = items.filter(({ manufacturer }: { manufacturer: string | null }) => manufacturer === null);
    expect(numbers({ items: unmade })).toEqual(['GI-120', 'GI-110']);
  });

  test('custom attributes of all six types', async () => {
    const attributes = async (number: string, query = '') => {
      const { items } = await read(`/products/${idOf(number)}/custom-attributes${query}`);
      return items.map(
        (item: { key: string; type: string; singleValue: boolean; values: { displayValue: string }[] }) => [
          item.key,
          item.type,
          item.singleValue,
          ...item.values.map(({ displayValue }) => displayValue),
        ],
      );
    };
    expect(await attributes('GI-100')).toEqual([
      ['Wood', 'string', true, 'Oak'],
      ['Finish', 'string', true, ''],
      ['Dishwasher', 'bool', true, 'false'],
      ['Care guide', 'url', true, 'https://harbour-hearth.example/care/driftwood'],
    ]);
    expect(await attributes('AP-110')).toEqual([
      ['Pressure', 'number', true, '15'],
      ['Release', 'datetime', true, '2025-09-01T08:00:00Z'],
      ['Warm-up', 'time', true, '00:02'],
    ]);
    expect((await attributes('LA-100', '?locale=de_DE')).at(-1)).toEqual([
      'Room',
      'string',
      false,
      'Wohnzimmer',
      'Schlafzimmer',
      'Kajüte',
    ]);
  });

  test('what goes well together', async () => {
    const together = async (number: string, query = '', token = reader) => {
      const path = `/products/${idOf(number)}/crossselling${query}`;
      const { manualCrossSellingTitle: title, embedded } = await read(path, token);
      return [title, ...numbers(embedded)];
    };
    expect(await together('AP-110')).toEqual(['Goes well with', 'CB-100', 'CB-200', 'AP-120']);
    expect(await together('KN-100', '?locale=de_DE')).toEqual(['Passt gut dazu', 'KN-110', 'KN-120']);
    expect(await together('GI-100')).toEqual(['Goes well with']);
    expect(await together('TE-100')).toEqual(['Goes well with', 'TE-110']);
    expect(await together('TE-100', '?includeInvisible=true', merchant)).toEqual([
      'Goes well with',
      'TE-110',
      'ZZ-100',
    ]);
  });

  test('three of four lanterns exist', async () => {
    const variations = async (number: string) => {
      const { results, items, variationAttributes } = await read(`/products/${idOf(number)}/variations`);
      const selections = items.map(({ attributeSelection }: { attributeSelection: { value: string }[] }) =>
        attributeSelection.map(({ value }) => value).join(', '),
      );
      return [results, variationAttributes.map(({ name }: { name: string }) => name), selections];
    };
    expect(await variations('LA-100')).toEqual([
      3,
      ['Colour', 'Size'],
      ['Brass, Small', 'Brass, Large', 'Slate, Small'],
    ]);
    expect(await variations('CB-100')).toEqual([
      4,
      ['Weight', 'Roast'],
      ['250 g, Medium', '500 g, Medium', '1 kg, Medium', '250 g, Dark'],
    ]);
    expect(await variations('KN-100')).toEqual([2, ['Blade'], ['16 cm', '20 cm']]);
  });

  test('the ground coffee has no variations', async () => {
    expect(await status(`/products/${idOf('CB-200')}/variations`)).toBe(404);
  });

  test('a variation leads to its master', async () => {
    const { links, productVariationMasterName, productVariationSelection } = await product('LA-103');
    const base = 'http://localhost:80/rs/shops/DemoShop/products';
    expect(links).toContainEqual({ rel: 'master', href: `${base}/${idOf('LA-100')}` });
    expect(links).toContainEqual({ rel: 'variations', href: `${base}/${idOf('LA-100')}/variations` });
    expect(productVariationMasterName).toBe('Lantern Point Lamp');
    expect(productVariationSelection).toMatchObject([
      { name: 'Colour', value: 'Slate' },
      { name: 'Size', value: 'Small' },
    ]);
  });

  test('product types with their attributes', async () => {
    const { items } = await read('/producttypes', merchant);
    const types = await Promise.all(
      items.map(async ({ productTypeId, alias }: { productTypeId: string; alias: string }) => {
        const { attributes } = await read(`/producttypes/${productTypeId}`, merchant);
        return [alias, attributes.map(({ name }: { name: string }) => name)];
      }),
    );
    expect(Object.fromEntries(types)).toEqual({
      Default: [],
      Coffee: ['Weight', 'Roast'],
      Knife: ['Blade'],
      Lamp: ['Colour', 'Size'],
      Board: ['Wood', 'Finish'],
    });
    const typeOf = async (number: string) => {
      const link = (await product(number)).links.find(({ rel }: { rel: string }) => rel === 'producttype');
      const { alias } = await read(link.href.slice(link.href.indexOf('/producttypes')), merchant);
      return alias;
    };
    expect(await typeOf('CB-101')).toBe('Coffee');
    expect(await typeOf('CB-200')).toBe('Default');
    expect(await typeOf('KN-110')).toBe('Default');
    expect(await typeOf('LA-103')).toBe('Lamp');
    expect(await typeOf('GI-100')).toBe('Board');
  });

  test('safety data of the manufacturer, of the product, and none of food', async () => {
    expect((await product('AP-100')).safetyInfo).toEqual({
      manufacturer: {
        name: 'Beacon Appliances Ltd',
        address: '4 Quay Road\nDover CT17 9DQ\nUnited Kingdom',
        contact: 'https://beacon.example.org/safety',
      },
      responsiblePerson: {
        name: 'Harbour Imports GmbH',
        address: 'Kaistraße 4\n20457 Hamburg\nGermany',
        contact: 'safety@harbour-imports.example.org',
      },
      text: 'Unplug before cleaning. Keep the appliance and its cable out of the reach of children under 8 years.',
    });
    const knife = (await product('KN-101', '?locale=de_DE')).safetyInfo;
    expect([knife.manufacturer.name, knife.text]).toEqual([
      'Reefline Messer und Tauwerk GmbH',
      'Sehr scharf. Von Kindern fernhalten und vom Körper weg schneiden.',
    ]);
    expect((await product('GI-120')).safetyInfo.manufacturer.name).toBe('Strickerei Ankerplatz');
    expect(await product('TE-100')).not.toHaveProperty('safetyInfo');
  });

  test('the day on which a product arrives', async () => {
    const delivery = async (number: string) => {
      const page = await givenVisitor(service, 'DemoShop').get(`/Products/${number}`);
      return /Expected delivery[^<]*/.exec(page.text)?.[0].replaceAll('\u2009', ' ');
    };
    expect(await delivery('AP-100')).toBe('Expected delivery: Wed 18 November – Thu 19 November');
    // Its own three to five days come first.
    expect(await delivery('AP-110')).toBe('Expected delivery: Mon 23 November – Thu 26 November');
    expect(await delivery('DR-110')).toBe('Expected delivery: Thu 19 November – Wed 25 November');
    expect(await delivery('TE-120')).toBeUndefined();
  });

  test('Ada Brennan belongs to the group Cafes', async () => {
    const { rows } = await service.db.pool.query(
      `select customer_number as number, name from customer join customer_group using (shop_id, customer_group_id)`,
    );
    expect(rows).toEqual([{ number: '1001', name: 'Cafes' }]);
  });
});

describe('coupons', () => {
  const campaigns = async () => {
    const { rows } = await service.db.pool.query<{ id: string }>(`
      select campaign_id as id from coupon_campaign where shop_id = 'DemoShop' order by identifier`);
    return Promise.all(rows.map(({ id }) => read(`/coupon-campaigns/${id}`, merchant)));
  };
  const method = async (table: 'shipping' | 'payment', key: string) => {
    const { rows } = await service.db.pool.query<{ id: string }>(
      `select upper(${table}_method_id::text) as id from ${table}_method where shop_id = 'DemoShop' and key = $1`,
      [key],
    );
    return rows[0]!.id;
  };
  const minimum = (amount: number, formatted: string) => ({
    taxType: 'NONE',
    formatted,
    amount,
    currency: 'EUR',
  });

  test('ten campaigns, all in euros', async () => {
    const unbounded = { currency: 'EUR', minimumOrderValue: null };
    const type = (name: string, amount: number, waiveShippingCosts = false) => ({
      name,
      waiveShippingCosts,
      amount,
    });
    const answers = (await campaigns()).map(({ campaignId, name, links, ...rest }) => {
      expect(links).toEqual([
        { rel: 'self', href: expect.stringContaining(`/coupon-campaigns/${campaignId}`) },
      ]);
      expect(name).toEqual(expect.any(String));
      return rest;
    });
    expect(answers).toEqual([
      {
        ...unbounded,
        identifier: 'advance_only',
        type: type('FIX', 2),
        paymentMethodIds: [await method('payment', 'advance')],
      },
      { ...unbounded, identifier: 'autumn_15', type: type('PERCENT', 15) },
      {
        ...unbounded,
        identifier: 'free_freight',
        type: { name: 'SHIPPING', waiveShippingCosts: true },
        minimumOrderValue: minimum(30, '30.00 €'),
      },
      {
        ...unbounded,
        identifier: 'knives_only',
        type: type('PERCENT', 10),
        productIds: ['KN-100', 'KN-101', 'KN-102', 'KN-110', 'KN-120'].map(idOf),
      },
      {
        ...unbounded,
        identifier: 'old_news',
        type: type('PERCENT', 50),
        validFrom: '2026-08-17T08:30:00Z',
        validTo: '2026-09-16T08:30:00Z',
      },
      { ...unbounded, identifier: 'one_shot', type: type('FIX', 10), usageLimit: 1 },
      {
        ...unbounded,
        identifier: 'pickup_only',
        type: type('FIX', 3),
        shippingMethodIds: [await method('shipping', 'pickup')],
      },
      { ...unbounded, identifier: 'recalled', type: type('FIX', 10) },
      {
        ...unbounded,
        identifier: 'summer_sale',
        type: type('FIX', 20),
        minimumOrderValue: minimum(60, '60.00 €'),
      },
      { ...unbounded, identifier: 'vip_combo', type: type('FIX', 5, true) },
    ]);
  });

  test('their codes, of which one is used up and one recalled', async () => {
    const { rows } = await service.db.pool.query(`
      select identifier, code, coupon.used, campaign.used as "campaignUsed", withdrawn_at as withdrawn
      from coupon join coupon_campaign campaign using (shop_id, campaign_id)
      where shop_id = 'DemoShop' order by identifier, code`);
    const fresh = { used: 0, campaignUsed: 0, withdrawn: null };
    const ordered = { ...fresh, used: 1, campaignUsed: 1 };
    expect(rows).toEqual([
      { ...fresh, identifier: 'advance_only', code: 'PREPAY2' },
      { ...ordered, identifier: 'autumn_15', code: 'AUTUMN15' },
      { ...ordered, identifier: 'free_freight', code: 'SHIPFREE' },
      { ...fresh, identifier: 'knives_only', code: 'SHARP10' },
      { ...fresh, identifier: 'old_news', code: 'OLDNEWS' },
      { ...ordered, identifier: 'one_shot', code: 'ONESHOT' },
      { ...fresh, identifier: 'pickup_only', code: 'COLLECT3' },
      { ...fresh, identifier: 'recalled', code: 'RECALLED', withdrawn: now },
      { ...ordered, identifier: 'summer_sale', code: 'SUMMER20' },
      { ...fresh, identifier: 'summer_sale', code: 'SUMMER20B', campaignUsed: 1 },
      { ...fresh, identifier: 'vip_combo', code: 'VIPCOMBO' },
    ]);
  });

  test('a settings file that was exported changes nothing', async () => {
    const file = await exportSettings(service.db, 'DemoShop', settingsFormat);
    expect(file.couponCampaigns).toHaveLength(10);
    expect(file.invoicing).toMatchObject({
      street: 'Speicherweg 4',
      bank: { iban: 'DE02120300000000202051' },
      paymentDays: 14,
      electronic: true,
    });
    const { changes } = await service.db.transaction((tx) =>
      applySettings(tx, 'DemoShop', file, settingsFormat),
    );
    expect(changes).toEqual([]);
  });

  test('audio and eBooks are not shipped', async () => {
    const { taxClasses } = await exportSettings(service.db, 'DemoShop');
    expect(taxClasses!.filter(({ digital }) => digital).map(({ key }) => key)).toEqual(['digital', 'ebooks']);
  });
});

describe('files', () => {
  interface Slide {
    name: string;
    sizes: { url: string | null; classifier: string }[];
  }
  const slides = async (number: string): Promise<Slide[]> =>
    (await read(`/products/${idOf(number)}/slideshow`, merchant)).items;
  const fetched = (url: string) => service.app.inject(url.replace('http://localhost:80', ''));

  test('two pictures of each visible product in all sizes, and each of them is there', async () => {
    const own = ['AP-110', 'GI-110', 'ZZ-100'];
    const shown = [...LISTED.flat(), 'LA-101', 'LA-102', 'LA-103'].filter((number) => !own.includes(number));
    let files = 0;
    for (const number of [...shown, 'AP-110']) {
      const items = await slides(number);
      const wanted = number === 'AP-110' ? [1, 2, 3, 4] : [1, 2];
      expect(items.map(({ name }) => name)).toEqual(wanted.map((place) => `${number}_${place}.png`));
      for (const { url, classifier } of items.flatMap(({ sizes }) => sizes)) {
        if (url === null) continue;
        const { statusCode, headers, rawPayload } = await fetched(url);
        expect([number, classifier, statusCode, headers['content-type']]).toEqual([
          number,
          classifier,
          200,
          'image/png',
        ]);
        expect(rawPayload.subarray(1, 4).toString()).toBe('PNG');
        files++;
      }
    }
    expect(files).toBe(54 * 7 - 1);
    expect(await slides('GI-110')).toEqual([]);
    expect(await slides('ZZ-100')).toEqual([]);
  });

  test('the first picture is the main one, which variations inherit unless they have their own', async () => {
    const image = async (number: string) => {
      const { productImage, images } = await product(number);
      const large = images.find(({ classifier }: { classifier: string }) => classifier === 'Large');
      return [productImage, large?.width, large?.height];
    };
    expect(await image('CB-100')).toEqual(['CB-100_1.png', 800, 600]);
    expect(await image('CB-104')).toEqual(['CB-100_1.png', 800, 600]);
    expect(await image('LA-103')).toEqual(['LA-103_1.png', 800, 600]);
    expect(await image('GI-110')).toEqual([null, undefined, undefined]);
  });

  test('one size of the second knife is missing', async () => {
    const missing = (await slides('KN-100')).flatMap(({ name, sizes }) =>
      sizes.flatMap(({ url, classifier }) => (url === null ? [[name, classifier]] : [])),
    );
    expect(missing).toEqual([['KN-100_2.png', 'MediumLarge']]);
  });

  test('the category Coffee has a picture, the others have none', async () => {
    const { rows } = await service.db.pool.query<{ alias: string; id: string }>(
      `select alias, category_id as id from category where shop_id = 'DemoShop' and visible`,
    );
    for (const { alias, id } of rows) {
      const { images } = await read(`/categories/${id}`);
      expect([alias, images.length]).toEqual([alias, alias === 'coffee' ? 5 : 0]);
      for (const { url, fileSize } of images) {
        expect((await fetched(url)).rawPayload).toHaveLength(fileSize);
      }
    }
  });

  test.each([
    ['AP-100', 'A', 'A'],
    ['AP-110', 'B,D', 'A'],
    ['LA-110', 'E', 'A'],
  ])('the energy label of %s is there', async (number, energyLabelsString, best) => {
    const body = await product(number);
    expect(body).toMatchObject({ energyLabelsString, energyLabelsMaxEfficiencyString: best });
    const { statusCode, headers } = await fetched(body.energyLabelSourceFile);
    expect([statusCode, headers['content-type']]).toEqual([200, 'image/png']);
  });

  test('no other product has a label', async () => {
    expect(await product('KN-110')).toMatchObject({ energyLabelsString: null, energyLabelSourceFile: null });
  });

  test('the data sheet of the kettle is a PDF', async () => {
    const { productDataSheet } = await product('AP-100');
    const { statusCode, headers, rawPayload } = await fetched(productDataSheet);
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/pdf']);
    expect(headers['content-disposition']).toBe('attachment');
    const text = rawPayload.toString('latin1');
    expect(text.slice(0, 8)).toBe('%PDF-1.4');
    expect(text).toContain('(Beacon Kettle 1.7 l) Tj');
    const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)![1]);
    expect(text.slice(start, start + 9)).toBe('xref\n0 6\n');
    const places = [...text.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, place]) => Number(place));
    expect(places.map((place) => text.slice(place, place + 7))).toEqual(
      [1, 2, 3, 4, 5].map((number) => `${number} 0 obj`),
    );
  });

  test('the logo', async () => {
    const { logoUrl } = await read('');
    expect(logoUrl).toBe('http://localhost:80/media/DemoShop/files/logo.png');
    expect((await fetched(logoUrl)).statusCode).toBe(200);
  });

  test('the hourly sweep leaves all of them', async () => {
    const before = await slides('TE-100');
    service.setClock(new Date(Date.now() + 7_200_000));
    expect(
      await mediaCleanup(openMediaStorage(service.config), {
        config: service.config,
        log: pino({ level: 'silent' }),
      }).run(service.db, 1_000),
    ).toBeGreaterThan(0);
    service.setClock(now);
    const { logoUrl } = await read('');
    const { images } = await product('AP-110');
    for (const url of [logoUrl, before[1]!.sizes[0]!.url, images[0].url]) {
      expect((await fetched(url)).statusCode).toBe(200);
    }
  });
});

test('the shop without files names none', async () => {
  const plain = await startDemo({}, now);
  const { rows } = await plain.db.pool.query(
    `select (select count(*)::int from product_image) as images,
      (select count(*)::int from product where facts ?| '{energyLabel,dataSheet}' or main_image is not null) as named,
      (select count(*)::int from category where image_key is not null) as pictures,
      (select count(*)::int from shop where settings ->> 'logoUrl' is not null) as logos`,
  );
  await plain.close();
  expect(rows).toEqual([{ images: 0, named: 0, pictures: 0, logos: 0 }]);
});

test('orders show the pictures of their products, also of variations', async () => {
  const { rows } = await service.db.pool.query<{ lines: number; pictures: number; variations: number }>(`
    select count(*)::int as lines, count(nullif(line -> 'image', 'null'))::int as pictures,
      count(*) filter (where product.master_id is not null and line -> 'image' <> 'null')::int as variations
    from customer_order cross join jsonb_array_elements(content -> 'lines') as line
    join product on product.shop_id = customer_order.shop_id and product.product_id = (line ->> 'productId')::uuid
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where customer_order.shop_id = 'DemoShop' and coalesce(product.main_image, master.main_image) is not null`);
  const [{ lines, pictures, variations }] = rows as [(typeof rows)[number]];
  expect(lines).toBeGreaterThan(10);
  expect(pictures).toBe(lines);
  expect(variations).toBeGreaterThan(0);
});

test('of two processes that create the shop, one does', async () => {
  const first = await startService();
  const second = await startService({}, first);
  const made = await Promise.all([first, second].map(({ db, config }) => createDemoShops(db, config)));
  await second.close();
  await first.close();
  expect(new Set(made.map((access) => access?.token))).toEqual(new Set(['demo-all', undefined]));
});

test('files are added to what somebody has changed since the shop was made', async () => {
  const plain = await startDemo({}, now);
  const { db, config } = plain;
  await db.pool.query(`delete from product where product_number = 'TE-100'`);
  await db.pool.query(`update shop set settings = settings || '{"logoUrl": "https://logo.example/own.png"}'
    where shop_id = 'DemoShop'`);
  const before = (
    await plain.call('POST', '/DemoShop/products/find', {
      token: reader,
      body: { productNumber: 'AP-100' },
    })
  ).body.items[0];
  expect(before).toMatchObject({ images: [], productImage: null, energyLabelsString: null });
  await addDemoFiles(db, config, 'DemoShop');
  const after = (await plain.call('GET', `/DemoShop/products/${before.productId}`, { token: reader })).body;
  expect(after).toMatchObject({ productImage: 'AP-100_1.png', energyLabelsString: 'A' });
  const { logoUrl } = (await plain.call('GET', '/DemoShop', { token: reader })).body;
  expect(logoUrl).toBe('https://logo.example/own.png');
  const { rows } = await db.pool.query(`select count(*)::int as images from product_image`);
  expect(rows).toEqual([{ images: 52 }]);
  const changed = await plain.call('GET', '/DemoShop/products/updated/attributes', { token: merchant });
  expect(changed.body.results).toBe(1);
  await plain.close();
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WITHDRAWAL_EXCLUSIONS } from './facts.ts';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { statementsOf } from '../../../test/carts.ts';
import { SEED } from '../../../test/seed.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { knownColumns } from './csv-mapping.ts';
import { productText } from './export.ts';
import { FileProblem } from './file-problem.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { textFile } from './csv-file.ts';
import { importFile } from './import.ts';
import { importPictures } from './import-pictures.ts';
import { refreshListing } from './listing.ts';

let service: Service;
let token: string;
let folder: string;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-csv-'));
});
beforeEach(async () => {
  await service.db.run(sql`delete from shop`);
  service.setClock(undefined);
  for (const shopId of ['Harbour', 'Quay']) {
    await givenShop(service, shopId);
    await service.db.transaction((tx) =>
      applySettings(tx, shopId, {
        locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
        currencies: { default: 'EUR', items: ['EUR', 'GBP'], rates: { GBP: 0.85 } },
        shippingMethods: [
          { key: 'post', name: 'Post', kind: 'flat', price: 5 },
          { key: 'pickup', name: 'Pickup', kind: 'pickup' },
        ],
      }),
    );
  }
  token = await givenToken(service, 'Harbour');
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const call = (method: string, place: string, body?: unknown) =>
  service.call(method, `/Harbour${place}`, { token, body });

async function given(facts: object, changes: object[] = [], query = ''): Promise<string> {
  const { body } = await call('POST', '/products', { visible: true, ...facts });
  if (changes.length > 0) {
    const { status } = await call('PATCH', `/products/${body.productId}${query}`, changes);
    expect(status).toBe(200);
  }
  return body.productId;
}

const add = (place: string, value: unknown) => ({ op: 'add', path: place, value });

async function exported(query = '', shopId = 'Harbour', as = token): Promise<string> {
  const answer = await service.call('GET', `/${shopId}/products/export${query}`, { token: as });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('text/csv');
  expect(answer.headers['x-epages-media-type']).toBe('application/vnd.epages.v1+csv');
  return answer.text;
}

const cells = (text: string) => parse(text, { delimiter: ';' });

let files = 0;
async function imported(text: string | Buffer, shopId = 'Harbour', visible = true, isCheck = false) {
  const file = path.join(folder, `${++files}.csv`);
  await writeFile(file, text);
  const { newCategories, problems, ...report } = await importFile(service.db, file, {
    shopId,
    visible,
    isCheck,
  });
  return {
    ...report,
    problems: problems.map(({ line, text: problem }) => ({ line, text: problem })),
    ...(newCategories.length > 0 && { newCategories }),
  };
}

/** Everything that an import could touch. */
const everything = () =>
  Promise.all(
    ['product', 'price_history', 'listing', 'category_listing', 'listing_size', 'product_type', 'shop'].map(
      async (table) =>
        (await service.db.pool.query(`select to_jsonb(t)::text as row from ${table} t order by 1`)).rows,
    ),
  );

/** A generator of whole numbers below a bound. */
function newRandom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

type Random = ReturnType<typeof newRandom>;
const NOUNS = ['Anchor', 'Buoy', 'Compass', 'Lantern', 'Rope'];
const PATHS = ['', 'Deck', 'Deck > Ropes', 'Cabin > Lamps | Sale', 'Sale', 'Cabin'];
const of = <Entry>(entries: readonly Entry[], random: Random) => entries[random(entries.length)]!;

/** Every sixth is a variation of the one before it. Each has another price, so that every list has one order. */
function newFileRow(index: number, random: Random) {
  const isVariation = index % 6 === 5;
  return {
    Alias: `N-${index}`,
    SuperProduct: isVariation ? `N-${index - 1}` : '',
    Class: of(['Default', 'Gear'], random),
    'Name/en': `${of(NOUNS, random)} ${index}`,
    'Name/de': random(2) === 0 ? '' : `${of(NOUNS, random)}, klein`,
    'Text/en': `<p>A ${of(NOUNS, random).toLowerCase()} for every boat</p>`,
    'ListPrices/EUR/gross': `${100 + index}.00`,
    Manufacturer: of(['', 'Tide', 'Beacon'], random),
    // Some rows are refused.
    StockLevel: of(['', '0', '3', '25', 'many'], random),
    MinStock: of(['', '5'], random),
    Visible: of(['1', '1', '0'], random),
    Categories: isVariation ? '' : of(PATHS, random),
  };
}

/** A third of the rows stays as it is, others change in one respect. */
function changedFileRow(row: ReturnType<typeof newFileRow>, random: Random): typeof row {
  const price = Number(row['ListPrices/EUR/gross']) + of([-40, 40], random) + random(100) / 100;
  const changes: Partial<typeof row>[] = [
    {},
    {},
    {},
    { 'ListPrices/EUR/gross': price.toFixed(2) },
    { StockLevel: String(random(30)) },
    { Visible: row.Visible === '1' ? '0' : '1' },
    { 'Name/en': `${of(NOUNS, random)} ${row.Alias}` },
    { 'Text/en': `<p>Another ${of(NOUNS, random).toLowerCase()}</p>` },
    { Categories: row.SuperProduct === '' ? of(PATHS, random) : '' },
  ];
  return { ...row, ...of(changes, random) };
}

/** Everything that follows from the products of a shop. Numbers and aliases stand for ids, and times are left out. */
async function contentOf(shopId: string, as: string) {
  const inCategories = (table: string) => `
    select alias, locale, product_number, entry.visible, entry.name, entry.price from ${table} entry
    join category using (shop_id, category_id) join product using (shop_id, product_id) where shop_id = $1`;
  const statements = [
    `select product.product_number, product.kind, master.product_number as master, product.selection, product.visible,
      product.stock, product.min_stock, product.prices, product.facts, alias,
      product.attributes_changed_at is null as attributes_same, product.stock_changed_at is null as stock_same
    from product left join product_type using (shop_id, product_type_id)
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where product.shop_id = $1`,
    `select product_number, currency, array_agg(price order by valid_from) as history
    from price_history join product using (shop_id, product_id) where shop_id = $1 group by product_number, currency`,
    `select product_number, locale, listing.visible, name, price, text, words, listing.facets
    from listing join product using (shop_id, product_id) where shop_id = $1`,
    `select product_number, alias, product_category.position from product_category
    join product using (shop_id, product_id) join category using (shop_id, category_id) where shop_id = $1`,
    inCategories('category_listing'),
    inCategories('subcategory_listing'),
    `select alias, listing_size.visible, products, products_below
    from listing_size left join category using (shop_id, category_id)
    where shop_id = $1 and (products, products_below) <> (0, 0)`,
    'select locale, word from listing_word where shop_id = $1',
    'select alias, number, position, name, visible from category where shop_id = $1',
    // A master has an event for each file that adds variations to it.
    `select distinct product_number, type, jsonb_array_elements_text(coalesce(data -> 'changed', '[""]')) as field
    from event join product on product.shop_id = event.shop_id and product.product_id = event.resource_id
    where event.shop_id = $1`,
  ];
  const rows = async (statement: string) => {
    const found = await service.db.pool.query(
      `select to_jsonb(entry)::text as row from (${statement}) entry order by 1`,
      [shopId],
    );
    return found.rows.map(({ row }: { row: string }) => row);
  };
  const answer = async (method: string, place: string, body?: object) => {
    const { status, text } = await service.call(method, `/${shopId}${place}`, { token: as, body });
    expect(status).toBe(200);
    const anonymous = text.replaceAll(/[\dA-F]{8}(?:-[\dA-F]{4}){3}-[\dA-F]{12}/gi, 'ID');
    return anonymous.replaceAll(shopId, 'SHOP');
  };
  return Promise.all([
    ...statements.map(rows),
    answer('GET', '/products?resultsPerPage=100&sort=name'),
    answer('GET', '/products?resultsPerPage=50&page=2&sort=price&direction=desc'),
    answer('GET', '/products/export'),
    answer('GET', '/categories'),
    answer('POST', '/search/products', { query: 'boat' }),
    answer('POST', '/search/products', { query: 'anchor' }),
  ]);
}

const KEYS = `Class Alias ListPrices/EUR/gross ListPrices/GBP/gross ManufacturerPrices/EUR/gross
  ManufacturerPrices/GBP/gross RefUnit RefAmount RefContentAmount Manufacturer ManufacturerSKU UPCEAN StockLevel
  DeliveryPeriod WeightUnit Weight Length Height Width ShippingMethods Name/en Name/de URI/en URI/de Description/en
  Description/de Text/en Text/de Keywords/en Keywords/de MainCharacteristics/en MainCharacteristics/de
  AvailabilityDate ExpiryDate IsBundleProduct SuperProduct`.split(/\s+/);

async function givenEverything(): Promise<void> {
  const [post] = (await call('GET', '/shipping-methods')).body;
  await given(
    {
      productNumber: 'TC-1',
      name: 'Tide; "Clock"',
      price: 89.5,
      manufacturerPrice: 99,
      shortDescription: 'Line one\r\nline two',
      description: '<p>Größe: 5 ″</p>',
      essentialFeatures: 'a\nb',
      stocklevel: 7.5,
      manufacturer: 'Lantern, Point',
      deliveryPeriod: '3-5',
      deliveryWeight: { amount: 1.25, unit: 'kg' },
      searchKeywords: ['loose, leaf', 'back\\slash', 'tide'],
    },
    [
      add('/referencePriceInfo', { refAmount: 100, refUnit: 'gram', refContentAmount: 250 }),
      add('/manufacturerProductNumber', '=1+1'),
      add('/productCode', '00123'),
      add('/productLength', 120),
      add('/productWidth', 80.5),
      add('/productHeight', 30),
      add('/shippingMethodsRestrictedTo', [post.shippingMethodId]),
    ],
  );
  const clock = await call('POST', '/products/find', { productNumber: 'TC-1' });
  await call('PATCH', `/products/${clock.body.items[0].productId}?locale=de_DE&currency=GBP`, [
    add('/name', 'Gezeitenuhr'),
    add('/priceInfo/price/amount', 80),
  ]);
  const lamp = await given({ productNumber: 'LA', name: 'Lamp', price: 79 });
  await call('POST', `/products/${lamp}/variations`, {
    productType: 'Default',
    visibleAfterCreation: true,
    variationAttributes: [{ name: 'Size', values: [{ value: 'S' }, { value: 'L' }] }],
  });
  await given({ productNumber: 'HIDDEN', name: 'Hidden', visible: false });
}

describe('the export', () => {
  test('has its columns for the currencies and languages of the shop', async () => {
    await givenEverything();
    const [header, ...rows] = cells(await exported());
    expect(header!.map((cell) => /\[(.+)\]$/.exec(cell)![1])).toEqual(KEYS);
    expect(header!.slice(0, 4)).toEqual([
      'Type [Class]',
      'ID [Alias]',
      'List price/EUR/gross [ListPrices/EUR/gross]',
      'List price/GBP/gross [ListPrices/GBP/gross]',
    ]);
    expect(header!.slice(20, 22)).toEqual(['Name/English [Name/en]', 'Name/Deutsch [Name/de]']);
    expect(header![33]).toBe('Date for "For sale until" [ExpiryDate]');
    const german = cells(await exported('?locale=de_DE'))[0]!;
    expect(german[2]).toBe('Listenpreis/EUR/gross [ListPrices/EUR/gross]');
    expect(rows.map((row) => [row[1], row[35]])).toEqual([
      ['TC-1', ''],
      ['LA', ''],
      ['HIDDEN', ''],
      ['LA-1', 'LA'],
      ['LA-2', 'LA'],
    ]);
    expect(Object.fromEntries(rows[0]!.map((cell, place) => [KEYS[place], cell]))).toEqual({
      Class: 'Default',
      Alias: 'TC-1',
      'ListPrices/EUR/gross': '89.50',
      'ListPrices/GBP/gross': '80.00',
      'ManufacturerPrices/EUR/gross': '99.00',
      'ManufacturerPrices/GBP/gross': '',
      RefUnit: 'gram',
      RefAmount: '100',
      RefContentAmount: '250',
      Manufacturer: 'Lantern, Point',
      ManufacturerSKU: "'=1+1",
      UPCEAN: '00123',
      StockLevel: '7.5',
      DeliveryPeriod: '3-5',
      WeightUnit: 'kilogram',
      Weight: '1.25',
      Length: '120',
      Height: '30',
      Width: '80.5',
      ShippingMethods: 'post',
      'Name/en': 'Tide; "Clock"',
      'Name/de': 'Gezeitenuhr',
      'URI/en': '',
      'URI/de': '',
      'Description/en': 'Line one\r\nline two',
      'Description/de': '',
      'Text/en': '<p>Größe: 5 ″</p>',
      'Text/de': '',
      'Keywords/en': 'loose\\, leaf,back\\\\slash,tide',
      'Keywords/de': '',
      'MainCharacteristics/en': 'a\nb',
      'MainCharacteristics/de': '',
      AvailabilityDate: '',
      ExpiryDate: '',
      IsBundleProduct: '0',
      SuperProduct: '',
    });
  });

  test('needs its own scope, and has a file for an empty shop', async () => {
    const reader = await givenToken(service, 'Harbour', ['products_read', 'products_write']);
    expect((await service.call('GET', '/Harbour/products/export', { token: reader })).status).toBe(403);
    expect((await service.call('GET', '/Harbour/products/export')).status).toBe(401);
    expect(cells(await exported())).toHaveLength(1);
  });

  test('goes through more products than are read at once', async () => {
    const rows = Array.from({ length: 1_203 }, (_, n) => `N-${n};Product ${n}`);
    expect(await imported(`Alias;Name/en\n${rows.join('\n')}\n`)).toMatchObject({
      created: 1_203,
      problems: [],
    });
    const numbers = cells(await exported())
      .slice(1)
      .map((row) => row[1]);
    expect(new Set(numbers).size).toBe(1_203);
  });
});

describe('the import', () => {
  test('of an export changes nothing', async () => {
    await givenEverything();
    const before = await everything();
    expect(await imported(await exported())).toEqual({ created: 0, changed: 0, unchanged: 5, problems: [] });
    expect(await everything()).toEqual(before);
  });

  test('of an export into another shop gives the same export', async () => {
    await givenEverything();
    const quayToken = await givenToken(service, 'Quay');
    const text = await exported();
    expect(await imported(text, 'Quay')).toMatchObject({ created: 5, problems: [] });
    const sorted = (file: string) => file.split('\n').toSorted((left, right) => (left < right ? -1 : 1));
    expect(sorted(await exported('', 'Quay', quayToken))).toEqual(sorted(text));
    const found = await service.call('POST', '/Quay/products/find', {
      token: quayToken,
      body: { productNumber: 'LA-1' },
    });
    expect(found.body.items[0]).toMatchObject({
      productVariationType: 'variation',
      productVariationMasterName: 'Lamp',
      priceInfo: { price: { amount: 79 } },
    });
    const { items, results } = (await service.call('GET', '/Quay/products', { token: quayToken })).body;
    expect([results, items.map(({ name }: { name: string }) => name)]).toEqual([
      3,
      ['Hidden', 'Lamp', 'Tide; "Clock"'],
    ]);
  });

  test('changes only what the file has columns for', async () => {
    await givenEverything();
    const text = 'Alias;ListPrices/EUR/gross;StockLevel\nTC-1;75;0\nNEW;3.333;\n';
    expect(await imported(text)).toEqual({ created: 1, changed: 1, unchanged: 0, problems: [] });
    const product = async (productNumber: string) =>
      (await call('POST', '/products/find', { productNumber })).body.items[0];
    expect(await product('TC-1')).toMatchObject({
      name: 'Tide; "Clock"',
      stocklevel: 0,
      manufacturer: 'Lantern, Point',
      priceInfo: { price: { amount: 75 }, lowestPrice30Days: { amount: 89.5 } },
    });
    expect(await product('NEW')).toMatchObject({
      name: 'NEW',
      visible: true,
      priceInfo: { price: { amount: 3.33 } },
    });
    expect((await call('GET', '/products?q=new')).body.results).toBe(1);
    const { items } = (await call('GET', '/products/updated/stocklevel')).body;
    expect(items.map(({ item }: { item: { productNumber: string } }) => item.productNumber)).toEqual([
      'TC-1',
    ]);
  });

  test('reports bad rows with their lines and keeps the others', async () => {
    await given({ productNumber: 'OLD', name: 'Old' });
    const header =
      'Alias;ListPrices/EUR/gross;Weight;WeightUnit;ShippingMethods;ExpiryDate;SuperProduct;Name/en';
    const rows = [
      'GOOD;1;;;;;;Good',
      ';1;;;;;;No number',
      'A;much;;;;;;',
      'B;1;heavy;;;;;',
      'C;1;1;metre;;;;',
      'D;1;;;rocket;;;',
      'E;1;;;;2026-02-30;;',
      'F;1;;;;;NOBODY;',
      '"G\n2";1;;;;;;',
      'GOOD;2;;;;;;Again',
      `${'x'.repeat(101)};1;;;;;;`,
      'OLD;;;;;;GOOD;',
      'LAST;;;;;2027-01-01;;Last',
    ];
    const report = await imported(`${header}\n${rows.join('\n')}\n`);
    expect(report).toEqual({
      created: 2,
      changed: 0,
      unchanged: 0,
      problems: [
        { line: 3, text: 'Alias is empty' },
        { line: 4, text: 'ListPrices/EUR/gross is much, which is no price' },
        { line: 5, text: 'Weight is heavy, which is no number from 0 to 1000000000' },
        { line: 6, text: 'WeightUnit is metre, which is no unit of weight' },
        { line: 7, text: 'ShippingMethods is rocket, which is no shipping method of the shop' },
        { line: 8, text: 'ExpiryDate is 2026-02-30, which is no date such as 2026-11-15T08:30:00Z' },
        { line: 9, text: 'SuperProduct NOBODY is unknown' },
        { line: 11, text: 'Alias holds control characters' },
        { line: 12, text: 'Alias GOOD is in line 2 already' },
        { line: 13, text: 'Alias is longer than 100 characters' },
        { line: 14, text: 'SuperProduct is another than that of the product' },
      ],
    });
    const { items } = (await call('GET', '/products')).body;
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['Good', 'Last', 'Old']);
  });

  test('variations may stand before their master, and product types are made', async () => {
    const text = 'Class;Alias;SuperProduct;Name/en;StockLevel\nShoe;V2;M;;2\nShoe;V1;M;;1\nShoe;M;;Boot;5\n';
    expect(await imported(text)).toMatchObject({ created: 3, problems: [] });
    const { body } = await call('POST', '/products/find', { productNumber: 'M' });
    expect(body.items[0]).toMatchObject({ productVariationType: 'master', stocklevel: null });
    const variations = await call('GET', `/products/${body.items[0].productId}/variations`);
    expect(variations.body.results).toBe(2);
    const types = (await call('GET', '/producttypes')).body.items;
    expect(types.map(({ alias }: { alias: string }) => alias).toSorted()).toEqual(['Default', 'Shoe']);
  });

  test(`ends in the same, whether rows come at once or a few at a time (seed ${SEED})`, async () => {
    const random = newRandom(SEED);
    const quay = await givenToken(service, 'Quay');
    let products = Array.from({ length: 120 }, (_, index) => newFileRow(index, random));
    let numberOfFiles = 0;
    for (const round of ['new', 'changed', 'changed', 'unchanged'] as const) {
      if (round === 'changed') products = products.map((product) => changedFileRow(product, random));
      // Variations after the others, as the import reads them.
      const rows = [false, true].flatMap((isVariation) =>
        products
          .filter(({ SuperProduct }) => (SuperProduct !== '') === isVariation)
          .map((product) => Object.values(product).join(';')),
      );
      const header = Object.keys(products[0]!).join(';');
      const whole = await imported(`${[header, ...rows].join('\n')}\n`);
      const parts = { created: 0, changed: 0, unchanged: 0, refused: 0 };
      for (let from = 0; from < rows.length;) {
        const until = from + 1 + random(12);
        const part = await imported(`${[header, ...rows.slice(from, until)].join('\n')}\n`, 'Quay');
        for (const key of ['created', 'changed', 'unchanged'] as const) parts[key] += part[key];
        parts.refused += part.problems.length;
        from = until;
        numberOfFiles++;
      }
      const { created, changed, unchanged, problems } = whole;
      expect(parts).toEqual({ created, changed, unchanged, refused: problems.length });
      const content = await contentOf('Harbour', token);
      expect(await contentOf('Quay', quay)).toEqual(content);
      // Lists that are rendered anew are the same, so no change was left out.
      await service.db.transaction(async (tx) => {
        const ids = await tx.many<{ id: string }>(
          sql`select product_id as id from product where shop_id = 'Harbour'`,
        );
        await refreshListing(
          tx,
          'Harbour',
          ids.map(({ id }) => id),
        );
      });
      expect(await contentOf('Harbour', token)).toEqual(content);
    }
    expect(numberOfFiles).toBeGreaterThan(40);
  });

  test('reads the pictures of all rows with one statement, and writes nothing where there are none', async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => `P-${index}`);
    await imported(`Alias\n${numbers.join('\n')}\n`);
    const mapping = ['Alias', 'Images', 'ImageTexts/en'];
    const sent = (count: number) =>
      statementsOf(() =>
        importPictures({
          db: service.db,
          config: service.config,
          media: openMediaStorage(service.config),
          shopId: 'Harbour',
          file: textFile(
            'pictures.csv',
            `${mapping.join(';')}\n${numbers
              .slice(0, count)
              .map((number) => `${number};;`)
              .join('\n')}\n`,
          ),
          mapping,
          readFile: () => Promise.reject(new Error('no picture is named')),
          onPicture: () => Promise.reject(new Error('no picture is named')),
        }),
      );
    // The version of the settings, and the pictures.
    expect(await sent(40)).toHaveLength(2);
    expect(await sent(40)).toEqual(await sent(1));
  });

  test('has the tables analysed after the first new products only', async () => {
    const isAnalysed = async (file: string) =>
      (await statementsOf(() => imported(file))).some((text) => text.includes('analyze'));
    expect(await isAnalysed('Alias;StockLevel\nP-1;4\nP-2;4\n')).toBe(true);
    expect(await isAnalysed('Alias;StockLevel\nP-1;4\nP-2;4\n')).toBe(false);
    const restocked = 'Alias;StockLevel\nP-1;5\nP-2;6\n';
    expect(await isAnalysed(restocked)).toBe(false);
    expect(await imported(restocked)).toEqual({ created: 0, changed: 0, unchanged: 2, problems: [] });
  });

  test('takes what no patch can write', async () => {
    await given({ productNumber: 'TC-1', name: 'Tide Clock', price: 10 });
    const header =
      'Alias;SpecialOffer;IsProductNumberVisible;EcoParticipationPrices/EUR/gross;EnergyLabel;MaxOrder\n';
    const row = 'TC-1;1;0;0.50;B,D A https://cdn.example/label.png;7.5\n';
    const product = async () =>
      (await call('POST', '/products/find', { productNumber: 'TC-1' })).body.items[0];
    const before = await product();
    expect(await imported(header + row)).toMatchObject({ changed: 1, problems: [] });
    expect(await product()).toMatchObject({
      specialOffer: true,
      isProductNumberVisible: false,
      maxOrder: 7.5,
      energyLabelsString: 'B,D',
      energyLabelsMaxEfficiencyString: 'A',
      energyLabelSourceFile: 'https://cdn.example/label.png',
      priceInfo: { ecoParticipationPrice: { amount: 0.5 }, priceWithDeposits: { amount: 10.5 } },
    });
    expect(await imported(header + row)).toMatchObject({ unchanged: 1 });
    expect(await imported(`${header}TC-1;2;;;;\n`)).toMatchObject({
      problems: [{ line: 2, text: 'SpecialOffer is neither 0 nor 1' }],
    });
    // A label without its file is none.
    expect(await imported(`${header}TC-1;1;0;0.50;B,D A;\n`)).toMatchObject({
      problems: [{ line: 2, text: 'EnergyLabel is not such as B,D A https://shop.example/label.png' }],
    });
    expect(await imported(`${header}TC-1;;;;;\n`)).toMatchObject({ changed: 1 });
    expect(await product()).toEqual(before);
  });

  test('takes the surcharge for the delivery of bulky goods, which only the cart shows', async () => {
    const productId = await given({ productNumber: 'TC-4', name: 'Figurehead', price: 10 });
    const facts = async () =>
      (await service.db.one<{ surcharge: unknown }>(
        sql`select facts -> 'shippingSurcharge' as surcharge from product where product_id = ${productId}::uuid`,
      ))!.surcharge;
    const header = 'Alias;ShippingSurcharge/EUR/gross\n';
    expect(await imported(`${header}TC-4;25.50\n`)).toMatchObject({ changed: 1, problems: [] });
    expect(await facts()).toEqual({ EUR: 2550 });
    expect(await imported(`${header}TC-4;25.50\n`)).toMatchObject({ unchanged: 1 });
    expect(await imported(`${header}TC-4;much\n`)).toMatchObject({ problems: [{ line: 2 }] });
    expect(await facts()).toEqual({ EUR: 2550 });
    expect(await imported(`${header}TC-4;\n`)).toMatchObject({ changed: 1 });
    expect(await facts()).toBeNull();
  });

  test('takes why a product is sold without the right of withdrawal', async () => {
    const productId = await given({ productNumber: 'TC-3', name: 'Engraved board', price: 10 });
    const shown = async () => (await call('GET', `/products/${productId}`)).body.withdrawalExcluded;
    const header = 'Alias;WithdrawalExcluded\n';
    expect(await imported(`${header}TC-3;madeToMeasure\n`)).toMatchObject({ changed: 1, problems: [] });
    expect(await shown()).toBe('madeToMeasure');
    const text = `WithdrawalExcluded is never, which is none of ${WITHDRAWAL_EXCLUSIONS.join(', ')}`;
    expect(await imported(`${header}TC-3;never\n`)).toMatchObject({ problems: [{ line: 2, text }] });
    expect(await shown()).toBe('madeToMeasure');
    expect(await imported(`${header}TC-3;\n`)).toMatchObject({ changed: 1 });
    expect(await shown()).toBeUndefined();
  });

  test('takes what consumer law and customs want to be known', async () => {
    const productId = await given({ productNumber: 'TC-4', name: 'Tide Clock', price: 10 });
    const legalInfo = async () => (await call('GET', `/products/${productId}`)).body.legalInfo;
    const header =
      'Alias;DurabilityGuarantee;EnvironmentalClaim/en;Repairability;SoftwareUpdates;EPREL;HSCode;CountryOfOrigin;ProductPassport\n';
    const guarantee = '3.5 | Tide | TC | Tide Ltd | Pier 1, Dover | https://tide.example/terms';
    const row = `TC-4;${guarantee};Solar powered | https://tide.example/test;7.5;5;123456;9105 21;de;https://tide.example/pass\n`;
    expect(await imported(header + row)).toMatchObject({ changed: 1, problems: [] });
    expect(await legalInfo()).toEqual({
      durabilityGuarantee: {
        years: 3.5,
        brand: 'Tide',
        model: 'TC',
        guarantor: 'Tide Ltd',
        address: 'Pier 1, Dover',
        termsUrl: 'https://tide.example/terms',
      },
      environmentalClaim: { claim: 'Solar powered', source: 'https://tide.example/test' },
      repairability: '7.5',
      softwareUpdates: '5',
      eprelNumber: '123456',
      eprelUrl: 'https://eprel.ec.europa.eu/qr/123456',
      hsCode: '910521',
      originCountry: 'DE',
      productPassport: 'https://tide.example/pass',
    });
    expect(await imported(header + row.replace('9105 21;de', '910521;DE'))).toMatchObject({ unchanged: 1 });
    for (const [wrong, text] of [
      [
        'TC-4;2 | Tide | TC | Tide Ltd | Pier 1 | https://tide.example;;;;;;;',
        'DurabilityGuarantee is not such as 5 | Beacon | BK-17 | Beacon Ltd | Kai 4, 20457 Hamburg | https://beacon.example/guarantee',
      ],
      [
        'TC-4;;Green;;;;;;',
        'EnvironmentalClaim/en is not such as Made of 80 % recycled steel | https://beacon.example/report',
      ],
      ['TC-4;;;11;;;;;', 'Repairability is not such as 8.2'],
      ['TC-4;;;;soon;;;;', 'SoftwareUpdates is not such as 2031-12-31'],
      ['TC-4;;;;;;12;;', 'HSCode is not such as 851610'],
      ['TC-4;;;;;;;XX;', 'CountryOfOrigin is not such as DE'],
    ])
      expect(await imported(`${header}${wrong}\n`)).toMatchObject({ problems: [{ line: 2, text }] });
    expect(await imported(`${header}TC-4;;;;;;;;\n`)).toMatchObject({ changed: 1 });
    expect(await legalInfo()).toBeUndefined();
  });

  test('takes safety data', async () => {
    await given({ productNumber: 'TC-2', name: 'Tide Clock', price: 10 });
    const { productId } = (await call('POST', '/products/find', { productNumber: 'TC-2' })).body.items[0];
    const safetyInfo = async () => (await call('GET', `/products/${productId}`)).body.safetyInfo;
    const header = 'Alias;SafetyManufacturer;SafetyText/en\n';
    const row = 'TC-2;Tide Ltd | Pier 1, Dover | safety@tide.example;Small parts.\n';
    expect(await imported(header + row)).toMatchObject({ changed: 1, problems: [] });
    expect(await safetyInfo()).toEqual({
      manufacturer: { name: 'Tide Ltd', address: 'Pier 1, Dover', contact: 'safety@tide.example' },
      text: 'Small parts.',
    });
    expect(await imported(header + row)).toMatchObject({ unchanged: 1 });
    expect(await imported(`${header}TC-2;Tide Ltd;\n`)).toMatchObject({
      problems: [
        {
          line: 2,
          text: 'SafetyManufacturer is not such as Beacon Ltd | Kai 4, 20457 Hamburg | safety@beacon.example',
        },
      ],
    });
    expect(await imported(`${header}TC-2;;\n`)).toMatchObject({ changed: 1 });
    expect(await safetyInfo()).toBeUndefined();
  });

  test.each([
    ['commas', 'SKU,Titel,Preis,Bestand\n"A-1","Kanne, rot","1.234,50 €",3\nA-2,Tasse,"7,9",\n'],
    ['tabs', 'SKU\tTitel\tPreis\tBestand\nA-1\tKanne, rot\t1.234,50 €\t3\nA-2\tTasse\t7,9\t\n'],
    ['semicolons', 'Art.-Nr.;Titel;Preis (EUR);Lagerbestand\nA-1;Kanne, rot;1 234,50;3\nA-2;Tasse;7,9;\n'],
  ])('recognises %s, decimal commas and the names that people use', async (_case, text) => {
    expect(await imported(text)).toEqual({ created: 2, changed: 0, unchanged: 0, problems: [] });
    const { items } = (await call('GET', '/products')).body;
    expect(
      items.map(({ name, stocklevel, priceInfo }: never) => [
        name,
        stocklevel,
        (priceInfo as { price: { amount: number } }).price.amount,
      ]),
    ).toEqual([
      ['Kanne, rot', 3, 1234.5],
      ['Tasse', null, 7.9],
    ]);
  });

  test('recognises the encoding of old spreadsheets', async () => {
    await imported(Buffer.from('Alias;Name/de\nX;Gr\xf6\xdfe \x80\n', 'latin1'));
    expect((await call('GET', '/products?locale=de_DE')).body.items[0].name).toBe('Größe €');
  });

  test('a check says what would happen, and nothing changes', async () => {
    await given({ productNumber: 'OLD', name: 'Old', price: 5 });
    const before = await everything();
    const text =
      'Alias;ListPrices/EUR/gross;SuperProduct;Categories\nOLD;6;;Home > Tea\nM;1;;\nV;1;M;\nW;x;M;\nZ;1;Q;\n';
    expect(await imported(text, 'Harbour', true, true)).toEqual({
      created: 2,
      changed: 1,
      unchanged: 0,
      problems: [
        { line: 5, text: 'ListPrices/EUR/gross is x, which is no price' },
        { line: 6, text: 'SuperProduct Q is unknown' },
      ],
      newCategories: ['Home', 'Home > Tea'],
    });
    expect(await everything()).toEqual(before);
  });

  test('takes categories by their path, the tax class, the visibility and the least stock', async () => {
    const header = 'Alias;Categories;TaxClass;Visible;MinStock\n';
    const text = `${header}A;Home > Tea | Sale;standard;yes;3\nB;home > tea;;0;\n`;
    expect(await imported(text)).toMatchObject({ created: 2, newCategories: ['Home', 'Home > Tea', 'Sale'] });
    const find = async (productNumber: string) =>
      (await call('POST', '/products/find', { productNumber })).body.items[0];
    const a = await find('A');
    expect(a).toMatchObject({ visible: true, minStocklevel: 3 });
    const categoriesOf = async (id: string) =>
      (await call('GET', `/categories?productId=${id}`)).body.map(({ alias }: { alias: string }) => alias);
    expect(await categoriesOf(a.productId)).toEqual(['Tea', 'Sale']);
    expect(await imported(text)).toEqual({ created: 0, changed: 0, unchanged: 2, problems: [] });
    expect(await imported(`${header}A;Sale;;;3\nB;>;7 %;maybe;\n`)).toEqual({
      created: 0,
      changed: 1,
      unchanged: 0,
      problems: [
        { line: 3, text: 'TaxClass is 7 %, which is no tax class of the shop; it has standard (19 %)' },
      ],
    });
    expect(await categoriesOf(a.productId)).toEqual(['Sale']);
    const { results } = (await call('GET', '/products?includeInvisible=true')).body;
    expect(results).toBe(2);
  });

  test('says what an unknown column was probably meant to be', async () => {
    await expect(imported('Alias;Stok level\nx;1\n')).rejects.toThrow(
      'The column Stok level is unknown in Harbour, did you mean StockLevel?',
    );
  });

  test('new products can be kept invisible', async () => {
    await imported('Alias\nX\n', 'Harbour', false);
    expect((await call('GET', '/products')).body.results).toBe(0);
    expect((await call('GET', '/products?includeInvisible=true')).body.results).toBe(1);
  });

  test.each([
    ['an empty file', '', 'is empty'],
    [
      'a header without numbers',
      'Name/en\nx\n',
      'The column Alias is missing, which holds the product numbers',
    ],
    ['an unknown column', 'Alias;Colour\nx;red\n', 'The column Colour is unknown in Harbour'],
    ['another tax model', 'Alias;ListPrices/EUR/net\nx;1\n', 'The column ListPrices/EUR/net is unknown'],
    ['a column twice', 'Alias;Alias\nx;y\n', 'A column is there twice'],
    ['an open quote', 'Alias;Name/en\nx;"y\n', 'line 2: a quote is not closed'],
  ])('refuses %s, and nothing changes', async (_case, text, message) => {
    const before = await everything();
    const failure = await imported(text).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FileProblem);
    expect((failure as Error).message).toContain(message);
    expect(await everything()).toEqual(before);
  });

  test('a file that is not there is said so', async () => {
    const file = path.join(folder, 'none.csv');
    await expect(importFile(service.db, file, { shopId: 'Harbour', visible: true })).rejects.toThrow(
      `${file} does not exist`,
    );
    await expect(readFile(file)).rejects.toThrow();
  });
});

describe('custom fields', () => {
  const manage = (method: string, place: string, body: unknown) =>
    service.call(method, `/manage/shops/Harbour${place}`, { token, body });
  const define = async (key: string, type: string, more: object = {}, as = token) => {
    const { status, body } = await service.call('POST', '/manage/shops/Harbour/custom-fields', {
      token: as,
      body: {
        resource: 'product',
        namespace: 'care',
        key,
        type,
        name: { en_GB: key },
        readableBy: 'merchant',
        writableBy: 'merchant',
        ...more,
      },
    });
    expect([status, body.message]).toEqual([201, undefined]);
    return body.fieldId as string;
  };
  const valuesOf = async (productNumber: string) => {
    const row = await service.db.one<{ id: string }>(sql`
      select product_id as id from product where shop_id = 'Harbour' and product_number = ${productNumber}`);
    return (await manage('GET', `/products/${row!.id}/custom-fields`, undefined)).body.fields;
  };
  const fileOf = async () => {
    const settings = await shopSettings(service.db, 'Harbour');
    const columns = [...knownColumns(settings).values()].filter(
      ({ key }) => key === 'Alias' || key.startsWith('field.'),
    );
    let text = '';
    for await (const piece of productText(service.db, settings, { columns, titleOf: () => '' }))
      text += piece;
    return text;
  };
  const storedRows = async () =>
    (await service.db.pool.query('select to_jsonb(v)::text as row from custom_field_value v order by 1'))
      .rows;

  beforeEach(async () => {
    await given({ productNumber: 'A-1', name: 'Rope' });
    await given({ productNumber: 'A-2', name: 'Buoy' });
    await define('note', 'text', { isLocalised: true });
    await define('parts', 'text', { isList: true });
    await define('width', 'number');
    await define('fee', 'money');
    await define('vegan', 'boolean');
    await define('since', 'date');
    await define('uses', 'choice', {
      isList: true,
      choices: ['sea', 'river'].map((key) => ({ key, label: { en_GB: key } })),
    });
    await define('secret', 'text', { readableBy: 'owner', writableBy: 'owner' });
    await define('box', 'json');
  });

  const HEADER =
    'Alias;field.care.note/en_GB;field.care.note/de_DE;field.care.parts;field.care.width;field.care.fee;field.care.vegan;field.care.since;field.care.uses\n';
  const ROW = 'A-1;"Dry; cool";Trocken;rope\\, red,hook;-1.50;12.9 EUR;yes;2026-11-19;sea, river\n';
  const VALUES = {
    'care.note': { en_GB: 'Dry; cool', de_DE: 'Trocken' },
    'care.parts': ['rope, red', 'hook'],
    'care.width': '-1.5',
    'care.fee': { amount: 12.9, currency: 'EUR' },
    'care.vegan': true,
    'care.since': '2026-11-19',
    'care.uses': ['sea', 'river'],
  };

  test('are read as the API takes them, and written so that they can be read again', async () => {
    expect(await imported(HEADER + ROW)).toEqual({ created: 0, changed: 1, unchanged: 0, problems: [] });
    expect(await valuesOf('A-1')).toEqual(VALUES);
    expect(await valuesOf('A-2')).toEqual({});
    const file = await fileOf();
    expect(file).toBe(
      ' [Alias]; [field.care.note/en_GB]; [field.care.note/de_DE]; [field.care.parts]; [field.care.width]; [field.care.fee]; [field.care.vegan]; [field.care.since]; [field.care.uses]\n' +
        'A-1;"Dry; cool";Trocken;rope\\, red,hook;-1.5;12.90 EUR;1;2026-11-19;sea,river\nA-2;;;;;;;;\n',
    );
    const before = await storedRows();
    expect(await imported(file)).toEqual({ created: 0, changed: 0, unchanged: 2, problems: [] });
    expect(await storedRows()).toEqual(before);
    // The filters of lists find what a file wrote.
    const keys = await service.db.many<{ key: string }>(sql`
      select filter_key as key from custom_field_value where shop_id = 'Harbour' and filter_key is not null
      order by filter_key`);
    expect(keys.map(({ key }) => key)).toEqual(
      ['-1.5', '2026-11-19', 'dry; cool', 'hook', 'river', 'rope, red', 'sea', 'trocken', 'true'].toSorted(),
    );
  });

  test('change only where a column says so, and an empty cell removes a value', async () => {
    await imported(HEADER + ROW);
    const { id } = (await service.db.one<{ id: string }>(sql`
      select product_id as id from product where shop_id = 'Harbour' and product_number = 'A-1'`))!;
    await manage('PATCH', `/products/${id}/custom-fields`, {
      fields: { 'care.secret': 'hidden', 'care.box': { a: 1 } },
    });
    expect(
      await imported('Alias;field.care.width;field.care.note/de_DE\nA-1;2;\nA-3;"3";Neu\nA-2;;\n'),
    ).toMatchObject({ created: 1, changed: 1, unchanged: 1, problems: [] });
    const { 'care.note': _note, ...others } = VALUES;
    expect(await valuesOf('A-1')).toEqual({
      ...others,
      'care.width': '2',
      'care.note': { en_GB: 'Dry; cool' },
      'care.secret': 'hidden',
      'care.box': { a: 1 },
    });
    expect(await valuesOf('A-3')).toEqual({ 'care.width': '3', 'care.note': { de_DE: 'Neu' } });
  });

  test.each([
    ['field.care.width', 'wide', 'field.care.width is not such as 12.5'],
    ['field.care.since', '31.02.2026', 'field.care.since is not such as 2026-11-15'],
    ['field.care.fee', '12.90', 'field.care.fee is not such as 12.90 EUR, 12.90 GBP'],
    ['field.care.fee', '12.90 USD', 'field.care.fee is not such as 12.90 EUR, 12.90 GBP'],
    ['field.care.vegan', 'maybe', 'field.care.vegan is neither 0 nor 1'],
    ['field.care.uses', 'sea,lake', 'field.care.uses is sea,lake, which is none of sea, river'],
    ['field.care.note/en_GB', 'x'.repeat(5_001), 'field.care.note/en_GB is longer than 5000 characters'],
    ['field.care.parts', 'x,'.repeat(51), 'field.care.parts has more than 50 values'],
    ['field.care.parts', `a,${'x'.repeat(5_001)}`, 'field.care.parts is longer than 5000 characters'],
  ])('are refused by line: %s', async (column, cell, text) => {
    const before = await storedRows();
    expect(await imported(`Alias;${column}\nA-2;\nA-1;"${cell}"\n`)).toEqual({
      created: 0,
      changed: 0,
      unchanged: 1,
      problems: [{ line: 3, text }],
    });
    expect(await storedRows()).toEqual(before);
  });

  test('have a limit together', async () => {
    const parts = Array.from({ length: 21 }, () => 'x'.repeat(4_900)).join(',');
    expect(await imported(`Alias;field.care.parts\nA-1;${parts}\nA-9;${parts}\n`)).toEqual({
      created: 0,
      changed: 0,
      unchanged: 0,
      problems: [2, 3].map((line) => ({
        line,
        text: 'The custom fields have more than 100000 characters together',
      })),
    });
    expect(await storedRows()).toEqual([]);
  });

  test('of variations are other fields, and a column that is unknown is refused', async () => {
    await define('weave', 'text', { resource: 'variation' });
    expect(
      await imported(
        'Alias;SuperProduct;field.care.weave;field.care.width\nA-1;;tight;\nA-1-S;A-1;tight;\nA-1-L;A-1;;4\n',
      ),
    ).toMatchObject({
      created: 1,
      problems: [
        { line: 2, text: 'field.care.weave is for products or for variations only; leave it empty' },
        { line: 4, text: 'field.care.width is for products or for variations only; leave it empty' },
      ],
    });
    expect(await valuesOf('A-1-S')).toEqual({ 'care.weave': 'tight' });
    for (const unknown of [
      'field.care.secret',
      'field.care.widht',
      'field.care.secret-of-app',
      'field.care.box',
      'field.care.note/fr_FR',
    ]) {
      await expect(imported(`Alias;${unknown}\nA-1;1\n`)).rejects.toThrow(
        `The column ${unknown} is unknown in Harbour`,
      );
    }
  });
});

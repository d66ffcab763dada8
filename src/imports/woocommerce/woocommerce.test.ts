import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor } from '../../../test/visitor.ts';
import { zipOf } from '../../../test/zip.ts';
import { sql } from '../../db/sql.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { IMPORTED, importShop } from '../import-shop.ts';
import type { ImportReport } from '../run.ts';
import { withSourceFiles } from '../source-files.ts';
import { wooCommerceSource } from './woocommerce.ts';

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Moved');
  await givenShop(service, 'Zipped');
  await service.db.transaction((tx) =>
    applySettings(tx, 'Moved', {
      taxClasses: [
        { key: 'standard', name: 'Standard', default: true, defaultDigital: true, rates: { DE: 19 } },
        { key: 'reduced', name: 'Reduced', rates: { DE: 7 } },
      ],
    }),
  );
  // Times of commits run ahead of the clock where another process's clock does, and products have those of commits.
  await service.db.run(sql`
    insert into counter (shop_id, name, value, at)
    values ('Moved', 'event', 0, ${Date.now() + 30_000})
    on conflict (shop_id, name) do update set at = excluded.at`);
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-woocommerce-'));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const COLUMNS = {
  ID: 'ID',
  type: 'Type',
  sku: 'SKU',
  code: '"GTIN, UPC, EAN, or ISBN"',
  name: 'Name',
  published: 'Published',
  visibility: 'Visibility in catalog',
  short: 'Short description',
  text: 'Description',
  from: 'Date sale price starts',
  until: 'Date sale price ends',
  taxStatus: 'Tax status',
  taxClass: 'Tax class',
  inStock: 'In stock?',
  stock: 'Stock',
  weight: 'Weight (kg)',
  sale: 'Sale price',
  price: 'Regular price',
  categories: 'Categories',
  tags: 'Tags',
  parent: 'Parent',
  position: 'Position',
  brands: 'Brands',
  name1: 'Attribute 1 name',
  value1: 'Attribute 1 value(s)',
  name2: 'Attribute 2 name',
  value2: 'Attribute 2 value(s)',
  slug: 'Slug',
} as const;
type Cells = Partial<Record<keyof typeof COLUMNS, string>>;

const lineOf = (cells: Cells) =>
  Object.keys(COLUMNS)
    .map((name) => cells[name as keyof Cells] ?? '')
    .map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',');

const shown: Cells = { published: '1', visibility: 'visible', taxStatus: 'taxable', inStock: '1' };

/** The variant XL comes long after its product, as one that was added later. */
const ROWS: Cells[] = [
  {
    ...shown,
    ID: '11',
    type: 'variable',
    sku: 'DECK',
    name: 'Deck chair &amp; cover',
    slug: 'deck-chair',
    weight: '4.5',
    categories: String.raw`Garden > Chairs\, benches, Sale`,
    brands: 'Pier',
    text: String.raw`Folds flat.\n\nDries fast.\nLasts.`,
    short: 'For the beach',
    tags: 'sun, sea',
    name1: 'Colour',
    value1: 'Blue, Sand',
    name2: 'Wood',
    value2: 'Teak, Oak',
  },
  {
    ...shown,
    ID: '12',
    type: 'variation',
    sku: 'DECK-B',
    name: 'Deck chair - Blue',
    parent: 'DECK',
    position: '1',
    stock: '4',
    price: '79',
    sale: '59.50',
    name1: 'Colour',
    value1: 'Blue',
  },
  {
    ...shown,
    ID: '13',
    type: 'simple',
    sku: 'TOWEL',
    name: 'Towel',
    categories: 'Uncategorized',
    weight: '.5',
    price: '20',
    sale: '15',
    until: '2026-12-31T00:00:00+00:00',
    taxClass: 'reduced-rate',
    stock: '-2',
    code: '4006381333931',
    name1: 'Material',
    value1: String.raw`Cotton, Linen\, washed`,
  },
  { ...shown, ID: '14', type: 'grouped', sku: 'SET', name: 'A set' },
  { ...shown, ID: '15', type: 'simple', name: 'Lamp', price: '30', inStock: '0', visibility: 'hidden' },
  {
    ...shown,
    ID: '16',
    type: 'variation',
    sku: 'DECK-S',
    name: 'Deck chair - Sand',
    parent: 'id:11',
    position: '2',
    price: '81',
    inStock: '0',
    name1: 'Colour',
    value1: 'Sand',
    weight: '5',
  },
  {
    ...shown,
    ID: '17',
    type: 'variable',
    sku: 'HAT',
    name: 'Hat',
    stock: '9',
    name1: 'Size',
    value1: 'S, M',
  },
  {
    ...shown,
    ID: '18',
    type: 'variation',
    name: 'Hat - any',
    parent: 'HAT',
    stock: 'parent',
    price: '12',
    name1: 'Size',
    value1: '',
  },
  { ...shown, ID: '19', type: 'simple, downloadable, virtual', sku: 'MAP', name: 'Map', price: '3' },
  { ...shown, ID: '20', type: 'variation', sku: 'LOST', name: 'Lost', parent: 'GONE', price: '1' },
  {
    ...shown,
    ID: '21',
    type: 'variation',
    sku: 'DECK-X',
    name: 'Deck chair - Red',
    parent: 'DECK',
    published: '0',
    price: '79',
    name1: 'Colour',
    value1: 'Red',
  },
];

const csvOf = (rows: readonly Cells[]) => [Object.values(COLUMNS).join(','), ...rows.map(lineOf)].join('\n');

const run = (place: string, { shopId = 'Moved', isCheck = false } = {}): Promise<ImportReport> =>
  withSourceFiles(place, (files) =>
    importShop({
      db: service.db,
      config: service.config,
      media: openMediaStorage(service.config),
      shopId,
      source: wooCommerceSource(files, new Date('2026-11-15T12:00:00Z'), 'EUR'),
      only: IMPORTED,
      isCheck,
      onProgress: () => {},
    }),
  );

const give = async (name: string, content: string | Buffer) => {
  const place = path.join(folder, name);
  await writeFile(place, content);
  return place;
};
const countsOf = ({ counts }: ImportReport) => Object.fromEntries(counts);
const linesOf = ({ lines }: ImportReport) =>
  lines.map(({ place, name, text }) => `${place.file}:${place.line} ${name} ${text}`).toSorted();
const none = { created: 0, changed: 0, unchanged: 0, kept: 0, refused: 0 };
const found = () =>
  service.db.many<Record<string, unknown>>(sql`
    select product_number as number, kind, selection, stock::float8 as stock, (prices ->> 'EUR')::int as price,
      (facts -> 'manufacturerPrices' ->> 'EUR')::int as list, visible,
      facts -> 'deliveryWeight' ->> 'amount' as weight
    from product where shop_id = 'Moved' order by product_number`);

test('a dry run says what would come, and writes nothing', async () => {
  const place = await give('products.csv', csvOf(ROWS));
  expect(countsOf(await run(place, { isCheck: true }))).toEqual({
    product: { ...none, created: 5, refused: 3 },
  });
  expect(await found()).toEqual([]);
});

test('products come with the variants that name them, and every row that does not is named', async () => {
  const report = await run(path.join(folder, 'products.csv'));
  expect(countsOf(report)).toEqual({ product: { ...none, created: 5, refused: 3 } });
  expect(linesOf(report)).toEqual([
    'products.csv:10 MAP is hidden, because its files to download do not come along',
    'products.csv:11  is a variant of GONE, which is not in the export',
    'products.csv:12  is a variant that is switched off',
    'products.csv:4 TOWEL the price 15 until 2026-12-31 has no end here',
    'products.csv:5  is of the type grouped, which this shop does not have',
    'products.csv:8 HAT has one stock for its variants, and each of them got it',
  ]);
  const at = { list: null, visible: true, weight: null, selection: null };
  expect(await found()).toEqual([
    { ...at, number: '15', kind: 'regular', price: 3000, stock: 0, visible: false },
    { ...at, number: 'DECK', kind: 'master', price: 5950, list: 7900, stock: null, weight: '4500' },
    {
      ...at,
      number: 'DECK-B',
      kind: 'variation',
      price: 5950,
      list: 7900,
      stock: 4,
      selection: { Colour: 'Blue' },
    },
    {
      ...at,
      number: 'DECK-S',
      kind: 'variation',
      price: 8100,
      stock: 0,
      weight: '5000',
      selection: { Colour: 'Sand' },
    },
    { ...at, number: 'HAT', kind: 'master', price: 1200, stock: null },
    {
      ...at,
      number: 'HAT-18-M',
      kind: 'variation',
      price: 1200,
      stock: 9,
      selection: { Size: 'M' },
    },
    {
      ...at,
      number: 'HAT-18-S',
      kind: 'variation',
      price: 1200,
      stock: 9,
      selection: { Size: 'S' },
    },
    { ...at, number: 'MAP', kind: 'regular', price: 300, stock: null, visible: false },
    { ...at, number: 'TOWEL', kind: 'regular', price: 1500, list: 2000, stock: 0, weight: '500' },
  ]);
});

test('texts, tax class, categories, attributes and old addresses come along', async () => {
  const facts = await service.db.many(sql`
    select product_number as number, facts -> 'name' ->> 'en_GB' as name,
      facts -> 'description' ->> 'en_GB' as text, facts ->> 'manufacturer' as manufacturer,
      facts -> 'attributes' as attributes, tax_class.key as "taxClass"
    from product left join tax_class using (shop_id, tax_class_id)
    where shop_id = 'Moved' and product_number in ('DECK', 'TOWEL') order by product_number`);
  const attribute = { name: {}, type: 'string' };
  const value = (text: string) => ({ value: text, name: { en_GB: text } });
  expect(facts).toEqual([
    {
      number: 'DECK',
      name: 'Deck chair & cover',
      text: '<p>Folds flat.</p>\n<p>Dries fast.<br>Lasts.</p>',
      manufacturer: 'Pier',
      attributes: [{ ...attribute, key: 'Wood', singleValue: false, values: [value('Teak'), value('Oak')] }],
      taxClass: null,
    },
    {
      number: 'TOWEL',
      name: 'Towel',
      text: null,
      manufacturer: null,
      attributes: [
        {
          ...attribute,
          key: 'Material',
          singleValue: false,
          values: [value('Cotton'), value('Linen, washed')],
        },
      ],
      taxClass: 'reduced',
    },
  ]);
  const categories = await service.db.many(sql`
    select name ->> 'en_GB' as name from category where shop_id = 'Moved' and parent_id is not null order by 1`);
  expect(categories).toEqual([{ name: 'Chairs, benches' }, { name: 'Garden' }, { name: 'Sale' }]);
  const { status, headers } = await givenVisitor(service, 'Moved').get('/product/deck-chair/');
  expect([status, headers.location]).toEqual([301, '/shop/Moved/Products/DECK']);
});

test('a second run changes nothing, and a third only what has changed there', async () => {
  const before = await found();
  const again = await run(path.join(folder, 'products.csv'));
  expect(countsOf(again)).toEqual({ product: { ...none, unchanged: 5, refused: 3 } });
  expect(await found()).toEqual(before);
  const changed = ROWS.map((row) => (row.sku === 'DECK-S' ? { ...row, price: '85,50' } : row));
  const third = await run(await give('products.csv', csvOf(changed)));
  expect(countsOf(third)).toEqual({ product: { ...none, changed: 1, unchanged: 4, refused: 3 } });
  expect(await found()).toEqual(
    before.map((one) => (one['number'] === 'DECK-S' ? { ...one, price: 8550 } : one)),
  );
});

test('a zip with the German titles of the exporter, its variants in another file', async () => {
  const place = await give(
    'export.zip',
    zipOf({
      '1.csv':
        'ID,Typ,Artikelnummer,Name,Veröffentlicht,Übergeordnetes Produkt,Regulärer Preis,Attribut 1 Name,Attribut 1 Wert(e)\n' +
        '5,variation,BECHER-R,Becher,1,BECHER,"9,50",Farbe,Rot\n',
      'exported/2.csv':
        'ID,Typ,Artikelnummer,Name,Veröffentlicht,Gewicht (g),Attribut 1 Name,Attribut 1 Wert(e)\n' +
        '4,variable,BECHER,Becher,1,250,Farbe,"Rot, Blau"\n',
      'read me.txt': 'Nothing here\n',
    }),
  );
  const report = await run(place, { shopId: 'Zipped' });
  expect(countsOf(report)).toEqual({ product: { ...none, created: 1 } });
  expect(
    await service.db.many(sql`
      select product_number as number, (prices ->> 'EUR')::int as price from product
      where shop_id = 'Zipped' order by product_number`),
  ).toEqual([
    { number: 'BECHER', price: 950 },
    { number: 'BECHER-R', price: 950 },
  ]);
});

describe('the files of extensions', () => {
  const USERS = [
    'ID,user_login,user_email,user_registered,roles,first_name,last_name,billing_first_name,billing_last_name,billing_address_1,billing_postcode,billing_city,billing_country,billing_phone',
    '7,ada,ada@mail.example,2024-03-01 09:30:00,customer,Ada,Brennan,Ada,Brennan,Speicherweg 4,20457,Hamburg,DE,+49 40 1',
    '1,root,root@mail.example,2020-01-01 00:00:00,administrator,Root,Admin,,,,,,,',
  ].join('\n');

  const ORDERS = [
    'order_id,order_number,order_date,paid_date,status,shipping_total,shipping_tax_total,fee_total,fee_tax_total,tax_total,order_total,order_currency,payment_method_title,shipping_method,billing_first_name,billing_last_name,billing_email,billing_address_1,billing_postcode,billing_city,billing_country,customer_note,refund_items,line_item_1,line_item_2',
    '501,501,2025-04-02 10:00:00,2025-04-02T10:05:00+00:00,completed,4.12,0.78,0.00,0.00,19.78,123.90,EUR,Invoice,Parcel,Ada,Brennan,ada@mail.example,Speicherweg 4,20457,Hamburg,DE,Ring twice,,name:Deck chair - Blue|product_id:11|sku:DECK-B|quantity:2|total:90.00|sub_total:100.00|tax:17.10,name:Rope|product_id:9|sku:ROPE|quantity:1|total:10.00|sub_total:10.00|tax:1.90',
    '502,502,2025-04-03 10:00:00,,cancelled,0.00,0.00,0.00,0.00,1.90,11.90,EUR,PayPal,,Ada,Brennan,ada@mail.example,Speicherweg 4,20457,Hamburg,DE,,,name:Rope|sku:ROPE|quantity:1|total:10.00|sub_total:10.00|tax:1.90,',
    '503,503,2025-04-04 10:00:00,,checkout-draft,0,0,0,0,0,1.00,EUR,,,,,,,,,,,,,',
  ].join('\n');

  /** A row for each line, and no tax of them. */
  const ROWS_OF_LINES = [
    'Order Number,Order Status,Order Date,First Name (Billing),Last Name (Billing),Email (Billing),Address 1&2 (Billing),Postcode (Billing),City (Billing),Country Code (Billing),Payment Method Title,Order Shipping Amount,Order Total Amount,Order Total Tax Amount,SKU,Item Name,Quantity (- Refund),Item Cost',
    '601,Processing,2025-05-01 08:00,Bo,Lind,bo@mail.example,Kaj 1,21120,Malmö,SE,Card,5.00,31.25,6.25,ROPE,Rope,2,5.00',
    '601,Processing,2025-05-01 08:00,Bo,Lind,bo@mail.example,Kaj 1,21120,Malmö,SE,Card,5.00,31.25,6.25,HOOK,Hook,1,10.00',
  ].join('\n');

  const COUPONS = [
    'ID,post_title,post_excerpt,post_status,discount_type,coupon_amount,individual_use,product_ids,usage_count,usage_limit,date_expires,free_shipping,minimum_amount,customer_email,product_categories',
    '31,SPRING,Ten off,publish,percent,10,yes,,3,10,2027-01-31,no,50,,',
    '32,FIVE,,publish,fixed_cart,5,no,11,0,,,yes,,,',
    '33,ADAONLY,,publish,percent,20,no,,0,,,no,,ada@mail.example,',
    '34,GONE,,publish,percent,20,no,,4,4,,no,,,',
    '35,FREE,,publish,fixed_cart,0,no,,0,1,1830000000,yes,,,',
    '36,EACH,,publish,fixed_product,2,no,,0,,,no,,,',
  ].join('\n');

  async function take(): Promise<ImportReport> {
    const place = path.join(folder, 'people');
    await mkdir(place, { recursive: true });
    await writeFile(path.join(place, 'users.csv'), USERS);
    await writeFile(path.join(place, 'orders.csv'), ORDERS);
    await writeFile(path.join(place, 'lines.csv'), ROWS_OF_LINES);
    await writeFile(path.join(place, 'coupons.csv'), COUPONS);
    return run(place);
  }

  test('customers, orders and coupons come along', async () => {
    const report = await take();
    expect(Object.fromEntries(report.counts)).toEqual({
      customer: { created: 1, changed: 0, unchanged: 0, kept: 0, refused: 1 },
      order: { created: 3, changed: 0, unchanged: 0, kept: 0, refused: 1 },
      coupon: { created: 3, changed: 0, unchanged: 0, kept: 0, refused: 3 },
    });
    expect(
      report.lines.map(({ place, name, text }) => `${place.file}:${place.line} ${name} ${text}`),
    ).toEqual([
      'users.csv:3  is a user of the admin, not a customer',
      'orders.csv:4  has the status checkout-draft, so it is no order',
      'coupons.csv:4  ADAONLY is limited by customer_email, which this shop does not have',
      'coupons.csv:5  GONE is used up',
      'coupons.csv:7  EACH takes off from each piece, which no coupon does here',
      'coupons.csv:2 SPRING its limit individual_use is left out',
    ]);
    const customers = await service.db.many(sql`
      select email_key as email, created_at as "createdAt", billing_address ->> 'street' as street
      from customer where shop_id = 'Moved' and email_key = 'ada@mail.example'`);
    expect(customers).toEqual([
      { email: 'ada@mail.example', createdAt: new Date('2024-03-01T09:30:00Z'), street: 'Speicherweg 4' },
    ]);
  });

  test('orders have their lines with tax, their totals and states, and nothing happens', async () => {
    const orders = await service.db.many(sql`
      select order_number as number, grand_total as total, tax_model as model, paid_amount as paid,
        content -> 'totalTax' as tax, content -> 'shippingPrice' as shipping,
        (select json_agg(json_build_array(line ->> 'productNumber', line ->> 'quantity', line -> 'unitPrice',
          line -> 'amount', line -> 'taxClass' -> 'rate')) from jsonb_array_elements(content -> 'lines') line) as lines,
        dispatched_at is not null as sent, cancelled_at is not null as cancelled
      from customer_order where shop_id = 'Moved' order by order_number`);
    expect(orders).toEqual([
      {
        number: '501',
        total: 12390,
        model: 'GROSS',
        paid: 12390,
        tax: 1978,
        shipping: 490,
        lines: [
          ['DECK-B', '2', 5950, 10710, 1900],
          ['ROPE', '1', 1190, 1190, 1900],
        ],
        sent: true,
        cancelled: false,
      },
      {
        number: '502',
        total: 1190,
        model: 'GROSS',
        paid: 0,
        tax: 190,
        shipping: 0,
        lines: [['ROPE', '1', 1190, 1190, 1900]],
        sent: false,
        cancelled: true,
      },
      {
        number: '601',
        total: 3125,
        model: 'NET',
        paid: 3125,
        tax: 625,
        shipping: 500,
        lines: [
          ['ROPE', '2', 500, 1000, 2500],
          ['HOOK', '1', 1000, 1000, 2500],
        ],
        sent: false,
        cancelled: false,
      },
    ]);
    expect(
      await service.db.many(sql`
        select type from event where shop_id = 'Moved' and type like 'ORDER%'
        union all select queue from job where shop_id = 'Moved'
        union all select 'document' from order_document where shop_id = 'Moved'`),
    ).toEqual([]);
  });

  test('coupons have their limits, less what was used', async () => {
    const coupons = await service.db.many(sql`
      select code, kind, amount, minimum_order_value as minimum, usage_limit as uses, valid_to as until,
        waive_shipping_costs as free, cardinality(product_ids) as products
      from coupon join coupon_campaign campaign using (shop_id, campaign_id)
      where shop_id = 'Moved' order by code`);
    const any = { minimum: null, uses: null, until: null, free: false, products: null };
    expect(coupons).toEqual([
      { ...any, code: 'FIVE', kind: 'FIX', amount: 500, free: true, products: 1 },
      {
        ...any,
        code: 'FREE',
        kind: 'SHIPPING',
        amount: null,
        free: true,
        uses: 1,
        until: new Date(1_830_000_000_000),
      },
      {
        ...any,
        code: 'SPRING',
        kind: 'PERCENT',
        amount: 1000,
        minimum: 5000,
        uses: 7,
        until: new Date('2027-01-31'),
      },
    ]);
  });

  test('a second run changes nothing, and what was edited here is kept', async () => {
    await service.db.run(sql`
      update coupon_campaign set amount = 1500 where shop_id = 'Moved' and identifier = 'SPRING'`);
    const place = path.join(folder, 'people');
    const same = await take();
    expect(same.counts.get('coupon')).toEqual({ created: 0, changed: 0, unchanged: 3, kept: 0, refused: 3 });
    expect(same.counts.get('order')).toEqual({ created: 0, changed: 0, unchanged: 3, kept: 0, refused: 1 });
    await writeFile(
      path.join(place, 'coupons.csv'),
      COUPONS.replace('percent,10,yes', 'percent,12,yes').replace('fixed_cart,5', 'fixed_cart,6'),
    );
    const later = await run(place);
    expect(later.counts.get('coupon')).toEqual({ created: 0, changed: 1, unchanged: 1, kept: 1, refused: 3 });
    expect(
      await service.db.many(sql`
        select identifier, amount from coupon_campaign where shop_id = 'Moved' and amount is not null order by 1`),
    ).toEqual([
      { identifier: 'FIVE', amount: 600 },
      { identifier: 'SPRING', amount: 1500 },
    ]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changeSettings,
  givenProduct,
  givenSmallShop,
  statementsOf,
  type NewProduct,
} from '../../../test/carts.ts';
import { givenDomains, givenToken } from '../../../test/builders.ts';
import { givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { givenMerchant } from '../../../test/admin.ts';
import { givenVisitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { isGtin } from '../../catalogue/products/gtin.ts';

const NOW = new Date('2026-11-16T08:30:00Z');
const HOST = 'http://kontor.example';

let service: Service;

beforeAll(async () => {
  service = await startDemo({}, NOW);
  await givenOtherShop(service);
  // Pictures as rows: nobody opens the files. GI-110 has none, and LA-101 shows those of its master.
  await givenPictures('DemoShop', `product_number not in ('GI-110', 'LA-101') and master_id is null`);
});
afterAll(() => service.close());

async function givenPictures(shopId: string, condition: string): Promise<void> {
  await service.db.pool.query(
    `insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at)
     select shop_id, product_id, 'p' || place || '.png', place, gen_random_uuid(),
       jsonb_build_object('Small', jsonb_build_object('file', 'p_s.png', 'width', 100, 'height', 75, 'bytes', 9),
         'Large', jsonb_build_object('file', 'p' || place || '.png', 'width', 800, 'height', 600, 'bytes', 99)), $2
     from product, generate_series(0, 12) as place where shop_id = $1 and ${condition} and (place < 2 or product_number = 'AP-110')`,
    [shopId, NOW],
  );
  await service.db.pool.query(
    `update product set main_image = 'p1.png' where shop_id = $1 and ${condition}`,
    [shopId],
  );
}

async function get(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const answer = await service.app.inject({ method, url, headers: { host: 'kontor.example', ...headers } });
  return { status: answer.statusCode, headers: answer.headers, text: answer.body };
}

type Values = Record<string, string[]>;

/** The items of the XML, which may hold nothing but elements, text without signs of markup, and known entities. */
async function googleItems(shopId: string, query = ''): Promise<Values[]> {
  const { status, headers, text } = await get(`/shop/${shopId}/feeds/google.xml${query}`);
  expect([status, headers['content-type']]).toEqual([200, 'application/xml; charset=utf-8']);
  return parsedItems(text);
}

function parsedItems(text: string): Values[] {
  const head =
    '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0">';
  expect(text.slice(0, head.length)).toBe(head);
  const items: Values[] = [];
  const open = ['rss'];
  const token = /<(\/?)((?:g:)?[a-z_\d]+)>|((?:[^<>&]|&(?:amp|lt|gt|quot|#39);)*)/y;
  for (token.lastIndex = head.length; token.lastIndex < text.length;) {
    const at = token.lastIndex;
    const [whole, close, name, content] = token.exec(text)!;
    if (whole === '') throw new Error(`not well formed: ${text.slice(at, at + 100)}`);
    if (content !== undefined) {
      const inItem = open[2] === 'item' && open.length > 3;
      if (inItem) (items.at(-1)![open.at(-1)!] ??= []).push(unescaped(content));
      // Between the elements there is nothing but line breaks.
      else if (open.length !== 3) expect(content).toBe('\n');
    } else if (close === '/') {
      expect(open.pop()).toBe(name);
    } else {
      open.push(name!);
      if (name === 'item') items.push({});
    }
  }
  expect(open).toEqual([]);
  return items;
}

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

async function acpRecords(shopId: string, query = ''): Promise<Record<string, unknown>[]> {
  const { status, headers, text } = await get(`/shop/${shopId}/feeds/acp.jsonl${query}`);
  expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

interface Rule {
  isRequired?: true;
  longest?: number;
  most?: number;
  form?: RegExp | ((value: string) => boolean);
}

const PRICE = /^\d+\.\d{2} [A-Z]{3}$/;
const ADDRESS = /^http:\/\/kontor\.example\/\S+$/;
const DAY_TEXT = /^\d{4}-\d\d-\d\d$/;
const UNITS = '(?:oz|lb|mg|g|kg|floz|pt|qt|gal|ml|cl|l|cbm|in|ft|yd|cm|m|sqft|sqm|ct|sheet|item)';
const MEASURE = new RegExp(`^\\d+(?:\\.\\d+)? ${UNITS}$`);
const BASE = new RegExp(`^(?:(?:1|2|4|8|10|100) ${UNITS}|75 cl|750 ml|50 kg|1000 kg)$`);
const CENTIMETRES = /^\d+(?:\.\d+)? cm$/;
const ENERGY = /^(?:A\+{0,3}|[B-G])$/;

/** The product data specification of Google Merchant Center: which fields are required, how long and of which form. */
const GOOGLE: Record<string, Rule> = {
  'g:id': { isRequired: true, longest: 50 },
  title: { isRequired: true, longest: 150 },
  description: { isRequired: true, longest: 5_000 },
  link: { isRequired: true, longest: 2_000, form: ADDRESS },
  'g:image_link': { isRequired: true, longest: 2_000, form: ADDRESS },
  'g:additional_image_link': { most: 10, longest: 2_000, form: ADDRESS },
  'g:availability': { isRequired: true, form: /^(?:in_stock|out_of_stock|preorder|backorder)$/ },
  'g:availability_date': { form: DAY_TEXT },
  'g:min_handling_time': { form: /^\d{1,3}$/ },
  'g:max_handling_time': { form: /^\d{1,3}$/ },
  'g:price': { isRequired: true, form: PRICE },
  'g:sale_price': { form: PRICE },
  'g:expiration_date': { form: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
  'g:brand': { longest: 70 },
  'g:gtin': { longest: 14, form: isGtin },
  'g:mpn': { longest: 70 },
  'g:identifier_exists': { form: /^(?:yes|no)$/ },
  'g:condition': { form: /^(?:new|refurbished|used)$/ },
  'g:product_type': { longest: 750 },
  'g:item_group_id': { longest: 50 },
  'g:color': { longest: 100 },
  'g:size': { longest: 100 },
  'g:material': { longest: 200 },
  'g:pattern': { longest: 100 },
  'g:gender': { form: /^(?:male|female|unisex)$/ },
  'g:age_group': { form: /^(?:newborn|infant|toddler|kids|adult)$/ },
  'g:custom_label_0': { longest: 100 },
  'g:product_highlight': { most: 100, longest: 150 },
  'g:product_length': { form: CENTIMETRES },
  'g:product_width': { form: CENTIMETRES },
  'g:product_height': { form: CENTIMETRES },
  'g:return_policy_label': { longest: 100 },
  'g:attribute_name': { most: 100, longest: 140 },
  'g:attribute_value': { most: 100, longest: 1_000 },
  'g:shipping_weight': { form: /^\d+(?:\.\d+)? (?:lb|oz|g|kg)$/ },
  'g:unit_pricing_measure': { form: MEASURE },
  'g:unit_pricing_base_measure': { form: BASE },
  'g:energy_efficiency_class': { form: ENERGY },
  'g:min_energy_efficiency_class': { form: ENERGY },
  'g:max_energy_efficiency_class': { form: ENERGY },
};

/** The feed reference of the Agentic Commerce Protocol. Values are compared as text; a list is joined by commas. */
const FLAG = /^(?:true|false)$/;
const COUNTRY = /^[A-Z]{2}$/;
const ACP: Record<string, Rule & { type?: 'boolean' | 'number' | 'object' }> = {
  is_eligible_search: { isRequired: true, type: 'boolean', form: FLAG },
  is_eligible_checkout: { isRequired: true, type: 'boolean', form: FLAG },
  item_id: { isRequired: true, longest: 100 },
  gtin: { form: isGtin },
  mpn: { longest: 70 },
  title: { isRequired: true, longest: 150 },
  description: { isRequired: true, longest: 5_000 },
  url: { isRequired: true, form: ADDRESS },
  brand: { isRequired: true, longest: 70 },
  condition: { form: /^(?:new|refurbished|used)$/ },
  product_category: {},
  material: { longest: 100 },
  weight: { form: /^\d+(?:\.\d+)?$/ },
  item_weight_unit: { form: /^(?:lb|oz|g|kg)$/ },
  age_group: { form: /^(?:newborn|infant|toddler|kids|adult)$/ },
  gender: { form: /^(?:male|female|unisex)$/ },
  dimensions: { form: /^[\d.]+x[\d.]+x[\d.]+ mm$/ },
  image_url: { isRequired: true, form: ADDRESS },
  additional_image_urls: { form: /^(?:http:\/\/kontor\.example\/[^\s,]+,?)+$/ },
  price: { isRequired: true, form: PRICE },
  sale_price: { form: PRICE },
  unit_pricing_measure: { form: MEASURE },
  base_measure: { form: BASE },
  availability: { isRequired: true, form: /^(?:in_stock|out_of_stock|pre_order|backorder|unknown)$/ },
  availability_date: { form: DAY_TEXT },
  group_id: { longest: 100 },
  listing_has_variations: { type: 'boolean', form: FLAG },
  variant_dict: { type: 'object' },
  item_group_title: { longest: 150 },
  color: { longest: 40 },
  size: { longest: 20 },
  shipping: { form: /^[A-Z]{2}::[^:,]+:\d+\.\d{2} [A-Z]{3}(?:,[A-Z]{2}::[^:,]+:\d+\.\d{2} [A-Z]{3})*$/ },
  is_digital: { type: 'boolean', form: FLAG },
  seller_name: { isRequired: true, longest: 70 },
  seller_url: { isRequired: true, form: ADDRESS },
  seller_privacy_policy: { form: ADDRESS },
  seller_tos: { form: ADDRESS },
  accepts_returns: { type: 'boolean', form: FLAG },
  return_deadline_in_days: { type: 'number', form: /^[1-9]\d*$/ },
  return_policy: { isRequired: true, form: ADDRESS },
  target_countries: { isRequired: true, type: 'object', form: /^[A-Z]{2}(?:,[A-Z]{2})*$/ },
  store_country: { isRequired: true, form: COUNTRY },
};

/** What is wrong with an item by the table of its channel. */
function problemsOf(values: Values, table: Record<string, Rule>): string[] {
  const missing = Object.keys(table).filter((name) => table[name]!.isRequired && values[name] === undefined);
  const wrong = Object.entries(values).flatMap(([name, texts]) => {
    const rule = table[name];
    if (!rule) return [`${name} is unknown`];
    const { longest = Infinity, most = 1, form = /[^]/ } = rule;
    const fits = (text: string) =>
      text !== '' && text.length <= longest && (form instanceof RegExp ? form.test(text) : form(text));
    return texts.length <= most && texts.every(fits) ? [] : [`${name} is ${texts.join()}`];
  });
  return [...missing.map((name) => `${name} is missing`), ...wrong];
}

const amount = (price: string | undefined) => Number(price?.split(' ')[0]);

/** What the fields of one item must say together. */
function contradictionsOf(values: Values): string[] {
  const one = (name: string) => values[name]?.[0];
  const needsDate = ['backorder', 'preorder', 'pre_order'].includes(one('availability')!);
  return [
    ...(one('sale_price') === undefined || amount(one('sale_price')) < amount(one('price')) ? [] : ['sale']),
    ...(needsDate === (one('availability_date') !== undefined) ? [] : ['date']),
    ...((one('unit_pricing_measure') === undefined) === (one('base_measure') === undefined)
      ? []
      : ['measure']),
  ];
}

/** The fields of Google under the names of the other channel, so that both are held to the same rules. */
const unprefixed = (values: Values): Values => {
  const named = Object.fromEntries(
    Object.entries(values).map(([name, texts]) => [name.replace(/^g:/, ''), texts]),
  );
  return {
    ...named,
    ...(named['unit_pricing_base_measure'] && { base_measure: named['unit_pricing_base_measure'] }),
  };
};

const asTexts = (record: Record<string, unknown>): Values =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, [String(value)]]));

const VIEWS = [
  ['en_GB', 'EUR'],
  ['de_DE', 'GBP'],
  ['fr_FR', 'USD'],
] as const;

/** What visitors can buy, by its number: visible, with a price, in time, with a picture, and with a visible master. */
async function soldNumbers(): Promise<string[]> {
  const rows = await service.db.many<{ number: string }>(sql`
    select product.product_number as number from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where product.shop_id = 'DemoShop' and product.kind <> 'master' and product.visible
      and coalesce(master.visible, true) and (coalesce(product.prices, master.prices) ->> 'EUR')::int > 0
      and coalesce(product.main_image, master.main_image) is not null
      and coalesce((product.facts ->> 'forSaleFrom')::timestamptz <= ${NOW}, true)
      and coalesce((product.facts ->> 'forSaleUntil')::timestamptz > ${NOW}, true)
    order by product.product_number`);
  return rows.map(({ number }) => number);
}

describe.each(VIEWS)('the feeds in %s and %s', (locale, currency) => {
  const query = `?locale=${locale}&currency=${currency}`;

  test('fulfil the field table of Google', async () => {
    const items = await googleItems('DemoShop', query);
    expect(
      items.flatMap((item) => problemsOf(item, GOOGLE).map((text) => `${item['g:id']![0]}: ${text}`)),
    ).toEqual([]);
    expect(items.map(unprefixed).flatMap(contradictionsOf)).toEqual([]);
    expect(items.map((item) => item['g:id']![0]!).toSorted()).toEqual(await soldNumbers());
    for (const item of items) {
      expect(item['g:price']![0]).toMatch(new RegExp(` ${currency}$`));
      expect(
        item['link']![0]!.endsWith(locale === 'en_GB' ? '' : `?locale=${locale}&currency=${currency}`),
      ).toBe(true);
      const hasIdentifier = 'g:gtin' in item || ('g:brand' in item && 'g:mpn' in item);
      expect('g:identifier_exists' in item).toBe(!hasIdentifier);
    }
  });

  test('fulfil the field table of the Agentic Commerce Protocol', async () => {
    const records = await acpRecords('DemoShop', query);
    const problems = records.flatMap((record) =>
      problemsOf(asTexts(record), ACP).map((text) => `${String(record['item_id'])}: ${text}`),
    );
    expect(problems).toEqual([]);
    for (const record of records) {
      for (const [name, value] of Object.entries(record)) {
        expect([name, typeof value]).toEqual([name, ACP[name]!.type ?? 'string']);
      }
    }
    expect(records.map(asTexts).flatMap(contradictionsOf)).toEqual([]);
    expect(records.map((record) => String(record['item_id'])).toSorted()).toEqual(await soldNumbers());
  });
});

const itemOf = async (number: string, query = '') =>
  (await googleItems('DemoShop', query)).find((item) => item['g:id']![0] === number)!;

test('an item says what the page of the product says', async () => {
  const picture = expect.stringMatching(
    /^http:\/\/kontor\.example\/media\/DemoShop\/[0-9A-F-]{36}\/p\d+\.png$/,
  );
  expect(await itemOf('LA-101', '?locale=de_DE')).toEqual({
    'g:id': ['LA-101'],
    title: ['Lantern Point Leuchte, Messing, Klein'],
    description: ['Mundgeblasenes Glas im Metallkorb, gedimmt durch Drehen der Kappe. Ohne Leuchtmittel.'],
    link: [`${HOST}/shop/DemoShop/Products/LA-101?locale=de_DE`],
    'g:image_link': [picture],
    'g:additional_image_link': [picture],
    'g:availability': ['in_stock'],
    'g:min_handling_time': ['2'],
    'g:max_handling_time': ['4'],
    'g:price': ['79.00 EUR'],
    'g:brand': ['Lantern Point'],
    'g:identifier_exists': ['no'],
    'g:condition': ['new'],
    'g:product_type': ['Leuchten'],
    'g:item_group_id': ['LA-100'],
    'g:color': ['Messing'],
    'g:size': ['Klein'],
    'g:attribute_name': ['Raum'],
    'g:attribute_value': ['Wohnzimmer/Schlafzimmer/Kajüte'],
    'g:shipping_weight': ['1900 g'],
  });
});

test('channels get the price of the smallest order, its content, a reduction and the label', async () => {
  const items = await googleItems('DemoShop');
  const fieldsOf = (number: string, ...names: string[]) => {
    const item = items.find((one) => one['g:id']![0] === number)!;
    return names.map((name) => item[`g:${name}`]?.[0]);
  };
  const price = ['price', 'sale_price', 'unit_pricing_measure', 'unit_pricing_base_measure'];
  // Six bottles of 0.33 l at 1.45.
  expect(fieldsOf('DR-100', ...price)).toEqual(['8.70 EUR', undefined, '1.98 l', '1 l']);
  // At least two metres at 2.40.
  expect(fieldsOf('RO-100', ...price)).toEqual(['4.80 EUR', undefined, '2 m', '1 m']);
  expect(fieldsOf('CB-200', ...price)).toEqual(['12.80 EUR', undefined, '500 g', '100 g']);
  expect(fieldsOf('AP-110', ...price)).toEqual(['449.00 EUR', '389.00 EUR', undefined, undefined]);
  const energy = ['energy_efficiency_class', 'min_energy_efficiency_class', 'max_energy_efficiency_class'];
  expect(fieldsOf('TE-120', 'availability')).toEqual(['out_of_stock']);
  expect(fieldsOf('AP-110', ...energy)).toEqual([undefined, undefined, undefined]);
  expect(items.find((one) => one['g:id']![0] === 'AP-110')!['g:additional_image_link']).toHaveLength(10);
  expect(fieldsOf('AP-100', 'brand', 'mpn', 'identifier_exists')).toEqual(['Beacon', 'BK-17', undefined]);
});

test('a record of the Agentic Commerce Protocol names the seller, the variation and the way back', async () => {
  const record = (await acpRecords('DemoShop')).find((one) => one['item_id'] === 'LA-101');
  expect(record).toMatchObject({
    is_eligible_search: true,
    is_eligible_checkout: false,
    title: 'Lantern Point Lamp, Brass, Small',
    url: `${HOST}/shop/DemoShop/Products/LA-101`,
    group_id: 'LA-100',
    listing_has_variations: true,
    variant_dict: { Colour: 'Brass', Size: 'Small' },
    item_group_title: 'Lantern Point Lamp',
    color: 'Brass',
    size: 'Small',
    is_digital: false,
    seller_name: 'Harbour & Hearth',
    seller_url: `${HOST}/shop/DemoShop`,
    accepts_returns: true,
    return_deadline_in_days: 30,
    return_policy: `${HOST}/shop/DemoShop/legal/rights-of-withdrawal`,
    store_country: 'DE',
  });
  expect((record!['target_countries'] as string[])[0]).toBe('DE');
});

/** A shop whose feeds are on, and what they say of products that a test has made. */
async function givenFeedShop(settings: Parameters<typeof givenSmallShop>[1] = {}) {
  const shop = await givenSmallShop(service, { feeds: { google: true, agenticCommerce: true }, ...settings });
  const add = async (product: NewProduct) => {
    const productId = await givenProduct(shop, product);
    await givenPictures(shop.shopId, `product_id = '${productId}'`);
  };
  const items = () => googleItems(shop.shopId);
  return { shop, add, items };
}

const everyField = (item: Values) =>
  Object.fromEntries(Object.entries(item).map(([name, [text]]) => [name, text]));

test('with zones, a product has the price and the days of its delivery to each country', async () => {
  const { shop, add, items } = await givenFeedShop({
    countries: { default: 'DE', items: ['DE', 'FR', 'ES', 'CH'] },
    shippingMethods: [
      { key: 'pickup', name: 'Pickup', kind: 'pickup' },
      {
        key: 'parcel',
        name: 'Parcel: DHL, insured',
        kind: 'flat',
        zones: [
          { countries: ['DE'], price: 4.9, freeFrom: 50 },
          { countries: ['FR', 'ES'], price: 14.9, days: { from: 3, to: 5 } },
          { countries: ['ES'], postcodes: ['35*'], price: 39.9 },
        ],
      },
    ],
  });
  await add({ number: 'LAMP' });
  await add({ number: 'SOFA', price: 90_000, facts: { shippingSurcharge: { EUR: 3000 } } });
  const [lamp, sofa] = await items();
  expect(lamp!['g:country']).toEqual(['DE', 'FR', 'ES']);
  // The first price is that of the product.
  expect(lamp!['g:price']).toEqual(['10.00 EUR', '4.90 EUR', '14.90 EUR', '14.90 EUR']);
  expect([lamp!['g:min_transit_time'], lamp!['g:max_transit_time']]).toEqual([
    ['3', '3'],
    ['5', '5'],
  ]);
  expect(sofa!['g:price']).toEqual(['900.00 EUR', '30.00 EUR', '44.90 EUR', '44.90 EUR']);
  const records = await acpRecords(shop.shopId);
  expect(records.map(({ shipping }) => shipping)).toEqual([
    'DE::Parcel DHL insured:4.90 EUR,FR::Parcel DHL insured:14.90 EUR,ES::Parcel DHL insured:14.90 EUR',
    'DE::Parcel DHL insured:30.00 EUR,FR::Parcel DHL insured:44.90 EUR,ES::Parcel DHL insured:44.90 EUR',
  ]);
});

test('custom fields fill the attributes that their definitions name', async () => {
  const token = await givenToken(service, 'DemoShop');
  const manage = async (method: string, path: string, body: object) => {
    const answer = await service.call(method, `/manage/shops/DemoShop${path}`, { token, body });
    expect([200, 201]).toContain(answer.status);
    return answer.body;
  };
  const define = (key: string, feedAttribute: string, field: object = {}) =>
    manage('POST', '/custom-fields', {
      resource: 'product',
      namespace: 'feeds',
      key,
      type: 'text',
      name: { en_GB: key },
      readableBy: 'public',
      writableBy: 'merchant',
      feedAttribute,
      ...field,
    });
  const choices = [
    { key: 'oak', label: { en_GB: 'Oak', de_DE: 'Eiche' } },
    { key: 'steel', label: { en_GB: 'Steel & glass' } },
  ];
  await define('wood', 'material', { type: 'choice', isList: true, choices });
  await define('second', 'material');
  await define('label', 'custom_label_0', { isLocalised: true });
  await define('people', 'gender');
  await define('age', 'age_group');
  await define('finish', 'color', { resource: 'variation' });
  await define('inner', 'pattern', { resource: 'variation' });
  const ids = Object.fromEntries(
    (
      await service.db.many<{ number: string; id: string }>(sql`
        select product_number as number, upper(product_id::text) as id from product
        where shop_id = 'DemoShop' and product_number in ('LA-100', 'LA-101')`)
    ).map(({ number, id }) => [number, id]),
  );
  const before = await get('/shop/DemoShop/feeds/google.xml', {}, 'HEAD');
  await manage('PATCH', `/products/${ids['LA-100']}/custom-fields`, {
    fields: {
      'feeds.wood': ['oak', 'steel'],
      'feeds.second': 'Iron',
      'feeds.label': { en_GB: `<Winter> & "${'x'.repeat(200)}`, de_DE: 'Winter' },
      'feeds.people': ' Unisex ',
      'feeds.age': 'everybody',
    },
  });
  await manage('PATCH', `/products/${ids['LA-101']}/custom-fields`, {
    fields: { 'feeds.finish': 'Old brass', 'feeds.inner': 'Waves' },
  });
  expect((await get('/shop/DemoShop/feeds/google.xml', {}, 'HEAD')).headers['etag']).not.toBe(
    before.headers['etag'],
  );
  const filled = async (query: string) => {
    const item = await itemOf('LA-101', query);
    const names = ['material', 'color', 'size', 'pattern', 'gender', 'age_group', 'custom_label_0'];
    return Object.fromEntries(names.map((name) => [name, item[`g:${name}`]]));
  };
  expect(await filled('')).toEqual({
    material: ['Oak/Steel & glass'],
    color: ['Old brass'],
    size: ['Small'],
    pattern: ['Waves'],
    gender: ['unisex'],
    age_group: undefined,
    custom_label_0: [`<Winter> & "${'x'.repeat(88)}`],
  });
  expect(await filled('?locale=de_DE')).toMatchObject({
    material: ['Eiche/Steel & glass'],
    custom_label_0: ['Winter'],
  });
  expect(problemsOf(await itemOf('LA-101'), GOOGLE)).toEqual([]);
  const record = (await acpRecords('DemoShop')).find((one) => one['item_id'] === 'LA-101');
  expect(record).toMatchObject({ material: 'Oak/Steel & glass', color: 'Old brass', size: 'Small' });
  // Other products have what they had.
  expect((await itemOf('AP-110'))['g:custom_label_0']).toBeUndefined();

  const { items } = await service
    .call('GET', '/manage/shops/DemoShop/custom-fields?resource=product', { token })
    .then(({ body }) => body as { items: { fieldId: string; namespace: string }[] });
  for (const { fieldId, namespace } of items) {
    if (namespace !== 'feeds') continue;
    const path = `/manage/shops/DemoShop/custom-fields/${fieldId}`;
    expect((await service.call('DELETE', path, { token })).status).toBe(204);
  }
  expect(await filled('')).toMatchObject({
    material: undefined,
    gender: undefined,
    custom_label_0: undefined,
  });
});

test('what merchants write can break neither file', async () => {
  const { shop, add, items } = await givenFeedShop();
  const name = 'a<b>&"\'\u0007]]>\ud83d\ude00\u000b\ufffe';
  await add({
    number: 'HARD <&>',
    facts: {
      name: { en_GB: name },
      description: { en_GB: '<p>One &amp; two</p><script>x</script><p>]]&gt;</p>' },
      manufacturer: '\u0001',
      ean: '4012345678902',
      attributes: [
        {
          key: 'Zustand',
          name: {},
          type: 'string',
          singleValue: true,
          values: [{ value: 'used', name: {} }],
        },
        { key: 'Farbe', name: {}, type: 'string', singleValue: true, values: [{ value: '<b>', name: {} }] },
      ],
    },
  });
  const title = 'a<b>&"\']]>\ud83d\ude00';
  const [item] = await items();
  expect(everyField(item!)).toMatchObject({
    'g:id': 'HARD <&>',
    title,
    description: 'One & two\n]]>',
    link: `${HOST}/shop/${shop.shopId}/Products/HARD%20%3C%26%3E`,
    'g:condition': 'used',
    'g:color': '<b>',
    'g:identifier_exists': 'no',
  });
  expect(Object.keys(item!)).not.toContain('g:brand');
  expect(Object.keys(item!)).not.toContain('g:gtin');
  expect(await acpRecords(shop.shopId)).toMatchObject([{ item_id: 'HARD <&>', title, brand: shop.shopId }]);
});

test('long texts are cut, never through a character, and long numbers are replaced', async () => {
  const { add, items } = await givenFeedShop();
  await add({
    number: 'N'.repeat(51),
    facts: { name: { en_GB: `${'x'.repeat(149)}\ud83d\ude00` }, description: { en_GB: 'y '.repeat(4_000) } },
  });
  const [item] = await items();
  expect(everyField(item!)).toMatchObject({
    'g:id': expect.stringMatching(/^[0-9A-F-]{36}$/),
    title: 'x'.repeat(149),
    description: 'y '.repeat(2_500).trim(),
  });
});

test('prices have the tax that consumers of the country see', async () => {
  const taxClasses = [{ key: 'standard', name: 'Standard', default: true, rates: { DE: 19, US: 8 } }];
  const { shop, add, items } = await givenFeedShop({ taxClasses, taxes: { model: 'net' } });
  await add({ price: 10_000 });
  const price = async () => (await items())[0]!['g:price'];
  expect(await price()).toEqual(['119.00 EUR']);
  await changeSettings(shop, { country: 'US' });
  expect(await price()).toEqual(['100.00 EUR']);
  await changeSettings(shop, { taxes: { model: 'gross' } });
  expect(await price()).toEqual(['92.59 EUR']);
});

test('what is sold beyond the stock says when it is there', async () => {
  const { shop, add, items } = await givenFeedShop();
  await add({ number: 'A', stock: 0, facts: { deliveryPeriod: '2-3' } });
  await add({ number: 'B', stock: 0 });
  await add({
    number: 'C',
    stock: 4,
    facts: { orderUnit: { priceQuantity: 1, unit: 'piece', minimum: 5, interval: 1 } },
  });
  const availability = async () =>
    (await items()).map((item) => [item['g:availability']![0], item['g:availability_date']?.[0]]);
  expect(await availability()).toEqual(['A', 'B', 'C'].map(() => ['out_of_stock', undefined]));
  await changeSettings(shop, { sellBeyondStock: true });
  // Three working days after Monday; nobody knows of the others.
  expect(await availability()).toEqual([
    ['backorder', '2026-11-19'],
    ['out_of_stock', undefined],
    ['out_of_stock', undefined],
  ]);
});

test('a recommended price is no reduction; the lowest price before one is', async () => {
  const { add, items } = await givenFeedShop();
  await add({ number: 'RRP', facts: { manufacturerPrices: { EUR: 2_000 }, isManufacturerPriceRrp: true } });
  await add({
    number: 'SALE',
    facts: { manufacturerPrices: { EUR: 2_000 }, pricesBeforeReduction: { EUR: 1_200 } },
  });
  expect((await items()).map((item) => [item['g:price']![0], item['g:sale_price']?.[0]])).toEqual([
    ['10.00 EUR', undefined],
    ['12.00 EUR', '10.00 EUR'],
  ]);
});

test('what ends soon, can not be sent back, has features or a size says so', async () => {
  const { shop, add, items } = await givenFeedShop();
  const essentialFeatures = { en_GB: `Leise\n\nSparsam\r\n${'Lang '.repeat(40)}` };
  const size = { length: 300, width: 205, height: 9 };
  await add({ number: 'A', facts: { forSaleUntil: '2026-12-16T08:29:59Z', withdrawalExcluded: 'hygiene' } });
  await add({ number: 'B', facts: { forSaleUntil: '2026-12-16T08:30:00Z', essentialFeatures, ...size } });
  await add({ number: 'C', facts: { essentialFeatures: { en_GB: 'Leise' }, ...size, height: 10 } });
  const names = ['expiration_date', 'return_policy_label', 'product_highlight', 'product_width'];
  expect((await items()).map((item) => names.map((name) => item[`g:${name}`]))).toEqual([
    [['2026-12-16T08:29:59.000Z'], ['no_returns'], undefined, undefined],
    [undefined, undefined, ['Leise', 'Sparsam'], undefined],
    [undefined, undefined, undefined, ['20.5 cm']],
  ]);
  const returns = (await acpRecords(shop.shopId)).map((record) => [
    record['accepts_returns'],
    record['return_deadline_in_days'],
  ]);
  expect(returns).toEqual([[false, undefined], ...['B', 'C'].map(() => [true, 30])]);
});

test('every record has the nine required fields of the second channel, whatever the product lacks', async () => {
  const { shop, add } = await givenFeedShop();
  await add({ number: 'BARE' });
  const [record] = await acpRecords(shop.shopId);
  const required = 'item_id title description url brand seller_name image_url availability price'.split(' ');
  expect(required.filter((name) => !record![name])).toEqual([]);
  expect(record).toMatchObject({ brand: record!['seller_name'], description: record!['title'] });
});

test('the settings say which products lack what, and where it is mended', async () => {
  const { shop, add } = await givenFeedShop();
  const merchant = await givenMerchant(service, 'owner', shop.shopId);
  const rows = async () => {
    const { text } = await merchant.get('/settings/feeds');
    const card = text.slice(text.indexOf('What is missing'));
    return [...card.matchAll(/<tr>\s*<th scope="row">([^<]*)<\/th>\s*<td>([^]*?)<\/td>/g)].map(
      ([, name, cell]) => [
        name,
        cell!
          .replaceAll(/<[^>]*>/g, '')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      ],
    );
  };
  const manufacturer = 'Beacon';
  const description = { en_GB: 'Text' };
  const complete = { manufacturer, description, ean: '4012345678901' };
  await add({ number: 'GOOD', facts: complete });
  await add({ number: 'DIGIT', facts: { ...complete, ean: '4012345678902' } });
  await add({ number: 'OTHER', facts: { ...complete, ean: '4012345678902', upc: '036000291452' } });
  await add({ number: 'NONE', facts: { description } });
  await add({ number: 'LATER', facts: { forSaleFrom: '2027-01-01T00:00:00Z' } });
  const bareId = await givenProduct(shop, { number: 'BARE', facts: { ...complete, description: {} } });
  expect(await rows()).toEqual([
    ['Picture – left out of the feeds', '1: BARE'],
    ['Check digit of EAN or UPC is wrong – the number is left out', '2: DIGIT, OTHER'],
    ['EAN or UPC, or else manufacturer and its number', '1: NONE'],
    ['Manufacturer', '1: NONE'],
    ['Description – the name takes its place', '1: BARE'],
    ['Category that visitors see', '5: GOOD, DIGIT, OTHER, NONE, BARE'],
  ]);
  const { text } = await merchant.get('/settings/feeds');
  expect(text).toContain(`href="/admin/shops/${shop.shopId}/products/${bareId}"`);
  expect(text).toContain('4 of 5 products for sale are in the feeds.');
  expect(text).toContain(`href="/admin/shops/${shop.shopId}/settings/shipping"`);
  // The number of the channel is the other one, which is right.
  const items = await googleItems(shop.shopId);
  const gtins = items.map((item) => [item['g:id']![0], item['g:gtin']?.[0]]);
  expect(gtins).toEqual([
    ['GOOD', '4012345678901'],
    ['DIGIT', undefined],
    ['OTHER', '036000291452'],
    ['NONE', undefined],
  ]);
  await add({ number: 'NEW' });
  expect((await rows())[2]).toEqual(['EAN or UPC, or else manufacturer and its number', '2: NONE, NEW']);
});

describe('nobody gets', () => {
  const statusOf = async (shopId: string) => [
    (await get(`/shop/${shopId}/feeds/google.xml`)).status,
    (await get(`/shop/${shopId}/feeds/acp.jsonl`)).status,
  ];

  test('feeds that the merchant has not switched on, or of a shop that is closed or unknown', async () => {
    const { shopId } = await givenSmallShop(service);
    expect(await statusOf(shopId)).toEqual([404, 404]);
    const { shop } = await givenFeedShop({ feeds: { google: true } });
    expect(await statusOf(shop.shopId)).toEqual([200, 404]);
    await changeSettings(shop, { publicCatalogue: false });
    expect(await statusOf(shop.shopId)).toEqual([404, 404]);
    expect(await statusOf('Unknown')).toEqual([404, 404]);
    expect((await get(`/shop/DemoShop/feeds/other.xml`)).status).toBe(404);
  });

  test('hidden products, variations of a hidden one, names of hidden categories, or anything of another shop', async () => {
    const { shop, add } = await givenFeedShop();
    await add({ number: 'OWN' });
    expect((await googleItems(shop.shopId)).map((item) => item['g:id'])).toEqual([['OWN']]);
    const change = (statement: string) => service.db.pool.query(statement);
    await change(`update product set visible = false, version = version + 1
      where shop_id = 'OtherShop' and product_number in ('LA-100', 'AP-100')`);
    await change(
      `update category set visible = false where shop_id = 'OtherShop' and alias in ('coffee', 'tea')`,
    );
    await givenPictures('OtherShop', 'master_id is null');
    const items = await googleItems('OtherShop');
    const numbers = items.map((item) => item['g:id']![0]!);
    expect(numbers.filter((number) => /^LA-10|AP-100/.test(number))).toEqual([]);
    expect(numbers).toContain('CB-101');
    const categories = new Set(items.flatMap((item) => item['g:product_type'] ?? []));
    expect(categories).toContain('Beans');
    expect(categories).toContain('Kitchen > Appliances');
    expect([...categories].filter((name) => /Coffee >|^Tea/.test(name))).toEqual([]);
  });
});

test('a channel that has the file already gets it again only after a change', async () => {
  const { shop, add } = await givenFeedShop();
  await add({ number: 'SOLD', stock: 3, facts: { forSaleUntil: '2026-11-16T10:00:00Z' } });
  const path = `/shop/${shop.shopId}/feeds/google.xml`;
  let etag = '';
  const isSame = async () => {
    const { status, headers, text } = await get(path, { 'if-none-match': etag });
    const answer = [status, text === ''];
    expect(answer).toEqual(status === 304 ? [304, true] : [200, false]);
    etag = headers['etag'] as string;
    return status === 304;
  };
  expect([await isSame(), await isSame()]).toEqual([false, true]);
  const asked = await get(path, {}, 'HEAD');
  expect([asked.status, asked.headers['etag'], asked.text]).toEqual([200, etag, '']);
  const german = await get(`${path}?currency=USD`);
  expect(german.headers['etag']).toBe(etag);
  const changes = [
    `update product set stock = 2 where shop_id = $1`,
    `update product set version = version + 1 where shop_id = $1`,
    `update shop set settings_version = settings_version + 1 where shop_id = $1`,
  ];
  for (const change of changes) {
    await service.db.pool.query(change, [shop.shopId]);
    expect([await isSame(), await isSame()]).toEqual([false, true]);
  }
  service.setClock(new Date('2026-11-16T10:00:00Z'));
  expect([await isSame(), await isSame()]).toEqual([false, true]);
  expect(await googleItems(shop.shopId)).toEqual([]);
  service.setClock(NOW);
});

test('on a domain of the shop everything leads there', async () => {
  const { shop, add } = await givenFeedShop();
  await givenDomains(service, shop.shopId, ['feeds.example']);
  await add({ number: 'HERE' });
  const own = await get('/feeds/google.xml', { host: 'feeds.example' });
  const [item] = parsedItems(own.text);
  expect(everyField(item!)).toMatchObject({
    link: 'http://feeds.example/Products/HERE',
    'g:image_link': expect.stringMatching(`^http://feeds\\.example/media/${shop.shopId}/`),
  });
  const moved = await get(`/shop/${shop.shopId}/feeds/google.xml?currency=EUR`);
  expect([moved.status, moved.headers['location']]).toEqual([
    308,
    'http://feeds.example/feeds/google.xml?currency=EUR',
  ]);
});

test('a link leads to the price that the feed names, and the visitor keeps the currency', async () => {
  const { link, 'g:price': price } = everyField(await itemOf('KN-110', '?currency=GBP'));
  expect(link).toBe(`${HOST}/shop/DemoShop/Products/KN-110?currency=GBP`);
  const visitor = givenVisitor(service, 'DemoShop');
  const shown = `£${price!.split(' ')[0]}`;
  expect((await visitor.get('/Products/KN-110?currency=GBP')).text).toContain(shown);
  expect((await visitor.get('/Products/KN-110')).text).toContain(shown);
  expect((await visitor.get('/Products/KN-110?currency=EUR')).text).toContain('€24.50');
  expect((await visitor.get('/Products/KN-110?currency=XXX')).text).toContain('€24.50');
  // A cart has its currency, and so has its owner.
  const [, productId] = /name="productId" value="([^"]+)"/.exec(
    (await visitor.get('/Products/KN-110')).text,
  )!;
  await visitor.post('/cart/add', { productId: productId!, quantity: '1' });
  expect((await visitor.get('/Products/KN-110?currency=GBP')).text).toContain('€24.50');
});

test('a large catalogue is read in pages: two statements for two hundred products', async () => {
  const { shop } = await givenFeedShop();
  await service.db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
    select ${shop.shopId}, gen_random_uuid(), 'MANY-' || number, 'regular', ${NOW}, 1, true, '{"EUR": 100}', '{}'
    from generate_series(1, 1000) as number`);
  await givenPictures(shop.shopId, 'true');
  let items: Values[] = [];
  const statements = await statementsOf(async () => {
    items = await googleItems(shop.shopId);
  });
  expect(new Set(items.map((item) => item['g:id']![0])).size).toBe(1_000);
  const ofProducts = statements.filter((text) => /from product\b/.test(text));
  // One hashes the catalogue, and the last page is empty.
  expect(ofProducts).toHaveLength(1 + 2 * 5 + 1);
  expect(ofProducts.filter((text) => /limit \$\d+$/.test(text))).toHaveLength(6);
  expect(ofProducts.filter((text) => /= any \(\$\d+::uuid\[\]\)$/.test(text))).toHaveLength(5);
});

test('a client address gets a feed so often in an hour, and each shop counts by itself', async () => {
  const { shop } = await givenFeedShop();
  const path = `/shop/${shop.shopId}/feeds/google.xml`;
  for (let count = 0; count < 60; count++) expect((await get(path, {}, 'HEAD')).status).toBe(200);
  const refused = await get(path);
  expect(refused.status).toBe(429);
  const { headers } = await get('/shop/DemoShop/feeds/google.xml', {}, 'HEAD');
  expect(headers['etag']).toBeDefined();
});

test.each([
  ['4012345678901', true],
  ['4012345678902', false],
  ['96385074', true],
  ['036000291452', true],
  ['00000000', false],
  ['12345', false],
  ['', false],
])('%s is a GTIN: %s', (code, is) => {
  expect(isGtin(code)).toBe(is);
});

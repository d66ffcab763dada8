import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { exportSource } from '../exports.ts';
import { IMPORTED, importShop } from '../import-shop.ts';
import { withSourceFiles } from '../source-files.ts';

let service: Service;
let folder: string;

const COAT = 'a'.repeat(32);
const MUG = 'b'.repeat(32);
const COAT_S = 'c'.repeat(32);

const FILES = {
  'products.csv': [
    'id;parent_id;product_number;active;stock;name;description;price_net;price_gross;tax_rate;ean;manufacturer_name;categories;optionIds;propertyIds;cover_media_url;weight',
    `${COAT_S};${COAT};SW1.1;1;3;;;;;19;;;;opt-s;;;`,
    `${COAT};;SW1;1;0;Rain coat;"<p>Keeps dry; always</p>";74.7899159664;89;19;;Beacon;cat-coats;;prop-rain;;0.8`,
    `dd;${COAT};SW1.2;1;-2;;;79.83;95;19;4006381333931;;;opt-m;;;`,
    `${MUG};;SW2;0;12;Mug;;7.983;9.5;19;;Pier;cat-root|cat-kitchen;;;;0.3`,
    'ee;missing;SW9;1;1;Lost;;1;1;19;;;;;;;',
  ],
  'properties.csv': [
    'id;color_hex_code;name;position;group_id;group_display_type;group_sorting_type;group_name;group_description',
    'opt-s;;S;1;g1;text;position;Size;',
    'opt-m;;M;2;g1;text;position;Size;',
    'prop-rain;;Rain;1;g2;text;position;Weather;',
  ],
  'categories.csv': [
    'id;parent_id;active;type;visible;name;external_link;description;meta_title;meta_description',
    'cat-root;;1;page;1;Main menu;;;;',
    'cat-coats;cat-root;1;page;1;Coats;;<p>For wet days</p>;;',
    'cat-kitchen;cat-root;1;page;1;Kitchen;;;;',
  ],
  'customers.csv': [
    'id;salutation;customer_number;first_name;last_name;email;active;guest;customer_group;language;sales_channel;payment_method;billing_id;billing_salutation;billing_title;billing_first_name;billing_last_name;billing_company;billing_street;billing_zipcode;billing_city;billing_country;billing_phone_number',
    'k1;mrs;10001;Ada;Brennan;ada@mail.example;1;0;Standard customer group;de-DE;Storefront;Invoice;;mrs;;Ada;Brennan;;Speicherweg 4;20457;Hamburg;DE;',
  ],
  'orders.csv': [
    'id;order_number;sales_channel_id;customer_firstname;customer_lastname;customer_email;billing_address_street;billing_address_zipcode;billing_address_city;billing_address_company;billing_address_department;billing_address_country_id;billing_address_country_state_id;shipping_address_street;shipping_address_zipcode;shipping_address_city;amount_total;order_state_id;line_items;order_date_time',
    `o1;10010;s1;Ada;Brennan;ada@mail.example;Speicherweg 4;20457;Hamburg;;;${'f'.repeat(32)};;Kai 9;20457;Hamburg;193;x;1x ${COAT_S}|2x ${MUG};2025-10-07T07:50:00.000+00:00`,
    'o2;10011;s1;Ada;Brennan;ada@mail.example;Speicherweg 4;20457;Hamburg;;;;;;;;;x;;2025-10-08T07:50:00.000+00:00',
  ],
  'orders_more.csv': [
    'id;order_number;customer_firstname;customer_lastname;customer_email;billing_address_street;billing_address_zipcode;billing_address_city;billing_address_country;amount_total;amount_net;shipping_total;currency;tax_status;order_state;payment_state;delivery_state;line_items;order_date_time',
    `o3;10012;Ada;Brennan;ada@mail.example;Speicherweg 4;20457;Hamburg;DE;23.9;20.08;4.9;EUR;gross;completed;paid;shipped;2x ${MUG};2025-11-01T10:00:00.000+00:00`,
  ],
  'promotion_codes.csv': [
    'id;promotion_id;code;payload',
    '1;p1;ONE-A;',
    '2;p1;ONE-B;"{""orderId"":""o1""}"',
    '3;p2;SET-A;',
  ],
  'promotion_discounts.csv': [
    'id;promotion_id;scope;type;value;consider_advanced_rules;max_value;sorter_key;applier_key;usage_key;picker_key;discount_rules',
    'd1;p1;cart;percentage;10;0;;;;;;',
    'd2;p2;set;percentage;2.5;1;4;PRICE_DESC;1;1;VERTICAL;r1',
  ],
};

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Moved');
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-shopware-'));
  for (const [name, lines] of Object.entries(FILES))
    await writeFile(path.join(folder, name), `${lines.join('\n')}\n`);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const run = (isCheck = false) =>
  withSourceFiles(folder, (files) =>
    importShop({
      db: service.db,
      config: service.config,
      media: openMediaStorage(service.config),
      shopId: 'Moved',
      source: exportSource('shopware', files, { currency: 'EUR', taxModel: 'GROSS', now: new Date() }),
      only: IMPORTED,
      isCheck,
      onProgress: () => {},
    }),
  );

const none = { created: 0, changed: 0, unchanged: 0, kept: 0, refused: 0 };

test('a dry run counts what would come, and writes nothing', async () => {
  const report = await run(true);
  expect(Object.fromEntries(report.counts)).toEqual({
    category: { ...none, created: 2 },
    product: { ...none, created: 2, refused: 1 },
    customer: { ...none, created: 1 },
    order: { ...none, created: 2, refused: 1 },
    coupon: { ...none, created: 1, refused: 1 },
  });
  expect(await service.db.many(sql`select product_number from product where shop_id = 'Moved'`)).toEqual([]);
});

test('a shop comes with its variants, customers, orders and codes', async () => {
  const report = await run();
  expect(report.counts.get('order')).toEqual({ ...none, created: 2, refused: 1 });
  expect(report.lines.map(({ place, name, text }) => `${place.file}:${place.line} ${name} ${text}`)).toEqual([
    'products.csv:6  is a variant of missing, which is not in the export',
    'orders.csv:3  lacks a total',
    'orders.csv:2 10010 the export has no prices of its lines',
    'orders.csv:2 10010 the export has no taxes',
    'orders.csv:2 10010 the export does not say whether it is paid',
    'promotion_codes.csv:4  the promotion has conditions, which no coupon has here',
    'promotion_codes.csv:2 ONE-A its dates are not in the export',
  ]);
  const products = await service.db.many(sql`
    select product_number as number, kind, selection, stock::float8 as stock, prices -> 'EUR' as price, visible
    from product where shop_id = 'Moved' order by product_number`);
  expect(products).toEqual([
    { number: 'SW1', kind: 'master', selection: null, stock: null, price: 8900, visible: true },
    { number: 'SW1.1', kind: 'variation', selection: { Size: 'S' }, stock: 3, price: 8900, visible: true },
    { number: 'SW1.2', kind: 'variation', selection: { Size: 'M' }, stock: 0, price: 9500, visible: true },
    { number: 'SW2', kind: 'regular', selection: null, stock: 12, price: 950, visible: false },
  ]);
  const facts = await service.db.one(sql`
    select facts -> 'manufacturer' as manufacturer, facts -> 'attributes' -> 0 ->> 'key' as attribute,
      facts -> 'deliveryWeight' ->> 'amount' as weight
    from product where shop_id = 'Moved' and product_number = 'SW1'`);
  expect(facts).toEqual({ manufacturer: 'Beacon', attribute: 'Weather', weight: '800' });
  const categories = await service.db.many(sql`
    select alias, description from category where shop_id = 'Moved' and parent_id is not null order by alias`);
  expect(categories).toEqual([
    { alias: 'Coats', description: { en_GB: '<p>For wet days</p>' } },
    { alias: 'Kitchen', description: {} },
  ]);
});

test('orders say what the export says, and no more', async () => {
  const orders = await service.db.many(sql`
    select order_number as number, grand_total as total, content -> 'totalTax' as tax, paid_amount as paid,
      dispatched_at is not null as sent, billing_address ->> 'country' as country,
      shipping_address ->> 'street' as "shippedTo",
      (select json_agg(json_build_array(line -> 'name' ->> 'en_GB', line ->> 'quantity', line -> 'amount'))
        from jsonb_array_elements(content -> 'lines') line) as lines
    from customer_order where shop_id = 'Moved' order by order_number`);
  expect(orders).toEqual([
    {
      number: '10010',
      total: 19300,
      tax: 0,
      paid: 0,
      sent: false,
      country: null,
      shippedTo: 'Kai 9',
      lines: [
        ['Rain coat', '1', 0],
        ['Mug', '2', 0],
      ],
    },
    {
      number: '10012',
      total: 2390,
      tax: 382,
      paid: 2390,
      sent: true,
      country: 'DE',
      shippedTo: null,
      lines: [['Mug', '2', 1900]],
    },
  ]);
  expect(
    await service.db.many(sql`select type from event where shop_id = 'Moved' and type like 'ORDER%'`),
  ).toEqual([]);
});

test('codes that are left can be used once, and old addresses lead to their products', async () => {
  const codes = await service.db.many(sql`
    select code, kind, amount, usage_limit as uses from coupon
    join coupon_campaign using (shop_id, campaign_id) where shop_id = 'Moved'`);
  expect(codes).toEqual([{ code: 'ONE-A', kind: 'PERCENT', amount: 1000, uses: 1 }]);
  const visitor = givenVisitor(service, 'Moved');
  for (const old of [`/detail/${COAT}`, '/Rain-coat/SW1']) {
    const { status, headers } = await visitor.get(old);
    expect([old, status, headers.location]).toEqual([old, 301, '/shop/Moved/Products/SW1']);
  }
});

test('a second run changes nothing', async () => {
  const report = await run();
  expect(Object.fromEntries(report.counts)).toEqual({
    category: { ...none, unchanged: 2 },
    product: { ...none, unchanged: 2, refused: 1 },
    customer: { ...none, unchanged: 1 },
    order: { ...none, unchanged: 2, refused: 1 },
    coupon: { ...none, unchanged: 1, refused: 1 },
  });
});

import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterAll, describe, expect, inject, test, vi } from 'vitest';
import { dropDatabase, onServers } from '../../test/cluster.ts';
import { TEMPLATE } from '../../test/global-setup.ts';
import { ofTheDay } from '../../test/seed.ts';
import { databaseOptions } from '../../test/service.ts';
import { settingsFormat } from '../composition/settings-format.ts';
import { exportSettings } from '../shops/settings/file.ts';
import { selectSettings } from '../shops/settings/settings.ts';
import { insertShop } from '../shops/shop/insert-shop.ts';
import { openDatabase, type Database } from './database.ts';
import { violatedConstraint } from './failure.ts';
import { migrate, migrationStatus } from './migrate.ts';

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** A database, empty or with the whole schema, and a function that opens it as one more process would. */
async function givenDatabase(template = 'template0'): Promise<() => Database> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServers(inject('nodes'), `create database ${name} template ${template}`);
  ends.push(() => dropDatabase(inject('nodes'), name));
  return () => {
    const db = openDatabase(databaseOptions(name));
    ends.push(() => db.close());
    return db;
  };
}

const files = (await readdir(new URL('../../migrations/', import.meta.url))).toSorted();
const applied = async (db: Database) =>
  (await db.pool.query<{ name: string }>('select name from migration order by name')).rows.map(
    (row) => row.name,
  );

describe('migrate', () => {
  test('by one process applies every file in order, and the second time nothing', async () => {
    const db = (await givenDatabase())();
    const lines: string[] = [];
    await migrate(db, (line) => lines.push(line));
    expect(lines).toEqual(files.map((file) => `migration ${file} applied`));
    expect(await applied(db)).toEqual(files);
    const connect = vi.spyOn(db.pool, 'connect');
    await migrate(db, (line) => lines.push(line));
    expect(lines).toHaveLength(files.length);
    // Every start does this, so it does not ask about each file.
    expect(connect.mock.calls.length).toBeLessThan(10);
  });

  test.each(ofTheDay([1, 2], 1))(
    'by eight processes at once applies every file once (round %i)',
    async () => {
      const openNext = await givenDatabase();
      const processes = Array.from({ length: 8 }, openNext);
      const lines: string[] = [];
      await Promise.all(processes.map((db) => migrate(db, (line) => lines.push(line))));
      // A process logs after its commit, when another one may already have applied the next file.
      expect(lines.toSorted()).toEqual(files.map((file) => `migration ${file} applied`));
      expect(await applied(processes[0]!)).toEqual(files);
    },
  );

  test('refuses a file that was changed after it was applied, and changes nothing', async () => {
    const db = (await givenDatabase(TEMPLATE))();
    await db.pool.query("update migration set checksum = 'of another text' where name = $1", [files[0]]);
    const before = (await db.pool.query('select * from migration')).rows;
    await expect(migrate(db, () => {})).rejects.toThrow(
      `Migration ${files[0]} was changed after it was applied. Restore its text and write a new migration.`,
    );
    expect((await db.pool.query('select * from migration')).rows).toEqual(before);
  });

  test('that needs a table which somebody reads for long waits for it, and lets requests pass meanwhile', async () => {
    const openNext = await givenDatabase();
    const db = openNext();
    const last = files.findIndex((file) => file.startsWith('0011'));
    await migrate(db, () => {}, { before: files[last]! });
    const others = openNext();
    const reader = await others.pool.connect();
    await reader.query('begin');
    await reader.query('select from shop');
    const migrating = migrate(db, () => {});
    const waiting = async () =>
      (
        await others.pool.query(`
          select from pg_stat_activity
          where datname = current_database() and query like 'alter table shop%' and wait_event_type = 'Lock'`)
      ).rows.length;
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    // It would wait behind the migration, which waits for a transaction that ends only after it.
    await others.pool.query('select from shop');
    await reader.query('commit');
    reader.release();
    await migrating;
    expect(await applied(db)).toEqual(files);
  });

  test('that fails half way leaves nothing of its file behind', async () => {
    const db = (await givenDatabase())();
    // The first file wants to create this one, late in its text.
    await db.pool.query('create table customer (name text)');
    await expect(migrate(db, () => {})).rejects.toThrow('relation "customer" already exists');
    const tables = await db.pool.query(
      "select tablename from pg_tables where schemaname = 'public' order by 1",
    );
    expect(tables.rows).toEqual([{ tablename: 'customer' }, { tablename: 'migration' }]);
    expect(await applied(db)).toEqual([]);
  });
});

describe('0004_orders.sql', () => {
  const LINE = {
    lineItemId: '019A0000-0000-7000-8000-000000000001',
    productId: '019A0000-0000-7000-8000-00000000000A',
    quantity: '2',
    amount: 10_000,
    deposit: 50,
    ecoParticipation: 0,
    couponShare: 900,
    taxClass: { taxClassId: 'A', name: {}, rate: 1900 },
  };
  const CONTENT = {
    currency: 'EUR',
    taxType: 'GROSS',
    lines: [LINE, { ...LINE, lineItemId: '019A0000-0000-7000-8000-000000000002', amount: 0, couponShare: 0 }],
    subTotal: 10_000,
    basketDiscount: -1000,
    coupon: { couponLineItemId: 'B', couponCampaignId: 'C', amount: -900, problems: [] },
    shipping: { taxes: [{ taxClass: { taxClassId: 'D', name: {}, rate: 700 }, tax: 0 }] },
    payment: null,
    taxes: [
      { rate: 700, amount: 107, tax: 7 },
      { rate: 1900, amount: 8193, tax: 1308 },
    ],
  };

  test('counts the orders that are there already, and completes what they hold', async () => {
    const db = (await givenDatabase())();
    await migrate(db, () => {}, { before: '0004' });
    await db.pool.query(`
      insert into shop (shop_id, created_at, settings_version, name, slogan, email, country, default_locale, locales,
        default_currency, currencies, exchange_rates, default_country, countries, tax_model, display_taxes,
        delivery_threshold_is_active, tax_free_outside_eu, public_catalogue, sell_beyond_stock,
        mandatory_address_fields, minimum_cart_code, basket_discounts, units)
      values ('Old', '2026-01-01', 1, '{}', '{}', 'a@b.example', 'DE', 'en_GB', '{en_GB}', 'EUR', '{EUR}', '{}', 'DE',
        '{DE}', 'GROSS', true, false, true, true, false, '{}', 'SumProduct', '[]', '{}')`);
    const customerId = '019A0000-0000-7000-8000-00000000000C';
    await db.pool.query(
      `insert into customer (shop_id, customer_id, customer_number, created_at, billing_address)
      values ('Old', $1, '1', '2026-01-01', '{"emailAddress": "Ada.Ölund@Mail.example"}')`,
      [customerId],
    );
    await db.pool.query(
      `insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, customer_id,
        locale, currency, tax_model, grand_total, total_before_tax, total_tax, billing_address, content, paid_at)
      values ('Old', $1, 'ORD1', $1, '', '2026-02-03T23:30:00Z', $1, 'en_GB', 'EUR', 'GROSS', 8300, 6985, 1315, '{}',
        $2, '2026-02-04')`,
      [customerId, CONTENT],
    );
    await migrate(db, () => {});
    const rows = async (text: string) => (await db.pool.query(text)).rows as unknown[];
    expect(
      await rows('select day::text, currency, states, orders, gross, round(net, 6) as net from order_day'),
    ).toEqual([
      { day: '2026-02-03', currency: 'EUR', states: 2048, orders: 1, gross: 8300, net: '6984.873950' },
    ]);
    expect(
      await rows('select quantity, gross, round(net, 6) as net from order_line order by line_item_id'),
    ).toEqual([
      { quantity: '2', gross: '8100', net: '6806.722689' },
      { quantity: '2', gross: '0', net: '0.000000' },
    ]);
    expect(await rows('select email_key from customer')).toEqual([{ email_key: 'ada.ölund@mail.example' }]);
    expect(await rows('select content from customer_order')).toMatchObject([
      {
        content: {
          offers: [],
          serviceTaxClass: { taxClassId: 'D' },
          coupon: { amount: -900, codeKey: null, terms: { kind: 'FIX', amount: 900 } },
          lines: [{ discountShare: 1000, unitDeposit: 25 }, { discountShare: 0 }],
        },
      },
    ]);
  });
});

describe('0010_brakes', () => {
  test('counts the bytes of the images that are there already', async () => {
    const db = (await givenDatabase())();
    await migrate(db, () => {}, { before: '0010' });
    await db.pool.query(`
      insert into shop (shop_id, created_at, settings_version, name, slogan, email, country, default_locale, locales,
        default_currency, currencies, exchange_rates, default_country, countries, tax_model, display_taxes,
        delivery_threshold_is_active, tax_free_outside_eu, public_catalogue, sell_beyond_stock,
        mandatory_address_fields, minimum_cart_code, basket_discounts, units)
      select name, '2026-01-01', 1, '{}', '{}', 'a@b.example', 'DE', 'en_GB', '{en_GB}', 'EUR', '{EUR}', '{}', 'DE',
        '{DE}', 'GROSS', true, false, true, true, false, '{}', 'SumProduct', '[]', '{}'
      from (values ('Full'), ('Empty')) as shops (name)`);
    const productId = '019A0000-0000-7000-8000-00000000000D';
    await db.pool.query(
      `insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
      values ('Full', $1, '1', 'regular', '2026-01-01', 1, true, '{}')`,
      [productId],
    );
    await db.pool.query(
      `insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at)
      values ('Full', $1, 'a.png', 0, $1, '{"Large": {"bytes": 700}, "Small": {"bytes": 50}}', '2026-01-01'),
        ('Full', $1, 'b.png', 1, gen_random_uuid(), '{"Large": {"bytes": 8}, "Small": null}', '2026-01-01')`,
      [productId],
    );
    await migrate(db, () => {});
    const { rows } = await db.pool.query(
      "select shop_id, value from counter where name = 'mediaBytes' order by 1",
    );
    expect(rows).toEqual([
      { shop_id: 'Empty', value: 0 },
      { shop_id: 'Full', value: 758 },
    ]);
  });
});

describe('0011_settings_document.sql', () => {
  /** What a shop had in columns, under the names that the settings have now. */
  const settingsOf = ({ created_at: _created, settings_version, ...columns }: Record<string, unknown>) => ({
    version: settings_version,
    ...Object.fromEntries(
      Object.entries(columns).map(([name, value]) => [
        name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
        value,
      ]),
    ),
  });

  test('keeps the settings of the shops that are there already', async () => {
    const db = (await givenDatabase())();
    await migrate(db, () => {}, { before: '0011' });
    await db.pool.query(`
      insert into shop (shop_id, created_at, settings_version, name, slogan, email, logo_url, country, default_locale,
        locales, default_currency, currencies, exchange_rates, default_country, countries, tax_model, display_taxes,
        no_taxes_message, delivery_threshold_is_active, tax_free_outside_eu, public_catalogue, sell_beyond_stock,
        mandatory_address_fields, minimum_cart_code, minimum_cart_amount, basket_discounts, units,
        cross_selling_title, show_from_prices, invoicing, mail_texts, theme, max_per_order,
        daily_emails_per_recipient)
      values ('Full', '2026-01-01', 7, '{"de_DE": "Kai", "en_GB": "Quay"}', '{"de_DE": "Am Wasser"}',
          'kai@mail.example', 'https://kai.example/logo.png', 'DE', 'de_DE', '{de_DE,en_GB}', 'EUR', '{EUR,GBP}',
          '{"GBP": "0.0000001"}', 'AT', '{AT,DE}', 'NET', false, 'Keine Steuer', true, false, false, true,
          '{city,firstName}', 'SumCoupon', 1250,
          '[{"minimumAmount": 10000, "absolute": 1050}, {"minimumAmount": 25000, "percent": 1250}]',
          '{"piece": {"de_DE": {"long": "Stück", "short": "St."}}}', '{"de_DE": "Passt dazu"}', false,
          '{"vatId": "DE123456789", "notes": {"de_DE": "Danke"}, "company": "Kai GmbH", "electronic": true,
            "bank": {"bic": "BYLADEM1001", "iban": "DE02120300000000202051"}}',
          '{"order": {"de_DE": {"text": "{lines}", "subject": "Danke"}}}',
          '{"text": "#112233", "accent": "#0b5d66", "showName": true}', 2.5, 5),
        ('Plain', '2026-01-01', 8, '{"en_GB": "Plain"}', '{}', 'plain@mail.example', null, 'DE', 'en_GB', '{en_GB}',
          'EUR', '{EUR}', '{}', 'DE', '{DE}', 'GROSS', true, null, false, true, true, false, '{}', 'SumProduct', null,
          '[]', '{}', '{}', true, '{}', '{}', '{}', null, 20)`);
    await db.pool.query(`
      insert into tax_class (shop_id, tax_class_id, key, name, position, is_default, is_default_digital)
      values ('Full', '019A0000-0000-7000-8000-00000000000E', 'standard', '{"de_DE": "normal"}', 0, true, true)`);
    await db.pool.query(`
      insert into tax_rate (shop_id, tax_class_id, country, basis_points)
      values ('Full', '019A0000-0000-7000-8000-00000000000E', 'DE', 1900)`);
    const before = await db.pool.query<{ shop: Record<string, unknown> }>(
      'select to_jsonb(shop) as shop from shop order by shop_id',
    );
    await migrate(db, () => {});

    const shops = [await selectSettings(db, 'Full'), await selectSettings(db, 'Plain')];
    expect(shops).toMatchObject(before.rows.map(({ shop }) => settingsOf(shop)));
    const file = await exportSettings(db, 'Full', settingsFormat);
    expect(file).toEqual({
      name: { de_DE: 'Kai', en_GB: 'Quay' },
      slogan: 'Am Wasser',
      email: 'kai@mail.example',
      logoUrl: 'https://kai.example/logo.png',
      domains: [],
      country: 'DE',
      locales: { default: 'de_DE', items: ['de_DE', 'en_GB'] },
      currencies: { default: 'EUR', items: ['EUR', 'GBP'], rates: { GBP: 1e-7 } },
      countries: { default: 'AT', items: ['AT', 'DE'] },
      taxes: {
        model: 'net',
        displayTaxes: false,
        noTaxesMessage: 'Keine Steuer',
        deliveryThresholdIsActive: true,
        taxFreeOutsideEu: false,
        // Later versions tax as before: by the rates that the shop has set, and delivery at the standard rate.
        delivery: 'standard',
        distanceSales: 'rates',
        exportPrices: 'asShown',
        registrations: {},
        smallBusiness: false,
        specialTerritories: false,
      },
      taxClasses: [
        { key: 'standard', name: 'normal', default: true, defaultDigital: true, rates: { DE: 19 } },
      ],
      shippingMethods: [],
      paymentMethods: [],
      minimumCart: { code: 'SumCoupon', amount: 12.5 },
      basketDiscounts: [
        { from: 100, absolute: 10.5 },
        { from: 250, percent: 12.5 },
      ],
      units: { piece: { de_DE: { long: 'Stück', short: 'St.' } } },
      newsletters: [],
      customerGroups: [],
      crossSellingTitle: 'Passt dazu',
      showFromPrices: false,
      categoriesShowSubcategories: true,
      // What later versions added.
      accessibility: null,
      accounting: {},
      appScripts: { load: true, necessary: [] },
      carriers: {},
      deliveryTimes: { cutOffHour: 14, handling: { from: 0, to: 0 }, methods: {}, timeZone: 'Europe/Berlin' },
      emailNewOrders: true,
      assistants: {
        open: false,
        catalogue: true,
        carts: true,
        checkout: true,
        orders: true,
        pageTools: false,
        signedOnly: false,
        callsPerHour: 1_000,
      },
      feeds: { google: false, agenticCommerce: false },
      home: { promises: [] },
      lowStockLevel: null,
      manufacturers: [],
      netPrices: { shownTo: 'nobody', groups: [] },
      orderPage: { cancellation: true, returnDays: 30 },
      withdrawal: { days: 14, transitDays: 5 },
      producerRegistrations: [],
      publicCatalogue: false,
      backorderReadyEmails: true,
      quickOrder: false,
      returns: { refundDelivery: true },
      promotions: [],
      priceLists: [],
      visibility: { shop: 'everybody', groups: [], requests: true },
      reviews: { open: false, moderation: 'before', invite: 'nobody', invitationDays: 14 },
      sellBeyondStock: true,
      maxPerOrder: 2.5,
      menus: { footer: [], header: [] },
      dailyEmailsPerRecipient: 5,
      mandatoryAddressFields: ['city', 'firstName'],
      invoicing: {
        company: 'Kai GmbH',
        vatId: 'DE123456789',
        bank: { iban: 'DE02120300000000202051', bic: 'BYLADEM1001' },
        notes: 'Danke',
        electronic: true,
      },
      mails: { order: { de_DE: { subject: 'Danke', text: '{lines}' } } },
      theme: { accent: '#0b5d66', text: '#112233', showName: true },
      couponCampaigns: [],
    });
  });

  test('refuses documents that statements and pages could not use', async () => {
    const db = (await givenDatabase(TEMPLATE))();
    await db.transaction((tx) =>
      insertShop(tx, {
        shopId: 'Quay',
        name: 'Quay',
        email: 'quay@mail.example',
        country: 'DE',
        locale: 'en_GB',
        currency: 'EUR',
      }),
    );
    const refusedBy = async (change: string) =>
      db.pool.query(`update shop set settings = ${change}`).then(() => undefined, violatedConstraint);
    expect(await refusedBy(`'[]'`)).toBe('shop_country_listed');
    expect(await refusedBy(`settings - 'name'`)).toBe('shop_settings');
    expect(await refusedBy(`settings || '{"defaultCountry": "AT"}'`)).toBe('shop_country_listed');
    expect(await refusedBy(`settings || '{"taxModel": "gross"}'`)).toBe('shop_tax_model');
    expect(await refusedBy(`settings - 'taxModel'`)).toBe('shop_tax_model');
    expect(await refusedBy(`settings || '{"minimumCartAmount": -1}'`)).toBe('shop_minimum_cart');
    expect(await refusedBy(`settings || '{"dailyEmailsPerRecipient": 0}'`)).toBe('shop_limits');
    expect(await refusedBy(`settings || '{"maxPerOrder": 0}'`)).toBe('shop_limits');
    expect(await refusedBy(`settings - 'maxPerOrder' - 'theme'`)).toBeUndefined();
    // What a document lacks, because the setting came later, is what a new shop has.
    expect(await selectSettings(db, 'Quay')).toMatchObject({ maxPerOrder: null, theme: {} });
  });
});

describe('migrationStatus', () => {
  test('of an empty database: all are to come, and nothing is created by asking', async () => {
    const db = (await givenDatabase())();
    expect(await migrationStatus(db)).toEqual(files.map((file) => ({ name: file, appliedAt: null })));
    const tables = await db.pool.query("select tablename from pg_tables where schemaname = 'public'");
    expect(tables.rows).toEqual([]);
  });

  test('of a migrated database says when', async () => {
    const db = (await givenDatabase())();
    const before = Date.now();
    await migrate(db, () => {});
    const status = await migrationStatus(db);
    expect(status.map((entry) => entry.name)).toEqual(files);
    for (const { appliedAt } of status) {
      expect(appliedAt!.getTime()).toBeGreaterThanOrEqual(before);
      expect(appliedAt!.getTime()).toBeLessThanOrEqual(Date.now());
    }
  });

  test('of a database that lags behind says what is to come', async () => {
    const db = (await givenDatabase(TEMPLATE))();
    const last = files.at(-1)!;
    await db.pool.query('delete from migration where name = $1', [last]);
    const status = await migrationStatus(db);
    expect(status.at(-1)).toEqual({ name: last, appliedAt: null });
    expect(status.slice(0, -1).every((entry) => entry.appliedAt !== null)).toBe(true);
  });
});

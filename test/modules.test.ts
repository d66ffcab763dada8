import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/**
 * The modules stand in one order, which CONTRIBUTING.md draws: each imports only itself and those above it in the
 * drawing. The drawing is the rule: this test reads it from there. Imports of types count, because a reader follows
 * them as well.
 */

const root = path.join(import.meta.dirname, '..');
const drawing = /```modules\n(.*?)```/s.exec(readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8'))![1]!;

/** A line of the drawing begins with a folder of src/, or with files of it: `app.ts, main.ts   what they are`. */
const layers = drawing
  .trim()
  .split('\n')
  .map((line) => line.split(/\s{2,}/, 1)[0]!.split(', '));

const layerOf = new Map(layers.flatMap((names, layer) => names.map((name) => [name, layer])));

const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => path.posix.join('src', file));

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

const importsOf = new Map(
  files.map((file) => {
    const imports = [...readFileSync(path.join(root, file), 'utf8').matchAll(IMPORT)];
    return [file, imports.map(([, name]) => path.posix.join(path.posix.dirname(file), name!))];
  }),
);

const moduleOf = (file: string) => file.split('/')[1]!;

test('every file of src belongs to a module of the drawing', () => {
  expect(files.filter((file) => !layerOf.has(moduleOf(file)))).toEqual([]);
});

test('modules import only those above them in the drawing of CONTRIBUTING.md', () => {
  const wrong = [...importsOf].flatMap(([file, imported]) =>
    imported
      .filter((other) => layerOf.get(moduleOf(other))! > layerOf.get(moduleOf(file))!)
      .map((other) => `${file} -> ${other}`),
  );
  expect(wrong).toEqual([]);
});

/** The module that writes a table; others ask it to. */
const TABLES: Readonly<Record<string, string>> = {
  http: 'demo_access_end, host_answer, idempotent_answer, rate_window',
  platform: 'cleanup, counter, email_problem, event, job, mail_day, shop_day',
  shops: `customer_group, dkim_key, domain_status, email_relay, legal_page, newsletter_campaign, payment_method, pending_domain, sandbox_email,
    settings_version, shipping_method, shop, shop_domain, tax_class, tax_rate`,
  fields: 'custom_field, custom_field_namespace, custom_field_value',
  apps: `app, app_call_log, app_manifest, app_use, audit_entry, authorisation_code, connected_assistant, consent_code, oauth_client,
    refresh_token, script_tag, signing_key, token, webhook, webhook_delivery`,
  catalogue: `backorder_line, bulk_edit, bulk_edit_item, category, category_listing, cross_selling, import_picture, library_image, listing, listing_rebuild, listing_size,
    listing_upgrade, listing_word, missed_address, price_history, product, product_category, product_image, product_import, product_type,
    redirect, subcategory_listing, watcher`,
  people: `access_request, account, account_address, account_passkey, account_session, customer, customer_note, customer_segment, customer_tag,
    newsletter_bounce, newsletter_request, newsletter_subscriber, privacy_request, sign_in_request`,
  coupons: 'coupon, coupon_campaign, coupon_day, coupon_revenue, promotion_customer_use, promotion_use',
  giftcards: 'gift_card, gift_card_entry',
  orders: `app_payment, bank_entry, customer_order, customer_total, customer_total_run, demo_payment, document_delivery, order_day,
    order_document, order_event, order_line, order_parcel, order_payment, order_return, order_shipment, order_tag, payment_account, payment_attempt,
    report_day, report_month, report_month_state, report_run, report_state, sold_gift_card, transport_account`,
  reviews: 'product_rating, review, review_invitation, review_objection, review_report',
  downloads: 'digital_product, download_delivery, download_file, download_run, download_use, licence_key',
  carts: 'cart, cart_day, cart_day_run',
  imports: 'import_record, shop_move, shop_move_line, shop_move_part',
  content: 'mailing, mailing_recipient, mailing_run, mailing_text, page, page_text, page_version',
  rules: 'rule, rule_run, task',
  storefront: 'wish',
  assistants: 'assistant_call, assistant_key, assistant_session',
  host: `backup_part, backup_plan, host_event, host_link, host_log, host_message, host_message_reader, host_token, shop_backup,
    shop_restore, support_grant, support_visit`,
  mcp: 'assistant_plan',
  admin: `admin_link, admin_passkey, admin_recovery_code, admin_session, admin_user, sandbox_copy,
    saved_view, shop_user`,
  commands: 'public_demo',
};

/** Writes of another module, each with its reason. */
const FOREIGN_WRITES: Readonly<Record<string, string>> = {
  'shops category': 'a new shop has its root category',
  'shops product_type': 'a new shop has its default product type',
  'shops listing_rebuild': 'settings change what listings show',
  'http audit_entry': 'an entry is written together with the change that it names',
  'http host_token': 'the last use of a token is saved with its number of calls',
  'http token': 'the last use of a token is saved with its number of calls',
  'people idempotent_answer': 'an erasure deletes the answers that name a person',
};

test('every table is written by one module, or by another one for a reason', () => {
  const ownerOf = new Map(
    Object.entries(TABLES).flatMap(([owner, tables]) =>
      tables.split(/,\s+/).map((table): [string, string] => [table, owner]),
    ),
  );
  const created = readdirSync(path.join(root, 'migrations'))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => readFileSync(path.join(root, 'migrations', file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^create table (\w+)/gm)].map(([, table]) => table!));
  expect([...ownerOf.keys()].toSorted()).toEqual([...new Set(created)].toSorted());
  // The demo shop is inserted as a whole, by a few statements for all of its tables.
  const writes = files
    .filter((file) => !file.startsWith('src/commands/demo/'))
    .flatMap((file) =>
      [...readFileSync(path.join(root, file), 'utf8').matchAll(WRITE)]
        .filter(([, table]) => ownerOf.has(table!) && ownerOf.get(table!) !== moduleOf(file))
        .map(([, table]) => `${moduleOf(file)} ${table}`),
    );
  expect([...new Set(writes)].toSorted()).toEqual(Object.keys(FOREIGN_WRITES).toSorted());
});

const WRITE = /\b(?:insert into\s+|update\s+|delete from\s+|(?:insertInto|deleteOld)\(\s*')(\w+)/g;

test('no files import each other in a circle', () => {
  const circles: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    if (finished.has(file)) return;
    if (way.includes(file)) {
      circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
      return;
    }
    for (const other of importsOf.get(file) ?? []) visit(other, [...way, file]);
    finished.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

/**
 * Names that two files export on purpose. The pages of shops, of merchants and of the service itself are made in the same
 * way, and assistants and MCP speak the words of their protocols.
 */
const SIDES = ['admin', 'storefront', 'site'];
const PROTOCOLS = ['assistants', 'mcp'];
const SETTINGS = /^src\/(?:shops\/settings\/(?:settings|schema\/[\w-]+)|pricing\/price-lists)\.ts$/;

test('an exported name has one meaning', () => {
  const filesOf = new Map<string, string[]>();
  for (const file of files.filter((one) => !one.startsWith('src/commands/'))) {
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const name of new Set([...text.matchAll(EXPORT)].map(([, found]) => found!)))
      filesOf.set(name, [...(filesOf.get(name) ?? []), file]);
  }
  const shared = [...filesOf].filter(([, all]) => {
    const own = all.filter((file) => !PROTOCOLS.includes(moduleOf(file)));
    if (own.length <= 1) return false;
    // The schema of a section of the settings, and the type of its values.
    if (own.every((file) => SETTINGS.test(file))) return false;
    const modules = own.map(moduleOf);
    return !(modules.every((name) => SIDES.includes(name)) && new Set(modules).size === own.length);
  });
  expect(shared.map(([name, all]) => `${name}: ${all.join(', ')}`)).toEqual([]);
});

const EXPORT = /^export (?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

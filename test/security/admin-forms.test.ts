import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { newId } from '../../src/kernel/ids.ts';
import { applySettings } from '../../src/shops/settings/file.ts';
import { findOrCreateUser, updateHost } from '../../src/admin/users/queries.ts';
import { givenMerchant, type AdminAnswer, type Merchant } from '../admin.ts';
import { startDemo } from '../demo.ts';
import { MAX_BLOCK, quickestBlock, slowdown } from '../event-loop.ts';
import { FILLINGS, type Filling } from '../fillings.ts';
import { MAX_FIELD_LENGTH } from '../../src/http/form-fields.ts';
import { findForms, type FormField, type FoundForm } from '../forms.ts';
import { ofTheDay, SEED } from '../seed.ts';
import type { Service } from '../service.ts';

/*
 * A form of one shop must not stop the others. The forms are found by opening the pages of the admin, so that a new one is
 * tested by itself: every field is filled with as much as the page lets people type, and with more than that.
 */

/** Milliseconds of the processor that a request may cost before it is refused. */
const MAX_REFUSAL_COST = 150;
/** A request with more is refused before it is parsed. */
const MAX_BYTES = 1_000_000;

let service: Service;
let merchant: Merchant;
let forms: ReadonlyMap<string, FoundForm>;
const outlines: string[] = [];
const blocks: { form: string; ms: number }[] = [];
let requests = 0;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  merchant = await givenMerchant(service);
  await service.db.transaction(async (tx) =>
    updateHost(tx, await findOrCreateUser(tx, merchant.email), true),
  );
  await givenThings();
  const downloadable = await givenDownload();
  const starts = [
    '/admin/account',
    '/admin/account/password',
    '/admin/host',
    '/admin/sign-in',
    '/admin/forgotten',
    '/admin/confirm?to=/admin',
    '/admin/shops/DemoShop/media?for=logo',
    '/admin/shops/DemoShop',
    `/admin/shops/DemoShop/products/${downloadable}/downloads`,
  ];
  forms = await findForms(merchant, await service.app.adminPages(), starts, (address, markup) => {
    outlines.push(...outlineProblems(markup).map((problem) => `${address}: ${problem}`));
  });
}, 120_000);
afterAll(async () => {
  const fields = [...forms.values()].reduce((sum, form) => sum + form.fields.length, 0);
  const worst = blocks.toSorted((one, other) => other.ms - one.ms).slice(0, 5);
  const lines = worst.map(({ form, ms }) => `${ms.toFixed(1)} ms  ${form}`);
  const counts = `${forms.size} forms, ${fields} fields, ${requests} requests, seed ${SEED}`;
  console.log([`${counts}; longest blocks of the event loop`, ...lines].join('\n  '));
  await service.close();
});

/** What makes a page hard to find one's way in with a screen reader, which lists its headings and landmarks by name. */
function outlineProblems(markup: string): string[] {
  const levels = [...markup.matchAll(/<h([1-6])\b/g)].map(([, level]) => Number(level));
  const skipped = levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1);
  const searches = [...markup.matchAll(/<form\b[^>]*\brole="search"[^>]*>/g)].map(
    ([tag]) => /\baria-label="([^"]*)"/.exec(tag)?.[1] ?? 'without a name',
  );
  const labels = [...markup.matchAll(/<(?:section|nav|aside)\b[^>]*\baria-label(?:ledby)?="([^"]*)"/g)].map(
    ([, label]) => label!,
  );
  const twice = [searches, labels].flatMap((names) =>
    names.filter((name, index) => names.indexOf(name) < index),
  );
  return [
    ...skipped.map((level) => `h${level} after a gap`),
    ...twice.map((name) => `two are called ${name}`),
  ];
}

/** A product with a file and a key, and an order that has got it. */
async function givenDownload(): Promise<string> {
  const at = new Date();
  const product = await service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = 'DemoShop' and kind = 'regular' order by product_number limit 1`);
  const { status } = await service.call('POST', `/manage/shops/DemoShop/products/${product!.id}/keys`, {
    token: 'demo-all',
    body: { keys: ['7QXM-2KTR-9DWA-HP4S'] },
  });
  expect(status).toBe(201);
  await service.db.run(sql`
    insert into download_file (shop_id, file_id, product_id, name, version, storage_key, bytes, sha256, created_at,
      changed_at)
    values ('DemoShop', ${newId(at)}, ${product!.id}, 'chart.pdf', 1, ${newId(at)}, 9, 'ab', ${at}, ${at})`);
  await service.db.run(sql`
    insert into download_delivery (shop_id, order_id, line_item_id, product_id, created_at, delivered_at, has_keys)
    select shop_id, order_id, line_item_id, ${product!.id}::uuid, ${at}::timestamptz, ${at}::timestamptz, true
    from order_line where shop_id = 'DemoShop' order by created_at desc limit 1`);
  return product!.id;
}

/** What some forms are about, and a new shop does not have. */
async function givenThings(): Promise<void> {
  await merchant.post('/views', { list: '/orders', name: 'Mine', query: '' });
  for (const resource of ['product', 'category', 'customer', 'order', 'shop']) {
    await merchant.post('/custom-fields/new', {
      resource,
      type: 'text',
      namespace: 'seen',
      key: resource,
      'name.en_GB': 'Seen',
      readableBy: 'merchant',
      writableBy: 'merchant',
    });
  }
  await merchant.post('/users', { email: 'new@people.example', role: 'catalogue' });
  await merchant.post('/support/grant', { duration: 'day', role: 'accountant' });
  await merchant.post('/products/import/paste', { rows: 'SKU;Name\nX-1;A thing\n' });
  await merchant.post('/customers/segments', { name: 'Germans', 'filter.country': 'DE' });
  await merchant.post('/automation/new?event=ORDER_CREATE', {
    name: 'Seen',
    needsAll: 'yes',
    'fact.0': 'total',
    'operator.0': 'atLeast',
    'value.0': '100',
    'action.0': 'task',
    'text.0': 'Look at it',
  });
  await merchant.post('/tasks', { text: 'Count the stock' });
  const newsletter = await service.db.one<{ id: string }>(sql`
    select upper(campaign_id::text) as id from newsletter_campaign where shop_id = 'DemoShop' limit 1`);
  await merchant.post('/marketing/mailings/new', { newsletters: newsletter!.id, subject: 'Ahoy' });
  await merchant.post('/pages/new', { kind: 'page', title: 'About us', category: '' });
  const customer = await service.db.one<{ id: string }>(sql`
    select upper(customer_id::text) as id from customer where shop_id = 'DemoShop' order by created_at desc limit 1`);
  await merchant.post(`/customers/${customer!.id}/notes`, { note: 'Rings twice' });
  await service.db.run(sql`
    insert into review (shop_id, review_id, product_id, order_id, customer_id, stars, title, text, name, locale, state,
      created_at, changed_at)
    select shop_id, ${newId(new Date())}, (
        select product_id from product where shop_id = 'DemoShop' and master_id is null limit 1
      ), order_id, customer_id, 4, 'Fine', 'It works.', 'Ada L.', 'en_GB', 'waiting', created_at, created_at
    from customer_order where shop_id = 'DemoShop' limit 1`);
  const issued = await service.call('POST', '/manage/shops/DemoShop/gift-cards', {
    token: 'demo-all',
    body: { value: 50 },
  });
  expect(issued.status).toBe(201);
  await service.db.run(sql`
    insert into access_request (shop_id, customer_id, email, locale, company, vat_id, text, state, asked_at)
    values ('DemoShop', ${customer!.id}, 'asks@cafe.example', 'en_GB', 'Quay Café', '', '', 'waiting', ${new Date()})`);
  await service.db.transaction((tx) =>
    applySettings(tx, 'DemoShop', {
      visibility: { shop: 'groups', groups: ['Cafes'] },
      priceLists: [{ key: 'spring', name: 'Spring', active: true, customerGroups: ['Cafes'] }],
    }),
  );
  const { body: lists } = await service.call('GET', '/manage/shops/DemoShop/price-lists', {
    token: 'demo-all',
  });
  const priced = await service.call(
    'PATCH',
    `/manage/shops/DemoShop/price-lists/${lists.items[0].priceListId}/prices`,
    { token: 'demo-all', body: { prices: [{ productNumber: 'KN-100', price: 5 }] } },
  );
  expect(priced.status).toBe(200);
  await merchant.get('/settings/home');
  await service.db.run(sql`
    insert into library_image (shop_id, image_key, name, sizes, created_at)
    values ('DemoShop', ${newId(new Date())}, 'harbour.png', '{}', ${new Date()})`);
  await service.db.run(sql`
    insert into redirect (shop_id, redirect_id, source, source_key, status, address, target_path, target_parameters, origin,
      created_at)
    values ('DemoShop', ${newId(new Date())}, '/old.html', '/old.html', 301, '/Categories', '/categories', '{}', 'manual',
      ${new Date()})`);
  await service.db.run(sql`
    insert into missed_address (shop_id, day, address, referrer, hits)
    values ('DemoShop', ${new Date()}, '/older.html', '', 3)`);
  // Shops that move in: one waits for its files, the other one for the word to begin.
  for (const [state, counts] of [
    ['open', '{}'],
    ['checked', '{"product":{"created":1,"changed":0,"unchanged":0,"kept":0,"refused":0}}'],
  ]) {
    await service.db.run(sql`
      insert into shop_move (shop_id, move_id, author, system, state, options, counts, pictures, records_done, lines,
        unknown_files, attempts)
      values ('DemoShop', ${newId(new Date())}, 'owner@demoshop.example', 'shopify', ${state}, '{"only":["products"]}',
        ${counts}::jsonb, 0, 0, 0, '[]', 0)`);
  }
  // Money that belongs to no order.
  await service.db.run(sql`
    insert into bank_entry (shop_id, entry_id, key, booked_on, amount, currency, created_at)
    values ('DemoShop', ${newId(new Date())}, ${'0'.repeat(64)}, '2026-11-15', 123456789, 'EUR', ${new Date()})`);
}

/** Forms that are one button, or that only a script, an app or an event of the day leads to. */
const NOT_ON_A_PAGE = [
  '/admin/confirm',
  '/admin/enter',
  '/admin/enter/open',
  '/admin/shops/:shopId/automation/new',
  '/admin/shops/:shopId/support/leave',
  '/admin/shops/:shopId/marketing/newsletters/:campaignId/unsubscribe',
  '/admin/shops/:shopId/customers/segments',
  '/admin/shops/:shopId/customers/tags',
  '/admin/shops/:shopId/orders/invoices',
  '/admin/shops/:shopId/orders/:orderId/documents/:documentId/send',
  '/admin/shops/:shopId/orders/:orderId/shipments/:shipmentId/undo',
  '/admin/shops/:shopId/pages/:pageId/restore',
  '/admin/shops/:shopId/products/bulk-edit',
  '/admin/shops/:shopId/products/bulk-edits/:editId/undo',
  '/admin/shops/:shopId/products/hide',
  '/admin/shops/:shopId/products/show',
  '/admin/shops/:shopId/products/stock-take',
  '/admin/shops/:shopId/sandbox/clock',
  '/admin/shops/:shopId/sandbox/delete',
  '/admin/shops/:shopId/settings/sandboxes/:sandboxId/delete',
  '/admin/account/passkeys/delete',
  '/admin/account/sessions/end-others',
  '/admin/account/sessions/:sessionId/end',
  '/admin/account/totp/codes',
  '/admin/account/totp/delete',
  '/admin/confirm/demo',
  '/admin/confirm/passkey',
  '/admin/host/jobs/:shopId/:jobId/retry',
  '/admin/host/jobs/retry',
  '/admin/host/shops/:shopId/open',
  '/admin/host/shops/:shopId/restore',
  '/admin/host/shops/:shopId/thaw-emails',
  '/admin/link',
  '/admin/sign-in/code',
  '/admin/shops/:shopId/apps/:appId/install',
  '/admin/shops/:shopId/apps/connect',
  '/admin/shops/:shopId/plans/:planId',
  '/admin/shops/:shopId/apps/:appId/read',
  '/admin/shops/:shopId/apps/:appId/settings',
  '/admin/shops/:shopId/apps/:appId/token',
  '/admin/shops/:shopId/apps/:appId/update',
  '/admin/shops/:shopId/apps/webhooks/:webhookId/active',
  '/admin/shops/:shopId/apps/webhooks/:webhookId/delete',
  '/admin/shops/:shopId/apps/webhooks/:webhookId/redeliver',
  '/admin/shops/:shopId/apps/webhooks/:webhookId/replay',
  '/admin/shops/:shopId/marketing/carts/remind',
  '/admin/shops/:shopId/orders/:orderId/capture',
  '/admin/shops/:shopId/orders/:orderId/credit',
  '/admin/shops/:shopId/orders/:orderId/edit/end',
  '/admin/shops/:shopId/orders/:orderId/refund',
  '/admin/shops/:shopId/orders/:orderId/return',
  '/admin/shops/:shopId/orders/:orderId/returns/:returnId',
  '/admin/shops/:shopId/orders/:orderId/tax-correction',
  '/admin/shops/:shopId/orders/:orderId/vat-check',
  '/admin/shops/:shopId/products/:productId/pictures/delete',
  '/admin/shops/:shopId/products/:productId/pictures/order',
  '/admin/shops/:shopId/products/:productId/pictures/texts',
  '/admin/shops/:shopId/products/:productId/related/add',
  '/admin/shops/:shopId/products/import/:importId/mend',
  '/admin/shops/:shopId/products/import/:importId/start',
  '/admin/shops/:shopId/products/import/pictures/delete',
  '/admin/shops/:shopId/host-messages/:messageId/dismiss',
  '/admin/shops/:shopId/settings/app-payments/:app/:name',
  '/admin/shops/:shopId/settings/domains/check',
  '/admin/shops/:shopId/settings/emails/server/remove',
  '/admin/shops/:shopId/settings/emails/server/test',
  '/admin/shops/:shopId/settings/emails/signature/check',
  '/admin/shops/:shopId/settings/emails/signature/create',
  '/admin/shops/:shopId/settings/emails/signature/remove',
  '/admin/shops/:shopId/settings/history/:versionId',
  '/admin/shops/:shopId/settings/opening/new-link',
  '/admin/shops/:shopId/settings/opening/open',
  '/admin/shops/:shopId/settings/payments/:method',
];

test('no page skips a level of headings or has two landmarks of one name', () => {
  expect(outlines).toEqual([]);
});

test('every form of the admin is found on a page, or named here', async () => {
  const posts = (await service.app.adminPages())
    .filter(({ method }) => method === 'POST')
    .map(({ url }) => url);
  expect(posts.filter((url) => !forms.has(url) && !NOT_ON_A_PAGE.includes(url))).toEqual([]);
  expect(NOT_ON_A_PAGE.filter((url) => !posts.includes(url))).toEqual([]);
});

const plainForms = () => [...forms.values()].filter(({ isMultipart }) => !isMultipart);

const FLOODED = 5;
const floodedForms = () => ofTheDay(plainForms(), FLOODED);

describe.each(ofTheDay(Object.entries(FILLINGS), 1))('forms full of %s', (name, filling) => {
  test('do not stop other people', async () => {
    const slow: string[] = [];
    for (const form of plainForms().filter(({ fields }) => fields.some(({ isText }) => isText))) {
      const fields = filledFields(form.fields, filling);
      let status = 0;
      const ms = await blockOf(`${form.route}, ${name}`, async () => {
        ({ status } = await send(form, fields));
      });
      if (ms >= MAX_BLOCK) slow.push(`${form.route}: ${ms.toFixed(0)} ms`);
      // Lists take fewer entries than characters, with lines or semicolons between them.
      if (status === 413 && !/[\n;]/.test(filling(9))) slow.push(`${form.route}: 413`);
    }
    expect(slow).toEqual([]);
  }, 300_000);
});

test('one character more than a field takes is refused', async () => {
  const wrong: string[] = [];
  for (const form of plainForms()) {
    // A page may bound a field more narrowly than its form does.
    const text = form.fields.find(({ isText, maxLength }) => isText && maxLength >= MAX_FIELD_LENGTH);
    if (!text) continue;
    const { status } = await send(form, [[text.name, 'x'.repeat(text.maxLength + 1)]]);
    // A value of a custom field is bounded by the kind of the field; here the version of the page is missing first.
    const refusal = form.route.endsWith('/custom-fields') ? 409 : 413;
    if (status !== refusal) wrong.push(`${form.route} ${text.name}: ${status}`);
  }
  expect(wrong).toEqual([]);
});

describe('forms that are far too large are refused at once:', () => {
  test('texts', async () => {
    const wrong: string[] = [];
    for (const form of floodedForms()) {
      const name = form.fields.find(({ isText }) => isText)?.name ?? 'anything';
      wrong.push(...(await refusalProblems(form, [[name, 'ab;\n'.repeat(MAX_BYTES / 16)]])));
    }
    expect(wrong).toEqual([]);
  }, 300_000);

  test('fields', async () => {
    const wrong: string[] = [];
    for (const form of floodedForms()) {
      const name = form.fields.find(({ isText }) => isText)?.name ?? 'anything';
      const fields = Array.from({ length: 20_000 }, (_, index): [string, string] => [
        index % 2 === 0 ? name : name.replace(/\d+/, String(index)),
        'x',
      ]);
      wrong.push(...(await refusalProblems(form, fields)));
    }
    expect(wrong).toEqual([]);
  }, 300_000);
});

test('as many entries as a form takes do not stop other people', async () => {
  const slow: string[] = [];
  for (const form of plainForms()) {
    const entry = form.fields.filter(({ name }) => /\.\d+(?:\.|$)/.test(name));
    if (entry.length === 0) continue;
    const [{ name: first }] = entry as [FormField];
    const group = first.slice(0, first.search(/\.\d/) + 1);
    const columns = [
      ...new Set(
        entry.filter(({ name }) => name.startsWith(group)).map(({ name }) => name.replace(/\.\d+/, '.#')),
      ),
    ];
    const fields = Array.from({ length: 2_900 }, (_, index): [string, string] => [
      columns[index % columns.length]!.replace('#', String(Math.floor(index / columns.length))),
      `${index}`,
    ]);
    const version = form.fields.find(({ name }) => name === 'version');
    if (version) fields.push(['version', version.value]);
    const ms = await blockOf(`${form.route}, entries`, () => send(form, fields));
    if (ms >= MAX_BLOCK) slow.push(`${form.route}: ${ms.toFixed(0)} ms`);
  }
  expect(slow).toEqual([]);
}, 300_000);

test('thousands of tax classes are refused at once', async () => {
  const form = forms.get('/admin/shops/:shopId/settings/taxes')!;
  const fields = Array.from({ length: 2_900 }, (_, index): [string, string] => [
    `taxClasses.${index}.key`,
    'x',
  ]);
  expect(await refusalProblems(form, fields)).toEqual([]);
});

/** The fields as the page has them, each text as long as it may be; shorter where the whole form would be too large. */
function filledFields(fields: readonly FormField[], filling: Filling): [string, string][] {
  for (let share = 1; ; share /= 2) {
    const filled = fields.map(({ name, isText, maxLength, value }): [string, string] => [
      name,
      isText ? filling(Math.ceil(maxLength * share)) : value,
    ]);
    if (new URLSearchParams(filled).toString().length < MAX_BYTES) return filled;
  }
}

async function send({ action }: FoundForm, fields: [string, string][]): Promise<AdminAnswer> {
  requests++;
  const response = await service.app.inject({
    method: 'POST',
    url: action,
    headers: {
      host: 'localhost:8080',
      cookie: merchant.cookie,
      origin: 'http://localhost:8080',
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: new URLSearchParams(fields).toString(),
  });
  const { statusCode: status, body: text, headers } = response;
  expect([action, status < 500]).toEqual([action, true]);
  return { status, text, headers, location: headers.location };
}

async function blockOf(form: string, work: () => Promise<unknown>): Promise<number> {
  const ms = await quickestBlock(work);
  blocks.push({ form, ms });
  return ms;
}

async function refusalProblems(form: FoundForm, fields: [string, string][]): Promise<string[]> {
  let cost = Infinity;
  let status = 0;
  const ms = await blockOf(`${form.route}, too much`, async () => {
    const before = process.cpuUsage();
    status = (await send(form, fields)).status;
    const { user, system } = process.cpuUsage(before);
    cost = Math.min(cost, (user + system) / 1_000);
  });
  cost /= slowdown();
  return [
    ...([400, 413].includes(status) ? [] : [`${form.route}: ${status}`]),
    ...(ms < MAX_BLOCK ? [] : [`${form.route} blocks for ${ms.toFixed(0)} ms`]),
    ...(cost < MAX_REFUSAL_COST ? [] : [`${form.route} costs ${cost.toFixed(0)} ms`]),
  ];
}

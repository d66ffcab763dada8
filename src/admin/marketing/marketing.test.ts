import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { queuedEmails } from '../../../test/carts.ts';
import { fingerprint, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const read = async (id: string) =>
  (await service.call('GET', `/DemoShop/coupon-campaigns/${id}`, { token: 'demo-all' })).body;

const valueIn = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1];

/** Makes a campaign by the form, and returns its id. */
async function givenCampaign(fields: Record<string, string | string[]>): Promise<string> {
  const made = await merchant.post('/marketing/coupons/new', fields);
  expect(made.status).toBe(303);
  return made.location!.split('/').at(-1)!;
}

test('a campaign is made with its code, changed, and deleted', async () => {
  const id = await givenCampaign({
    name: 'Ebbe & Flut',
    kind: 'FIX',
    amount: '7,50',
    minimum: '25',
    usageLimit: '3',
    from: '2026-01-01',
    to: '2099-12-31',
    products: 'TE-100',
    code: 'EBBE',
  });
  expect(await read(id)).toMatchObject({
    identifier: 'ebbe_flut',
    name: 'Ebbe & Flut',
    currency: 'EUR',
    type: { name: 'FIX', amount: 7.5, waiveShippingCosts: false },
    minimumOrderValue: { amount: 25 },
    usageLimit: 3,
    validFrom: '2026-01-01T00:00:00Z',
    validTo: '2099-12-31T23:59:59Z',
    productIds: [expect.any(String)],
  });
  const list = await merchant.get('/marketing');
  expect(list.text).toContain('Ebbe &amp; Flut');
  expect(list.text).toContain('€7.50');

  const path = `/marketing/coupons/${id}`;
  const version = valueIn((await merchant.get(path)).text, 'version')!;
  const changed = { version, name: 'Springflut', kind: 'PERCENT', amount: '10', currency: 'EUR' };
  expect((await merchant.post(path, changed)).status).toBe(303);
  const after = await read(id);
  expect(after).toMatchObject({ identifier: 'ebbe_flut', name: 'Springflut', type: { amount: 10 } });
  expect([after.usageLimit, after.productIds]).toEqual([undefined, undefined]);
  expect((await merchant.post(path, { ...changed, name: 'Late' })).status).toBe(409);
  expect((await read(id)).name).toBe('Springflut');

  expect((await merchant.post(`${path}/delete`)).location).toBe('/admin/shops/DemoShop/marketing');
  expect((await merchant.get(path)).status).toBe(404);
});

test('what is wrong is said at the form, and nothing is made', async () => {
  const before = await fingerprint(service);
  const refused = await merchant.post('/marketing/coupons/new', {
    name: 'Too much',
    kind: 'PERCENT',
    amount: '120',
  });
  expect([refused.status, refused.text.includes('Amount or percentage is out of range.')]).toEqual([
    400,
    true,
  ]);
  expect(refused.text).toContain('value="Too much"');
  const unknown = await merchant.post('/marketing/coupons/new', {
    name: 'Nothing',
    kind: 'SHIPPING',
    products: 'TE-100\nNO-SUCH',
  });
  expect(unknown.text).toContain('These product numbers do not exist: NO-SUCH.');
  expect(await fingerprint(service)).toEqual(before);
});

test('a code of another campaign is refused, and the campaign is not made', async () => {
  const count = async () =>
    (await service.db.one<{ count: number }>(
      sql`select count(*) as count from coupon_campaign where shop_id = 'DemoShop'`,
    ))!.count;
  const before = await count();
  const refused = await merchant.post('/marketing/coupons/new', {
    name: 'Copy',
    kind: 'SHIPPING',
    code: 'autumn15',
  });
  expect([refused.status, await count()]).toEqual([409, before]);
});

test('what campaigns and codes are refused for is said in the language of the reader', async () => {
  const german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  const id = await givenCampaign({ name: 'Ebbe', kind: 'SHIPPING' });
  const before = await fingerprint(service);
  const refusals = [
    [
      'new',
      { name: 'Ebbe' },
      409,
      'Eine Aktion mit diesem Kurznamen gibt es schon. Bitte wählen Sie einen anderen.',
    ],
    [
      `${id}/codes`,
      { code: 'autumn15' },
      409,
      'Der Code autumn15 gehört zu einer anderen Aktion. Bitte wählen Sie einen anderen.',
    ],
    ['new', { currency: 'XAF' }, 400, 'XAF gehört nicht zu den Währungen des Shops.'],
    ['new', { usageLimit: 'viele' }, 400, 'Einlösungen je Code ist ungültig.'],
    ['new', { usageLimit: '2,5' }, 400, 'Einlösungen je Code ist ungültig.'],
    ['new', { minimum: 'viel' }, 400, 'Mindestbestellwert hat das falsche Format.'],
    ['new', { shipping: [id] }, 400, 'Nur mit diesen Versandarten ist unbekannt.'],
  ] as const;
  for (const [path, fields, status, text] of refusals) {
    const refused = await german.post(`/marketing/coupons/${path}`, {
      name: 'Flut',
      kind: 'SHIPPING',
      ...fields,
    });
    const said = /<p class="problem"[^>]*>([^<]*)/.exec(refused.text)?.[1];
    expect([path, refused.status, said]).toEqual([path, status, text]);
  }
  expect(await fingerprint(service)).toEqual(before);

  const made = await german.post('/marketing/coupons/new', {
    name: 'Flut',
    kind: 'FIX',
    amount: '7,50',
    minimum: '1.250',
    campaignLimit: '10.000',
  });
  const shown = await german.get(made.location!);
  expect(await read(made.location!.split('/').at(-1)!)).toMatchObject({
    type: { amount: 7.5 },
    minimumOrderValue: { amount: 1250 },
    campaignUsageLimit: 10_000,
  });
  expect(shown.text).toMatch(/name="amount"[^>]*value="7,5"/);
});

test('a campaign is named and renamed in the language of the reader', async () => {
  const german = await givenMerchant(service, 'owner', 'DemoShop', 'owner@german.example');
  await service.db.run(sql`update admin_user set language = 'de' where email = ${german.email}`);
  const names = async () =>
    (await service.db.one<{ id: string; name: Record<string, string> }>(sql`
      select upper(campaign_id::text) as id, name from coupon_campaign
      where shop_id = 'DemoShop' and identifier = 'advance_only'`))!;
  const { id, name } = await names();
  const path = `/marketing/coupons/${id}`;
  const { text } = await german.get(path);
  expect(text).toMatch(/<h1[^>]*>\s*Erst zahlen\s*<\/h1>/);
  const version = valueIn(text, 'version')!;
  const fields = { version, name: 'Vorkasse lohnt sich', kind: 'FIX', amount: '2' };
  expect((await german.post(path, fields)).status).toBe(303);
  expect((await names()).name).toEqual({ ...name, de_DE: 'Vorkasse lohnt sich' });
  expect((await german.post(path, { ...fields, name: 'Zu spät' })).status).toBe(409);
});

test('codes come by the thousand, and as a file', async () => {
  const id = await givenCampaign({ name: 'Flyer', kind: 'SHIPPING' });
  const path = `/marketing/coupons/${id}`;
  expect((await merchant.get(path)).text).toContain('this campaign can’t be used');
  expect((await merchant.post(`${path}/codes`, { count: '10001' })).status).toBe(400);
  expect((await merchant.post(`${path}/codes`, { count: '1500', prefix: 'FLY-' })).status).toBe(303);
  await merchant.post(`${path}/codes`, { code: '=Welcome' });
  const file = (await merchant.get(`${path}/codes.csv`)).text.split('\n');
  expect(file[0]).toBe('\u{feff}Code;Used;Created;Withdrawn');
  const codes = file.slice(1, -1).map((line) => line.split(';')[0]!);
  expect(new Set(codes).size).toBe(1501);
  expect(codes.filter((code) => /^FLY-[A-HJ-NP-Z2-9]{8}$/.test(code))).toHaveLength(1500);
  expect(codes).toContain("'=Welcome");
  const found = await merchant.get(`${path}?code==welcome`);
  expect(found.text.match(/data-title="Code"/g)).toHaveLength(1);
});

test('subscribers are found, exported and taken off the list', async () => {
  const { body } = await service.call('GET', '/DemoShop/newsletter-campaigns', { token: 'demo-all' });
  const { campaignId } = body.items[0];
  const path = `/marketing/newsletters/${campaignId}`;
  const first = (
    await service.call('GET', `/DemoShop/newsletter-campaigns/${campaignId}/subscribers`, {
      token: 'demo-all',
    })
  ).body.items.find(({ subscribed }: { subscribed: boolean }) => subscribed);
  const found = await merchant.get(`${path}?q=${encodeURIComponent(first.email)}`);
  expect(found.text).toContain('1–1 of 1');
  const file = () => merchant.get(`${path}/export.csv`);
  expect((await file()).text).toContain(first.email);
  const done = await merchant.post(`${path}/unsubscribe`, { id: first.email });
  expect(done.status).toBe(303);
  expect((await file()).text).not.toContain(first.email);
  const accountant = await givenMerchant(service, 'accountant');
  expect((await accountant.post(`${path}/unsubscribe`, { id: first.email })).status).toBe(403);
});

test('an abandoned cart is shown with its value; who has consented is reminded, once', async () => {
  const made = await service.call('POST', '/DemoShop/carts', { body: { lineItems: [] } });
  expect(made.status).toBe(201);
  const product = await service.db.one<{ id: string }>(
    sql`select upper(product_id::text) as id from product where shop_id = 'DemoShop' and product_number = 'TE-100'`,
  );
  const { cartId } = made.body;
  const cartToken = String(made.headers['x-epages-cart-token']);
  const headers = { 'x-epages-cart-token': cartToken };
  await service.call('POST', `/DemoShop/carts/${cartId}/line-items`, {
    headers,
    body: { productId: product!.id, quantity: 2 },
  });
  await service.db.run(sql`
    update cart set abandoned_at = changed_at,
      billing_address = json_build_object('emailAddress', 'Lea@Left.example')
    where cart_id = ${cartId}::uuid`);
  const page = await merchant.get('/marketing/carts');
  expect(page.text).toContain('lea@left.example');
  expect(page.text).toContain('No consent');

  const remind = () => merchant.post('/marketing/carts/remind', { id: [cartId] });
  const reminders = async () =>
    (await queuedEmails(service)).filter(({ template }) => template === 'cartReminder');
  await remind();
  expect(await reminders()).toEqual([]);

  await service.db.run(sql`
    insert into newsletter_subscriber (shop_id, campaign_id, email, name, subscribed, created_at)
    select shop_id, campaign_id, 'lea@left.example', '', true, '2026-01-01' from newsletter_campaign
    where shop_id = 'DemoShop' limit 1`);
  expect((await merchant.get('/marketing/carts')).text).toContain('Allowed');
  await remind();
  await remind();
  expect(await reminders()).toMatchObject([{ to: 'lea@left.example', facts: { cartId } }]);
  expect((await merchant.get('/marketing/carts')).text).toContain('Sent ');
});

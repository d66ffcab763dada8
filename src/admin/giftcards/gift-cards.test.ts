import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, noticeIn, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let merchant: Merchant;

beforeAll(async () => {
  service = await startDemo({}, new Date('2026-11-15T08:30:00Z'));
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const versionIn = (text: string) => /name="version" value="([^"]*)"/.exec(text)![1]!;
const codeIn = (text: string) => /class="gift-card-code">([^<]*)</.exec(text)?.[1];

interface Issued {
  code: string;
  path: string;
}

async function givenCard(fields: Record<string, string> = {}): Promise<Issued> {
  const version = versionIn((await merchant.get('/gift-cards/new')).text);
  const { status, text } = await merchant.post('/gift-cards/new', { version, value: '50', ...fields });
  expect(status).toBe(200);
  const path = /href="\/admin\/shops\/DemoShop(\/gift-cards\/[0-9A-F-]{36})"/.exec(text)![1]!;
  return { code: codeIn(text)!, path };
}

/** The ends of the codes in a list, in its order. */
const endsIn = (text: string) => [...text.matchAll(/>Gift card •••• (\w{4})</g)].map(([, end]) => end);

const endOf = ({ code }: Issued) => code.slice(-4);

/** The status of a refusal; on the way it is checked that nothing has changed. */
async function refusal(send: () => Promise<{ status: number; text: string }>) {
  const before = await fingerprint(service);
  const answer = await send();
  expect(await fingerprint(service)).toEqual(before);
  return answer;
}

const entries = async () =>
  (await service.call('GET', '/manage/shops/DemoShop/audit', { token: 'demo-all' })).body.items;

test('a card is issued, and its code is shown once', async () => {
  const form = await merchant.get('/gift-cards/new');
  expect(form.text).toMatch(/name="expiresOn"[^>]*value="2029-12-31"/);
  const fields = { version: versionIn(form.text), value: '12.50', expiresOn: '', note: 'Raffle' };
  const wrong = await refusal(() => merchant.post('/gift-cards/new', { ...fields, value: '-1' }));
  expect([wrong.status, wrong.text.includes('value="Raffle"')]).toEqual([400, true]);

  const issued = await merchant.post('/gift-cards/new', fields);
  expect([issued.status, issued.headers['cache-control']]).toEqual([200, 'no-store']);
  const code = codeIn(issued.text)!;
  expect(code).toMatch(/^\w{4}(-\w{4}){3}$/);
  const [path] = /\/gift-cards\/[0-9A-F-]{36}/.exec(issued.text)!;
  expect((await entries())[0]).toMatchObject({
    app: { name: merchant.email },
    route: '/manage/shops/:shopId/gift-cards',
    object: { giftCardId: path.split('/').at(-1) },
  });

  // A reload of the page sends the form again.
  const again = await refusal(() => merchant.post('/gift-cards/new', fields));
  expect([again.status, again.text.includes('A gift card has been issued since')]).toEqual([409, true]);
  for (const page of ['/gift-cards', '/gift-cards/new', path, '/apps/audit']) {
    expect((await merchant.get(page)).text).not.toContain(code.slice(0, 14));
  }
  const card = await merchant.get(path);
  expect(card.text).toMatch(/<dd>€12\.50<\/dd>[^]*Valid[^]*Never[^]*Raffle/);
});

test('cards are found by code, by its end and by state, and the list is paged by keys', async () => {
  const [valid, blocked] = [await givenCard(), await givenCard({ value: '20' })];
  await merchant.post(`${blocked.path}/state`, { state: 'blocked' });
  const find = async (code: string) => merchant.post('/gift-cards/find', { code });
  const base = '/admin/shops/DemoShop';
  expect((await find(` ${valid.code.toLowerCase().replaceAll('-', ' ')}`)).location).toBe(base + valid.path);
  expect((await find(endOf(valid))).location).toBe(`${base}/gift-cards?end=${endOf(valid)}`);
  expect(endsIn((await merchant.get(`/gift-cards?end=${endOf(valid)}`)).text)).toEqual([endOf(valid)]);
  const unknown = await find('AAAA-AAAA-AAAA-AAAA');
  expect([unknown.location, noticeIn(unknown).text]).toEqual([
    `${base}/gift-cards`,
    'No gift card has this code. Enter the whole code, or its last four characters.',
  ]);

  expect(endsIn((await merchant.get('/gift-cards?state=blocked')).text)).toEqual([endOf(blocked)]);
  const listed = endsIn((await merchant.get('/gift-cards?state=valid')).text);
  expect([listed[0], listed.includes(endOf(blocked))]).toEqual([endOf(valid), false]);
  const older = (await merchant.get(`/gift-cards?before=${blocked.path.split('/').at(-1)}`)).text;
  expect(endsIn(older)[0]).toBe(endOf(valid));
  expect(older).toContain('Newest');
  const { text } = await merchant.get('/gift-cards?state=expired');
  expect(text).toContain('There is no such gift card.');
});

test('a balance is corrected once for each form, and what is owed follows', async () => {
  const { path } = await givenCard();
  const owed = async () =>
    /Owed now<\/dt>\s*<dd>\s*€([\d.]+)/.exec((await merchant.get('/gift-cards')).text)![1];
  const before = Number(await owed());
  const version = versionIn((await merchant.get(path)).text);
  const fields = { version, amount: '-12.50', reason: 'Till' };
  const low = await refusal(() => merchant.post(path, { ...fields, amount: '-50.01' }));
  expect([low.status, /Only [^<]*/.exec(low.text)?.[0]]).toEqual([
    409,
    expect.stringMatching(/^Only 50\.00\s€ is left/),
  ]);
  const saved = await merchant.post(path, fields);
  expect(noticeIn(saved).text).toBe('The balance is now €37.50.');
  const twice = await refusal(() => merchant.post(path, fields));
  expect([twice.status, twice.text.includes('The balance has changed since')]).toEqual([409, true]);
  expect((await merchant.get(path)).text).toMatch(/Corrected[^]*Till[^]*-€12\.50[^]*Issued[^]*€50\.00/);
  expect(Number(await owed())).toBe(before - 12.5);
  expect((await entries())[0]).toMatchObject({
    app: { name: merchant.email },
    route: '/manage/shops/:shopId/gift-cards/:giftCardId/corrections',
  });
  const past = await merchant.get('/gift-cards/owed?on=2026-11-14');
  expect([past.status, past.text.includes('14 Nov 2026')]).toEqual([200, true]);
  expect(past.text).toContain('No gift card had been issued by then.');
});

test('a card is blocked and unblocked; an expired one is closed', async () => {
  const { path } = await givenCard();
  expect(noticeIn(await merchant.post(`${path}/state`, { state: 'blocked' })).text).toBe(
    'The gift card is blocked.',
  );
  expect((await merchant.get(path)).text).toContain('Unblock');
  expect((await merchant.post(`${path}/state`, { state: 'active' })).status).toBe(303);
  expect((await refusal(() => merchant.post(`${path}/state`, { state: 'expired' }))).status).toBe(404);
  await service.db.run(sql`
    update gift_card set expires_on = '2026-11-14' where shop_id = 'DemoShop' and gift_card_id = ${path.split('/').at(-1)!}`);
  const { text } = await merchant.get(path);
  expect(text).toContain('This gift card has expired.');
  expect(text).not.toMatch(/Correct balance|Unblock|>Block</);
});

test('who may only look sees no button, others see nothing, and another shop has no such card', async () => {
  const { path, code } = await givenCard();
  const version = versionIn((await merchant.get(path)).text);
  const orders = await givenMerchant(service, 'orders');
  for (const page of ['/gift-cards', path]) {
    const { status, text } = await orders.get(page);
    expect([status, /Issue gift card|Correct balance|>Block</.test(text)]).toEqual([200, false]);
  }
  const fields = { version, amount: '5', reason: 'x' };
  expect((await refusal(() => orders.post(path, fields))).status).toBe(403);
  expect((await refusal(() => orders.post(`${path}/state`, { state: 'blocked' }))).status).toBe(403);
  expect((await refusal(() => orders.post('/gift-cards/new', { value: '5' }))).status).toBe(403);
  const marketing = await givenMerchant(service, 'marketing');
  expect((await marketing.get('/marketing')).text).not.toContain('/gift-cards');
  expect((await refusal(() => marketing.get(path))).status).toBe(403);

  const other = await givenMerchant(service, 'owner', 'OtherShop');
  expect((await refusal(() => other.get(path))).status).toBe(404);
  expect((await refusal(() => other.post(path, fields))).status).toBe(404);
  expect((await refusal(() => other.post(`${path}/state`, { state: 'blocked' }))).status).toBe(404);
  expect((await other.post('/gift-cards/find', { code })).location).toBe('/admin/shops/OtherShop/gift-cards');
});

test('a refund becomes store credit, and its card leads to the order and the customer', async () => {
  const order = (await service.db.one<{ id: string }>(sql`
    select upper(order_id::text) as id from customer_order
    where shop_id = 'DemoShop' and paid_amount > refunded_amount + 500 and customer_id is not null
      and currency = 'EUR' and editing_since is null and erased_at is null
    order by created_at desc limit 1`))!;
  const form = await merchant.get(`/orders/${order.id}/refund`);
  expect(form.text).toContain('after a withdrawal, the law entitles to money');
  const saved = await merchant.post(`/orders/${order.id}/refund`, {
    version: versionIn(form.text.slice(form.text.indexOf('Refund as store credit') - 20_000)),
    amount: '5',
    goodwill: 'late',
    asStoreCredit: 'yes',
  });
  expect(noticeIn(saved).text).toBe('Refunded as store credit: €5.00. The customer gets the code by email.');
  const list = await merchant.get('/gift-cards');
  expect(list.text).toContain('Store credit');
  const [path] = /\/gift-cards\/[0-9A-F-]{36}/.exec(list.text)!;
  const { text } = await merchant.get(path);
  expect(text).toContain(`/admin/shops/DemoShop/orders/${order.id}`);
  expect(text).toMatch(/Store credit of<\/dt>\s*<dd><a href="\/admin\/shops\/DemoShop\/customers\//);
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { changesNothing, givenFullCart, givenCoupon, done, type Shop } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import { editorFields } from '../../../test/editor-fields.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let merchant: Merchant;
let shop: Shop;
let newsletter: string;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
  merchant = await givenMerchant(service);
  const tea = await service.db.one<{ id: string }>(sql`
    select product_id as id from product where shop_id = 'DemoShop' and product_number = 'TE-100'`);
  shop = { service, shopId: 'DemoShop', token: 'demo-all', ids: { 'TE-100': tea!.id } };
  const row = await service.db.one<{ id: string }>(sql`
    select upper(campaign_id::text) as id from newsletter_campaign where shop_id = 'DemoShop' order by position`);
  newsletter = row!.id;
});
beforeEach(async () => {
  await service.db.run(sql`delete from mailing`);
  await service.db.run(sql`delete from job`);
});
afterAll(() => service.close());

/** The path of a new draft. */
async function newMailing(): Promise<string> {
  const created = await merchant.post('/marketing/mailings/new', {
    newsletters: newsletter,
    subject: 'Ebb & flow',
  });
  expect(created.status).toBe(303);
  return created.location!.replace('/admin/shops/DemoShop', '');
}

async function send(path: string, more: Record<string, string | string[]>) {
  const { text } = await merchant.get(path);
  return merchant.post(path, { ...editorFields(text), newsletters: newsletter, ...more });
}

const stored = (path: string) =>
  service
    .call('GET', `/manage/shops/DemoShop${path.replace('/marketing', '').split('?')[0]}`, {
      token: 'demo-all',
    })
    .then(({ body }) => body);

test('a mailing is written in blocks, in each language, and shown as it will be', async () => {
  const path = await newMailing();
  const added = await send(path, { do: 'add', newType: 'contactForm' });
  expect(added.text).toContain('Email programs cannot show this block, so it is left out.');
  const saved = await send(path, {
    preheader: 'News',
    perHour: '120',
    count: '2',
    'blocks.0.type': 'heading',
    'blocks.0.text': 'Autumn <at> the harbour',
    'blocks.0.level': '2',
    'blocks.1.type': 'contactForm',
  });
  expect(saved.status).toBe(303);
  expect(await stored(path)).toMatchObject({
    state: 'draft',
    version: 2,
    perHour: 120,
    newsletters: [newsletter],
    texts: [
      {
        subject: 'Ebb & flow',
        preheader: 'News',
        blocks: [{ type: 'heading', text: 'Autumn <at> the harbour', level: '2' }, { type: 'contactForm' }],
      },
    ],
  });
  const { locale } = (await stored(path)).texts[0];
  const preview = await merchant.get(`${path}/preview?locale=${locale}`);
  expect(preview.status).toBe(200);
  expect(preview.text).toContain('Autumn &lt;at&gt; the harbour');
  expect(preview.text).not.toMatch(/<form|<script/);
  expect(String(preview.headers['content-security-policy'])).toContain("default-src 'none'");

  const german = `${path}?locale=de_DE`;
  const copied = await merchant.post(german, {
    ...editorFields((await merchant.get(german)).text),
    newsletters: newsletter,
    subject: 'Ebbe & Flut',
    do: 'copy',
    from: locale,
  });
  expect(copied.text).toContain('Autumn &lt;at&gt; the harbour');
  expect(
    (await merchant.post(german, { ...editorFields(copied.text), newsletters: newsletter })).status,
  ).toBe(303);
  expect((await stored(path)).texts.map((text: { subject: string }) => text.subject).toSorted()).toEqual([
    'Ebb & flow',
    'Ebbe & Flut',
  ]);
});

test('what is wrong is said at its field, and nothing is saved', async () => {
  const path = await newMailing();
  await changesNothing(service, async () => {
    const refused = await send(path, {
      count: '1',
      'blocks.0.type': 'button',
      'blocks.0.link': 'javascript:alert(1)',
      'blocks.0.linkText': 'Go',
    });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('field-blocks.0.link-problem');
    expect((await send(path, { subject: '' })).status).toBe(400);
    expect((await send(path, { perHour: 'many' })).status).toBe(400);
    expect((await send(path, { version: 'x' })).status).toBe(409);
  });
});

test('a test goes to the person who asks for it, and is recorded', async () => {
  const path = await newMailing();
  const { locale } = (await stored(path)).texts[0];
  expect((await merchant.post(`${path}/test`, { locale, email: 'stranger@mail.example' })).status).toBe(303);
  const jobs = await service.db.many<{ queue: string; to: string }>(sql`
    select queue, content ->> 'to' as to from job`);
  expect(jobs).toEqual([{ queue: 'mailing', to: 'owner@demoshop.example' }]);
  const entry = await service.db.one<{ route: string }>(sql`
    select route from audit_entry where shop_id = 'DemoShop' order by at desc, entry_id desc limit 1`);
  expect(entry).toEqual({ route: '/admin/shops/:shopId/mailings/:mailingId/test' });
});

test('is scheduled, taken back, sent at once, duplicated and deleted', async () => {
  const path = await newMailing();
  const state = (fields: Record<string, string>) => merchant.post(`${path}/state`, fields);
  expect((await state({ state: 'scheduled', sendAt: 'soon' })).status).toBe(400);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  expect((await state({ state: 'scheduled', sendAt: tomorrow })).status).toBe(303);
  expect(await stored(path)).toMatchObject({ state: 'scheduled', sendAt: `${tomorrow}:00Z` });
  expect((await merchant.get(path)).text).toContain('Back to draft');
  expect((await state({ state: 'draft' })).status).toBe(303);
  expect((await state({ state: 'scheduled' })).status).toBe(303);
  expect((await state({ state: 'sent' })).status).toBe(404);
  const copied = await merchant.post(`${path}/copy`);
  const copy = copied.location!.replace('/admin/shops/DemoShop', '');
  expect(await stored(copy)).toMatchObject({ state: 'draft', texts: [{ subject: 'Ebb & flow' }] });
  const list = await merchant.get('/marketing/mailings');
  expect(list.text.match(/Ebb &amp; flow/g)).toHaveLength(2);
  expect((await merchant.post(`${copy}/delete`)).location).toBe('/admin/shops/DemoShop/marketing/mailings');
  expect((await merchant.get(copy)).status).toBe(404);
});

test('the results show the orders with coupons of the campaign', async () => {
  const couponCampaignId = await givenCoupon(shop, 'EBBE', { name: 'PERCENT', amount: 10 });
  const path = await newMailing();
  expect((await send(path, { couponCampaignId })).status).toBe(303);
  await service.db.run(sql`
    update mailing set state = 'sent', started_at = ${service.db.now}, ended_at = ${service.db.now}, recipients = 3,
      sent = 2, bounced = 1`);
  expect((await stored(path)).revenue).toEqual([]);
  const cart = await givenFullCart(shop, { 'TE-100': 2 });
  await done(cart, 'POST', '/coupon', { code: 'EBBE' });
  const { grandTotal, currencyId } = await done(cart, 'POST', '/order');
  expect((await stored(path)).revenue).toEqual([
    { currency: currencyId, orders: 1, revenue: Number(grandTotal) },
  ]);
  const { text } = await merchant.get(path);
  expect(text).toContain('1 order');
  expect(text).toContain('Bounced');
});

test('who may only read sees the results and no button', async () => {
  const path = await newMailing();
  const accountant = await givenMerchant(service, 'accountant');
  const page = await accountant.get(path);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain('<form method="post" class="page-editor"');
  await changesNothing(service, async () => {
    for (const action of ['state', 'test', 'copy', 'delete'])
      expect((await accountant.post(`${path}/${action}`, { state: 'scheduled' })).status).toBe(403);
    expect((await accountant.post(path, { subject: 'x' })).status).toBe(403);
  });
  const marketing = await givenMerchant(service, 'marketing');
  expect((await marketing.get(path)).text).toContain('<form method="post" class="page-editor"');
  expect((await marketing.post(`${path}/state`, { state: 'scheduled' })).status).toBe(303);
  const orders = await givenMerchant(service, 'orders');
  expect((await orders.get('/marketing/mailings')).status).toBe(403);
});

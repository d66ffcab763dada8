import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
  changesNothing,
  done,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  linesOf,
  NOW,
  on as onCart,
  queuedEmails,
  reasonOf,
  totalsOf,
  type GivenCart,
  type Shop,
} from '../../../test/carts.ts';
import { service, SETTINGS, startManaging, well, type Placed } from '../../../test/managed-orders.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import type { Answer } from '../../../test/service.ts';
import type { Content } from '../../pricing/content.ts';
import { ledgerOf } from '../datev/accounts.ts';
import { taxCategoryOf } from '../documents/electronic-model.ts';
import type { DocumentFacts } from '../documents/facts.ts';
import { giftCardEmail } from './email.ts';
import { giftCardDelivery } from './send.ts';

/** Gift cards from the product to the recipient, and back. */

let shop: Shop;
/** A gift card from 10.00 to 500.00, and a mug of 20.00. */
let card: string;
let mug: string;
/** The gift card as its product is answered. */
let product: Answer['body'];

beforeAll(startManaging);
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  shop = await givenSmallShop(service, { ...SETTINGS, basketDiscounts: [{ from: 10, percent: 10 }] });
  card = await givenProduct(shop, { number: 'CARD', price: 5000, taxClass: 'standard' });
  mug = await givenProduct(shop, { number: 'MUG', price: 2000, taxClass: 'standard' });
  const answer = await manage('PATCH', `/products/${card}`, { giftCard: { minimum: 10, maximum: 500 } });
  product = answer.body;
});

const manage = (method: string, path: string, body?: unknown) =>
  service.call(method, `/manage/shops/${shop.shopId}${path}`, { token: shop.token, body });

const addCard = (cart: GivenCart, giftCard: object, quantity = 1) =>
  onCart(cart, 'POST', '/line-items', { productId: card, quantity, giftCard });

async function ordered(wish: object, quantity = 1, others: Record<string, number> = {}): Promise<Placed> {
  const cart = await givenFullCart(shop, others);
  expect((await addCard(cart, wish, quantity)).status).toBe(201);
  const body = await done(cart, 'POST', '/order');
  return { shop, id: body.orderId, body };
}

const pay = (order: Placed) =>
  well(order, 'POST', '/payments', { amount: order.body.lineItemContainer.grandTotal.amount });

const cards = async (): Promise<Answer['body'][]> => (await manage('GET', '/gift-cards')).body.items;

async function sent(): Promise<{ to: string; code: string; amount: string }[]> {
  await giftCardDelivery.run(service.db, 100);
  const emails = await queuedEmails(service, shop.shopId);
  return emails
    .filter(({ template }) => template === 'giftCard')
    .map(({ to, facts }) => ({ to, code: facts['code'] as string, amount: facts['amount'] as string }));
}

describe('in a cart', () => {
  test('the customer chooses the value; it has no tax, no discount and no delivery', async () => {
    expect(product.giftCard).toMatchObject({ minimum: { amount: 10 }, maximum: { amount: 500 } });
    const cart = await givenFullCart(shop, { [mug]: 1 });
    const { body } = await addCard(cart, { value: 80.5, email: 'anna@example.com', name: ' Anna ' }, 2);
    expect(linesOf(body)).toEqual([
      ['MUG', 1, 20, 20],
      ['CARD', 2, 80.5, 161],
    ]);
    // A tenth of the mug, which alone is delivered and taxed: 19 % of 18.00 and 4.90.
    expect(totalsOf(body)).toMatchObject({
      subtotal: 181,
      discount: -2,
      shipping: 4.9,
      total: 183.9,
      tax: 3.66,
    });
    expect(body.lineItemContainer.productLineItems[1].giftCard).toEqual({
      email: 'anna@example.com',
      name: 'Anna',
    });
    const alone = await givenFullCart(shop, {});
    expect(totalsOf((await addCard(alone, {})).body)).toMatchObject({
      subtotal: 50,
      shipping: 0,
      total: 50,
      tax: 0,
    });
    // The same wish again is more of it, another one a line of its own.
    await addCard(alone, {});
    expect(linesOf((await addCard(alone, { name: 'Bo' })).body).map(([, quantity]) => quantity)).toEqual([
      2, 1,
    ]);
  });

  test.each([
    [{ value: 9.99 }, 'giftCard.value'],
    [{ value: 500.01 }, 'giftCard.value'],
    [{ value: 'x' }, 'giftCard.value'],
    [{ email: 'anna' }, 'giftCard.email'],
    [{ sendOn: '2026-11-14' }, 'giftCard.sendOn'],
    [{ sendOn: '2027-11-17' }, 'giftCard.sendOn'],
    [{ message: 'x'.repeat(1_001) }, 'giftCard.message'],
  ])('refusal %#', async (wish, field) => {
    const cart = await givenFullCart(shop, {});
    await changesNothing(service, async () => {
      const { status, body } = await addCard(cart, wish);
      expect([status, body.message]).toEqual([400, expect.stringContaining(field)]);
    });
    expect(
      (await onCart(cart, 'POST', '/line-items', { productId: mug, quantity: 1, giftCard: {} })).status,
    ).toBe(400);
  });

  test('is not paid with gift cards, and not ordered at a value that is no longer possible', async () => {
    const { code } = (await manage('POST', '/gift-cards', { value: 300 })).body;
    const cart = await givenFullCart(shop, { [mug]: 1 });
    await addCard(cart, { value: 60 });
    const paid = await onCart(cart, 'POST', '/gift-cards', { code });
    expect(paid.body).toMatchObject({
      items: [{ amount: { amount: 22.9 } }],
      outstandingAmount: { amount: 60 },
    });
    await manage('PATCH', `/products/${card}`, { giftCard: { minimum: 70, maximum: 500 } });
    expect((await reasonOf(onCart(cart, 'POST', '/order')))[0]).toBe(409);
  });
});

describe('paid', () => {
  test('a card of each piece is issued once, and sent to its recipient with a code that was nowhere before', async () => {
    const order = await ordered({ value: 25, email: 'anna@example.com', message: 'Happy\nbirthday' }, 2);
    expect(await cards()).toEqual([]);
    await well(order, 'POST', '/payments', { amount: 20 });
    expect(await cards()).toEqual([]);
    await well(order, 'POST', '/payments', { amount: 30 });
    expect((await cards()).map(({ balance, expiresOn }) => [balance.amount, expiresOn])).toEqual([
      [25, '2029-12-31'],
      [25, '2029-12-31'],
    ]);
    const emails = await sent();
    expect(emails).toMatchObject([
      { to: 'anna@example.com', amount: '€25.00' },
      { to: 'anna@example.com', amount: '€25.00' },
    ]);
    expect(await sent()).toEqual(emails);
    expect(new Set(emails.map(({ code }) => code)).size).toBe(2);
    const cart = await givenFullCart(shop, { [mug]: 1 });
    expect((await onCart(cart, 'POST', '/gift-cards', { code: emails[0]!.code })).status).toBe(201);
    const [attachment] = (await giftCardEmail.attachments!(
      service.db,
      {
        shopId: shop.shopId,
        locale: 'en_GB',
        facts: (await queuedEmails(service, shop.shopId)).find(({ template }) => template === 'giftCard')!
          .facts as never,
      },
      service.config,
    ))!;
    expect(attachment!.bytes.subarray(0, 5).toString()).toBe('%PDF-');
    const owed = (await manage('GET', '/gift-card-liability')).body;
    expect(owed.items).toMatchObject([{ issued: { amount: 50 }, owed: { amount: 50 } }]);
  });

  test('payments and rounds of sending at the same moment make one card and one email', async () => {
    const order = await ordered({ value: 25 });
    const payment = () => manage('POST', `/orders/${order.id}/payments`, { amount: 25 });
    const answers = await Promise.all([payment(), payment(), payment()]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await cards()).toHaveLength(1);
    await Promise.all([sent(), sent(), sent()]);
    expect(await sent()).toHaveLength(1);
  });

  test('it waits for its day', async () => {
    await pay(await ordered({ sendOn: '2026-12-24' }));
    expect(await sent()).toEqual([]);
    service.setClock(new Date('2026-12-24T05:59:59Z'));
    expect(await sent()).toEqual([]);
    service.setClock(new Date('2026-12-24T06:00:00Z'));
    expect((await sent()).map(({ to }) => to)).toEqual([ADA.emailAddress]);
  });

  test('its sale is no revenue, and the invoice says why it has no tax', async () => {
    const order = await ordered({ value: 30 }, 1, { [mug]: 1 });
    const row = await service.db.one<{ net: string }>(sql`
      select round(net_revenue)::text as net from customer_order where shop_id = ${shop.shopId}`);
    // 18.00 and 4.90 without 19 %.
    expect(row!.net).toBe('1924');
    const { body } = await manage('GET', `/orders/${order.id}`);
    expect(totalsOf(body)).toMatchObject({ total: 52.9, tax: 3.66 });
    const lines = body.lineItemContainer.productLineItems.map(({ lineItemId }: { lineItemId: string }) => {
      return { lineItemId, quantity: 1 };
    });
    expect((await manage('POST', `/orders/${order.id}/invoices`, { lines })).status).toBe(201);
    const invoice = (await service.db.one<{ content: Content }>(sql`
      select content from order_document where shop_id = ${shop.shopId}`))!;
    expect(invoice.content.taxes).toEqual([
      { rate: 0, treatment: 'voucher', amount: 3000, tax: 0 },
      { rate: 1900, treatment: 'domestic', amount: 2290, tax: 366 },
    ]);
    const terms = { locale: 'de_DE' } as DocumentFacts['terms'];
    expect(taxCategoryOf({ rate: 0, treatment: 'voucher' }, { terms, content: invoice.content })).toEqual({
      code: 'E',
      rate: 0,
      reason: expect.stringContaining('Einlösung'),
      reasonCode: null,
    });
    const { revenue } = ledgerOf({ chart: 'SKR04' });
    expect(revenue({ treatment: 'voucher', country: 'DE', rate: 0 })).toEqual({ account: '3500' });
  });
});

describe('taken back', () => {
  test('with the order, unless something was spent', async () => {
    const order = await ordered({ value: 25, email: 'anna@example.com' });
    await pay(order);
    await well(order, 'POST', '/cancel', {});
    expect(await cards()).toMatchObject([{ state: 'blocked', balance: { amount: 0 } }]);
    expect(await sent()).toEqual([]);
    const owed = (await manage('GET', '/gift-card-liability')).body;
    expect(owed.items).toMatchObject([
      { issued: { amount: 25 }, revoked: { amount: -25 }, owed: { amount: 0 } },
    ]);

    const second = await ordered({ value: 25 });
    await pay(second);
    const { code } = (await sent())[0]!;
    const cart = await givenFullCart(shop, { [mug]: 1 });
    await onCart(cart, 'POST', '/gift-cards', { code });
    await done(cart, 'POST', '/order');
    await changesNothing(service, async () => {
      const spent = 'A gift card that this order has sold was redeemed: it cannot be revoked';
      const call = (path: string, body: object) => manage('POST', `/orders/${second.id}${path}`, body);
      expect(await reasonOf(call('/cancel', {}))).toEqual([409, spent]);
      expect(await reasonOf(call('/refunds', { amount: 25 }))).toEqual([409, spent]);
    });
    // A part of the money may go back.
    await well(second, 'POST', '/refunds', { amount: 5 });
  });

  test('with all of its money', async () => {
    const order = await ordered({ value: 25 });
    await pay(order);
    await well(order, 'POST', '/refunds', { amount: 25 });
    expect(await cards()).toMatchObject([{ state: 'blocked', balance: { amount: 0 } }]);
  });
});

test('the pages sell a card and say what is left on one', async () => {
  const visitor = givenVisitor(service, shop.shopId);
  const page = mainOf(await visitor.get('/Products/CARD'));
  expect(page).toContain('From €10.00 to €500.00.');
  expect(page).not.toContain('VAT');
  const added = await visitor.submit('/cart/add', {
    productId: card,
    quantity: '1',
    giftCard: '1',
    giftCardValue: '75',
    giftCardEmail: 'anna@example.com',
    giftCardName: 'Anna',
    giftCardMessage: 'For <you>',
    giftCardSendOn: '2026-12-24',
  });
  expect(mainOf(added)).toContain('For Anna (anna@example.com), on');
  expect(mainOf(added)).toContain('For <you>');
  const { code } = (await manage('POST', '/gift-cards', { value: 12.34 })).body;
  expect(mainOf(await visitor.post('/gift-card', { code }))).toContain('€12.34');
  expect((await visitor.post('/gift-card', { code: 'XXXX' })).status).toBe(400);
});

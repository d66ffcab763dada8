import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  changesNothing,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NO_TOKEN,
  NOW,
  on,
  paymentId,
  queuedEmails,
  reasonOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { createFakeProvider } from '../../test/fake-provider.ts';
import { attemptsOf, BUYER, paymentDeps, workOff } from '../../test/payments.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { givenVisitor, mainOf } from '../../test/visitor.ts';
import { sql } from '../db/sql.ts';
import { messagesIn } from '../kernel/messages.ts';
import { refundEmail, type OrderRefunded } from '../orders/refund-email.ts';
import { releaseUnpaidOrders } from '../orders/release-unpaid.ts';
import { ledgerOf } from '../orders/datev/accounts.ts';
import { paymentBookings } from '../orders/datev/bookings.ts';
import { findBookedPayments } from '../orders/datev/queries.ts';
import { installationKey } from '../platform/sealing.ts';
import { saveFields } from '../orders/payments/accounts.ts';
import type { PaymentDeps } from '../orders/payments/calls.ts';

const fake = createFakeProvider();

let service: Service;
let deps: PaymentDeps;
let shop: Shop;
/** 10.00 €. */
let tea: string;

beforeAll(async () => {
  service = await startService({}, undefined, { providers: { demo: fake.provider } });
  deps = paymentDeps(service, { demo: fake.provider });
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  shop = await givenSmallShop(service, {
    paymentMethods: [
      { key: 'advance', name: 'Advance' },
      { key: 'card', name: 'Card', provider: 'demo' },
    ],
  });
  const row = await service.db.one<{ id: string }>(sql`
    select payment_method_id as id from payment_method where shop_id = ${shop.shopId} and key = 'card'`);
  const key = await installationKey(service.config);
  await service.db.transaction((tx) => saveFields(tx, key, shop.shopId, row!.id, { secretKey: 'sk_1' }));
  tea = await givenProduct(shop, { price: 1000, stock: 100 });
});

const manage = (method: string, path: string, body?: unknown) =>
  service.call(method, `/manage/shops/${shop.shopId}${path}`, { token: shop.token, body });

async function givenCard(value: number, facts: object = {}) {
  const { status, body } = await manage('POST', '/gift-cards', { value, ...facts });
  expect(status).toBe(201);
  return body as { giftCardId: string; code: string };
}

const balanceOf = async ({ giftCardId }: { giftCardId: string }) =>
  (await manage('GET', `/gift-cards/${giftCardId}`)).body.balance.amount;

const entriesOf = async ({ giftCardId }: { giftCardId: string }) =>
  (await manage('GET', `/gift-cards/${giftCardId}/entries`)).body.items.map(
    ({ kind, amount }: { kind: string; amount: { amount: number } }) => [kind, amount.amount],
  );

/** A cart with an address and so many of the product. */
const fullCart = (quantity: number) => givenFullCart(shop, { [tea]: quantity });

const pay = (cart: GivenCart, { code }: { code: string }) => on(cart, 'POST', '/gift-cards', { code });
const order = (cart: GivenCart) => on(cart, 'POST', '/order');
const managed = async (orderId: string) => (await manage('GET', `/orders/${orderId}`)).body;

async function placed(cart: GivenCart): Promise<Answer['body']> {
  const { status, body } = await order(cart);
  expect(status).toBe(201);
  return managed(body.orderId);
}

describe('in a cart', () => {
  test('cards pay one after the other, and the total of the cart stays as it is', async () => {
    const [first, second] = [await givenCard(15), await givenCard(50)];
    const cart = await fullCart(3);
    const before = (await on(cart, 'GET', '')).body;
    expect((await pay(cart, { code: first.code.toLowerCase().replaceAll('-', ' ') })).body).toMatchObject({
      items: [{ giftCardId: first.giftCardId, lastCharacters: first.code.slice(-4), amount: { amount: 15 } }],
      outstandingAmount: { amount: 15, currency: 'EUR' },
    });
    const { body } = await pay(cart, second);
    expect(body.items.map((item: { amount: { amount: number } }) => item.amount.amount)).toEqual([15, 15]);
    expect(body.outstandingAmount.amount).toBe(0);
    expect((await pay(cart, second)).body).toEqual(body);
    expect((await on(cart, 'GET', '/gift-cards')).body).toEqual(body);
    expect((await on(cart, 'GET', '')).body.lineItemContainer).toEqual(before.lineItemContainer);
    const less = await on(cart, 'DELETE', `/gift-cards/${first.giftCardId}`);
    expect(less.body).toMatchObject({
      items: [{ amount: { amount: 30 } }],
      outstandingAmount: { amount: 0 },
    });
    expect((await on(cart, 'DELETE', `/gift-cards/${first.giftCardId}`)).status).toBe(404);
    expect([await balanceOf(first), await balanceOf(second)]).toEqual([15, 50]);
  });

  test('a card that cannot pay is refused', async () => {
    const cart = await fullCart(1);
    const card = await givenCard(10);
    await manage('PUT', `/gift-cards/${card.giftCardId}/state`, { state: 'blocked' });
    const empty = await givenCard(10);
    await manage('POST', `/gift-cards/${empty.giftCardId}/corrections`, { amount: -10, reason: 'Till' });
    const expired = await givenCard(10, { expiresOn: '2026-11-15' });
    service.setClock(new Date('2026-11-16T00:00:00Z'));
    const elsewhere = await givenSmallShop(service);
    const { body: foreign } = await service.call('POST', `/manage/shops/${elsewhere.shopId}/gift-cards`, {
      token: elsewhere.token,
      body: { value: 10 },
    });
    await changesNothing(service, async () => {
      expect(await reasonOf(pay(cart, card))).toEqual([409, 'The gift card is blocked']);
      expect(await reasonOf(pay(cart, empty))).toEqual([409, 'Nothing is left on the gift card']);
      expect(await reasonOf(pay(cart, expired))).toEqual([409, 'The gift card has expired']);
    });
    expect(await pay(cart, foreign)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('no gift card') },
    });
    const stranger = { ...cart, token: 'x'.repeat(24) };
    expect((await pay(stranger, card)).status).toBe(403);
  });

  test('guesses are limited, for each shop and address', async () => {
    const cart = await fullCart(1);
    const card = await givenCard(10);
    const guess = (code: string) => on(cart, 'POST', '/gift-cards', { code }, { token: NO_TOKEN });
    for (let tries = 1; tries <= 20; tries++) expect((await guess(`WRONG-${tries}`)).status).toBe(400);
    expect((await guess('WRONG')).status).toBe(429);
    expect((await guess(card.code)).status).toBe(429);
  });
});

describe('an order', () => {
  test('that cards pay in full is paid, and needs no other payment', async () => {
    const card = await givenCard(50);
    const cart = await fullCart(3);
    await pay(cart, card);
    const { body } = await order(cart);
    expect(body).toMatchObject({ paidOn: expect.stringContaining('2026-11-15T08:30:00'), grandTotal: '30' });
    expect(await managed(body.orderId)).toMatchObject({
      paidOn: expect.stringContaining('2026-11-15T08:30:00'),
      management: {
        state: 'readyToShip',
        paidAmount: { amount: 30 },
        outstandingAmount: { amount: 0 },
        payments: [{ kind: 'payment', amount: { amount: 30 }, giftCardId: card.giftCardId }],
      },
    });
    expect(await entriesOf(card)).toEqual([
      ['redeem', -30],
      ['issue', 50],
    ]);
    expect(await balanceOf(card)).toBe(20);
  });

  test('that a card pays in part leaves the rest to its payment method', async () => {
    const card = await givenCard(12.5);
    const cart = await fullCart(3);
    await pay(cart, card);
    expect(await placed(cart)).toMatchObject({
      paidOn: null,
      partiallyPaidOn: expect.stringContaining('2026-11-15T08:30:00'),
      lineItemContainer: { grandTotal: { amount: 30 } },
      management: { paidAmount: { amount: 12.5 }, outstandingAmount: { amount: 17.5 } },
    });
  });

  test('of two with the same card one is refused, changes nothing, and can be placed without it', async () => {
    const card = await givenCard(30);
    const carts = [await fullCart(3), await fullCart(3)];
    for (const cart of carts) await pay(cart, card);
    const answers = await Promise.all(carts.map(order));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409]);
    expect(await balanceOf(card)).toBe(0);
    const refused = carts[answers.findIndex(({ status }) => status === 409)]!;
    const again = await changesNothing(service, () => order(refused));
    expect(again.body.message).toContain('A gift card can no longer pay its part');
    await on(refused, 'DELETE', `/gift-cards/${card.giftCardId}`);
    expect(await placed(refused)).toMatchObject({ management: { paidAmount: { amount: 0 } } });
  });
});

describe('money that goes back', () => {
  test('goes to the card first, then to the other payment', async () => {
    const card = await givenCard(10);
    const cart = await fullCart(3);
    await pay(cart, card);
    const { orderId } = await placed(cart);
    await manage('POST', `/orders/${orderId}/payments`, { amount: 20 });
    const refund = (body: object) => manage('POST', `/orders/${orderId}/refunds`, body);
    const { body } = await refund({ amount: 12 });
    expect(
      body.management.payments
        .filter(({ kind }: { kind: string }) => kind === 'refund')
        .map(({ amount, giftCardId }: { amount: { amount: number }; giftCardId?: string }) => [
          amount.amount,
          giftCardId,
        ]),
    ).toEqual([
      [10, card.giftCardId],
      [2, undefined],
    ]);
    expect(await balanceOf(card)).toBe(10);
    expect((await changesNothing(service, () => refund({ amount: 18.01 }))).status).toBe(409);
    expect((await refund({ amount: 18 })).status).toBe(201);
    expect(await balanceOf(card)).toBe(10);
  });

  test('an unpaid rest releases the order, and the card has its money again, valid for another year', async () => {
    const card = await givenCard(10, { expiresOn: '2026-11-20' });
    const visitor = givenVisitor(service, shop.shopId);
    await visitor.submit('/cart/add', { productId: tea, quantity: '3' });
    await visitor.submit('/checkout', BUYER);
    await visitor.submit('/checkout/delivery', {
      paymentMethod: await paymentId(shop, 'card'),
    });
    const review = await visitor.submit('/checkout/gift-cards', { code: card.code });
    expect(mainOf(review)).toContain('Left to pay €20.00');
    const [, reviewed] = /name="reviewed" value="([^"]*)"/.exec(review.text)!;
    await visitor.post('/checkout/order', { reviewed: reviewed! });
    const orderId = String(visitor.session()['order']);
    const [attempt] = await attemptsOf(shop, orderId);
    expect(attempt).toMatchObject({ amount: 2000 });
    service.setClock(new Date(NOW.getTime() + 2 * 3_600_000));
    await service.db.run(
      sql`update payment_attempt set check_at = ${service.db.now} where shop_id = ${shop.shopId}`,
    );
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 10)).toBe(1);
    expect(await managed(orderId)).toMatchObject({
      management: { state: 'cancelled', refundedAmount: { amount: 10 } },
    });
    expect(await balanceOf(card)).toBe(10);
    expect((await manage('GET', `/gift-cards/${card.giftCardId}`)).body.expiresOn).toBe('2027-11-15');
    expect((await entriesOf(card))[0]).toEqual(['refund', 10]);
  });

  test('becomes store credit where the merchant chooses so, with a code by email', async () => {
    const { orderId, customerId } = await placed(await fullCart(3));
    await manage('POST', `/orders/${orderId}/payments`, { amount: 30 });
    const { body } = await manage('POST', `/orders/${orderId}/refunds`, { amount: 12, asStoreCredit: true });
    const { giftCardId } = body.management.payments.at(-1);
    expect(await manage('GET', `/gift-cards/${giftCardId}`)).toMatchObject({
      body: { customerId, balance: { amount: 12 }, state: 'active' },
    });
    const email = (await queuedEmails(service, shop.shopId)).findLast(
      ({ template }) => template === 'refund',
    );
    const facts = email!.facts as unknown as OrderRefunded;
    const creditCode = facts.creditCode!;
    expect(refundEmail.sections!(facts, refundEmail.messages(messagesIn('en_GB').email))).toEqual([
      {
        title: 'Gift card',
        rows: [
          { text: expect.stringContaining(`Enter this code at the checkout: ${creditCode}`), as: 'plain' },
        ],
      },
    ]);
    const cart = await fullCart(1);
    expect((await pay(cart, { code: creditCode })).body).toMatchObject({ items: [{ giftCardId }] });
  });

  test('of a page that was reviewed with more on the card, nothing is ordered', async () => {
    const card = await givenCard(10);
    const visitor = givenVisitor(service, shop.shopId);
    await visitor.submit('/cart/add', { productId: tea, quantity: '3' });
    await visitor.submit('/checkout', BUYER);
    await visitor.submit('/checkout/delivery', {
      paymentMethod: await paymentId(shop, 'advance'),
    });
    const rejected = await visitor.post('/checkout/gift-cards', { code: 'WRONG' });
    expect(mainOf(rejected)).toContain('There is no gift card with this code.');
    const review = await visitor.submit('/checkout/gift-cards', { code: card.code });
    const [, reviewed] = /name="reviewed" value="([^"]*)"/.exec(review.text)!;
    await manage('POST', `/gift-cards/${card.giftCardId}/corrections`, { amount: -4, reason: 'Till' });
    const answer = await visitor.post('/checkout/order', { reviewed: reviewed! });
    expect(answer.status).toBe(409);
    expect(mainOf(answer)).toContain('Left to pay €24.00');
    const [, again] = /name="reviewed" value="([^"]*)"/.exec(answer.text)!;
    await visitor.post('/checkout/order', { reviewed: again! });
    const confirmation = await visitor.get('/confirmation');
    expect(mainOf(confirmation)).toContain('Left to pay €24.00');
    expect(await balanceOf(card)).toBe(0);
  });
});

test('an invoice says what gift cards have paid of it, and so do the bookings', async () => {
  const card = await givenCard(25);
  const cart = await fullCart(3);
  await pay(cart, card);
  const { orderId, lineItemContainer } = await placed(cart);
  const [{ lineItemId }] = lineItemContainer.productLineItems;
  const finalise = async (quantity: number) => {
    const body = { lines: [{ lineItemId, quantity }] };
    expect((await manage('POST', `/orders/${orderId}/invoices`, body)).status).toBe(201);
    const row = await service.db.one<{ terms: { giftCards?: number; isPaid: boolean } }>(sql`
      select terms from order_document where shop_id = ${shop.shopId} order by created_at desc, number desc limit 1`);
    const { giftCards, isPaid } = row!.terms;
    return { giftCards, isPaid };
  };
  expect(await finalise(2)).toEqual({ giftCards: 2000, isPaid: true });
  expect(await finalise(1)).toEqual({ giftCards: 500, isPaid: false });
  const [booked] = await findBookedPayments(
    service.db,
    shop.shopId,
    { end: new Date('2026-11-16T00:00:00Z') },
    { after: { at: new Date(0), id: '00000000-0000-0000-0000-000000000000' }, limit: 10 },
  );
  const [booking] = paymentBookings(booked!, ledgerOf({ chart: 'SKR04' }));
  expect(booking).toMatchObject({ account: '3500', amount: 2500, side: 'S' });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
  changesNothing,
  changeSettings,
  done,
  givenCart,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  on,
  queuedEmails,
  shippingId,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { givenMerchant } from '../../test/admin.ts';
import { SETTINGS } from '../../test/managed-orders.ts';
import { startService, type Service } from '../../test/service.ts';
import { signInAs } from '../../test/signed-in.ts';
import { startVatRegister, type Behaviour, type VatRegisterServer } from '../../test/vat-register.ts';
import { givenVisitor, mainOf } from '../../test/visitor.ts';
import { sql } from '../db/sql.ts';
import { orderConfirmation } from '../orders/confirmation-email.ts';
import type { Buyer, VatCheck } from '../shops/vat-numbers/buyer.ts';

/** Of French companies: their check digits fit. */
const NUMBER = 'FR40303265045';
const OTHER_NUMBER = 'FR83404833048';
const MINUTE = 60_000;

/** Without the request and its id. */
const reason = ({ message }: { message: string }) => message.split(', Request:')[0];

let service: Service;
let register: VatRegisterServer;
let shop: Shop;
let productId: string;

beforeAll(async () => {
  register = await startVatRegister();
  service = await startService({ VIES_URL: register.url, WEBHOOK_ALLOW: '127.0.0.0/8' });
  shop = await givenSmallShop(service, {
    countries: { default: 'DE', items: ['DE', 'FR', 'CH', 'GB'] },
  });
  productId = await givenProduct(shop, { number: 'QUAI-1' });
});
afterAll(async () => {
  await service.close();
  await register.close();
});

let round = 0;
beforeEach(() => {
  // Answers are cached for some minutes, so each test begins later.
  service.setClock(new Date(NOW.getTime() + ++round * 60 * MINUTE));
  register.behaviour = 'valid';
  register.asked = [];
});

const now = () => service.db.now.toISOString();
const FRENCH = { ...ADA, company: 'Quai SAS', country: 'FR', zipCode: '13002', city: 'Marseille' };

async function buyerOf({ body }: GivenCart): Promise<Buyer | null> {
  const row = await service.db.one<{ buyer: Buyer | null }>(sql`
    select buyer from cart where shop_id = ${shop.shopId} and cart_id = ${body.cartId}`);
  return row!.buyer;
}

async function givenFilledCart(): Promise<GivenCart> {
  const cart = await givenCart(shop);
  await done(cart, 'POST', '/line-items', { productId, quantity: 1 });
  return cart;
}

const put = (cart: GivenCart, vatId: string | null, more: object = {}) =>
  on(cart, 'PUT', '/billing-address', { ...FRENCH, vatId, ...more });

describe('the VAT number of a billing address', () => {
  test('is checked with the number of the shop, and the answer stays that of the contract', async () => {
    const cart = await givenFilledCart();
    const { status, body } = await put(cart, 'fr 40 303 265 045');
    expect(status).toBe(200);
    expect(body.billingAddress.vatId).toBe('fr 40 303 265 045');
    expect(Object.keys(body)).not.toContain('buyer');
    expect(register.asked).toEqual([
      {
        countryCode: 'FR',
        vatNumber: '40303265045',
        requesterMemberStateCode: 'DE',
        requesterNumber: '123456789',
      },
    ]);
    expect(await buyerOf(cart)).toEqual({
      vatCheck: {
        vatNumber: NUMBER,
        result: 'valid',
        checkedAt: now(),
        consultationNumber: 'WAPIAAAAYvK1',
      },
    });
  });

  test('is checked in the same way where the address comes with the cart', async () => {
    const body = { lineItems: [{ productId, quantity: 1 }], billingAddress: { ...FRENCH, vatId: NUMBER } };
    const { status, body: cart } = await service.call('POST', `/${shop.shopId}/carts`, { body });
    expect([status, Object.keys(cart).includes('buyer')]).toEqual([201, false]);
    expect(register.asked).toHaveLength(1);
    const stored = await service.db.one<{ buyer: Buyer | null }>(sql`
      select buyer from cart where shop_id = ${shop.shopId} and cart_id = ${cart.cartId}`);
    expect(stored!.buyer?.vatCheck).toMatchObject({ vatNumber: NUMBER, result: 'valid', checkedAt: now() });
  });

  test.each([
    ['invalid', { result: 'invalid', consultationNumber: 'WAPIAAAAYvK1' }],
    ['slow', { result: 'unavailable' }],
    ['error', { result: 'unavailable' }],
    ['rubbish', { result: 'unavailable' }],
    ['tooLarge', { result: 'unavailable' }],
    ['away', { result: 'unavailable' }],
    ['requesterUnknown', { result: 'valid' }],
  ] satisfies [Behaviour, object][])('a register that is %s', async (behaviour, expected) => {
    register.behaviour = behaviour;
    const cart = await givenFilledCart();
    const begun = performance.now();
    expect((await put(cart, NUMBER)).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(2_800);
    expect(await buyerOf(cart)).toEqual({ vatCheck: { vatNumber: NUMBER, checkedAt: now(), ...expected } });
  });

  test('is not asked for again within minutes, and is when it failed', async () => {
    const cart = await givenFilledCart();
    await put(cart, NUMBER);
    await put(cart, NUMBER, { street: 'Kai 8' });
    const second = await givenFilledCart();
    await put(second, NUMBER);
    expect(register.asked).toHaveLength(1);
    expect(await buyerOf(second)).toEqual(await buyerOf(cart));
    register.behaviour = 'away';
    await put(second, OTHER_NUMBER);
    expect((await buyerOf(second))?.vatCheck?.result).toBe('unavailable');
    register.behaviour = 'valid';
    const third = await givenFilledCart();
    await put(third, OTHER_NUMBER);
    expect((await buyerOf(third))?.vatCheck?.result).toBe('valid');
  });

  test('goes with the number', async () => {
    const cart = await givenFilledCart();
    await put(cart, NUMBER);
    await put(cart, OTHER_NUMBER);
    expect((await buyerOf(cart))?.vatCheck?.vatNumber).toBe(OTHER_NUMBER);
    await put(cart, null);
    expect(await buyerOf(cart)).toBeNull();
    await put(cart, NUMBER);
    await done(cart, 'DELETE', '/billing-address');
    expect(await buyerOf(cart)).toBeNull();
    await put(cart, NUMBER);
    await done(cart, 'PUT', '/shipping-address', { country: 'FR', vatId: OTHER_NUMBER });
    expect((await buyerOf(cart))?.vatCheck?.vatNumber).toBe(NUMBER);
  });

  test.each([
    ['damaged', 'FR40303265046', {}],
    ['of the own country', 'DE136695976', {}],
    ['Swiss', 'CHE-107.787.577 MWST', { country: 'CH' }],
    ['British', 'GB980780684', { country: 'GB' }],
    ['no number', '<script>alert(1)</script>', {}],
    ['far too long', 'FR'.padEnd(64, '1'), {}],
    ['empty', '', {}],
  ])('one that is %s is stored as before and asks nobody', async (_, vatId, more) => {
    const cart = await givenFilledCart();
    const { status, body } = await put(cart, vatId, more);
    expect([status, body.billingAddress.vatId]).toEqual([200, vatId]);
    expect(await buyerOf(cart)).toBeNull();
    expect(register.asked).toEqual([]);
  });

  test('asks nobody for strangers, wrong addresses, or a shop without a number of its own', async () => {
    const cart = await givenFilledCart();
    await changesNothing(service, async () => {
      const stranger = { headers: { 'x-epages-cart-token': 'x' } };
      const refused = await on(cart, 'PUT', '/billing-address', { ...FRENCH, vatId: NUMBER }, stranger);
      expect(refused.status).toBe(403);
      expect((await put(cart, NUMBER, { vatId: 'F'.repeat(65) })).status).toBe(400);
    });
    expect(register.asked).toEqual([]);
    const other = await givenSmallShop(service, { invoicing: {} });
    const there = await givenCart(other);
    await on(there, 'PUT', '/billing-address', { ...FRENCH, vatId: NUMBER });
    expect(register.asked).toEqual([]);
  });

  test('an Idempotency-Key asks before its transaction, and replays without the cart', async () => {
    const cart = await givenFilledCart();
    const headers = { 'idempotency-key': 'vat-1' };
    const first = await on(cart, 'PUT', '/billing-address', { ...FRENCH, vatId: NUMBER }, { headers });
    expect((await buyerOf(cart))?.vatCheck?.result).toBe('valid');
    service.setClock(new Date(service.db.now.getTime() + 11 * MINUTE));
    const order = { headers: { 'idempotency-key': 'vat-2' } };
    const placed = await on(cart, 'POST', '/order', undefined, order);
    expect(placed.status).toBe(201);
    expect(register.asked).toHaveLength(2);
    const again = await on(cart, 'POST', '/order', undefined, order);
    expect([again.status, again.body]).toEqual([201, placed.body]);
    const replay = await on(cart, 'PUT', '/billing-address', { ...FRENCH, vatId: NUMBER }, { headers });
    expect([replay.status, replay.body]).toEqual([200, first.body]);
    expect(await orderedBuyer(placed.body.orderId)).toMatchObject({
      vatCheck: { result: 'valid', checkedAt: now() },
    });
  });
});

async function orderedBuyer(orderId: string): Promise<Buyer | null> {
  const row = await service.db.one<{ buyer: Buyer | null }>(sql`
    select buyer from customer_order where shop_id = ${shop.shopId} and order_id = ${orderId}`);
  return row!.buyer;
}

describe('an order', () => {
  const later = (minutes: number) => service.setClock(new Date(service.db.now.getTime() + minutes * MINUTE));

  test.each([
    ['within minutes counts', 'invalid', 5, 'valid', 1],
    ['after that is asked again', 'invalid', 11, 'invalid', 2],
    ['counts on when the register is down', 'away', 60, 'valid', 2],
    ['does not after a day', 'away', 25 * 60, 'unavailable', 2],
  ] as const)('a check %s', async (_, behaviour, minutes, result, asked) => {
    const cart = await givenFilledCart();
    await put(cart, NUMBER);
    register.behaviour = behaviour;
    later(minutes);
    const { status, body } = await on(cart, 'POST', '/order');
    expect(status).toBe(201);
    expect((await orderedBuyer(body.orderId))?.vatCheck).toMatchObject({ vatNumber: NUMBER, result });
    expect(register.asked).toHaveLength(asked);
  });

  test('of a consumer asks nobody', async () => {
    const cart = await givenFilledCart();
    await done(cart, 'PUT', '/billing-address', ADA);
    later(60);
    const { body } = await on(cart, 'POST', '/order');
    expect(await orderedBuyer(body.orderId)).toBeNull();
    expect(register.asked).toEqual([]);
  });
});

describe('the back office', () => {
  const manage = (method: string, path: string, body?: unknown, token = shop.token) =>
    service.call(method, `/manage/shops/${shop.shopId}${path}`, {
      token,
      ...(body !== undefined && { body }),
    });
  const placed = async (vatId: string | null) => {
    const cart = await givenFilledCart();
    await put(cart, vatId);
    return (await done(cart, 'POST', '/order')).orderId as string;
  };

  test('asks again for an order that was not checked, and shows the proof', async () => {
    register.behaviour = 'away';
    const orderId = await placed(NUMBER);
    const before = (await manage('GET', `/orders/${orderId}`)).body;
    expect(before.management.buyer).toEqual({
      buyerReference: null,
      purchaseOrderNumber: null,
      vatCheck: { vatNumber: NUMBER, result: 'unavailable', checkedOn: now(), consultationNumber: null },
    });
    register.behaviour = 'valid';
    const { status, body } = await manage('POST', `/orders/${orderId}/vat-check`);
    expect(status).toBe(200);
    expect(body.management.buyer.vatCheck).toEqual({
      vatNumber: NUMBER,
      result: 'valid',
      checkedOn: now(),
      consultationNumber: 'WAPIAAAAYvK2',
    });
    const history = (await manage('GET', `/orders/${orderId}/history`)).body.items;
    expect(history.at(-1)).toMatchObject({ kind: 'VAT number checked', details: { result: 'valid' } });
    expect(JSON.stringify(history)).not.toContain('QUAI');
  });

  test('has nothing to ask without a number', async () => {
    const orderId = await placed(null);
    await changesNothing(service, async () => {
      const { status, body } = await manage('POST', `/orders/${orderId}/vat-check`);
      expect([status, reason(body)]).toEqual([
        409,
        'The billing address has no VAT number of another member state, or the shop has none itself',
      ]);
    });
    expect(register.asked).toEqual([]);
  });

  test('repeats its answer for the same key, also once there is no number left to ask about', async () => {
    const orderId = await placed(NUMBER);
    const check = () =>
      service.call('POST', `/manage/shops/${shop.shopId}/orders/${orderId}/vat-check`, {
        token: shop.token,
        headers: { 'idempotency-key': `check-${orderId}` },
      });
    const first = await check();
    expect(first.status).toBe(200);
    await service.db.run(sql`
      update customer_order set billing_address = (billing_address::jsonb || ${{ vatId: null }}::jsonb)::json
      where shop_id = ${shop.shopId} and order_id = ${orderId}`);
    const again = await check();
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test('sets reference and order number of a cart and of its order', async () => {
    const cart = await givenFilledCart();
    await put(cart, NUMBER);
    const path = `/carts/${cart.body.cartId}/buyer`;
    const headers = { 'x-epages-cart-token': cart.token };
    const set = await service.call('PUT', `/manage/shops/${shop.shopId}${path}`, {
      headers,
      body: { buyerReference: ' 04011000-12345-67 ', purchaseOrderNumber: 'PO-1' },
    });
    expect([
      set.status,
      set.body.buyerReference,
      set.body.purchaseOrderNumber,
      set.body.vatCheck.result,
    ]).toEqual([200, '04011000-12345-67', 'PO-1', 'valid']);
    const { orderId } = await done(cart, 'POST', '/order');
    const changed = await manage('PUT', `/orders/${orderId}/buyer`, { purchaseOrderNumber: 'PO-2' });
    expect(changed.body.management.buyer).toMatchObject({
      buyerReference: null,
      purchaseOrderNumber: 'PO-2',
      vatCheck: { result: 'valid' },
    });
    await changesNothing(service, async () => {
      for (const wrong of ['x'.repeat(101), 'two\nlines', 'a\u0000b', 7]) {
        expect((await manage('PUT', `/orders/${orderId}/buyer`, { buyerReference: wrong })).status).toBe(400);
      }
    });
  });

  test('exports what is stored of a person, and erases it', async () => {
    const orderId = await placed(NUMBER);
    await manage('PUT', `/orders/${orderId}/buyer`, { purchaseOrderNumber: 'PO-3' });
    const { customerId } = (await manage('GET', `/orders/${orderId}`)).body;
    await service.db.run(sql`
      update customer set vat_check = ${{ vatNumber: NUMBER, result: 'valid', checkedAt: now() }}
      where shop_id = ${shop.shopId} and customer_id = ${customerId}`);
    const { body } = await manage('GET', `/customers/${customerId}/export`);
    expect(body.customer.vatCheck).toEqual({ vatNumber: NUMBER, result: 'valid', checkedAt: now() });
    const exported = body.orders.find((one: { orderId: string }) => one.orderId === orderId);
    expect(exported.buyer).toMatchObject({
      purchaseOrderNumber: 'PO-3',
      vatCheck: { vatNumber: NUMBER },
    });
    expect((await manage('POST', `/customers/${customerId}/erase?force=true`)).status).toBe(200);
    expect(await orderedBuyer(orderId)).toBeNull();
    const row = await service.db.one<{ vatCheck: unknown }>(sql`
      select vat_check as "vatCheck" from customer where shop_id = ${shop.shopId} and customer_id = ${customerId}`);
    expect(row!.vatCheck).toBeNull();
  });

  test('shows a merchant the check, and asks again at a click', async () => {
    register.behaviour = 'away';
    const orderId = await placed(NUMBER);
    const merchant = await givenMerchant(service, 'owner', shop.shopId);
    const page = await merchant.get(`/orders/${orderId}`);
    expect(page.text).toContain(`VAT ID: ${NUMBER} (could not be checked)`);
    expect(page.text).toContain('Check again');
    register.behaviour = 'valid';
    await merchant.post(`/orders/${orderId}/vat-check`, {});
    const after = await merchant.get(`/orders/${orderId}`);
    expect(after.text).toContain(`VAT ID: ${NUMBER} (confirmed)`);
    expect(after.text).toContain('Consultation number WAPIAAAAYvK2');
    expect(after.text).not.toContain('Check again');
  });
});

describe('a correction', () => {
  let taxed: Shop;
  let goods: Record<string, number>;
  const manage = (method: string, path: string, body?: unknown) =>
    service.call(method, `/manage/shops/${taxed.shopId}${path}`, {
      token: taxed.token,
      ...(body !== undefined && { body }),
    });
  beforeAll(async () => {
    taxed = await givenSmallShop(service, {
      ...SETTINGS,
      countries: { default: 'DE', items: ['DE', 'FR'] },
      basketDiscounts: [{ from: 20, percent: 7 }],
    });
    const standard = await givenProduct(taxed, { price: 2450 });
    const reduced = await givenProduct(taxed, { price: 999, taxClass: 'reduced' });
    goods = { [standard]: 2, [reduced]: 3 };
  });
  const order = async (behaviour: Behaviour, vatId = OTHER_NUMBER) => {
    register.behaviour = behaviour;
    const cart = await givenFullCart(taxed, goods, { address: { ...FRENCH, vatId } });
    await done(cart, 'PUT', '/shipping-data', { id: await shippingId(taxed, 'parcel') });
    return done(cart, 'POST', '/order');
  };
  const documentsOf = async (orderId: string) => {
    const rows = await service.db.many<{ kind: string; total: number; tax: number }>(sql`
      select kind, (content ->> 'grandTotal')::int as total, (content ->> 'totalTax')::int as tax
      from order_document where shop_id = ${taxed.shopId} and order_id = ${orderId} order by created_at, document_id`);
    return rows.map(({ kind, total, tax }) => [kind, total, tax]);
  };

  test('credits the invoice, and leaves what a confirmed business would have paid', async () => {
    const { orderId, ...placed } = await order('away');
    const paid = placed.lineItemContainer.grandTotal.amount;
    await manage('POST', `/orders/${orderId}/payments`, { amount: paid });
    expect((await manage('POST', `/orders/${orderId}/invoices`, {})).status).toBe(201);
    await changesNothing(service, async () => {
      const { status, body } = await manage('POST', `/orders/${orderId}/tax-correction`);
      expect([status, reason(body)]).toEqual([409, 'The tax authorities have not confirmed the VAT number']);
    });
    register.behaviour = 'valid';
    expect((await manage('POST', `/orders/${orderId}/vat-check`)).body.management.buyer.vatCheck.result).toBe(
      'valid',
    );
    const { status, body } = await manage('POST', `/orders/${orderId}/tax-correction`);
    expect([status, body.message]).toEqual([200, undefined]);

    // The same goods for a business that was confirmed at once.
    const confirmed = await order('valid', NUMBER);
    const { grandTotal, totalTax, lineItemsSubTotal } = body.lineItemContainer;
    expect([grandTotal.amount, totalTax.amount, lineItemsSubTotal.amount]).toEqual([
      confirmed.lineItemContainer.grandTotal.amount,
      0,
      confirmed.lineItemContainer.lineItemsSubTotal.amount,
    ]);
    expect(paid).toBeGreaterThan(grandTotal.amount);
    const cents = (amount: number) => Math.round(amount * 100);
    const tax = cents(placed.lineItemContainer.totalTax.amount);
    expect(await documentsOf(orderId)).toEqual([
      ['Invoice', cents(paid), tax],
      ['CreditNote', cents(paid), tax],
      ['Invoice', cents(grandTotal.amount), 0],
    ]);
    expect(cents(body.management.refundableAmount.amount)).toBe(cents(paid) - cents(grandTotal.amount));
    expect(body.management.outstandingAmount.amount).toBe(0);
    await changesNothing(service, async () => {
      const again = await manage('POST', `/orders/${orderId}/tax-correction`);
      expect([again.status, reason(again.body)]).toEqual([
        409,
        'The order is taxed as its VAT number demands',
      ]);
    });
    const { items } = (await manage('GET', `/orders/${orderId}/history`)).body;
    expect(items.map(({ kind }: { kind: string }) => kind)).toEqual([
      'placed',
      'payment recorded',
      'document finalised',
      'VAT number checked',
      'document finalised',
      'document finalised',
      'tax corrected',
    ]);
  });

  test('without an invoice needs no credit note, and is one click in the admin', async () => {
    const { orderId } = await order('away');
    register.behaviour = 'valid';
    const merchant = await givenMerchant(service, 'owner', taxed.shopId);
    expect((await merchant.get(`/orders/${orderId}`)).text).not.toContain('Remove VAT');
    await merchant.post(`/orders/${orderId}/vat-check`, {});
    expect((await merchant.get(`/orders/${orderId}`)).text).toContain('Remove VAT');
    await merchant.post(`/orders/${orderId}/tax-correction`, {});
    const { body } = await manage('GET', `/orders/${orderId}`);
    expect([body.lineItemContainer.totalTax.amount, body.management.refundableAmount.amount]).toEqual([0, 0]);
    expect(await documentsOf(orderId)).toEqual([]);
    expect((await merchant.get(`/orders/${orderId}`)).text).not.toContain('Remove VAT');
  });
});

describe('an order by hand', () => {
  const FIELDS = Object.fromEntries(
    Object.entries(FRENCH).map(([field, value]) => [`billing-${field}`, value]),
  );
  const noticeOf = (headers: Record<string, unknown>) => {
    const cookie = String(
      [headers['set-cookie']].flat().find((one) => String(one).startsWith('admin-notice=')),
    );
    return JSON.parse(Buffer.from(/=([^.]+)/.exec(cookie)![1]!, 'base64url').toString());
  };
  const place = async (vatId: string) => {
    const merchant = await givenMerchant(service, 'owner', shop.shopId);
    const fields = {
      ...FIELDS,
      product: productId,
      [`quantity.${productId}`]: '1',
      'billing-vatId': vatId,
    };
    const computed = await merchant.post('/orders/new', { ...fields, do: 'compute' });
    const saved = await merchant.post('/orders/new', { ...fields, do: 'place' });
    return { computed: computed.text, saved, merchant };
  };
  const ordered = async (location: string | undefined) => {
    const orderId = location!.split('/').at(-1)!;
    const { body } = await service.call('GET', `/manage/shops/${shop.shopId}/orders/${orderId}`, {
      token: shop.token,
    });
    return body;
  };

  test('of a confirmed business is without tax, and asks once', async () => {
    const { computed, saved, merchant } = await place('fr 40303265045');
    expect(computed).toContain('The tax authorities have confirmed the VAT ID.');
    expect(computed).toContain('No VAT: intra-Community supply');
    const order = await ordered(saved.location);
    expect(order.lineItemContainer.totalTax.amount).toBe(0);
    expect(order.lineItemContainer.grandTotal.amount).toBe(8.4);
    expect(order.management.buyer.vatCheck).toEqual({
      vatNumber: NUMBER,
      result: 'valid',
      checkedOn: now(),
      consultationNumber: 'WAPIAAAAYvK1',
    });
    expect(order.management.taxes).toEqual([
      expect.objectContaining({
        rate: 0,
        treatment: 'intraCommunity',
        amount: expect.objectContaining({ amount: 8.4 }),
        tax: expect.objectContaining({ amount: 0 }),
      }),
    ]);
    expect(register.asked).toHaveLength(1);
    expect(noticeOf(saved.headers).isProblem).toBeFalsy();
    expect((await merchant.get(`/orders/${order.orderId}`)).text).toContain('No VAT: intra-Community supply');
  });

  test.each([
    ['away', 'unavailable', 'The tax authorities’ service does not respond, so VAT is charged.'],
    ['invalid', 'invalid', 'The tax authorities do not know the VAT ID, so VAT is charged.'],
  ] satisfies [Behaviour, string, string][])(
    'has tax when the register is %s, says so, and can be corrected',
    async (behaviour, result, text) => {
      register.behaviour = behaviour;
      const { computed, saved, merchant } = await place(OTHER_NUMBER);
      expect(computed).toContain(text);
      expect(computed).toContain('Includes 19% VAT');
      expect(noticeOf(saved.headers)).toMatchObject({ isProblem: true, text: expect.stringContaining(text) });
      const order = await ordered(saved.location);
      expect([order.lineItemContainer.grandTotal.amount, order.lineItemContainer.totalTax.amount]).toEqual([
        10, 1.6,
      ]);
      expect(order.management.buyer.vatCheck).toMatchObject({ vatNumber: OTHER_NUMBER, result });
      const page = await merchant.get(`/orders/${order.orderId}`);
      expect(page.text).toContain('Check again');
    },
  );

  test('is refused with a damaged number, and nothing is ordered', async () => {
    const merchant = await givenMerchant(service, 'owner', shop.shopId);
    await changesNothing(service, async () => {
      const refused = await merchant.post('/orders/new', {
        ...FIELDS,
        product: productId,
        [`quantity.${productId}`]: '1',
        'billing-vatId': 'FR40303265046',
        do: 'place',
      });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('FR40303265046 is not a valid VAT ID.');
    });
    expect(register.asked).toEqual([]);
  });
});

describe('an order without tax says why', () => {
  let untaxed: Shop;
  let goods: string;
  let download: string;
  beforeAll(async () => {
    untaxed = await givenSmallShop(service, {
      countries: { default: 'DE', items: ['DE', 'FR', 'CH'] },
      taxClasses: [
        { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } },
        { key: 'digital', name: 'digital', digital: true, rates: { DE: 19 } },
      ],
      taxes: { model: 'gross', taxFreeOutsideEu: true },
    });
    goods = await givenProduct(untaxed, { number: 'GOODS' });
    download = await givenProduct(untaxed, { number: 'FILE', taxClass: 'digital' });
  });

  const FR = { ...FRENCH, vatId: NUMBER };
  const CH = { ...FRENCH, country: 'CH', zipCode: '8001', city: 'Zürich', vatId: null };
  test.each([
    ['goods to a business', () => goods, FR, {}, 'No VAT: intra-Community supply'],
    [
      'a download for a business',
      () => download,
      FR,
      {},
      'No VAT: reverse charge, the recipient owes the tax',
    ],
    ['an export', () => goods, CH, {}, 'No VAT: export'],
    [
      'a small business',
      () => goods,
      { ...FRENCH, country: 'DE', zipCode: '20457', vatId: null },
      { taxes: { model: 'gross' as const, smallBusiness: true } },
      'No VAT: small business',
    ],
  ])('%s', async (_, product, address, settings, reason) => {
    await changeSettings(untaxed, settings);
    const visitor = givenVisitor(service, untaxed.shopId);
    await visitor.submit('/cart/add', { productId: product(), quantity: '1' });
    await visitor.submit('/checkout', {
      ...Object.fromEntries(Object.entries(address).map(([name, value]) => [`billing.${name}`, value ?? ''])),
      'billing.format': address.country,
      'business.form': 'yes',
      ...(address.vatId && { business: 'yes' }),
    });
    const delivery = await visitor.get('/checkout/delivery');
    const chosen = Object.fromEntries(
      [...delivery.text.matchAll(/name="((?:shipping|payment)Method)"[^>]*?value="([^"]+)"/g)].map(
        ([, name, value]) => [name!, value!],
      ),
    );
    const review = await visitor.submit('/checkout/delivery', chosen);
    expect(mainOf(review)).toContain(reason);
    const reviewed = /name="reviewed" value="([^"]+)"/.exec(review.text)![1]!;
    const confirmed = await visitor.submit('/checkout/order', { reviewed, ...consentsIn(review.text) });
    expect(mainOf(confirmed)).toContain(reason);
    const email = (await queuedEmails(service, untaxed.shopId)).findLast(
      ({ template }) => template === 'order',
    )!;
    const facts = (await orderConfirmation.load!(service.db, email))!;
    expect(facts.untaxed).toEqual([{ text: reason, amount: '€0.00' }]);
    // The notice on the legal guarantee is for consumers.
    const isConsumer = address.vatId === null;
    expect(mainOf(review).includes('Legal guarantee of conformity')).toBe(isConsumer);
    expect(facts.legalSections.some(({ title }) => title.startsWith('Legal guarantee'))).toBe(isConsumer);
    expect(facts.hasLegalGuarantee).toBe(isConsumer);
    const merchant = await givenMerchant(service, 'owner', untaxed.shopId);
    const { orderId } = (
      await service.call('GET', `/${untaxed.shopId}/orders?resultsPerPage=1`, { token: untaxed.token })
    ).body.items[0];
    const page = await merchant.get(`/orders/${orderId}`);
    expect(page.text).toContain(`<dt>${reason}</dt>`);
    expect(page.text).not.toContain('Includes 0% VAT');
  });
});

describe('a consumer abroad', () => {
  test.each([
    ['gross', '€10.00', 10, 1.67],
    ['net', '€10.00', 12, 2],
  ] as const)(
    'of a shop with %s prices reads whose tax they have, and pays what the cart says',
    async (model, shown, total, tax) => {
      const abroad = await givenSmallShop(service, {
        countries: { default: 'DE', items: ['DE', 'FR'] },
        taxClasses: [{ key: 'standard', name: 'standard', default: true, rates: { DE: 19 } }],
      });
      const lamp = await givenProduct(abroad, { number: 'LAMP', price: 1000 });
      const visitor = givenVisitor(service, abroad.shopId);
      const page = async () => mainOf(await visitor.get('/Products/LAMP'));
      // Below the threshold, the tax is that of the shop everywhere.
      await changeSettings(abroad, { taxes: { model, distanceSales: 'origin' } });
      const word = model === 'gross' ? 'incl.' : 'plus';
      expect(await page()).toContain(`${word} 19% VAT, plus shipping costs`);
      await changeSettings(abroad, { taxes: { model, distanceSales: 'oss' } });
      const text = await page();
      expect(text).toContain(shown);
      expect(text).toContain(
        `${word} VAT (Germany: 19%, otherwise that of the country of delivery), plus shipping costs`,
      );
      await visitor.submit('/cart/add', { productId: lamp, quantity: '1' });
      expect(mainOf(await visitor.get('/cart'))).toContain('The VAT depends on the country of delivery.');
      await visitor.submit('/checkout', {
        ...Object.fromEntries(Object.entries(FRENCH).map(([name, value]) => [`billing.${name}`, value])),
        'billing.format': 'FR',
      });
      const cart = mainOf(await visitor.get('/cart'));
      expect(cart).not.toContain('The VAT depends');
      expect(cart).toContain(model === 'gross' ? 'Includes 20% VAT €1.67' : 'Plus 20% VAT €2.00');
      const api = await givenFullCart(abroad, { [lamp]: 1 }, { address: FRENCH });
      const { lineItemContainer } = await done(api, 'POST', '/order');
      expect([lineItemContainer.grandTotal.amount, lineItemContainer.totalTax.amount]).toEqual([total, tax]);
    },
  );
});

const consentsIn = (text: string) =>
  Object.fromEntries([...text.matchAll(/name="(consent[^"]*)"/g)].map(([, name]) => [name!, 'yes']));

describe('the checkout', () => {
  const COMPANY = {
    ...Object.fromEntries(Object.entries(FRENCH).map(([field, value]) => [`billing.${field}`, value])),
    'billing.format': 'FR',
    business: 'yes',
    'business.form': 'yes',
  };
  const visit = async () => {
    const visitor = givenVisitor(service, shop.shopId);
    await visitor.submit('/cart/add', { productId, quantity: '1' });
    return visitor;
  };
  const newestBuyer = async () => {
    const row = await service.db.one<{ buyer: Buyer | null }>(sql`
      select buyer from cart where shop_id = ${shop.shopId} order by changed_at desc, cart_id desc limit 1`);
    return row!.buyer;
  };

  test('of a customer who is signed in remembers the answer, and so does the account', async () => {
    await changeSettings(shop, { netPrices: { shownTo: 'businesses' } });
    const visitor = await visit();
    await signInAs(service, visitor, 'quai@mail.example', {}, shop.shopId);
    const remembered = async () =>
      (await service.db.one<{ check: VatCheck | null }>(sql`
        select vat_check as check from customer
        where shop_id = ${shop.shopId} and email_key = 'quai@mail.example'`))!.check;
    expect(await remembered()).toBeNull();
    const product = async () => mainOf(await visitor.get('/Products/QUAI-1'));
    expect(await product()).toContain('€10.00');
    register.behaviour = 'away';
    await visitor.submit('/checkout', { ...COMPANY, 'billing.vatId': NUMBER });
    expect(await remembered()).toBeNull();
    register.behaviour = 'valid';
    await visitor.submit('/checkout', { ...COMPANY, 'billing.vatId': NUMBER });
    expect(await remembered()).toMatchObject({ vatNumber: NUMBER, result: 'valid', checkedAt: now() });
    const known = await product();
    expect(known).toContain('€8.40');
    expect(known).not.toContain('Legal guarantee of conformity');
    register.behaviour = 'invalid';
    await visitor.submit('/account/addresses/new', { ...COMPANY, 'billing.vatId': OTHER_NUMBER });
    expect(await remembered()).toMatchObject({ vatNumber: OTHER_NUMBER, result: 'invalid' });
    const unknown = await product();
    expect(unknown).toContain('€10.00');
    expect(unknown).toContain('Legal guarantee of conformity');
    await changeSettings(shop, { netPrices: {} });
  });

  test('takes number, reference and order number of a business', async () => {
    const visitor = await visit();
    const page = await visitor.submit('/checkout', {
      ...COMPANY,
      'billing.vatId': '40 303 265 045',
      'business.buyerReference': ' 04011000-12345-67\u0007 ',
      'business.purchaseOrderNumber': 'PO <4711>',
    });
    expect(page.place).toBe(`/shop/${shop.shopId}/checkout/delivery`);
    expect(mainOf(page)).not.toContain('VAT is charged');
    expect(await newestBuyer()).toEqual({
      vatCheck: expect.objectContaining({ vatNumber: NUMBER, result: 'valid' }),
      buyerReference: '04011000-12345-67',
      purchaseOrderNumber: 'PO <4711>',
    });
    const form = await visitor.get('/checkout');
    expect(form.text).toContain('value="PO &lt;4711&gt;"');
    // Not a business after all.
    const { business: _business, ...consumer } = COMPANY;
    await visitor.submit('/checkout', {
      ...consumer,
      'billing.vatId': NUMBER,
      'business.buyerReference': 'x',
    });
    expect(await newestBuyer()).toBeNull();
  });

  test.each([
    [
      'away',
      `The VAT ID ${NUMBER} could not be checked, because the tax authorities’ service does not respond. VAT is charged.`,
    ],
    ['invalid', `The tax authorities do not know the VAT ID ${NUMBER}. VAT is charged.`],
  ] satisfies [Behaviour, string][])(
    'says that VAT is charged when the register is %s',
    async (behaviour, text) => {
      register.behaviour = behaviour;
      const visitor = await visit();
      const page = await visitor.submit('/checkout', { ...COMPANY, 'billing.vatId': NUMBER });
      expect(page.status).toBe(200);
      expect(mainOf(page)).toContain(text);
    },
  );

  test('refuses a damaged number at its field', async () => {
    const visitor = await visit();
    const page = await visitor.post('/checkout', { ...COMPANY, 'billing.vatId': 'FR40303265046' });
    expect(page.status).toBe(400);
    expect(mainOf(page)).toContain('This is not a valid VAT ID. It should look like FR32123456789.');
    expect(register.asked).toEqual([]);
  });

  test('a number of elsewhere is taken as it is', async () => {
    await changeSettings(shop, { countries: { default: 'DE', items: ['DE', 'FR', 'CH', 'GB', 'NO'] } });
    const visitor = await visit();
    const page = await visitor.submit('/checkout', {
      ...COMPANY,
      'billing.country': 'NO',
      'billing.format': 'NO',
      'billing.zipCode': '0150',
      'billing.city': 'Oslo',
      'billing.vatId': 'NO 923 609 016 MVA',
    });
    expect(page.place).toBe(`/shop/${shop.shopId}/checkout/delivery`);
  });
});

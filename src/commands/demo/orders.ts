import { findAppByName } from '../../shops/apps/queries.ts';
import { confirmation } from '../../orders/confirmation-email.ts';
import { contentOf } from '../../pricing/content.ts';
import { newOrder } from '../../carts/new-order.ts';
import type { StoredLine } from '../../pricing/input.ts';
import type { CartRow } from '../../carts/cart.ts';
import { insertCart, lockCart, updateCart } from '../../carts/queries.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { finaliseDocument } from '../../orders/documents/finalise.ts';
import { newCartToken } from '../../http/cart-token.ts';
import type { DemoCartToken } from '../../http/demo-tokens.ts';
import { newId, secretHash } from '../../kernel/ids.ts';
import { toDecimal } from '../../kernel/money.ts';
import { changeOrder, type OrderChanges } from '../../orders/change.ts';
import { recordEvent } from '../../orders/history.ts';
import { insertPayment } from '../../orders/manage-queries.ts';
import { placeOrder } from '../../orders/place.ts';
import { lockOrder, type ManagedOrder } from '../../orders/queries.ts';
import type { State } from '../../orders/schema.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The basket discounts came later than the first orders. */
const DISCOUNTS_SINCE = 30;

interface DemoOrder {
  /** Number of the customer. */
  customer: string;
  /** In days. */
  age: number;
  goods: Record<string, string>;
  locale?: string;
  currency?: string;
  coupon?: string;
  /** Keys of the methods; the shop's first one when not said. */
  shipping?: string;
  payment?: string;
  comment?: string;
  /** What has happened since, an hour between each. */
  states?: State[];
  /** A part of the total that came in, in minor units; with the state `paidOn` it is all. */
  paid?: number;
  documents?: ('Invoice' | 'CreditNote')[];
  isEdited?: boolean;
}

const SENT_AND_PAID: State[] = ['viewedOn', 'paidOn', 'dispatchedOn', 'deliveredOn'];
const cookbook = { goods: { 'BK-110': '1' }, currency: 'USD', shipping: 'express' };

/** One order for each thing that can be the case with an order. */
const orders: DemoOrder[] = [
  {
    customer: '1002',
    age: 400,
    goods: { 'KN-110': '1', 'TE-100': '2' },
    states: [...SENT_AND_PAID, 'closedOn', 'archivedOn'],
    documents: ['Invoice'],
  },
  {
    customer: '1001',
    age: 60,
    goods: { 'CB-200': '10', 'CB-103': '2' },
    states: SENT_AND_PAID,
    documents: ['Invoice'],
  },
  {
    customer: '1003',
    age: 25,
    goods: { 'LA-102': '1', 'LA-110': '10' },
    locale: 'fr_FR',
    shipping: 'express',
    states: ['viewedOn', 'paidOn', 'readyForDispatchOn'],
  },
  {
    customer: '1004',
    age: 21,
    goods: { 'AP-110': '1' },
    shipping: 'express',
    states: ['paidOn', 'dispatchedOn'],
  },
  {
    customer: '1005',
    age: 18,
    goods: { 'GI-100': '6', 'GI-110': '4' },
    locale: 'de_DE',
    payment: 'invoice',
    states: ['viewedOn', 'inProcessOn', 'partiallyPaidOn'],
    paid: 15_000,
    documents: ['Invoice'],
  },
  {
    customer: '1002',
    age: 14,
    goods: { 'AP-100': '1' },
    states: ['viewedOn', 'paidOn', 'dispatchedOn', 'returnedOn'],
    documents: ['Invoice', 'CreditNote'],
  },
  { customer: '1006', age: 12, ...cookbook, states: ['rejectedOn'] },
  { customer: '1002', age: 9, goods: { 'BK-100': '1' }, states: ['paidOn'] },
  {
    customer: '1001',
    age: 7,
    goods: { 'CB-101': '4', 'CB-200': '5' },
    coupon: 'SUMMER20',
    states: ['viewedOn', 'partiallyDispatchedOn', 'partiallyInvoicedOn'],
  },
  {
    customer: '1003',
    age: 5,
    goods: { 'KN-101': '1', 'KN-120': '1' },
    locale: 'fr_FR',
    coupon: 'AUTUMN15',
    states: ['pendingOn'],
  },
  {
    customer: '1005',
    age: 3,
    goods: { 'TE-110': '3', 'TE-100': '1' },
    locale: 'de_DE',
    coupon: 'SHIPFREE',
    comment: 'Please deliver to the back door.',
    states: ['viewedOn'],
  },
  { customer: '1004', age: 2, goods: { 'DR-110': '2' }, shipping: 'pickup' },
  { customer: '1002', age: 1, goods: { 'RO-100': '7.5' }, isEdited: true },
  { customer: '1001', age: 0, goods: { 'CB-102': '1', 'AP-120': '1', 'GI-110': '1' } },
  { customer: '1006', age: 6, ...cookbook, states: ['paidOn'] },
];

/** The number that credit notes of this shop begin with. */
const FIRST_CREDIT_NOTE = 1005;

/** The orders of a demo shop, placed as any other, at their dates. The cart of the newest one can be remembered. */
export async function insertDemoOrders(
  tx: Transaction,
  shopId: string,
  { knownTokens }: { knownTokens: boolean },
): Promise<void> {
  const settings = await shopSettings(tx, shopId);
  const people = await findPeople(tx, shopId);
  const { appId } = (await findAppByName(tx, shopId, 'all-access'))!;
  const stock = await findStock(tx, shopId);
  await tx.run(sql`
    update counter set value = ${FIRST_CREDIT_NOTE - 1} where shop_id = ${shopId} and name = 'CreditNote'`);
  for (const order of orders) {
    const then = { ...tx, now: new Date(tx.now.getTime() - order.age * DAY) };
    const tokenHash =
      order.age === 0 && knownTokens
        ? secretHash('demo-cart-d' satisfies DemoCartToken)
        : newCartToken().hash;
    const address = people.get(order.customer)!;
    const cart = await filledCart(then, shopId, order, { address, stock, tokenHash, settings });
    const orderId = await placed(then, shopId, order, cart, settings);
    const row = (await lockOrder(then, shopId, orderId))!;
    await recordPayment(then, shopId, await changeOrder(then, shopId, row, laterChanges(order, row, appId)));
    if (order.isEdited) {
      await recordEvent(later(then, 1), shopId, orderId, { appId, kind: 'editing started', details: {} });
    }
    for (const kind of order.documents ?? []) {
      await finaliseDocument(later(then, kind === 'Invoice' ? 2 : 9), shopId, orderId, { kind }, null);
    }
  }
  // What the catalogue says is what these orders have left.
  await restoreStock(tx, shopId, stock);
  // A demo writes to nobody.
  await tx.run(sql`delete from pgboss.job where name = 'mail' and data ->> 'shopId' = ${shopId}`);
}

const later = (tx: Transaction, hours: number): Transaction => ({
  ...tx,
  now: new Date(tx.now.getTime() + hours * HOUR),
});

/** A cart as its customer left it before the order; deposits and recycling fees were not charged then. */
async function filledCart(
  tx: Transaction,
  shopId: string,
  { goods, currency = 'EUR', locale = 'en_GB', coupon, shipping, payment }: DemoOrder,
  facts: { address: Address; stock: ReadonlyMap<string, Stock>; tokenHash: Buffer; settings: Settings },
): Promise<CartRow> {
  const { address: billingAddress, stock, tokenHash, settings } = facts;
  const { shippingMethods, paymentMethods } = settings;
  const cartId = newId(tx.now);
  const lines: StoredLine[] = Object.entries(goods).map(([number, quantity]) => ({
    lineItemId: newId(tx.now),
    productId: stock.get(number)!.productId,
    quantity,
  }));
  const choices = {
    billingAddress,
    couponLineItemId: coupon === undefined ? null : newId(tx.now),
    couponCodeKey: coupon ?? null,
    shippingMethodId: shippingMethods.find(({ key }) => key === shipping)?.shippingMethodId ?? null,
    paymentMethodId: paymentMethods.find(({ key }) => key === payment)?.paymentMethodId ?? null,
  };
  const cart = {
    cartId,
    tokenHash,
    appId: null,
    pickedUpAt: null,
    createdAt: tx.now,
    changedAt: tx.now,
    version: 1,
    currency,
    locale,
    taxType: 'GROSS' as const,
    customerId: null,
    lines,
    ...choices,
    shippingAddress: null,
    shippingPrice: null,
    paymentTransactionId: null,
    paymentStatus: null,
    paymentName: null,
    paymentPrice: null,
  };
  await insertCart(tx, shopId, cart);
  await updateCart(tx, shopId, cart);
  const row = (await lockCart(tx, shopId, cartId, {}))!;
  const products = row.products.map(
    ({ depositPrices: _deposit, ecoParticipationPrices: _fee, ...product }) => product,
  );
  return { ...row, cartId, products };
}

async function placed(
  tx: Transaction,
  shopId: string,
  { age }: DemoOrder,
  cart: CartRow,
  current: Settings,
): Promise<string> {
  const settings = age > DISCOUNTS_SINCE ? { ...current, basketDiscounts: [] } : current;
  const priced = contentOf(cart, settings, tx.now);
  const wanted = newOrder({ cart, settings, priced }, tx.now, null);
  await placeOrder(
    tx,
    shopId,
    { ...wanted, beyondStock: true },
    { mailId: newId(tx.now), mail: { ...confirmation(wanted, { locale: cart.locale, settings }), shopId } },
  );
  return wanted.orderId;
}

/** What has become of an order. */
function laterChanges(
  { states = [], comment, paid, isEdited }: DemoOrder,
  { createdAt, content }: ManagedOrder,
  editingAppId: string,
): OrderChanges {
  const at = (index: number) => new Date(createdAt.getTime() + (index + 1) * HOUR);
  const paidAmount = states.includes('paidOn') ? content.grandTotal : paid;
  return {
    ...Object.fromEntries(states.map((state, index) => [state, at(index)])),
    ...(comment !== undefined && { customerComment: comment }),
    ...(isEdited && { editingAppId, editingSince: at(0) }),
    ...(paidAmount !== undefined && { paidAmount }),
  };
}

async function recordPayment(
  tx: Transaction,
  shopId: string,
  { orderId, paidOn, partiallyPaidOn, paidAmount: amount, currency }: ManagedOrder,
): Promise<void> {
  const at = paidOn ?? partiallyPaidOn;
  if (!at) return;
  const then = { ...tx, now: at };
  const paymentId = newId(at);
  const payment = { kind: 'payment', reference: null, note: null, returnId: null } as const;
  await insertPayment(then, shopId, orderId, { ...payment, paymentId, amount });
  const details = { paymentId, amount: toDecimal(amount, currency) };
  await recordEvent(then, shopId, orderId, { appId: null, kind: 'payment recorded', details });
}

/** Billing addresses by the number of the customer. */
async function findPeople(tx: Transaction, shopId: string): Promise<Map<string, Address>> {
  const rows = await tx.many<{ number: string; address: Address }>(sql`
    select customer_number as number, billing_address as address from customer where shop_id = ${shopId}`);
  return new Map(rows.map(({ number, address }) => [number, address]));
}

interface Stock {
  productId: string;
  stock: string | null;
  changedAt: Date | null;
}

/** By the number of the product. */
async function findStock(tx: Transaction, shopId: string): Promise<Map<string, Stock>> {
  const rows = await tx.many<Stock & { number: string }>(sql`
    select product_number as number, upper(product_id::text) as "productId", stock::text, stock_changed_at as "changedAt"
    from product where shop_id = ${shopId}`);
  return new Map(rows.map(({ number, ...stock }) => [number, stock]));
}

async function restoreStock(tx: Transaction, shopId: string, stock: ReadonlyMap<string, Stock>) {
  const rows = [...stock.values()];
  await tx.run(sql`
    update product set stock = was.stock, stock_changed_at = was.changed_at
    from unnest(${rows.map(({ productId }) => productId)}::uuid[], ${rows.map((row) => row.stock)}::numeric[],
      ${rows.map(({ changedAt }) => changedAt)}::timestamptz[]) as was (product_id, stock, changed_at)
    where product.shop_id = ${shopId} and product.product_id = was.product_id`);
}

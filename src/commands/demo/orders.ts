import { findAppByName } from '../../apps/queries.ts';
import { placedEmails } from '../../orders/placed-emails.ts';
import { contentOf } from '../../pricing/content.ts';
import { newOrder } from '../../checkout/new-order.ts';
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
import { type OrderChanges, changeOrder, lockOrder } from '../../orders/change.ts';
import { recordHistory } from '../../orders/history.ts';
import { numbered } from '../../orders/manage-change.ts';
import { insertPayment, insertReturn } from '../../orders/manage-queries.ts';
import { placeOrder } from '../../checkout/place-orders.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { readOrders, type DemoOrder } from './demo-data.ts';
import { demoIds } from './demo-ids.ts';
import { forgetEvents } from './forget-events.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** In days. Older orders were placed before basket discounts existed. */
const DISCOUNTS_SINCE = 30;

/** The number of the first credit note of this shop. */
const FIRST_CREDIT_NOTE = 1005;

/** Places the orders of a demo shop at their dates, like any other. The cart of the newest one has a known token. */
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
  const { orders } = await readOrders();
  const ids = demoIds(shopId, tx.now);
  for (const [index, order] of orders.entries()) {
    const newIdOf = (kind: string, name = '') => ids(kind, `${index} ${name}`, { at: then.now });
    const then = { ...tx, now: new Date(tx.now.getTime() - order.age * DAY) };
    const tokenHash =
      order.age === 0 && knownTokens
        ? secretHash('demo-cart-d' satisfies DemoCartToken)
        : newCartToken().hash;
    const address = people.get(order.customer)!;
    const cart = await filledCart(then, shopId, order, { address, stock, tokenHash, settings, newIdOf });
    const orderId = newIdOf('order');
    await placed(then, shopId, { ...order, orderId }, cart, settings);
    const row = (await lockOrder(then, shopId, orderId))!;
    await recordPayment(then, shopId, await changeOrder(then, shopId, row, laterChanges(order, row, appId)));
    if (order.isEdited) {
      await recordHistory(later(then, 1), shopId, orderId, { appId, kind: 'editing started', details: {} });
    }
    if (order.returnRequest) {
      const { age, lines, reason } = order.returnRequest;
      const asked = { ...tx, now: new Date(tx.now.getTime() - age * DAY) };
      const returnId = ids('return', String(index), { at: asked.now });
      await requestReturn(asked, shopId, row, { returnId, lines, reason });
    }
    for (const kind of order.documents ?? []) {
      await finaliseDocument(later(then, kind === 'Invoice' ? 2 : 9), shopId, orderId, { kind }, null);
    }
  }
  // Orders that are paid, sent or otherwise changed count as opened.
  await tx.run(sql`
    update customer_order set is_new = false where shop_id = ${shopId} and is_new and states <> 0`);
  // The stock in the catalogue is the remainder after these orders.
  await restoreStock(tx, shopId, stock);
  // The demo shop sends no emails.
  await tx.run(sql`delete from job where shop_id = ${shopId}`);
  forgetEvents(tx, shopId);
}

const later = (tx: Transaction, hours: number): Transaction => ({
  ...tx,
  now: new Date(tx.now.getTime() + hours * HOUR),
});

/** A cart as its customer left it before the order; deposits and recycling fees were not charged then. */
async function filledCart(
  tx: Transaction,
  shopId: string,
  { lines: quantities, currency = 'EUR', locale = 'en_GB', coupon, shipping, payment }: DemoOrder,
  facts: {
    address: Address;
    stock: ReadonlyMap<string, Stock>;
    tokenHash: Buffer;
    settings: Settings;
    newIdOf: (kind: string, name?: string) => string;
  },
): Promise<CartRow> {
  const { address: billingAddress, stock, tokenHash, settings, newIdOf } = facts;
  const { shippingMethods, paymentMethods } = settings;
  const cartId = newIdOf('ordered cart');
  const lines: StoredLine[] = Object.entries(quantities).map(([number, quantity]) => ({
    lineItemId: newIdOf('line', number),
    productId: stock.get(number)!.productId,
    quantity,
  }));
  const choices = {
    billingAddress,
    couponLineItemId: coupon === undefined ? null : newIdOf('coupon line'),
    couponCodeKey: coupon ?? null,
    giftCardIds: [],
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
    buyer: null,
    shippingPrice: null,
    assistantNotes: null,
    deliveryOption: null,
    linePrices: null,
    appTaxes: null,
    paymentTransactionId: null,
    paymentStatus: null,
    paymentName: null,
    paymentPrice: null,
    assistantSessionId: null,
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
  { age, orderId }: DemoOrder & { orderId: string },
  cart: CartRow,
  current: Settings,
): Promise<void> {
  const settings = age > DISCOUNTS_SINCE ? { ...current, basketDiscounts: [] } : current;
  const priced = contentOf(cart, settings, tx.now);
  const wanted = { ...newOrder({ cart, settings, priced, giftCards: [] }, tx.now, null), orderId };
  await placeOrder(
    tx,
    shopId,
    // They were placed long ago, and are not cancelled.
    { ...wanted, beyondStock: true, releaseAt: null },
    { emails: placedEmails(wanted, settings, tx.now) },
  );
}

/** The later changes of an order. */
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
  await recordHistory(then, shopId, orderId, { appId: null, kind: 'payment recorded', details });
}

/** The customer requests to return these products; the request is still open. */
async function requestReturn(
  tx: Transaction,
  shopId: string,
  { orderId, content }: ManagedOrder,
  {
    returnId,
    lines: quantities,
    reason,
  }: { returnId: string } & Pick<NonNullable<DemoOrder['returnRequest']>, 'lines' | 'reason'>,
): Promise<void> {
  const lines = content.lines.flatMap(({ lineItemId, productNumber }) => {
    const quantity = quantities[productNumber];
    return quantity === undefined ? [] : [{ lineItemId, quantity }];
  });
  await insertReturn(tx, shopId, orderId, {
    returnId,
    lines,
    state: 'requested',
    origin: 'customer',
    reason,
  });
  const details = { returnId, lines: numbered(lines) };
  await recordHistory(tx, shopId, orderId, { appId: null, kind: 'return requested', details });
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

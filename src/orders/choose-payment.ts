import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { Refusal } from '../http/errors.ts';
import { toDecimal } from '../kernel/money.ts';
import type { PaymentMethod } from '../shops/settings/settings.ts';
import { changeOrder } from './change.ts';
import { isUntouched, openCustomerOrder } from './customer-actions.ts';
import { payableOf, record } from './manage-change.ts';
import { paymentWaitOf } from './order-state.ts';
import { queuePaymentInstructions } from './payment-instructions-email.ts';
import { isProviderName } from './payments/providers.ts';
import { requestCancel } from './payments/queries.ts';
import { contentMethod } from '../pricing/content.ts';
import { releaseTime } from './release-unpaid.ts';
import { paymentPriceToday } from './revision.ts';
import type { CustomerOrder } from './withdrawal-period.ts';

/** Whether the shop offers a method now: it lacks none of its data, and its provider is available. */
type IsOffered = (method: PaymentMethod) => boolean;

/**
 * The other payment methods that the customer of an unpaid order may choose. Each costs the same as the order's own
 * method, so the total does not change. A method of an app is excluded, because only the app could lead to its
 * payment; so is one that the coupon of the order excludes.
 */
export async function otherPaymentMethods(
  db: Queries,
  shopId: string,
  open: CustomerOrder,
  isOffered: IsOffered,
): Promise<PaymentMethod[]> {
  const { order, activity, settings } = open;
  const { currency, payment, coupon } = order.content;
  const isOnItsWay = activity.attempts.some(({ state }) => state === 'processing' || state === 'authorized');
  if (!payment?.method || payment.transactionId !== null || isOnItsWay) return [];
  if (payableOf(order) === 0 || !isUntouched(open) || !settings.currencies.includes(currency)) return [];
  const current = payment.method.paymentMethodId;
  const methods = settings.paymentMethods.filter(
    (method) =>
      method.paymentMethodId !== current &&
      isHandledHere(method) &&
      isOffered(method) &&
      paymentPriceToday(order.content, method, settings) === payment.price,
  );
  if (methods.length === 0 || !coupon?.terms || coupon.codeKey === null) return methods;
  const allowed = await findCouponMethods(db, shopId, coupon.codeKey);
  return methods.filter(({ paymentMethodId }) => !allowed || allowed.includes(paymentMethodId));
}

const isHandledHere = ({ providerName }: PaymentMethod) =>
  providerName === null || isProviderName(providerName);

/** undefined: all. */
async function findCouponMethods(
  db: Queries,
  shopId: string,
  codeKey: string,
): Promise<string[] | undefined> {
  const row = await db.one<{ ids: string[] | null }>(sql`
    select payment_method_ids as ids from coupon_campaign
    where shop_id = ${shopId} and campaign_id = (
      select campaign_id from coupon where shop_id = ${shopId} and code_key = ${codeKey})`);
  return row?.ids?.map((id) => id.toUpperCase());
}

/**
 * Lets the customer pay an order in another way. The page of the former method is closed; money that still arrives
 * there pays the order. Payment by hand, such as a transfer, is explained by email. Returns the method.
 */
export async function choosePaymentMethod(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { paymentMethodId, isOffered }: { paymentMethodId: string; isOffered: IsOffered },
): Promise<PaymentMethod> {
  const open = await openCustomerOrder(tx, shopId, orderId);
  const { order, settings } = open;
  const methods = await otherPaymentMethods(tx, shopId, open, isOffered);
  const method = methods.find((one) => one.paymentMethodId === paymentMethodId);
  if (!method) throw new Refusal('PAYMENT_METHOD_NOT_POSSIBLE');
  const payment = order.content.payment!;
  const content = {
    ...order.content,
    payment: { ...payment, method: contentMethod(method, settings), name: null, status: null },
  };
  await requestCancel(tx, shopId, orderId);
  const releaseAt = await releaseAfter(tx, shopId, orderId, (start) => releaseTime(content, settings, start));
  const changes = { content, paymentWait: paymentWaitOf(content, settings) };
  const changed = await changeOrder(tx, shopId, order, changes, { moves: true, releaseAt });
  const price = toDecimal(payment.price, order.currency);
  const grandTotal = toDecimal(content.grandTotal, order.currency);
  await record({ tx, shopId }, open, 'payment method changed', {
    paymentMethodId: { from: payment.method!.paymentMethodId, to: paymentMethodId },
    price: { from: price, to: price },
    grandTotal: { from: grandTotal, to: grandTotal },
  });
  if (method.providerName === null) await queuePaymentInstructions(tx, shopId, changed);
  return method;
}

/**
 * When the order is cancelled unless it is paid with the new method. It counts from the placing of the order, so
 * repeated choices do not reserve goods for longer; it is never earlier than the former method's time.
 */
async function releaseAfter(
  tx: Transaction,
  shopId: string,
  orderId: string,
  releaseFrom: (start: Date) => Date | null,
): Promise<Date | null> {
  const row = await tx.one<{ createdAt: Date; releaseAt: Date | null }>(sql`
    select created_at as "createdAt", release_at as "releaseAt" from customer_order
    where shop_id = ${shopId} and order_id = ${orderId}`);
  const { createdAt, releaseAt } = row!;
  // An order without a deadline may have been placed long ago: its time begins now.
  if (releaseAt === null) return releaseFrom(tx.now);
  const next = releaseFrom(createdAt);
  return next && next < releaseAt ? releaseAt : next;
}

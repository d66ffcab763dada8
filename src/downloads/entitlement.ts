import { isBusinessBuyer } from '../shops/vat-numbers/buyer.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { ContentLine } from '../pricing/content.ts';
import { outstandingOf, payableOf } from '../orders/manage-change.ts';
import type { OrderActivity } from '../orders/manage-queries.ts';
import type { ManagedOrder } from '../orders/queries.ts';
import { quantitiesOf, millionths } from '../orders/quantities.ts';
import { withdrawalEnd } from '../orders/withdrawal-period.ts';

/** An order with what has happened to it. */
export interface SuppliedOrder {
  order: ManagedOrder;
  activity: OrderActivity;
  settings: Settings;
}

/** Goods that are back, or from which the customer has withdrawn. A wish to return them ends nothing yet. */
const ENDED = ['withdrawn', 'received', 'refunded', 'refundFailed'];

/** Paid, free, or the money is reserved and is captured when everything was supplied. */
export function isSettled({ order, activity }: Pick<SuppliedOrder, 'order' | 'activity'>): boolean {
  if (order.cancelledAt || order.rejectedOn) return false;
  if (order.paidOn || outstandingOf(order) === 0) return true;
  const payable = payableOf(order);
  return activity.attempts.some(({ state, amount }) => state === 'authorized' && amount >= payable);
}

/** All that was paid went back to the customer. */
const isRefunded = ({ paidAmount, refundedAmount }: ManagedOrder) =>
  paidAmount > 0 && refundedAmount >= paidAmount;

/**
 * The pieces of each line that the customer may use: the ordered ones, less those that came back. A cancelled or
 * wholly refunded order has none. A refund of a part that names no goods ends nothing: the shop decides what it was for.
 */
export function entitledPieces({
  order,
  activity,
}: Pick<SuppliedOrder, 'order' | 'activity'>): Map<string, number> {
  const hasEnded = order.cancelledAt !== null || order.rejectedOn !== null || isRefunded(order);
  const back = quantitiesOf(activity.returns.filter(({ state }) => ENDED.includes(state)));
  return new Map(
    order.content.lines.map(({ lineItemId, quantity }) => {
      const left = millionths(quantity) - (back.get(lineItemId) ?? 0);
      // Half a piece needs a whole key.
      return [lineItemId, hasEnded ? 0 : Math.max(0, Math.ceil(left / 1_000_000))];
    }),
  );
}

/**
 * When the supply of a line may begin without the consent of the customer: after the withdrawal period. undefined: it may
 * begin at once, because the consent is there or none is needed. A product that is not declared as digital content is
 * supplied at once as well: then the customer keeps the right of withdrawal.
 */
export function supplyBegins(supplied: SuppliedOrder, line: ContentLine): Date | undefined {
  const { order, settings } = supplied;
  const needsConsent =
    line.withdrawalExcluded === 'digitalContent' &&
    line.withdrawalConsent === undefined &&
    settings.withdrawal.days > 0 &&
    !isBusinessBuyer(order.billingAddress, order.buyer);
  // The period of digital content begins with the contract (article 9 (2) (c)), whatever else the order holds.
  return needsConsent
    ? withdrawalEnd({ ...supplied, order: { ...order, deliveredOn: order.createdAt } })
    : undefined;
}

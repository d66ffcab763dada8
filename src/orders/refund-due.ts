import type { Content } from '../pricing/content.ts';
import { sum } from '../pricing/shares.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { totalUpTo, unitsByLine, unitsOf } from './documents/part.ts';
import { isBack, quantityText, sentQuantities } from './quantities.ts';
import type { OrderActivity, Return } from './manage-queries.ts';
import type { ManagedOrder } from './queries.ts';

/** The amounts that returns, cancellations and overpayment entitle the customer to, in minor units. */

/** An order with everything that decides about its refunds. */
export interface RefundableOrder {
  order: Pick<
    ManagedOrder,
    'content' | 'cancelledAt' | 'dispatchedOn' | 'deliveredOn' | 'paidAmount' | 'refundedAmount'
  >;
  activity: Pick<OrderActivity, 'shipments' | 'returns' | 'payments' | 'documents'>;
  settings: Pick<Settings, 'returns'>;
}

export interface ReturnRefund {
  /** The whole refund of the return. */
  due: number;
  /** The part of it that was refunded already. */
  refunded: number;
  /** The rest, as far as it was paid; 0 when everything is refunded. */
  left: number;
}

/** The refunds of an order. */
export interface OrderRefunds {
  /**
   * The refund that is justified and not made yet: the payments less the value that the customer keeps. Goodwill counts
   * for nothing here, so it takes nothing from the refund of a later return.
   */
  left: number;
  returns: ReadonlyMap<string, ReturnRefund>;
}

/** A customer can withdraw in many parts; the next ones tell what they come to, so the work stays small. */
const MAX_EXPECTED = 5;

/**
 * The refunds of an order and of its returns. Of those that are expected, because they were approved or withdrawn, the
 * first ones are counted as if their items were back.
 */
export function orderRefunds(open: RefundableOrder): OrderRefunds {
  const { left, returns } = countRefunds(open);
  const expected = open.activity.returns
    .filter(({ state }) => state === 'approved' || state === 'withdrawn')
    .slice(0, MAX_EXPECTED)
    .map(({ returnId, ...returned }) => {
      const arrived = countRefunds(withReceived(open, { ...returned, returnId }));
      return [returnId, arrived.returns.get(returnId)!] as const;
    });
  return { left, returns: new Map([...returns, ...expected]) };
}

/** The same for one return. */
export function returnRefund(open: RefundableOrder, returned: Return): ReturnRefund {
  const arrived = isBack(returned) ? open : withReceived(open, returned);
  return countRefunds(arrived).returns.get(returned.returnId)!;
}

/**
 * A refund of the order that nothing else justifies was made for its returns, so it counts for them, the oldest first:
 * they do not ask for the same money again.
 */
function countRefunds(open: RefundableOrder): OrderRefunds {
  const { content, paidAmount, refundedAmount } = open.order;
  const dues = returnDues(open);
  const refunds = open.activity.payments.filter(
    // A refund that has failed counts as never made.
    ({ kind, state }) => kind === 'refund' && state !== 'failed',
  );
  const amountFor = (id: string | null) =>
    sum(
      refunds
        .filter(({ returnId }) => returnId === id)
        .map(({ amount, goodwillAmount }) => amount - goodwillAmount),
    );
  const goodwill = sum(refunds.map(({ goodwillAmount }) => goodwillAmount));
  // It is less than 0 while the customer has more to pay.
  const justified = paidAmount - content.grandTotal + goneValue(open, dues);
  const left = Math.max(0, Math.min(justified - (refundedAmount - goodwill), paidAmount - refundedAmount));
  const own = open.activity.returns.map((returned) => {
    const { returnId, unsentLines, unsentDueAmount } = returned;
    const goods = dues.get(returnId) ?? 0;
    const refunded = amountFor(returnId);
    // Withdrawals from before have no amount for unsent items: everything that is justified is due for them.
    const isUnknown = unsentDueAmount === null && unsentLines.length > 0;
    const unsent = isUnknown ? Math.max(0, left + refunded - goods) : (unsentDueAmount ?? 0);
    return { returnId, due: goods + unsent, refunded };
  });
  const others = Math.max(0, justified - sum(own.map(({ due }) => due)));
  let rest = Math.max(0, amountFor(null) - others);
  const returns = own.map(({ returnId, due, refunded: already }) => {
    const share = Math.max(0, Math.min(rest, due - already));
    rest -= share;
    const refunded = already + share;
    return [returnId, { due, refunded, left: Math.max(0, Math.min(due - refunded, left)) }] as const;
  });
  return { left, returns: new Map(returns) };
}

function withReceived(open: RefundableOrder, returned: Return): RefundableOrder {
  const others = open.activity.returns.filter(({ returnId }) => returnId !== returned.returnId);
  const received: Return = { ...returned, state: 'received' };
  return { ...open, activity: { ...open.activity, returns: [...others, received] } };
}

/** The due amount of a return whose items arrive now. */
export function receivedDue(open: RefundableOrder, returned: Return): number {
  return returnDues(withReceived(open, { ...returned, dueAmount: null })).get(returned.returnId)!;
}

/** Whether the refund of a return includes the cost of delivery and payment, because nothing is left with the customer. */
export function includesServices(open: RefundableOrder, returned: Pick<Return, 'returnId'>): boolean {
  const returns = open.activity.returns.filter((one) => isBack(one) || one.returnId === returned.returnId);
  return hasServices(open, returns, unitsIn(open.order.content, returns));
}

/**
 * The due amount of the items of each return that is back. It is the value of everything that is back with it, less the
 * due amounts before it, so the amounts of all returns sum to the order, to the cent, in whichever order they come.
 * The amounts are shared as in documents.
 */
function returnDues(open: RefundableOrder): Map<string, number> {
  const { content } = open.order;
  const back = open.activity.returns.filter(isBack);
  const counted = back.filter(({ dueAmount }) => dueAmount !== null);
  const dues = new Map(counted.map(({ returnId, dueAmount }) => [returnId, dueAmount!]));
  for (const returned of back.filter(({ dueAmount }) => dueAmount === null)) {
    counted.push(returned);
    const units = unitsIn(content, counted);
    const value = totalUpTo(content, units, { services: hasServices(open, counted, units) });
    dues.set(returned.returnId, Math.max(0, value - sum([...dues.values()])));
  }
  return dues;
}

/**
 * The value that the customer does not keep: items that came back or were credited, and those of a cancelled order that
 * were never sent.
 */
function goneValue(open: RefundableOrder, dues: ReadonlyMap<string, number>): number {
  const { order, activity } = open;
  const { content, cancelledAt } = order;
  const back = activity.returns.filter(isBack);
  const returned = unitsIn(content, back);
  const credited = creditedUnits(open);
  const sent = unitsByLine(
    [...sentQuantities(open)].map(([lineItemId, quantity]) => ({
      lineItemId,
      quantity: quantityText(quantity),
    })),
  );
  const units = new Map(
    content.lines.map(({ lineItemId, quantity }) => {
      const ordered = unitsOf(quantity);
      const unsent = cancelledAt ? ordered - smaller(ordered, sent.get(lineItemId) ?? 0n) : 0n;
      // A credit note is usually the document of a return, so the same items are not counted twice.
      const others = larger(returned.get(lineItemId) ?? 0n, credited.get(lineItemId) ?? 0n);
      return [lineItemId, smaller(ordered, unsent + others)];
    }),
  );
  const isUnsent = cancelledAt !== null && sent.size === 0;
  const value = totalUpTo(content, units, { services: isUnsent || hasServices(open, back, units) });
  return Math.max(value, sum([...dues.values()]), creditedAmount(open));
}

/** Credited and not invoiced again. */
function creditedUnits({ order, activity }: RefundableOrder): Map<string, bigint> {
  const unitsOfKind = (kind: 'Invoice' | 'CreditNote') =>
    unitsByLine(activity.documents.filter((one) => one.kind === kind).flatMap(({ lines }) => lines));
  const invoiced = unitsOfKind('Invoice');
  const credited = unitsOfKind('CreditNote');
  return new Map(
    order.content.lines.map(({ lineItemId, quantity }) => {
      const again = larger(0n, (invoiced.get(lineItemId) ?? 0n) - unitsOf(quantity));
      return [lineItemId, larger(0n, (credited.get(lineItemId) ?? 0n) - again)];
    }),
  );
}

function creditedAmount({ order, activity }: RefundableOrder): number {
  const amountOfKind = (kind: 'Invoice' | 'CreditNote') =>
    sum(activity.documents.filter((one) => one.kind === kind).map(({ grandTotal }) => grandTotal));
  const again = Math.max(0, amountOfKind('Invoice') - order.content.grandTotal);
  return Math.max(0, amountOfKind('CreditNote') - again);
}

/**
 * The cost of delivery and payment is refunded with the last item of an order, if the shop does so. After a withdrawal
 * from the whole contract the law demands it (Consumer Rights Directive, article 13).
 */
function hasServices(
  { order, settings }: RefundableOrder,
  returns: readonly Return[],
  units: ReadonlyMap<string, bigint>,
): boolean {
  const isWhole = order.content.lines.every(
    ({ lineItemId, quantity }) => units.get(lineItemId) === unitsOf(quantity),
  );
  const isWithdrawn = returns.length > 0 && returns.every(({ origin }) => origin === 'withdrawal');
  return isWhole && (settings.returns.refundDelivery || isWithdrawn);
}

/** No more of a line than the order has: it may have been edited since. */
function unitsIn({ lines }: Content, returns: readonly Return[]): Map<string, bigint> {
  const units = unitsByLine(returns.flatMap((returned) => returned.lines));
  return new Map(
    lines.map(({ lineItemId, quantity }) => [
      lineItemId,
      smaller(units.get(lineItemId) ?? 0n, unitsOf(quantity)),
    ]),
  );
}

const smaller = (one: bigint, other: bigint) => (one < other ? one : other);
const larger = (one: bigint, other: bigint) => (one > other ? one : other);

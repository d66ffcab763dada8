import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generatedOrders } from '../../test/generated-orders.ts';
import { SEED, halfOf } from '../../test/seed.ts';
import type { Content } from '../pricing/content.ts';
import { sum } from '../pricing/shares.ts';
import { partOf, quantityOf, unitsByLine, unitsOf, type Held } from './documents/part.ts';
import type { OrderPayment, Return } from './manage-queries.ts';
import {
  includesServices,
  orderRefunds,
  receivedDue,
  returnRefund,
  type RefundableOrder,
} from './refund-due.ts';

const RUNS = { numRuns: halfOf(100), seed: SEED };
const DAY = new Date('2026-11-15T08:30:00Z');

const returnOf = (index: number, lines: Return['lines'], origin: Return['origin'] = 'merchant'): Return => ({
  returnId: `RETURN-${index}`,
  at: DAY.toISOString(),
  state: 'approved',
  origin,
  lines,
  unsentLines: [],
  restocked: false,
  reason: null,
  note: null,
  declaredBy: null,
  contact: null,
  dueAmount: null,
  unsentDueAmount: null,
});

const refundOf = (index: number, amount: number, goodwillAmount = 0): OrderPayment => ({
  paymentId: `REFUND-${index}`,
  at: DAY.toISOString(),
  kind: 'refund',
  amount,
  reference: null,
  note: null,
  returnId: goodwillAmount > 0 ? null : `RETURN-${index}`,
  state: 'done',
  attemptId: null,
  giftCardId: null,
  goodwillAmount,
  goodwillReason: null,
});

/** An order that was paid and sent in full. */
function sentOrder(content: Content, refundDelivery = true): RefundableOrder {
  return {
    order: {
      content,
      cancelledAt: null,
      dispatchedOn: DAY,
      deliveredOn: null,
      paidAmount: content.grandTotal,
      refundedAmount: 0,
    },
    activity: { shipments: [], returns: [], payments: [], documents: [] },
    settings: { returns: { refundDelivery } },
  };
}

/** Some quarters of each line come back with each return, the rest with the last; the order of arrival is mixed. */
function returnsOf(content: Content, quarters: readonly number[], count: number, first: number): Return[] {
  const taken = new Map<string, bigint>();
  const returns = Array.from({ length: count }, (_, index) => {
    const lines = content.lines.flatMap(({ lineItemId, quantity }, line) => {
      const rest = unitsOf(quantity) - (taken.get(lineItemId) ?? 0n);
      const share = index === count - 1 ? 4 : quarters[(index * 5 + line) % quarters.length]!;
      // Quantities of returns have six decimals at most.
      const some = share === 4 ? rest : ((rest * BigInt(share)) / 40_000n) * 10_000n;
      taken.set(lineItemId, (taken.get(lineItemId) ?? 0n) + some);
      return some > 0n ? [{ lineItemId, quantity: quantityOf(some) }] : [];
    });
    return returnOf(index, lines);
  });
  return [...returns.slice(first % count), ...returns.slice(0, first % count)];
}

/** The items arrive: what is due is frozen, and refunded. */
function arrive(open: RefundableOrder, returned: Return, { isFrozen = true } = {}): RefundableOrder {
  const state = 'received';
  const dueAmount = isFrozen ? receivedDue(open, returned) : null;
  const returns = [...open.activity.returns, { ...returned, state, dueAmount } as const];
  const received = { ...open, activity: { ...open.activity, returns } };
  const { left } = returnRefund(received, returns.at(-1)!);
  // A return that is expected is worth as much as when it has arrived.
  expect(returnRefund(open, returned).left).toBe(left);
  const payments = [...open.activity.payments, refundOf(Number(returned.returnId.slice(7)), left)];
  return {
    ...received,
    order: { ...open.order, refundedAmount: open.order.refundedAmount + left },
    activity: { ...received.activity, payments },
  };
}

const cases = fc.record({
  order: generatedOrders.filter(({ content }) => content.lines.length > 0),
  quarters: fc.array(fc.nat(4), { minLength: 1, maxLength: 9 }),
  count: fc.integer({ min: 1, max: 5 }),
  first: fc.nat(4),
});

/** The credit note over a return that has arrived; it is held for the ones after it. */
function creditFor(open: RefundableOrder, returned: Return, held: Held[]): Content {
  const hasServices = includesServices(open, returned);
  const content = partOf(open.order.content, returned.lines, held, { services: hasServices });
  held.push({ content, hasServices, sign: 1 });
  return content;
}

describe('the refunds of returns', () => {
  test('sum to the payment when everything is back, in any order of arrival, and none is asked for twice', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), ({ order: { content }, quarters, count, first }, isFrozen) => {
        let open = sentOrder(content);
        for (const returned of returnsOf(content, quarters, count, first)) {
          open = arrive(open, returned, { isFrozen });
          if (isFrozen) {
            for (const one of open.activity.returns) expect(returnRefund(open, one).left).toBe(0);
          }
        }
        expect(open.order.refundedAmount).toBe(content.grandTotal);
        expect(orderRefunds(open).left).toBe(0);
        expect(open.activity.payments.every(({ amount }) => amount >= 0)).toBe(true);
      }),
      RUNS,
    );
  });

  test('are the amounts of credit notes over the same items', () => {
    fc.assert(
      fc.property(cases, ({ order: { content }, quarters, count, first }) => {
        let open = sentOrder(content);
        const credits: Held[] = [];
        for (const returned of returnsOf(content, quarters, count, first)) {
          open = arrive(open, returned);
          const { grandTotal } = creditFor(open, returned, credits);
          expect(open.activity.payments.at(-1)!.amount).toBe(grandTotal);
        }
      }),
      RUNS,
    );
  });

  test('leave delivery and payment out where the shop keeps them, unless the customer has withdrawn', () => {
    fc.assert(
      fc.property(cases, ({ order: { content }, quarters, count, first }) => {
        const returns = returnsOf(content, quarters, count, first);
        const refunded = (origin: Return['origin']) =>
          returns.reduce((open, returned) => arrive(open, { ...returned, origin }), sentOrder(content, false))
            .order.refundedAmount;
        const units = unitsByLine(content.lines);
        const lines = [...units].map(([lineItemId, some]) => ({ lineItemId, quantity: quantityOf(some) }));
        expect(refunded('customer')).toBe(partOf(content, lines, [], { services: false }).grandTotal);
        expect(refunded('withdrawal')).toBe(content.grandTotal);
      }),
      RUNS,
    );
  });

  test('are never more than the payments, and goodwill takes nothing from them', () => {
    fc.assert(
      fc.property(
        cases,
        fc.nat(100),
        fc.nat(100),
        ({ order: { content }, quarters, count, first }, paidShare, goodwillShare) => {
          const paidAmount = Math.floor((content.grandTotal * paidShare) / 100);
          const goodwill = Math.floor((paidAmount * goodwillShare) / 100);
          const sent = sentOrder(content);
          let open: RefundableOrder = {
            ...sent,
            order: { ...sent.order, paidAmount, refundedAmount: goodwill },
            activity: {
              ...sent.activity,
              payments: goodwill > 0 ? [refundOf(99, goodwill, goodwill)] : [],
            },
          };
          for (const returned of returnsOf(content, quarters, count, first)) open = arrive(open, returned);
          expect(open.order.refundedAmount).toBe(paidAmount);
        },
      ),
      RUNS,
    );
  });
});

test('a refund of the order counts for its returns, which do not ask for it when the next one arrives', () => {
  fc.assert(
    fc.property(cases, ({ order: { content }, quarters, count, first }) => {
      let open = sentOrder(content);
      for (const returned of returnsOf(content, quarters, count, first)) {
        open = arrive(open, returned);
        const payments = open.activity.payments.map((payment) => ({ ...payment, returnId: null }));
        open = { ...open, activity: { ...open.activity, payments } };
        for (const one of open.activity.returns) {
          const { due, refunded } = returnRefund(open, one);
          expect(refunded).toBe(due);
        }
      }
      expect(open.order.refundedAmount).toBe(content.grandTotal);
    }),
    RUNS,
  );
});

test('a credit note over what was returned justifies no second refund', () => {
  fc.assert(
    fc.property(cases, ({ order: { content }, quarters, count, first }) => {
      let open = sentOrder(content);
      const credits: Held[] = [];
      for (const returned of returnsOf(content, quarters, count, first)) {
        open = arrive(open, returned);
        const { grandTotal, lines } = creditFor(open, returned, credits);
        const documents = [...open.activity.documents, { kind: 'CreditNote' as const, grandTotal, lines }];
        open = { ...open, activity: { ...open.activity, documents } };
        expect(orderRefunds(open).left).toBe(0);
      }
      expect(sum(open.activity.documents.map(({ grandTotal }) => grandTotal))).toBe(content.grandTotal);
    }),
    RUNS,
  );
});

test('a cancelled order that was not sent is refunded in full', () => {
  fc.assert(
    fc.property(generatedOrders, ({ content }) => {
      const open = sentOrder(content, false);
      const order = { ...open.order, dispatchedOn: null, cancelledAt: DAY };
      expect(orderRefunds({ ...open, order }).left).toBe(content.grandTotal);
    }),
    RUNS,
  );
});

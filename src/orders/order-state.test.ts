import { expect, test } from 'vitest';
import { orderState, paymentWaitOf, type StateFacts } from './order-state.ts';
import { STATES } from './schema.ts';

const AT = new Date('2026-11-18T08:00:00Z');
const NO_STATES = Object.fromEntries(STATES.map((state) => [state, null])) as Record<
  (typeof STATES)[number],
  null
>;
const order = (facts: Partial<StateFacts>): StateFacts => ({
  ...NO_STATES,
  cancelledAt: null,
  paymentWait: null,
  paidAmount: 0,
  content: { grandTotal: 1000 },
  ...facts,
});

test.each<[Partial<StateFacts>, string]>([
  [{}, 'readyToShip'],
  [{ paymentWait: 'open' }, 'waitingForPayment'],
  [{ paymentWait: 'open', paidAmount: 999, partiallyPaidOn: AT }, 'waitingForPayment'],
  [{ paymentWait: 'open', paidAmount: 1000 }, 'readyToShip'],
  [{ paymentWait: 'open', paidOn: AT }, 'readyToShip'],
  [{ paymentWait: 'open', content: { grandTotal: 0 } }, 'readyToShip'],
  [{ paymentWait: 'failed' }, 'paymentFailed'],
  [{ paymentWait: 'failed', paidOn: AT }, 'readyToShip'],
  [{ partiallyDispatchedOn: AT }, 'partlyShipped'],
  [{ partiallyDispatchedOn: AT, paymentWait: 'open' }, 'waitingForPayment'],
  [{ partiallyDispatchedOn: AT, dispatchedOn: AT, paymentWait: 'open' }, 'shipped'],
  [{ dispatchedOn: AT, deliveredOn: AT }, 'delivered'],
  [{ deliveredOn: AT, returnedOn: AT }, 'returned'],
  [{ deliveredOn: AT, closedOn: AT }, 'closed'],
  [{ closedOn: AT, archivedOn: AT }, 'archived'],
  [{ rejectedOn: AT, paymentWait: 'failed' }, 'cancelled'],
  [{ cancelledAt: AT, dispatchedOn: AT }, 'cancelled'],
])('the state of an order with %j is %j', (facts, state) => {
  expect(orderState(order(facts))).toBe(state);
});

const METHODS = [
  { key: 'advance' },
  { key: 'invoice' },
  { key: 'cod' },
  { key: 'pickup' },
  { key: 'later', releaseUnpaidAfterDays: 7 },
  { key: 'soon', releaseUnpaidAfterMinutes: 30 },
  { key: 'card', providerName: 'stripe' },
  { key: 'wallet', providerName: 'an app' },
].map((method) => ({
  paymentMethodId: method.key,
  providerName: null,
  releaseUnpaidAfterDays: null,
  releaseUnpaidAfterMinutes: null,
  ...method,
}));

test.each([
  ['advance', 'open'],
  ['later', 'open'],
  ['soon', 'open'],
  ['card', 'open'],
  ['invoice', null],
  ['cod', null],
  ['pickup', null],
  ['wallet', null],
  ['gone', null],
])('an order that is paid by %j waits for %j', (paymentMethodId, wait) => {
  const payment = { method: { paymentMethodId }, transactionId: null } as never;
  const settings = { paymentMethods: METHODS } as never;
  expect(paymentWaitOf({ grandTotal: 100, payment }, settings)).toBe(wait);
  expect(paymentWaitOf({ grandTotal: 0, payment }, settings)).toBeNull();
});

import { expect, test } from 'vitest';
import { fromTheEnd } from './list-request.ts';
import { pastedCodes } from './pasted-codes.ts';
import { goodsChips, paymentChips } from './states.ts';
import { STATES } from '../../orders/schema.ts';

test('codes are pasted from spreadsheets, files and notes', () => {
  const text = 'ORD261115/1001\tJD 00 01\r\n"1002";"JD0002"\n\n1003, JD0003, JD0004\n1004';
  expect(pastedCodes(text).map(({ number, trackingCodes }) => [number, ...trackingCodes])).toEqual([
    ['ORD261115/1001', 'JD 00 01'],
    ['1002', 'JD0002'],
    ['1003', 'JD0003', 'JD0004'],
    ['1004'],
  ]);
});

test('the pages from the oldest on are those from the newest on, backwards', () => {
  expect(fromTheEnd({ offset: 0, limit: 50 }, 120)).toEqual({ offset: 70, limit: 50 });
  expect(fromTheEnd({ offset: 100, limit: 50 }, 120)).toEqual({ offset: 0, limit: 20 });
  expect(fromTheEnd({ offset: 150, limit: 50 }, 120)).toEqual({ offset: 0, limit: 0 });
});

const NO_STATES = Object.fromEntries(STATES.map((state) => [state, null])) as Record<
  (typeof STATES)[number],
  unknown
>;
const order = (facts: object) => ({
  ...NO_STATES,
  state: 'readyToShip' as const,
  paid: 0,
  refunded: 0,
  isPartlyReturned: false,
  ...facts,
});

test.each([
  [{}, ['toPay', 'toShip']],
  [{ paidOn: 1, paid: 10 }, ['paid', 'toShip']],
  [{ paidOn: 1, paid: 10, refunded: 4, dispatchedOn: 1 }, ['partlyRefunded', 'shipped']],
  [
    { paidOn: 1, paid: 10, refunded: 10, returnedOn: 1, deliveredOn: 1 },
    ['refunded', 'delivered', 'returned'],
  ],
  [
    { paidOn: 1, paid: 10, refunded: 4, returnedOn: 1, isPartlyReturned: true, deliveredOn: 1 },
    ['partlyRefunded', 'delivered', 'partlyReturned'],
  ],
  [{ state: 'cancelled', rejectedOn: 1 }, ['cancelled']],
  [{ state: 'cancelled', rejectedOn: 1, paid: 10 }, ['cancelled', 'toRefund']],
  [{ state: 'cancelled', rejectedOn: 1, paid: 10, refunded: 10 }, ['cancelled', 'refunded']],
  [{ state: 'waitingForPayment' }, ['waitingForPayment', 'notShipped']],
  [{ state: 'waitingForPayment', partiallyPaidOn: 1 }, ['partlyPaid', 'notShipped']],
  [{ state: 'paymentFailed', partiallyDispatchedOn: 1 }, ['paymentFailed', 'partlyShipped']],
  [{ pendingOn: 1, partiallyPaidOn: 1, partiallyDispatchedOn: 1 }, ['partlyPaid', 'partlyShipped', 'onHold']],
])('the chips of %j are %j', (facts, names) => {
  const chips = [...paymentChips(order(facts)), ...goodsChips(order(facts))];
  expect(chips.map(({ name }) => name)).toEqual(names);
});

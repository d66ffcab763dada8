import { describe, expect, test } from 'vitest';
import {
  isInReturnPeriod,
  isInWithdrawalPeriod,
  withdrawalEnd,
  type CustomerOrder,
} from './withdrawal-period.ts';

interface Facts {
  deliveredOn?: string;
  dispatchedOn?: string;
  /** What was sent of two pieces, and when. */
  shipments?: { at: string; quantity: string }[];
  isDigital?: boolean;
  days?: number;
  returnDays?: number;
}

const moment = (text: string | undefined) => (text === undefined ? null : new Date(text));

function given({
  shipments = [],
  isDigital = false,
  days = 14,
  returnDays = 30,
  ...facts
}: Facts): CustomerOrder {
  const order = {
    content: {
      lines: [{ lineItemId: 'A', quantity: '2' }],
      shipping: isDigital ? null : { shippingMethodId: 'S' },
    },
    createdAt: new Date('2026-11-02T10:00:00Z'),
    deliveredOn: moment(facts.deliveredOn),
    dispatchedOn: moment(facts.dispatchedOn),
  };
  const activity = {
    shipments: shipments.map(({ at, quantity }) => ({ at, lines: [{ lineItemId: 'A', quantity }] })),
  };
  const settings = {
    shippingMethods: [{}],
    withdrawal: { days, transitDays: 5 },
    orderPage: { cancellation: true, returnDays },
  };
  return { order, activity, settings } as CustomerOrder;
}

describe('the withdrawal period ends', () => {
  test.each<[string, Facts, string | undefined]>([
    ['never, while nothing was sent', {}, undefined],
    [
      'never, while a part was not sent',
      { shipments: [{ at: '2026-11-03T09:00:00Z', quantity: '1' }] },
      undefined,
    ],
    // The 19th of November is a Thursday; noon of the next day in UTC is the end of it everywhere.
    [
      '14 days after the day of delivery',
      { deliveredOn: '2026-11-05T23:59:00Z' },
      '2026-11-20T12:00:00.000Z',
    ],
    [
      'later, if the last shipment came later',
      {
        shipments: [
          { at: '2026-11-03T09:00:00Z', quantity: '1' },
          { at: '2026-11-06T09:00:00Z', quantity: '1' },
        ],
      },
      '2026-11-26T12:00:00.000Z',
    ],
    [
      'counted from the mark of a merchant who records no shipments',
      { dispatchedOn: '2026-11-06T09:00:00Z' },
      '2026-11-26T12:00:00.000Z',
    ],
    ['on Monday instead of Saturday', { deliveredOn: '2026-11-07T09:00:00Z' }, '2026-11-24T12:00:00.000Z'],
    ['on Monday instead of Sunday', { deliveredOn: '2026-11-08T09:00:00Z' }, '2026-11-24T12:00:00.000Z'],
    ['counted from the contract where nothing is shipped', { isDigital: true }, '2026-11-17T12:00:00.000Z'],
    ['when the shop says', { deliveredOn: '2026-11-05T10:00:00Z', days: 28 }, '2026-12-04T12:00:00.000Z'],
  ])('%s', (_, facts, end) => {
    const open = given(facts);
    expect(withdrawalEnd(open)?.toISOString()).toBe(end);
    if (end === undefined) return expect(isInWithdrawalPeriod(open, new Date('2036-01-01'))).toBe(true);
    expect(isInWithdrawalPeriod(open, new Date(Date.parse(end) - 1))).toBe(true);
    expect(isInWithdrawalPeriod(open, new Date(end))).toBe(false);
  });

  test('before it begins, in a shop that sells to businesses only', () => {
    expect(isInWithdrawalPeriod(given({ days: 0 }), new Date('2026-11-02T10:00:01Z'))).toBe(false);
  });
});

test('a return can be asked for as long as the shop says', () => {
  const open = given({ deliveredOn: '2026-11-05T10:00:00Z' });
  expect(isInReturnPeriod(open, new Date('2026-12-05T09:59:59Z'))).toBe(true);
  expect(isInReturnPeriod(open, new Date('2026-12-05T10:00:00Z'))).toBe(false);
  expect(isInReturnPeriod(given({ returnDays: 0 }), new Date('2026-11-05'))).toBe(false);
});

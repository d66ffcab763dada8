import { expect, test } from 'vitest';
import { decideOrders, type OrderToDecide, type PlacementState } from './decision.ts';

const state = (changes: Partial<PlacementState> = {}): PlacementState => ({
  cartVersions: new Map([
    ['CART-1', 1],
    ['CART-2', 1],
    ['CART-3', 1],
  ]),
  stock: new Map([['LAMP', '2.000000']]),
  backorders: new Map(),
  minStocks: new Map(),
  coupons: [
    { codeKey: 'ONCE', campaignId: 'campaign', used: 0 },
    { codeKey: 'OTHER', campaignId: 'campaign', used: 0 },
  ],
  campaigns: [{ campaignId: 'campaign', used: 0, usageLimit: 1, campaignUsageLimit: null }],
  promotionUses: [],
  customerUses: [],
  giftCards: new Map([['CARD', 1_000]]),
  settingsVersion: 7,
  productVersions: new Set(['lamp 3']),
  ...changes,
});

interface Given {
  cart?: number;
  version?: number;
  quantities?: Record<string, string>;
  coupon?: string;
  card?: number;
  beyondStock?: boolean;
  expected?: OrderToDecide['expected'];
}

function orderOf({
  cart = 1,
  version = 1,
  quantities = {},
  coupon,
  card = 0,
  beyondStock = false,
  expected,
}: Given) {
  const lines = Object.entries(quantities).map(([productId, quantity]) => ({ productId, quantity }));
  const order = {
    cartId: `CART-${cart}`,
    cartVersion: version,
    beyondStock,
    today: '2026-11-20',
    content: { lines },
  };
  const giftCards = card > 0 ? [{ giftCardId: 'CARD', amount: card }] : [];
  return { order: { ...order, couponCodeKey: coupon ?? null, giftCards }, expected };
}

const decide = (orders: readonly Given[], changes?: Partial<PlacementState>) =>
  decideOrders(orders.map(orderOf), state(changes));

const PLACED = { isPlaced: true, isCurrent: true, shortIds: [], isCardShort: false, promised: new Map() };
const STALE = { isPlaced: false, isCurrent: false, shortIds: [], isCardShort: false, promised: new Map() };
const USED_UP = { isPlaced: false, isCurrent: true, shortIds: [], isCardShort: false, promised: new Map() };
const short = (...shortIds: string[]) => ({
  ...USED_UP,
  shortIds,
});

test.each<[string, Given[], object[]]>([
  ['as much as is there', [{ quantities: { LAMP: '2' } }], [PLACED]],
  ['more than is there', [{ quantities: { LAMP: '2.000001' } }], [short('LAMP')]],
  [
    'more than is there, where that may be sold',
    [{ quantities: { LAMP: '3' }, beyondStock: true }],
    [PLACED],
  ],
  ['a product whose stock is not counted', [{ quantities: { ADVICE: '500' } }], [PLACED]],
  ['a cart that has changed', [{ version: 2 }], [STALE]],
  ['a cart that is gone', [{ cart: 9 }], [STALE]],
  ['one cart twice', [{}, {}], [PLACED, STALE]],
  [
    'what an order takes is not there for the next one',
    [
      { cart: 1, quantities: { LAMP: '1.5' } },
      { cart: 2, quantities: { LAMP: '0.6' } },
      { cart: 3, quantities: { LAMP: '0.5' } },
    ],
    [PLACED, short('LAMP'), PLACED],
  ],
  [
    'an order that is refused takes nothing',
    [
      { cart: 1, quantities: { LAMP: '3' }, coupon: 'ONCE' },
      { cart: 2, quantities: { LAMP: '2' }, coupon: 'ONCE' },
    ],
    [short('LAMP'), PLACED],
  ],
  [
    'a coupon that is used up',
    [
      { cart: 1, coupon: 'ONCE' },
      { cart: 2, coupon: 'ONCE' },
      { cart: 3, coupon: 'OTHER' },
    ],
    [PLACED, USED_UP, PLACED],
  ],
  ['a coupon that does not exist', [{ coupon: 'NEVER' }], [USED_UP]],
  ['the expected versions', [{ expected: { settingsVersion: 7, productVersions: ['lamp 3'] } }], [PLACED]],
  ['other settings', [{ expected: { settingsVersion: 6, productVersions: ['lamp 3'] } }], [STALE]],
  ['another product', [{ expected: { settingsVersion: 7, productVersions: ['lamp 2'] } }], [STALE]],
])('%s', (_case, orders, verdicts) => {
  expect(decide(orders)).toEqual(verdicts);
});

test('all coupons of a campaign count towards its own limit', () => {
  const campaigns = [{ campaignId: 'campaign', used: 4, usageLimit: null, campaignUsageLimit: 5 }];
  const orders = [
    { cart: 1, coupon: 'ONCE' },
    { cart: 2, coupon: 'OTHER' },
  ];
  expect(decide(orders, { campaigns })).toEqual([PLACED, USED_UP]);
});

test('a stock below zero is not enough for anything', () => {
  expect(decide([{ quantities: { LAMP: '1' } }], { stock: new Map([['LAMP', '-1.000000']]) })).toEqual([
    short('LAMP'),
  ]);
});

test('a gift card pays for no more orders than it has money for, and a refused order leaves it', () => {
  const [first, short, third] = decide([
    { cart: 1, card: 600 },
    { cart: 2, card: 401 },
    { cart: 3, card: 400 },
  ]);
  expect([first, short, third]).toEqual([PLACED, { ...PLACED, isPlaced: false, isCardShort: true }, PLACED]);
  expect(decide([{ card: 1 }], { giftCards: new Map() })).toEqual([
    { ...PLACED, isPlaced: false, isCardShort: true },
  ]);
});

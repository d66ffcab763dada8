import { applyPromotions } from '../src/pricing/promotions.ts';
import type { PromotionInput } from '../src/pricing/input.ts';
import type { Verdict } from './report.ts';

const PROMOTIONS = 200;
const LINES = 12;
const CARTS = 2_000;
const GOAL_MS = 2;

/** Every second one counts all lines, the others one; all of them apply. */
const promotions = Array.from({ length: PROMOTIONS }, (_, index): PromotionInput => {
  const counts = Array.from({ length: LINES }, (_, line) => index % 2 === 0 || line === index % LINES);
  return {
    promotionId: String(index),
    isCoupon: false,
    combines: true,
    counts,
    rewards: counts,
    isForDelivery: false,
    minimumAmount: 100,
    minimumQuantity: 1,
    effect: index % 4 === 0 ? { kind: 'amount', amount: 1 } : { kind: 'percent', basisPoints: 10 },
  };
});

const lines = Array.from({ length: LINES }, (_, line) => ({
  taxRate: line % 3 === 0 ? 700 : 1900,
  taxClassId: line % 3 === 0 ? 'REDUCED' : 'STANDARD',
  amount: 100_000 + 1_117 * line,
}));
const cart = {
  shop: lines,
  shown: lines,
  quantities: lines.map(() => '2'),
  isDiscounted: lines.map(() => true),
  delivery: 490,
};

/**
 * What 200 promotions that all apply cost a cart of twelve lines, in milliseconds of the processor, which do not depend
 * on what else the machine does. It needs no service.
 */
export function measurePromotions(): Verdict[] {
  const apply = () => applyPromotions(promotions, () => 0, cart);
  if (apply().applied.length < PROMOTIONS) throw new Error('Not all promotions apply');
  for (let warmUp = 0; warmUp < CARTS / 4; warmUp++) apply();
  const before = process.cpuUsage();
  for (let measured = 0; measured < CARTS; measured++) apply();
  const value = Number((process.cpuUsage(before).user / 1_000 / CARTS).toFixed(2));
  return [{ name: `${PROMOTIONS} promotions of a cart, ms`, value, goal: GOAL_MS, ok: value <= GOAL_MS }];
}

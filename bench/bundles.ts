import { partLines } from '../src/pricing/part-lines.ts';
import type { CartProduct } from '../src/pricing/cart-product.ts';
import type { KnownLine } from '../src/pricing/app-terms.ts';
import { cartTotals } from '../src/pricing/totals.ts';
import { DEMO } from '../test/priced-carts.ts';
import type { Verdict } from './report.ts';

const LINES = 12;
const PARTS = 3;
const CARTS = 4_000;
const ROUNDS = 5;
const MAX_RATIO = 2.5;

const product = (index: number): CartProduct =>
  ({
    productId: `PRODUCT-${index}`,
    masterId: null,
    productNumber: `P-${index}`,
    kind: 'regular',
    prices: { EUR: 1_000 + 117 * index },
    taxClassId: index % 3 === 0 ? 'reduced' : 'standard',
    facts: {},
  }) as unknown as CartProduct;
const products = Array.from({ length: LINES }, (_, index) => product(index));

const lineOf = (product: CartProduct): KnownLine => {
  const { productId } = product;
  const line = { lineItemId: `LINE-${productId}`, productId, quantity: '2' };
  return { line, quantity: '2', price: null, product };
};

/** Twelve lines, and bundles that become as many. */
const plain = products.map(lineOf);
const bundled = plain
  .filter((_, index) => index % PARTS === 0)
  .map((line, index): KnownLine => {
    const parts = products.slice(index * PARTS, (index + 1) * PARTS);
    return { ...line, parts: parts.map((part) => ({ quantity: 1, product: part })) };
  });

const cart = { currency: 'EUR', customerGroupId: null };

function millisecondsFor(sold: readonly KnownLine[]): number {
  const before = process.cpuUsage();
  for (let measured = 0; measured < CARTS; measured++) {
    const lines = sold.flatMap((line) => partLines(line, cart, DEMO));
    cartTotals(
      {
        ...cart,
        taxType: 'GROSS',
        country: 'DE',
        postcode: null,
        vatNumber: null,
        lines,
        coupon: null,
        shipping: { methodId: null, price: null },
        payment: { methodId: null, price: null },
      },
      DEMO,
    );
  }
  return process.cpuUsage(before).user / 1_000 / CARTS;
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/**
 * What pricing a cart with four bundles of three parts costs beside one with the same twelve products by themselves, in
 * milliseconds of the processor, in turns. It needs no service.
 */
export function measureBundles(): Verdict[] {
  millisecondsFor(plain);
  millisecondsFor(bundled);
  const rounds = Array.from({ length: ROUNDS }, () => ({
    plain: millisecondsFor(plain),
    bundled: millisecondsFor(bundled),
  }));
  const alone = median(rounds.map((round) => round.plain));
  const together = median(rounds.map((round) => round.bundled));
  const ratio = Number((together / alone).toFixed(2));
  return [
    { name: 'a cart with bundles, ms', value: Number(together.toFixed(3)), goal: 1, ok: together <= 1 },
    { name: 'beside the same products alone', value: ratio, goal: MAX_RATIO, ok: ratio <= MAX_RATIO },
  ];
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generatedOrders } from '../../../test/generated-orders.ts';
import { SEED, halfOf } from '../../../test/seed.ts';
import type { Content } from '../../pricing/content.ts';
import { sum } from '../../pricing/shares.ts';
import { partOf, quantityOf, unitsHeld, unitsOf, type Held } from './part.ts';
import type { PartLine } from '../manage-queries.ts';

const NOTHING: Held[] = [];
const allOf = (content: Content): PartLine[] =>
  content.lines.map(({ lineItemId, quantity }) => ({ lineItemId, quantity }));

/** Each part takes some quarters of what is left of each line, the last one all; `carrier` has delivery and payment. */
function splitOf(content: Content, quarters: readonly number[], parts: number, carrier: number): Content[] {
  const before: Held[] = [];
  return Array.from({ length: parts }, (_, part) => {
    const units = unitsHeld(before);
    const lines = content.lines.flatMap(({ lineItemId, quantity }, index) => {
      const left = unitsOf(quantity) - (units.get(lineItemId) ?? 0n);
      const share = part === parts - 1 ? 4 : quarters[(part * 5 + index) % quarters.length]!;
      const some = (left * BigInt(share)) / 4n;
      return some > 0n ? [{ lineItemId, quantity: quantityOf(some) }] : [];
    });
    const services = part === carrier % parts;
    const some = partOf(content, lines, before, { services });
    before.push({ content: some, hasServices: services, sign: 1 });
    return some;
  });
}

const splits = fc.record({
  order: generatedOrders,
  quarters: fc.array(fc.nat(4), { minLength: 1, maxLength: 9 }),
  parts: fc.integer({ min: 1, max: 5 }),
  carrier: fc.nat(4),
});
const RUNS = { numRuns: halfOf(200), seed: SEED };

/** What sums to the whole. */
function amountsOf(content: Content) {
  return {
    subTotal: content.subTotal,
    basketDiscount: content.basketDiscount,
    coupon: content.coupon?.amount ?? 0,
    shipping: content.shippingPrice,
    payment: content.payment?.price ?? 0,
    deposit: sum(content.lines.map(({ deposit }) => deposit)),
    ecoParticipation: sum(content.lines.map(({ ecoParticipation }) => ecoParticipation)),
    totalTax: content.totalTax,
    totalBeforeTax: content.totalBeforeTax,
    grandTotal: content.grandTotal,
    ...Object.fromEntries(
      content.taxes.flatMap(({ rate, treatment, amount, tax }) => [
        [`amount at ${rate} ${treatment}`, amount],
        [`tax at ${rate} ${treatment}`, tax],
      ]),
    ),
  };
}

function total(contents: readonly Content[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const content of contents) {
    for (const [key, amount] of Object.entries(amountsOf(content))) totals[key] = (totals[key] ?? 0) + amount;
  }
  // A rate of which nothing is left may be missing.
  return Object.fromEntries(Object.entries(totals).filter(([, amount]) => amount !== 0));
}

function expectClosed(part: Content): void {
  const { grandTotal, totalBeforeTax, totalTax, taxes, taxType, lines } = part;
  expect(grandTotal).toBe(totalBeforeTax + totalTax);
  expect(sum(taxes.map(({ tax }) => tax))).toBe(totalTax);
  const whole = sum([
    ...lines.map(
      (line) => line.amount - line.discountShare - line.couponShare + line.deposit + line.ecoParticipation,
    ),
    part.shippingPrice,
    part.payment?.price ?? 0,
  ]);
  expect(sum(taxes.map(({ amount }) => amount))).toBe(whole);
  expect(taxType === 'GROSS' ? grandTotal : totalBeforeTax).toBe(whole);
}

describe('a part of an order', () => {
  test('that is all of it says the same', () => {
    fc.assert(
      fc.property(generatedOrders, ({ content }) => {
        const { taxes, ...part } = partOf(content, allOf(content), NOTHING, { services: true });
        const { taxes: whole, ...rest } = content;
        expect(part).toEqual(rest);
        const isThere = ({ amount }: Content['taxes'][number]) => amount !== 0;
        expect(taxes.filter(isThere)).toEqual(whole.filter(isThere));
      }),
      RUNS,
    );
  });

  test('closes, and sums to the order with the others, however it is split', () => {
    fc.assert(
      fc.property(splits, ({ order: { content }, quarters, parts, carrier }) => {
        const split = splitOf(content, quarters, parts, carrier);
        for (const part of split) expectClosed(part);
        expect(total(split)).toEqual(total([content]));
      }),
      RUNS,
    );
  });

  test('that was credited is invoiced again, and the documents still sum to the order', () => {
    fc.assert(
      fc.property(splits, ({ order: { content }, quarters, parts, carrier }) => {
        const invoices = splitOf(content, quarters, parts, carrier);
        const credited = invoices[0]!;
        const hasServices = carrier % parts === 0;
        const held: Held[] = invoices.map((invoice, index) => ({
          content: invoice,
          hasServices: index === carrier % parts,
          sign: 1,
        }));
        held.push({ content: credited, hasServices, sign: -1 });
        const again = partOf(content, allOf(credited), held, { services: hasServices });
        expectClosed(again);
        expect(total([again])).toEqual(total([credited]));
      }),
      RUNS,
    );
  });

  test('is never less than nothing', () => {
    fc.assert(
      fc.property(splits, ({ order: { content }, quarters, parts, carrier }) => {
        for (const part of splitOf(content, quarters, parts, carrier)) {
          expect(Math.min(0, part.grandTotal, part.totalBeforeTax, part.totalTax)).toBe(0);
        }
      }),
      RUNS,
    );
  });

  test('can be split again: what is credited of an invoice sums to the invoice', () => {
    fc.assert(
      fc.property(splits, ({ order: { content }, quarters, parts, carrier }) => {
        for (const invoice of splitOf(content, quarters, parts, carrier)) {
          const credits = splitOf(invoice, quarters, 3, carrier);
          for (const credit of credits) expectClosed(credit);
          expect(total(credits)).toEqual(total([invoice]));
        }
      }),
      RUNS,
    );
  });
});

test.each([
  ['2', '2'],
  ['0.000001', '0.000001'],
  ['100', '100'],
  ['7.50', '7.5'],
])('a quantity of %s is %s', (text, plain) => {
  expect(quantityOf(unitsOf(text))).toBe(plain);
});

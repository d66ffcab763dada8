import type { Content, ContentLine } from '../pricing/content.ts';
import { divideRounded } from '../kernel/money.ts';

/** The amounts that sales are summed from. They have 12 decimals after the minor unit, because sales do not round. */

const DIGITS = 12;
const PARTS = 10n ** BigInt(DIGITS);

/**
 * The value of orders without tax, in minor units; the tax is taken off rate by rate. Gift cards are no part of it: their
 * revenue is what is bought with them.
 */
export function netRevenue(...contents: readonly Pick<Content, 'taxType' | 'taxes'>[]): string {
  const parts = contents.flatMap(({ taxType, taxes }) =>
    taxes
      .filter(({ treatment }) => treatment !== 'voucher')
      .map(({ rate, amount }) => netParts(amount, rate, taxType)),
  );
  return asDecimal(parts.reduce((sum, part) => sum + part, 0n));
}

/** The rows of `order_line`: quantities and amounts of an order's lines after their shares of the discounts. */
export function linesSold({ taxType, lines }: Pick<Content, 'taxType' | 'lines'>) {
  return lines.map((line) => {
    const amount = line.amount - line.discountShare - line.couponShare;
    return {
      line_item_id: line.lineItemId,
      product_id: line.productId,
      quantity: line.quantity,
      gross: asDecimal(grossParts(amount, line, taxType)),
      net: asDecimal(netParts(amount, line.taxClass.rate, taxType)),
    };
  });
}

function netParts(amount: number, rate: number, taxType: Content['taxType']): bigint {
  if (taxType !== 'GROSS') return BigInt(amount) * PARTS;
  return divideRounded(BigInt(amount) * PARTS * 10_000n, 10_000n + BigInt(rate));
}

function grossParts(amount: number, { taxClass }: ContentLine, taxType: Content['taxType']): bigint {
  if (taxType !== 'NET') return BigInt(amount) * PARTS;
  return divideRounded(BigInt(amount) * PARTS * (10_000n + BigInt(taxClass.rate)), 10_000n);
}

function asDecimal(parts: bigint): string {
  const sign = parts < 0n ? '-' : '';
  const digits = (parts < 0n ? -parts : parts).toString().padStart(DIGITS + 1, '0');
  return `${sign}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}

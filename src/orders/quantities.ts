import type { Content } from '../pricing/content.ts';
import type { PartLine } from './manage-queries.ts';

/** Quantities have up to six decimals; in millionths they are whole numbers for exact arithmetic. */
const MILLION = 1_000_000;
export const millionths = (quantity: string | number) => Math.round(Number(quantity) * MILLION);
export const quantityText = (parts: number) => String(parts / MILLION);

/** Sent, or returned, quantity of each line, in millionths. */
export function quantitiesOf(parts: readonly { lines: readonly PartLine[] }[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { lineItemId, quantity } of parts.flatMap(({ lines }) => lines)) {
    sums.set(lineItemId, (sums.get(lineItemId) ?? 0) + millionths(quantity));
  }
  return sums;
}

/** The unsent quantities. */
export function unshippedLines(
  { lines }: Pick<Content, 'lines'>,
  shipments: readonly { lines: readonly PartLine[] }[],
): PartLine[] {
  const shipped = quantitiesOf(shipments);
  return lines.flatMap(({ lineItemId, quantity }) => {
    const rest = millionths(quantity) - (shipped.get(lineItemId) ?? 0);
    return rest > 0 ? [{ lineItemId, quantity: quantityText(rest) }] : [];
  });
}

import { formatsOf } from '../../http/formats.ts';
import type { BackorderTerms } from './facts.ts';
import { messagesIn } from '../../kernel/messages.ts';

export type Availability = 'OnStock' | 'WarnStock' | 'OutStock';

/** null: not tracked. At or below the warning level it can still be bought. */
export function availabilityOf(stock: number | null, minStock: number | null): Availability | null {
  if (stock === null) return null;
  if (stock <= 0) return 'OutStock';
  return minStock !== null && stock <= minStock ? 'WarnStock' : 'OnStock';
}

/** `deliveryPeriod` is a number of days, which may be a range such as `3-5`. */
export function availabilityText(
  availability: Availability | null,
  deliveryPeriod: string | null,
  locale: string,
  backorder?: BackorderTerms,
): string {
  if (availability === null) return '';
  const { inStock, notInStock, shipsWithin } = messagesIn(locale).products;
  if (availability === 'OutStock') return backorder ? backorderText(backorder, locale) : notInStock;
  return deliveryPeriod ? `${inStock}<br />${shipsWithin({ days: deliveryPeriod })}` : inStock;
}

/** `Pre-order: available from 1 March 2027`. */
export function backorderText(
  { kind, expectedOn }: Pick<BackorderTerms, 'kind' | 'expectedOn'>,
  locale: string,
): string {
  const { preorder, backorder, backorderWithoutDate } = messagesIn(locale).products;
  if (expectedOn === undefined) return backorderWithoutDate;
  const date = expectedDayText(expectedOn, locale);
  return kind === 'preorder' ? preorder({ date }) : backorder({ date });
}

/** `1 March 2027` for `2027-03-01`. */
export const expectedDayText = (day: string, locale: string) =>
  formatsOf(locale).longDate.format(new Date(`${day}T00:00:00Z`));

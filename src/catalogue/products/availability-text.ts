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
): string {
  if (availability === null) return '';
  const { inStock, notInStock, shipsWithin } = messagesIn(locale).products;
  if (availability === 'OutStock') return notInStock;
  return deliveryPeriod ? `${inStock}<br />${shipsWithin({ days: deliveryPeriod })}` : inStock;
}

import type { ContentLine } from '../../pricing/content.ts';
import { millionths, quantityText } from '../../orders/quantities.ts';

/** A line of an order, with the quantity still to be sent. */
export interface PackedLine {
  orderNumber: string;
  line: ContentLine;
  /** An exact decimal as text. */
  quantity: string;
}

export interface PickedProduct {
  line: ContentLine;
  quantity: string;
  orderNumbers: string[];
}

/** The products to pick for several orders, by product number; a product with a custom text is listed separately. */
export function pickList(lines: readonly PackedLine[]): PickedProduct[] {
  const byProduct = new Map<string, { line: ContentLine; parts: number; orderNumbers: Set<string> }>();
  for (const { orderNumber, line, quantity } of lines) {
    const key = `${line.productId} ${line.customText ?? ''}`;
    const picked = byProduct.get(key) ?? { line, parts: 0, orderNumbers: new Set<string>() };
    picked.parts += millionths(quantity);
    picked.orderNumbers.add(orderNumber);
    byProduct.set(key, picked);
  }
  return [...byProduct.values()]
    .map(({ line, parts, orderNumbers }) => ({
      line,
      quantity: quantityText(parts),
      orderNumbers: [...orderNumbers],
    }))
    .toSorted((left, right) =>
      left.line.productNumber.localeCompare(right.line.productNumber, 'en', { numeric: true }),
    );
}

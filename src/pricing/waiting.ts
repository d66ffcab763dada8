import {
  dayAt,
  unitsText,
  fromDecimal,
  openBackorder,
  orderableOf,
  promisedLines,
  waitingOf,
} from '../catalogue/products/backorders.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { CartProduct } from './cart-product.ts';
import { quantityOfProduct } from './quantity.ts';

/** What of a cart has to be waited for: products that are sold beyond their stock. */

type Stocked = Pick<CartProduct, 'facts' | 'stock' | 'promised'>;
type Shop = Pick<Settings, 'sellBeyondStock' | 'deliveryTimes'>;
interface SoldLine {
  lineItemId: string;
  productId: string;
  quantity: string;
}

/** How much of a product can be ordered; null: there is always enough. What it says of itself comes before what the shop says. */
export function orderableStock(product: Stocked, settings: Shop, now: Date): number | null {
  if (settings.sellBeyondStock && !product.facts.backorder) return null;
  return orderableOf(product, dayAt(now, settings.deliveryTimes.timeZone));
}

/** How much of a line waits for stock. */
export interface Wait {
  kind: 'backorder' | 'preorder';
  /** An exact decimal as text. */
  quantity: string;
  /** `2027-03-01`; undefined: it is not known. */
  expectedOn?: string | undefined;
}

const NONE: ReadonlyMap<string, Wait> = new Map();

/** What waits of these lines, if they are ordered now, by their ids: the last lines with a product wait for it. */
export function waitsOf(
  lines: readonly SoldLine[],
  products: readonly (Stocked & { productId: string })[],
  settings: Pick<Settings, 'deliveryTimes'>,
  now: Date,
): ReadonlyMap<string, Wait> {
  // Few products are sold beyond their stock.
  const beyondStock = products.filter(({ facts }) => facts.backorder && !facts.parts);
  if (beyondStock.length === 0) return NONE;
  const today = dayAt(now, settings.deliveryTimes.timeZone);
  const waits = new Map<string, Wait>();
  for (const product of new Map(beyondStock.map((one) => [one.productId, one])).values()) {
    const backorder = openBackorder(product, today);
    const waiting = waitingOf(product, quantityOfProduct(lines, product.productId), today);
    if (!backorder || waiting === 0) continue;
    const own = lines
      .filter(({ productId }) => productId === product.productId)
      .map((line) => ({ ...line, quantity: fromDecimal(line.quantity) }));
    const promised = new Map([[product.productId, BigInt(Math.round(waiting * 1e6))]]);
    for (const { lineItemId, quantity } of promisedLines(own, promised)) {
      const { kind, expectedOn } = backorder;
      waits.set(lineItemId, { kind, quantity: unitsText(quantity), expectedOn });
    }
  }
  return waits;
}

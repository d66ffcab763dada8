import { createHash } from 'node:crypto';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { ChosenPart } from './bundles.ts';
import type { CartProduct } from './cart-product.ts';
import type { CartSelection, LineInput, LinePrices, StoredLine } from './input.ts';
import { ownPrice } from './totals.ts';

/** A line whose product exists and can be sold; a bundle with its parts. */
export type KnownLine = LineInput & {
  product: CartProduct;
  line: StoredLine;
  parts?: readonly ChosenPart[] | undefined;
};

export interface LinePriceQuestion {
  currency: string;
  /** Whether prices include the tax: those of the shop, and those of the answer. */
  taxModel: Settings['taxModel'];
  customerId: string | null;
  customerGroupId: string | null;
  lines: {
    lineItemId: string;
    productId: string;
    productNumber: string;
    quantity: string;
    /** The shop's own, in minor units, for `priceQuantity` units. */
    price: number;
    priceQuantity: number;
    customText: string | null;
  }[];
}

/**
 * What apps are asked about the prices of a cart: of all lines but those whose price was set by hand, which is agreed.
 * Nothing in it names a person. undefined: there is nothing to ask.
 */
export function linePriceQuestion(
  { currency, customerId = null, customerGroupId }: CartSelection,
  lines: readonly KnownLine[],
  settings: Settings,
): LinePriceQuestion | undefined {
  const asked = lines.filter(({ price }) => price === null);
  if (asked.length === 0) return undefined;
  return {
    currency,
    taxModel: settings.taxModel,
    customerId,
    customerGroupId,
    lines: asked.map((input) => ({
      lineItemId: input.line.lineItemId,
      productId: input.product.productId,
      productNumber: input.product.productNumber,
      quantity: input.quantity,
      price: ownPrice(input, { currency, customerGroupId }, settings),
      priceQuantity: (input.product.orderUnit ?? ORDER_UNIT).priceQuantity,
      customText: input.line.customText ?? null,
    })),
  };
}

export const linePriceDigest = (question: LinePriceQuestion): string =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url');

/** The app that has priced a line. */
export interface AppPrice {
  appId: string;
  price: number;
}

/** What apps have answered for these lines, by line; nothing, when the answers were for others. */
export function appPricesOf(
  cart: CartSelection,
  lines: readonly KnownLine[],
  settings: Settings,
): ReadonlyMap<string, AppPrice> {
  const { linePrices } = cart;
  if (!linePrices || linePrices.answers.length === 0) return NO_PRICES;
  const question = linePriceQuestion(cart, lines, settings);
  if (!question || linePriceDigest(question) !== linePrices.questionDigest) return NO_PRICES;
  return new Map(pricesOf(linePrices));
}

const NO_PRICES: ReadonlyMap<string, AppPrice> = new Map();

const pricesOf = ({ answers }: LinePrices) =>
  answers.flatMap(({ appId, lines }) =>
    Object.entries(lines).map(([lineItemId, price]): [string, AppPrice] => [lineItemId, { appId, price }]),
  );

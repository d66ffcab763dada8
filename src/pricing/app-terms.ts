import { createHash } from 'node:crypto';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { ChosenPart } from './bundles.ts';
import type { CartProduct } from './cart-product.ts';
import type {
  AppTaxes,
  CartInput,
  CartSelection,
  GivenTax,
  LineInput,
  LinePrices,
  StoredLine,
} from './input.ts';
import { ownPrice } from './totals.ts';
import { deliveryOf } from './delivery.ts';
import { taxClassFor } from './tax.ts';

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

export interface TaxQuestion {
  currency: string;
  taxType: CartInput['taxType'];
  /** Whether the shop's prices include the tax. */
  taxModel: Settings['taxModel'];
  /** Of the shop. */
  country: string;
  destination: { country: string; zipCode: string | null };
  /** The customer collects the goods where the shop is. */
  isPickup: boolean;
  /** Of a business, if the tax authorities have confirmed it. */
  vatNumber: string | null;
  lines: {
    lineItemId: string;
    productId: string;
    productNumber: string;
    quantity: string;
    /** Minor units, for `priceQuantity` units, as `taxModel` says; one that was set by hand is as `taxType` says. */
    price: number;
    priceQuantity: number;
    taxClassId: string;
    digital: boolean;
    supply: 'goods' | 'services';
  }[];
}

/**
 * What apps are asked about the taxes of a cart. It names no person, but the VAT number of a business. undefined: there
 * is nothing to ask, or it is not known where the goods go.
 */
export function taxQuestion(
  cart: CartInput,
  lines: readonly KnownLine[],
  settings: Settings,
): TaxQuestion | undefined {
  const { currency, taxType, country, postcode, vatNumber } = cart;
  if (lines.length === 0 || country === null || taxType === 'NONE') return undefined;
  return {
    currency,
    taxType,
    taxModel: settings.taxModel,
    country: settings.country,
    destination: { country, zipCode: postcode },
    isPickup: deliveryOf(cart, settings).method?.kind === 'pickup',
    vatNumber,
    lines: lines.map((input) => {
      const { taxClassId, digital, supply } = taxClassFor(input.product.taxClassId, settings);
      const { priceQuantity } = input.product.orderUnit ?? ORDER_UNIT;
      return {
        lineItemId: input.line.lineItemId,
        productId: input.product.productId,
        productNumber: input.product.productNumber,
        quantity: input.quantity,
        price: input.price ?? input.appPrice ?? ownPrice(input, cart, settings),
        priceQuantity: input.price === null ? priceQuantity : (input.priceUnits ?? 1),
        taxClassId,
        digital,
        supply,
      };
    }),
  };
}

export const taxDigest = (question: TaxQuestion): string =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url');

/** The taxes that apps have given. */
export interface CartTaxes {
  appIds: string[];
  lines: ReadonlyMap<string, GivenTax>;
  services: NonNullable<CartInput['serviceTaxes']>;
}

/** What apps have answered for this cart; undefined: nothing, or it was for another one. */
export function taxesOfApps(
  appTaxes: AppTaxes | null | undefined,
  cart: CartInput,
  lines: readonly KnownLine[],
  settings: Settings,
): CartTaxes | undefined {
  const [first] = appTaxes?.answers ?? [];
  if (!appTaxes || !first) return undefined;
  const question = taxQuestion(cart, lines, settings);
  if (!question || taxDigest(question) !== appTaxes.questionDigest) return undefined;
  return {
    appIds: appTaxes.answers.map(({ appId }) => appId),
    lines: new Map(
      appTaxes.answers.flatMap(({ taxes, lines }) =>
        Object.entries(lines).map(([lineItemId, place]): [string, GivenTax] => [lineItemId, taxes[place]!]),
      ),
    ),
    services: { delivery: first.taxes[first.delivery]!, payment: first.taxes[first.payment]! },
  };
}

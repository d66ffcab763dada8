import { createHash } from 'node:crypto';
import type { Settings } from '../shops/settings/settings.ts';
import { ORDER_UNIT } from '../catalogue/products/orderable.ts';
import { deliveryOf } from './delivery.ts';
import type { AppTaxes, CartInput, GivenTax } from './input.ts';
import type { KnownLine } from './line-prices.ts';
import { taxClassFor } from './tax.ts';
import { ownPrice } from './totals.ts';

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

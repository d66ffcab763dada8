import { createHash } from 'node:crypto';
import type { Settings, ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import type { CartProduct } from './cart-product.ts';
import type { WorkingDays } from './delivery-span.ts';
import type { CartInput, DeliveryOption, LineInput } from './input.ts';
import { taxClassFor } from './tax.ts';
import type { CartTotals } from './totals.ts';

/** The details of it that an order keeps beside its name and price. */
export type ContentDeliveryOption = Pick<DeliveryOption, 'appId' | 'optionId' | 'days'> & {
  isFixedPrice: boolean;
};

/** It has all fields of a shipping method; its price is an input of the totals. */
export function methodOfOption({ shippingMethodId, name, fixedPrice }: DeliveryOption): ShippingMethod {
  return {
    shippingMethodId,
    key: shippingMethodId,
    name,
    description: {},
    logoUrl: null,
    kind: 'flat',
    amount: fixedPrice ?? 0,
    amountPerKg: 0,
    tiers: [],
    freeFrom: null,
    zones: [],
    place: {},
    hours: {},
  };
}

/** What deliveryOf needs: the days stand in a zone, as they do where a shop has zones. */
export function optionInput(option: DeliveryOption): NonNullable<CartInput['shipping']['option']> {
  const method = methodOfOption(option);
  return { method, zone: option.days && zoneWith(method, option.days), isOutdated: false };
}

const zoneWith = ({ amount }: ShippingMethod, days: WorkingDays): ShippingZone => ({
  countries: [],
  postcodes: [],
  amount,
  tiers: [],
  weights: [],
  freeFrom: null,
  days,
  maxWeight: null,
});

export interface DeliveryQuestion {
  currency: string;
  taxType: CartInput['taxType'];
  destination: { country: string | null; zipCode: string | null };
  /** Minor units: the goods that are shipped, without coupons. */
  value: number;
  lines: {
    productId: string;
    productNumber: string;
    quantity: string;
    /** Minor units, of all units. */
    amount: number;
    /** Per unit; null: unknown. */
    weight: CartProduct['facts']['deliveryWeight'] | null;
    hsCode: string | null;
    originCountry: string | null;
  }[];
}

/** What apps are asked about the delivery of a cart: nothing in it names a person. */
export function deliveryQuestion(
  { currency, taxType, country, postcode }: CartInput,
  lines: readonly (LineInput & { product: CartProduct })[],
  totals: CartTotals,
  settings: Settings,
): DeliveryQuestion {
  const shipped = lines
    .map(({ quantity, product }, index) => {
      const { amount, discountShare } = totals.lines[index]!;
      return { quantity, product, amount: amount - discountShare };
    })
    .filter(({ product }) => !taxClassFor(product.taxClassId, settings).digital);
  return {
    currency,
    taxType,
    destination: { country, zipCode: postcode },
    value: shipped.reduce((sum, { amount }) => sum + amount, 0),
    lines: shipped.map(({ quantity, product, amount }) => ({
      productId: product.productId,
      productNumber: product.productNumber,
      quantity,
      amount,
      weight: product.facts.deliveryWeight ?? null,
      hsCode: product.facts.hsCode ?? null,
      originCountry: product.facts.originCountry ?? null,
    })),
  };
}

export const questionDigest = (question: DeliveryQuestion): string =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url');

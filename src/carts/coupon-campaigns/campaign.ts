import type { Localised } from '../../http/locale.ts';

/** What an order with one of its coupons gets: an amount off, percent off, or free delivery. */
export const KINDS = ['FIX', 'PERCENT', 'SHIPPING'] as const;
export type Kind = (typeof KINDS)[number];

/** The same in settings files. */
export const CAMPAIGN_TYPES = ['fix', 'percent', 'shipping'] as const satisfies Lowercase<Kind>[];

/** What the API and settings files let in alike: what came in one way must get out and in the other. */
export const MAX_IDENTIFIER_LENGTH = 100;
export const MAX_CODE_LENGTH = 100;
export const MAX_NAME_LENGTH = 255;
export const MAX_USES = 1_000_000_000;

export interface Campaign {
  campaignId: string;
  identifier: string;
  name: Localised;
  currency: string;
  kind: Kind;
  /** FIX: minor units of its currency; PERCENT: basis points; SHIPPING: null. */
  amount: number | null;
  waiveShippingCosts: boolean;
  /** Minor units of its currency. */
  minimumOrderValue: number | null;
  /** Orders per code, and over all codes. */
  usageLimit: number | null;
  campaignUsageLimit: number | null;
  validFrom: Date | null;
  validTo: Date | null;
  /** null: not restricted. A list may name what was deleted since, which then matches nothing. */
  productIds: string[] | null;
  shippingMethodIds: string[] | null;
  paymentMethodIds: string[] | null;
}

/** The last that four digits of a year can say. */
export const LAST_MOMENT = new Date('9999-12-31T23:59:59Z');

/** What a code is found by: nobody types it as it was printed. */
export function couponKey(code: string): string {
  return code.trim().toUpperCase();
}

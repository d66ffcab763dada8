import type { Localised } from '../http/locale.ts';

/** The benefit of a coupon: an amount off, percent off, or free delivery. */
export const BENEFIT_KINDS = ['FIX', 'PERCENT', 'SHIPPING'] as const;
export type BenefitKind = (typeof BENEFIT_KINDS)[number];

/** The same in settings files. */
export const CAMPAIGN_TYPES = ['fix', 'percent', 'shipping'] as const satisfies Lowercase<BenefitKind>[];

/** Limits of the API and settings files alike: data from one must pass through the other. */
export const MAX_IDENTIFIER_LENGTH = 100;
export const MAX_CODE_LENGTH = 100;
export const MAX_CAMPAIGN_NAME_LENGTH = 255;
export const MAX_USES = 1_000_000_000;

export interface Campaign {
  campaignId: string;
  identifier: string;
  name: Localised;
  currency: string;
  kind: BenefitKind;
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
  /** null: not restricted. A list may name ids that were deleted since; these match nothing. */
  productIds: string[] | null;
  shippingMethodIds: string[] | null;
  paymentMethodIds: string[] | null;
}

/** The last moment of a four-digit year. */
export const LAST_MOMENT = new Date('9999-12-31T23:59:59Z');

/** The lookup key of a code: customers do not type it as printed. */
export function couponKey(code: string): string {
  return code.trim().toUpperCase();
}

import type { Static } from 'typebox';
import type { Queries } from '../db/database.ts';
import { parseMoment, toSeconds } from '../http/dates.ts';
import { invalid } from '../http/errors.ts';
import { writingCurrency } from '../http/locale.ts';
import { priceOf } from '../http/price.ts';
import { isId } from '../kernel/ids.ts';
import { parseDecimal, toDecimal } from '../kernel/money.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { LAST_MOMENT, type Campaign, type BenefitKind } from './campaign.ts';
import { findProductsById } from './queries.ts';
import type { CouponCampaign, NewCouponCampaign } from './schema.ts';
import { amountOf } from '../http/request-fields.ts';

/** The values of the body, checked against the shop. */
export async function campaignOf(
  db: Queries,
  settings: Settings,
  locale: string,
  body: Static<typeof NewCouponCampaign>,
  campaignId: string,
): Promise<Campaign> {
  const currency = writingCurrency(body.currency, settings);
  const { minimumOrderValue, type } = body;
  const kind = type.name as BenefitKind;
  const [validFrom, validTo] = [momentOf(body, 'validFrom'), momentOf(body, 'validTo')];
  if (validFrom && validTo && validTo < validFrom) throw invalid('OUT_OF_RANGE', 'validTo');
  const { shippingMethods, paymentMethods } = settings;
  return {
    campaignId,
    identifier: body.identifier.trim(),
    name: { [locale]: body.name.trim() },
    currency,
    kind,
    amount: valueOf(kind, type.amount ?? undefined, currency),
    waiveShippingCosts: kind === 'SHIPPING' || (type.waiveShippingCosts ?? false),
    minimumOrderValue:
      minimumOrderValue === null || minimumOrderValue === undefined
        ? null
        : amountOf(minimumOrderValue, currency, 'minimumOrderValue'),
    usageLimit: body.usageLimit ?? null,
    campaignUsageLimit: body.campaignUsageLimit ?? null,
    validFrom,
    validTo,
    productIds: await idsOf(body, 'productIds', async (ids) => {
      const products = await findProductsById(db, settings.shopId, ids);
      return products.map(({ productId }) => productId);
    }),
    shippingMethodIds: await idsOf(body, 'shippingMethodIds', () =>
      shippingMethods.map(({ shippingMethodId }) => shippingMethodId),
    ),
    paymentMethodIds: await idsOf(body, 'paymentMethodIds', () =>
      paymentMethods.map(({ paymentMethodId }) => paymentMethodId),
    ),
  };
}

function valueOf(kind: BenefitKind, amount: number | string | undefined, currency: string): number | null {
  if (kind === 'SHIPPING') return null;
  const field = 'type.amount';
  if (amount === undefined) throw invalid('MISSING', field);
  const value = kind === 'FIX' ? amountOf(amount, currency, field) : basisPointsOf(amount, field);
  if (value <= 0) throw invalid('OUT_OF_RANGE', field);
  return value;
}

function basisPointsOf(percent: number | string, field: string): number {
  const decimal = parseDecimal(typeof percent === 'string' ? percent.trim() : percent);
  if (!decimal) throw invalid('WRONG_TYPE', field);
  const { units, scale } = decimal;
  const hundredths = units * 100n;
  const divisor = 10n ** BigInt(scale);
  if (hundredths % divisor !== 0n || hundredths > 10_000n * divisor) throw invalid('OUT_OF_RANGE', field);
  return Number(hundredths / divisor);
}

function momentOf(body: Static<typeof NewCouponCampaign>, field: 'validFrom' | 'validTo'): Date | null {
  const text = body[field];
  if (text === null || text === undefined) return null;
  const moment = parseMoment(text, field);
  if (moment > LAST_MOMENT) throw invalid('OUT_OF_RANGE', field);
  return moment;
}

/** null, like an empty list: not restricted. An unknown id is refused. */
async function idsOf(
  body: Static<typeof NewCouponCampaign>,
  field: 'productIds' | 'shippingMethodIds' | 'paymentMethodIds',
  knownAmong: (ids: string[]) => readonly string[] | Promise<readonly string[]>,
): Promise<string[] | null> {
  const ids = (body[field] ?? []).map((id) => id.toUpperCase());
  if (ids.length === 0) return null;
  const known = new Set(await knownAmong(ids.filter(isId)));
  const unknown = ids.findIndex((id) => !known.has(id));
  if (unknown !== -1) throw invalid('UNKNOWN_VALUE', `${field}[${unknown}]`);
  return [...new Set(ids)];
}

/** Serialised here, because the schema's serialiser would put optional keys after all others. */
export function toCampaign(
  row: Campaign,
  settings: Settings,
  locale: string,
  link: (path: string) => string,
): Static<typeof CouponCampaign> {
  const { kind, amount, currency, name, minimumOrderValue } = row;
  const campaignId = row.campaignId.toUpperCase();
  return {
    campaignId,
    identifier: row.identifier,
    // An app sends only one locale, which need not be the default one.
    name: name[locale] ?? name[settings.defaultLocale] ?? Object.values(name)[0]!,
    currency,
    type: {
      name: kind,
      waiveShippingCosts: row.waiveShippingCosts,
      ...(amount !== null && { amount: kind === 'PERCENT' ? amount / 100 : toDecimal(amount, currency) }),
    },
    minimumOrderValue:
      minimumOrderValue === null ? null : priceOf(minimumOrderValue, currency, 'NONE', locale),
    ...(row.usageLimit !== null && { usageLimit: row.usageLimit }),
    ...(row.campaignUsageLimit !== null && { campaignUsageLimit: row.campaignUsageLimit }),
    ...(row.validFrom && { validFrom: toSeconds(row.validFrom) }),
    ...(row.validTo && { validTo: toSeconds(row.validTo) }),
    ...(row.productIds && { productIds: upperCase(row.productIds) }),
    ...(row.shippingMethodIds && { shippingMethodIds: upperCase(row.shippingMethodIds) }),
    ...(row.paymentMethodIds && { paymentMethodIds: upperCase(row.paymentMethodIds) }),
    links: [{ rel: 'self', href: link(`/coupon-campaigns/${campaignId}`) }],
  };
}

function upperCase(ids: readonly string[]): string[] {
  return ids.map((id) => id.toUpperCase());
}

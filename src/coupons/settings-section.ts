import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { parseMoment, toSeconds } from '../http/dates.ts';
import type { Localised } from '../http/locale.ts';
import { toDecimal, toMinor } from '../kernel/money.ts';
import { changes } from '../shops/settings/diff.ts';
import { fromBasisPoints, plainTexts, toBasisPoints } from '../shops/settings/fields.ts';
import { shown, type Problem } from '../shops/settings/problem.ts';
import type { NewIdOf } from '../shops/settings/conversion.ts';
import type { SettingsSection } from '../shops/settings/section.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { couponKey, type Campaign, type BenefitKind } from './campaign.ts';
import {
  deleteCampaigns,
  deleteCoupons,
  findCampaigns,
  findCoupons,
  findProductsById,
  findProductsByNumber,
  lockCampaigns,
  replaceCampaigns,
  replaceCoupons,
  type Coupon,
  type NumberedProduct,
} from './queries.ts';
import { campaignProblems } from './settings-checks.ts';
import { CouponCampaigns, type CampaignEntry } from './settings-schema.ts';

/**
 * The section `couponCampaigns` of a settings file. Campaigns are not part of the cached settings: they may have a
 * hundred thousand codes, and are read only when a file names them or is exported.
 */
export const couponCampaignSection: SettingsSection<CampaignEntry[]> = {
  name: 'couponCampaigns',
  schema: CouponCampaigns,
  checks: campaignProblems,
  read: exportCampaigns,
  async apply(tx, settings, entries, newIdOf) {
    const plan = await planCampaigns(tx, settings, entries, newIdOf);
    if (plan.changes.length > 0) await writeCampaigns(tx, settings.shopId, plan);
    return plan;
  },
};

/** All campaigns as a file holds them, sorted by identifier, because the database has no order of them. */
async function exportCampaigns(db: Queries, settings: Settings): Promise<CampaignEntry[]> {
  const { shopId, defaultLocale } = settings;
  const campaigns = byIdentifier(await findCampaigns(db, shopId));
  const couponsOf = byCampaign(await findCoupons(db, shopId));
  const numbers = numbersOf(await findProductsById(db, shopId, restrictedProducts(campaigns)));
  return campaigns.map((campaign) => {
    const { codes, withdrawn } = codeLists(couponsOf.get(campaign.campaignId) ?? []);
    const document = campaignDocument(campaign, settings, numbers);
    return given({
      ...document,
      name: plainTexts(document.name, defaultLocale),
      codes,
      withdrawn: withdrawn.length === 0 ? undefined : withdrawn,
    });
  });
}

/** The writes that turn the campaigns of the shop into those of the file. */
interface CampaignPlan {
  /** If not empty, the rest is. */
  problems: Problem[];
  /** The changes, one line each. */
  changes: string[];
  removedCampaigns: string[];
  removedCodes: string[];
  /** New or changed. */
  campaigns: Campaign[];
  coupons: Coupon[];
}

const emptyPlan = (): CampaignPlan => ({
  problems: [],
  changes: [],
  removedCampaigns: [],
  removedCodes: [],
  campaigns: [],
  coupons: [],
});

/** The entries must have been checked against these settings. */
async function planCampaigns(
  tx: Transaction,
  settings: Settings,
  entries: readonly CampaignEntry[],
  newIdOf: NewIdOf,
): Promise<CampaignPlan> {
  const { shopId } = settings;
  const stored = byIdentifier(await lockCampaigns(tx, shopId));
  const before = new Map(stored.map((campaign) => [campaign.identifier, campaign]));
  const products = await findProductsByNumber(tx, shopId, [
    ...new Set(entries.flatMap((entry) => entry.products ?? [])),
  ]);
  const problems = [...unknownValues(entries, settings, before, products)];
  if (problems.length > 0) return { ...emptyPlan(), problems };

  const plan = emptyPlan();
  const coupons = await findCoupons(tx, shopId);
  const couponsBefore = byCampaign(coupons);
  const numbers = numbersOf([
    ...products,
    ...(await findProductsById(tx, shopId, restrictedProducts(stored))),
  ]);
  const productIds = new Map(products.map(({ productNumber, productId }) => [productNumber, productId]));
  const sorted = entries
    .map((entry) => {
      const identifier = entry.identifier.trim();
      const campaignId = before.get(identifier)?.campaignId ?? newIdOf('couponCampaigns', identifier);
      const campaign = campaignOf(entry, campaignId, settings, productIds);
      return { identifier: campaign.identifier, campaign, coupons: couponsOf(entry, campaignId) };
    })
    .toSorted(inOrder);

  const kept = new Set(sorted.map(({ identifier }) => identifier));
  for (const { identifier, campaignId } of stored) {
    if (kept.has(identifier)) continue;
    plan.removedCampaigns.push(campaignId);
    const count = couponsBefore.get(campaignId)?.length ?? 0;
    plan.changes.push(`- couponCampaigns.${identifier} and its ${count} ${count === 1 ? 'code' : 'codes'}`);
  }
  for (const { identifier, campaign, coupons } of sorted) {
    const path = `couponCampaigns.${identifier}`;
    const old = before.get(identifier);
    if (!old) {
      plan.campaigns.push(campaign);
      plan.changes.push(`+ ${path}`);
      continue;
    }
    const was = campaignDocument(old, settings, numbers);
    const next = campaignDocument(campaign, settings, numbers);
    const lines = [...changes(path, was, next), ...restrictionChanges(path, was, next)];
    if (lines.length > 0) plan.campaigns.push(campaign);
    plan.changes.push(...lines, ...codeChanges(path, couponsBefore.get(old.campaignId) ?? [], coupons));
  }

  const couponBefore = new Map(coupons.map((coupon) => [coupon.codeKey, coupon]));
  const couponsAfter = sorted.flatMap((entry) => entry.coupons);
  const campaignOfCode = new Map(couponsAfter.map(({ codeKey, campaignId }) => [codeKey, campaignId]));
  // A code that moves to another campaign is a new one there.
  plan.removedCodes = coupons
    .filter(({ codeKey, campaignId }) => campaignOfCode.get(codeKey) !== campaignId)
    .map(({ codeKey }) => codeKey);
  plan.coupons = couponsAfter.filter((coupon) => {
    const old = couponBefore.get(coupon.codeKey);
    return (
      old?.campaignId !== coupon.campaignId || old.code !== coupon.code || old.withdrawn !== coupon.withdrawn
    );
  });
  return plan;
}

async function writeCampaigns(tx: Transaction, shopId: string, plan: CampaignPlan): Promise<void> {
  const { removedCampaigns, removedCodes, campaigns, coupons } = plan;
  // A million codes take a while, and applying a file may wait.
  await tx.run(sql`set local statement_timeout = 0`);
  if (removedCampaigns.length > 0) await deleteCampaigns(tx, shopId, removedCampaigns);
  if (removedCodes.length > 0) await deleteCoupons(tx, shopId, removedCodes);
  if (campaigns.length > 0) await replaceCampaigns(tx, shopId, campaigns);
  if (coupons.length > 0) await replaceCoupons(tx, shopId, coupons);
}

/** A campaign may keep a currency that the shop no longer has: otherwise an export could not be applied again. */
function* unknownValues(
  entries: readonly CampaignEntry[],
  { currencies }: Settings,
  before: ReadonlyMap<string, Campaign>,
  products: readonly NumberedProduct[],
): Generator<Problem> {
  const known = new Set(products.map(({ productNumber }) => productNumber));
  for (const [index, { identifier, currency, products: numbers = [] }] of entries.entries()) {
    const path = ['couponCampaigns', index];
    const isUnchanged = currency === before.get(identifier.trim())?.currency;
    if (currency !== undefined && !isUnchanged && !currencies.includes(currency)) {
      yield {
        path: [...path, 'currency'],
        text: `${currency} is not a currency of the shop, expected one of ${currencies.join(', ')}`,
        rule: { name: 'foreignCurrency', value: currency },
      };
    }
    for (const [at, number] of numbers.entries()) {
      if (!known.has(number)) {
        yield {
          path: [...path, 'products', at],
          text: `the shop has no product ${shown(number)}`,
          rule: { name: 'unknownProduct', value: shown(number) },
        };
      }
    }
  }
}

function campaignOf(
  entry: CampaignEntry,
  campaignId: string,
  settings: Settings,
  productIds: ReadonlyMap<string, string>,
): Campaign {
  const currency = entry.currency ?? settings.defaultCurrency;
  const { type, amount, minimumOrderValue, validFrom, validTo, products } = entry;
  const kind = type.toUpperCase() as BenefitKind;
  const shipping = new Set(entry.shippingMethods);
  const payment = new Set(entry.paymentMethods);
  return {
    campaignId,
    identifier: entry.identifier.trim(),
    name: typeof entry.name === 'string' ? { [settings.defaultLocale]: entry.name } : entry.name,
    currency,
    kind,
    amount:
      kind === 'SHIPPING' ? null : kind === 'PERCENT' ? toBasisPoints(amount!) : toMinor(amount!, currency)!,
    waiveShippingCosts: kind === 'SHIPPING' || (entry.waiveShippingCosts ?? false),
    minimumOrderValue: minimumOrderValue === undefined ? null : toMinor(minimumOrderValue, currency)!,
    usageLimit: entry.usageLimit ?? null,
    campaignUsageLimit: entry.campaignUsageLimit ?? null,
    validFrom: validFrom === undefined ? null : parseMoment(validFrom, 'validFrom'),
    validTo: validTo === undefined ? null : parseMoment(validTo, 'validTo'),
    productIds: products ? [...new Set(products.map((number) => productIds.get(number)!))] : null,
    shippingMethodIds: entry.shippingMethods
      ? settings.shippingMethods
          .filter(({ key }) => shipping.has(key))
          .map((method) => method.shippingMethodId)
      : null,
    paymentMethodIds: entry.paymentMethods
      ? settings.paymentMethods.filter(({ key }) => payment.has(key)).map((method) => method.paymentMethodId)
      : null,
  };
}

/** A campaign as a file writes it, its texts by locale, without its codes. */
function campaignDocument(campaign: Campaign, settings: Settings, numbers: ReadonlyMap<string, string>) {
  const { kind, amount, currency, minimumOrderValue, validFrom, validTo } = campaign;
  const among = (ids: string[] | null) => new Set(ids?.map((id) => id.toUpperCase()));
  const [shipping, payment] = [among(campaign.shippingMethodIds), among(campaign.paymentMethodIds)];
  return given({
    identifier: campaign.identifier,
    name: offeredTexts(campaign.name, settings),
    currency,
    type: kind.toLowerCase() as Lowercase<BenefitKind>,
    amount:
      amount === null
        ? undefined
        : kind === 'PERCENT'
          ? fromBasisPoints(amount)
          : toDecimal(amount, currency),
    waiveShippingCosts: (campaign.waiveShippingCosts && kind !== 'SHIPPING') || undefined,
    minimumOrderValue: minimumOrderValue === null ? undefined : toDecimal(minimumOrderValue, currency),
    usageLimit: campaign.usageLimit ?? undefined,
    campaignUsageLimit: campaign.campaignUsageLimit ?? undefined,
    validFrom: validFrom === null ? undefined : toSeconds(validFrom),
    validTo: validTo === null ? undefined : toSeconds(validTo),
    products: campaign.productIds?.flatMap((id) => numbers.get(id.toUpperCase()) ?? []).toSorted(),
    shippingMethods:
      campaign.shippingMethodIds === null
        ? undefined
        : settings.shippingMethods.filter((one) => shipping.has(one.shippingMethodId)).map(({ key }) => key),
    paymentMethods:
      campaign.paymentMethodIds === null
        ? undefined
        : settings.paymentMethods.filter((one) => payment.has(one.paymentMethodId)).map(({ key }) => key),
  });
}

const RESTRICTIONS = ['products', 'shippingMethods', 'paymentMethods'] as const;

type Restricted = Pick<CampaignEntry, (typeof RESTRICTIONS)[number]>;

/** An empty list matches nothing and an absent one everything: entry by entry they are equal. */
function* restrictionChanges(path: string, before: Restricted, after: Restricted): Generator<string> {
  for (const key of RESTRICTIONS) {
    const [old, next] = [before[key], after[key]];
    if (old?.length === 0 && !next) yield `~ ${path}.${key}: none -> all`;
    if (!old && next?.length === 0) yield `~ ${path}.${key}: all -> none`;
  }
}

/** The texts in locales of the shop; if it has given up all of them, the text that readers see. */
function offeredTexts(name: Localised, { locales, defaultLocale }: Settings): Localised {
  const kept = Object.entries(name).filter(([locale]) => locales.includes(locale));
  return kept.length > 0 ? Object.fromEntries(kept) : { [defaultLocale]: Object.values(name)[0]! };
}

function couponsOf({ codes, withdrawn = [] }: CampaignEntry, campaignId: string): Coupon[] {
  const coupon = (given: string, withdrawn: boolean): Coupon => {
    const code = given.trim();
    return { campaignId, codeKey: couponKey(code), code, withdrawn };
  };
  return [...codes.map((code) => coupon(code, false)), ...withdrawn.map((code) => coupon(code, true))];
}

function codeLists(coupons: readonly Coupon[]) {
  const codes = (isWithdrawn: boolean) =>
    coupons
      .filter(({ withdrawn }) => withdrawn === isWithdrawn)
      .map(({ code }) => code)
      .toSorted();
  return { codes: codes(false), withdrawn: codes(true) };
}

/** Longer lists are summarised in one line. */
const MAX_LINES = 10;

function* codeChanges(path: string, before: readonly Coupon[], after: readonly Coupon[]): Generator<string> {
  const [old, next] = [codeLists(before), codeLists(after)];
  for (const list of ['codes', 'withdrawn'] as const) {
    yield* codeLines(`- ${path}.${list}`, missingFrom(next[list], old[list]));
    yield* codeLines(`+ ${path}.${list}`, missingFrom(old[list], next[list]));
  }
}

function* codeLines(path: string, codes: readonly string[]): Generator<string> {
  if (codes.length > MAX_LINES) yield `${path}: ${codes.length} codes`;
  else for (const code of codes) yield `${path}.${code}`;
}

function missingFrom(present: readonly string[], all: readonly string[]): string[] {
  const known = new Set(present);
  return all.filter((one) => !known.has(one));
}

function byCampaign(coupons: readonly Coupon[]): Map<string, Coupon[]> {
  const groups = new Map<string, Coupon[]>();
  for (const coupon of coupons) {
    const group = groups.get(coupon.campaignId);
    if (group) group.push(coupon);
    else groups.set(coupon.campaignId, [coupon]);
  }
  return groups;
}

function restrictedProducts(campaigns: readonly Campaign[]): string[] {
  return [...new Set(campaigns.flatMap(({ productIds }) => productIds ?? []))];
}

function numbersOf(products: readonly NumberedProduct[]): Map<string, string> {
  return new Map(products.map(({ productId, productNumber }) => [productId, productNumber]));
}

function inOrder(left: { identifier: string }, right: { identifier: string }): number {
  return left.identifier < right.identifier ? -1 : 1;
}

function byIdentifier(campaigns: readonly Campaign[]): Campaign[] {
  return campaigns.toSorted(inOrder);
}

type Given<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined>;
};

/** The object without the fields that are undefined: an absent key says "not set". */
function given<const Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<Fields>;
}

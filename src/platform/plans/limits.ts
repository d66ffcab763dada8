import type { Config } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { Refusal } from '../../http/errors.ts';
import { planOfShop, type Feature, type LimitName, type HostPlan } from './plans.ts';

/** The limits that refuse what would be added. The others are in the way of calls and emails. */
export type RefusingLimit = Exclude<LimitName, 'requestsPerHour' | 'emailsPerDay'>;

const CODES = {
  products: 'PLAN_PRODUCTS_REACHED',
  ordersPerMonth: 'PLAN_ORDERS_REACHED',
  mediaMegabytes: 'PLAN_MEDIA_REACHED',
  people: 'PLAN_PEOPLE_REACHED',
  languages: 'PLAN_LANGUAGES_REACHED',
} as const satisfies Record<RefusingLimit, string>;

export const planLimitReached = (name: RefusingLimit, limit: number, plan: string) =>
  new Refusal(CODES[name], { limit, plan });

const MEGABYTE = 1_048_576;

/**
 * How much of a limit a shop has used: read from sums that are kept anyway, so none costs more in a larger shop.
 * Languages and people are few.
 */
const USED: Readonly<Record<RefusingLimit, (db: Queries, shopId: string) => Promise<number>>> = {
  products: async (db, shopId) => {
    const row = await db.one<{ used: number }>(sql`
      select coalesce(sum(products), 0)::bigint as used from listing_size
      where shop_id = ${shopId} and category_id = ${WHOLE_SHOP}`);
    return row!.used;
  },
  ordersPerMonth: async (db, shopId) => {
    const month = `${db.now.toISOString().slice(0, 7)}-01`;
    const row = await db.one<{ used: number }>(sql`
      select coalesce(sum(orders), 0)::bigint as used from order_day
      where shop_id = ${shopId} and day >= ${month}::date`);
    return row!.used;
  },
  mediaMegabytes: async (db, shopId) => {
    const row = await db.one<{ used: number }>(sql`
      select value as used from counter where shop_id = ${shopId} and name = 'mediaBytes'`);
    return (row?.used ?? 0) / MEGABYTE;
  },
  people: async (db, shopId) => {
    const row = await db.one<{ used: number }>(sql`
      select count(*) as used from shop_user where shop_id = ${shopId}`);
    return row!.used;
  },
  languages: async (db, shopId) => {
    const row = await db.one<{ used: number }>(sql`
      select cardinality(locales) as used from shop where shop_id = ${shopId}`);
    return row?.used ?? 0;
  },
};

/** The list of a whole shop has this category (src/catalogue/products/listing-page.ts). */
const WHOLE_SHOP = '00000000-0000-0000-0000-000000000000';

interface Place {
  db: Queries;
  config: Config;
}

/** undefined: this shop has no such limit. */
export async function limitOf(
  { db, config }: Place,
  shopId: string,
  name: LimitName,
): Promise<{ limit: number; plan: string } | undefined> {
  const plan = await planOfShop(db, config, shopId);
  const limit = plan?.[name];
  return plan && limit !== undefined ? { limit, plan: plan.name } : undefined;
}

/**
 * Refuses what would go beyond the plan of a shop: 402. Several requests in the same moment may pass
 * the limit by a few.
 */
export async function requireRoom(
  place: Place,
  shopId: string,
  name: RefusingLimit,
  added = 1,
): Promise<void> {
  const found = await limitOf(place, shopId, name);
  if (!found) return;
  const { limit, plan } = found;
  if ((await USED[name](place.db, shopId)) + added > limit) throw planLimitReached(name, limit, plan);
}

/** How many more the shop may have; Infinity: any number. */
export async function roomFor(place: Place, shopId: string, name: RefusingLimit): Promise<number> {
  const found = await limitOf(place, shopId, name);
  return found ? Math.max(0, found.limit - (await USED[name](place.db, shopId))) : Infinity;
}

export async function requireFeature({ db, config }: Place, shopId: string, feature: Feature): Promise<void> {
  const plan = await planOfShop(db, config, shopId);
  if (plan && !hasFeature(plan, feature))
    throw new Refusal('PLAN_FEATURE_MISSING', { feature, plan: plan.name });
}

export const hasFeature = (plan: HostPlan | undefined, feature: Feature): boolean =>
  plan?.features === undefined || plan.features.includes(feature);

export interface UsedLimit {
  name: RefusingLimit;
  used: number;
  limit: number;
}

/** From this share on, the admin warns. */
const WARNING_FROM = 0.8;

/** The limits of a shop that are nearly or fully used. */
export async function nearLimits(
  place: Place,
  shopId: string,
): Promise<{ plan: string; limits: UsedLimit[] }> {
  const plan = await planOfShop(place.db, place.config, shopId);
  if (!plan) return { plan: '', limits: [] };
  const limits = await usedLimits(place.db, shopId, plan);
  return { plan: plan.name, limits: limits.filter(({ used, limit }) => used >= limit * WARNING_FROM) };
}

/** Every limit of a plan that can be counted, and how much of it is used. */
export function usedLimits(db: Queries, shopId: string, plan: HostPlan): Promise<UsedLimit[]> {
  const names = (Object.keys(USED) as RefusingLimit[]).filter((name) => plan[name] !== undefined);
  return Promise.all(
    names.map(async (name) => ({ name, used: await USED[name](db, shopId), limit: plan[name]! })),
  );
}

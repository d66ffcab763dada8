import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { COUNTERS } from '../platform/counters.ts';

/** The states of a shop, as the host sees them. */
export const SHOP_STATES = ['open', 'notOpen', 'suspended', 'deletionPlanned'] as const;

export type ShopState = (typeof SHOP_STATES)[number];

export interface HostedShop {
  shopId: string;
  name: string;
  state: ShopState;
  /** null: the default one. */
  plan: string | null;
  /** The domain used in its links. */
  domain: string | null;
  createdAt: Date;
  suspendedAt: Date | null;
  deletionAt: Date | null;
  orders: number;
  /** The size of its images. */
  mediaBytes: number;
}

export const stateOfShop = sql`
  case when shop.deletion_at is not null then 'deletionPlanned' when shop.suspended_at is not null then 'suspended'
    when shop.is_open then 'open' else 'notOpen' end`;

const nameOfShop = sql`coalesce(shop.settings -> 'name' ->> shop.default_locale, shop.shop_id)`;

/**
 * Sizes are read from counters. All are looked up for the shops of the page alone: joined, PostgreSQL would read the
 * counters of all shops.
 */
export const shopColumns = sql`
  shop.shop_id as "shopId", ${nameOfShop} as name, ${stateOfShop} as state,
  (select host from shop_domain where shop_domain.shop_id = shop.shop_id and position = 0) as domain,
  shop.created_at as "createdAt", shop.deletion_at as "deletionAt",
  coalesce((select value from counter where counter.shop_id = shop.shop_id and counter.name = 'order'), ${COUNTERS.order})
    - ${COUNTERS.order} as orders,
  coalesce((select value from counter where counter.shop_id = shop.shop_id and counter.name = 'mediaBytes'), 0)
    as "mediaBytes"`;

const columns = sql`${shopColumns}, shop.plan, shop.suspended_at as "suspendedAt"`;

export interface ShopFilter {
  /** Only ids after this one; '' for the beginning. */
  after: string;
  states: readonly ShopState[];
  /** null: any; '': the default one. */
  plan: string | null;
  /** A part of the name or the beginning of the id, in any case; '' for all. */
  search: string;
  createdAfter: Date;
  createdBefore: Date;
}

/** In the order of their ids, over all nodes of a cluster. */
export function findHostedShops(db: Queries, filter: ShopFilter, limit: number) {
  const { after, states, plan, search, createdAfter, createdBefore } = filter;
  return db.many<HostedShop>(sql`
    select ${columns} from shop
    where shop.shop_id > ${after} and ${stateOfShop} = any (${states}::text[])
      and shop.created_at > ${createdAfter} and shop.created_at < ${createdBefore}
      and (${plan === null} or coalesce(shop.plan, '') = ${plan ?? ''})
      and (starts_with(lower(shop.shop_id), lower(${search})) or strpos(lower(${nameOfShop}), lower(${search})) > 0)
    order by shop.shop_id limit ${limit}`);
}

export function findHostedShop(db: Queries, shopId: string) {
  return db.one<HostedShop>(sql`select ${columns} from shop where shop.shop_id = ${shopId}`);
}

export interface LockedShop {
  isSuspended: boolean;
  deletionAt: Date | null;
  plan: string | null;
  /** Why its emails are frozen; null: they are sent. */
  emailsFrozen: string | null;
}

/** undefined: there is no such shop. */
export function lockHostedShop(tx: Transaction, shopId: string) {
  return tx.one<LockedShop>(sql`
    select suspended_at is not null as "isSuspended", deletion_at as "deletionAt", plan,
      emails_frozen_reason as "emailsFrozen"
    from shop where shop_id = ${shopId} for update`);
}

export async function findShopToDelete(db: Queries): Promise<string | undefined> {
  const row = await db.one<{ shopId: string }>(sql`
    select shop_id as "shopId" from shop where deletion_at is not null and deletion_at <= ${db.now}
    order by deletion_at, shop_id limit 1`);
  return row?.shopId;
}

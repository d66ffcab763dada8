import { dayOf } from '../http/dates.ts';
import type { Queries, Transaction } from '../db/database.ts';
import { WAIT } from '../db/locks.ts';
import { sql } from '../db/sql.ts';

/* Rows are locked in the order of their keys, so two transactions cannot deadlock. */

export async function lockCoupons(
  tx: Transaction,
  shopId: string,
  codeKeys: readonly string[],
  ifLocked = WAIT,
) {
  if (codeKeys.length === 0) return [];
  return tx.many<{ codeKey: string; campaignId: string; used: number }>(sql`
    select code_key as "codeKey", campaign_id as "campaignId", used from coupon
    where shop_id = ${shopId} and code_key = any (${codeKeys})
    order by code_key for no key update ${ifLocked}`);
}

interface LockedCampaign {
  campaignId: string;
  used: number;
  usageLimit: number | null;
  campaignUsageLimit: number | null;
}

/** Locks the campaigns of these coupons. */
export async function lockCampaignsByCode(
  tx: Transaction,
  shopId: string,
  codeKeys: readonly string[],
  ifLocked = WAIT,
) {
  if (codeKeys.length === 0) return [];
  return tx.many<LockedCampaign>(sql`
    select campaign_id as "campaignId", used, usage_limit as "usageLimit",
      campaign_usage_limit as "campaignUsageLimit"
    from coupon_campaign
    where shop_id = ${shopId} and campaign_id = any (array(
      select campaign_id from coupon where shop_id = ${shopId} and code_key = any (${codeKeys})))
    order by campaign_id for no key update ${ifLocked}`);
}

/** Counts a use of these coupons, for each time that one is named. */
export async function redeemCoupons(tx: Transaction, shopId: string, codeKeys: readonly string[]) {
  if (codeKeys.length === 0) return;
  await tx.run(sql`
    update coupon set used = used + cardinality(array_positions(${codeKeys}::text[], code_key))
    where shop_id = ${shopId} and code_key = any (${codeKeys}::text[])`);
}

/** Counts a use of these campaigns, for each time that one is named. */
export async function countRedemptions(tx: Transaction, shopId: string, campaignIds: readonly string[]) {
  if (campaignIds.length === 0) return;
  await tx.run(sql`
    update coupon_campaign set used = used + cardinality(array_positions(${campaignIds}::uuid[], campaign_id))
    where shop_id = ${shopId} and campaign_id = any (${campaignIds}::uuid[])`);
}

/** The same for their day. */
export async function countRedemptionsOfDay(
  tx: Transaction,
  shopId: string,
  campaignIds: readonly string[],
  at: Date,
) {
  if (campaignIds.length === 0) return;
  await tx.run(sql`
    insert into coupon_day (shop_id, campaign_id, day, orders)
    select campaign.shop_id, campaign.campaign_id, ${dayOf(at)}::date,
      cardinality(array_positions(${campaignIds}::uuid[], campaign.campaign_id))
    from coupon_campaign campaign
    where campaign.shop_id = ${shopId} and campaign.campaign_id = any (${campaignIds}::uuid[])
    order by campaign.campaign_id
    on conflict (shop_id, campaign_id, day) do update set orders = coupon_day.orders + excluded.orders`);
}

interface RedeemedOrder {
  campaignId: string;
  currency: string;
  grandTotal: number;
}

/** Adds what these orders are worth to the revenue of their campaigns on their day. */
export async function addCouponRevenue(
  tx: Transaction,
  shopId: string,
  orders: readonly RedeemedOrder[],
  at: Date,
) {
  if (orders.length === 0) return;
  await tx.run(sql`
    insert into coupon_revenue (shop_id, campaign_id, day, currency, orders, revenue)
    select campaign.shop_id, campaign.campaign_id, ${dayOf(at)}::date, sold.currency, count(*),
      sum(sold."grandTotal")
    from coupon_campaign campaign
    join jsonb_to_recordset(${JSON.stringify(orders)}) as sold ("campaignId" uuid, currency text, "grandTotal" bigint)
      on sold."campaignId" = campaign.campaign_id
    where campaign.shop_id = ${shopId}
    group by campaign.shop_id, campaign.campaign_id, sold.currency
    order by campaign.campaign_id, sold.currency
    on conflict (shop_id, campaign_id, day, currency)
      do update set orders = coupon_revenue.orders + excluded.orders, revenue = coupon_revenue.revenue + excluded.revenue`);
}

/** What the orders with coupons of a campaign were worth since a day (UTC). */
export function findCouponRevenue(db: Queries, shopId: string, campaignId: string, since: Date) {
  return db.many<{ currency: string; orders: number; revenue: number }>(sql`
    select currency, sum(orders)::bigint as orders, sum(revenue)::bigint as revenue from coupon_revenue
    where shop_id = ${shopId} and campaign_id = ${campaignId} and day >= ${dayOf(since)}::date
    group by currency order by sum(revenue) desc, currency`);
}

/** Takes back the use of a coupon. */
export async function giveBackCoupon(tx: Transaction, shopId: string, codeKey: string): Promise<void> {
  const coupon = await tx.one<{ campaignId: string }>(sql`
    update coupon set used = used - 1
    where shop_id = ${shopId} and code_key = ${codeKey} and used > 0
    returning campaign_id as "campaignId"`);
  if (!coupon) return;
  await tx.run(sql`
    update coupon_campaign set used = used - 1
    where shop_id = ${shopId} and campaign_id = ${coupon.campaignId} and used > 0`);
}

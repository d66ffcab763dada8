import { dayOf } from '../../http/dates.ts';
import type { Campaign } from '../../coupons/campaign.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';

export interface ListedCampaign extends Pick<
  Campaign,
  | 'campaignId'
  | 'kind'
  | 'currency'
  | 'amount'
  | 'waiveShippingCosts'
  | 'campaignUsageLimit'
  | 'validFrom'
  | 'validTo'
> {
  name: Localised;
  used: number;
  /** One more than the limit: there are more. */
  codes: number;
}

/** A campaign may have a million codes; more than these are shown as a plus. A list counts those of many campaigns. */
export const MAX_COUNTED_CODES = { inList: 1_000, alone: 10_000 };

const listedColumns = (shopId: string, maxCounted: number) => sql`
  upper(campaign.campaign_id::text) as "campaignId", campaign.name, kind, currency, amount,
  waive_shipping_costs as "waiveShippingCosts", campaign_usage_limit as "campaignUsageLimit",
  valid_from as "validFrom", valid_to as "validTo", campaign.used, (
    select count(*) from (
      select from coupon where coupon.shop_id = ${shopId} and coupon.campaign_id = campaign.campaign_id
      limit ${maxCounted + 1}) counted
  ) as codes`;

/** Newest first. */
export function findListedCampaigns(
  db: Queries,
  shopId: string,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<ListedCampaign>(sql`
    select ${listedColumns(shopId, MAX_COUNTED_CODES.inList)} from coupon_campaign campaign
    where campaign.shop_id = ${shopId}
    order by campaign.created_at desc, campaign.campaign_id desc limit ${limit} offset ${offset}`);
}

export function findListedCampaign(db: Queries, shopId: string, campaignId: string) {
  return db.one<ListedCampaign>(sql`
    select ${listedColumns(shopId, MAX_COUNTED_CODES.alone)} from coupon_campaign campaign
    where campaign.shop_id = ${shopId} and campaign.campaign_id = ${campaignId}`);
}

export async function countCampaigns(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from coupon_campaign where shop_id = ${shopId}`,
  );
  return row!.count;
}

/** Days without an order are missing. */
export function findCampaignDays(db: Queries, shopId: string, campaignId: string, since: Date) {
  return db.many<{ day: string; orders: number }>(sql`
    select to_char(day, 'YYYY-MM-DD') as day, orders from coupon_day
    where shop_id = ${shopId} and campaign_id = ${campaignId} and day >= ${dayOf(since)}::date
    order by day`);
}

export interface ListedCode {
  code: string;
  used: number;
  createdAt: Date;
  isWithdrawn: boolean;
}

const codeColumns = sql`code, used, created_at as "createdAt", withdrawn_at is not null as "isWithdrawn"`;

/** The first ones, in no particular order. */
export function findSomeCodes(db: Queries, shopId: string, campaignId: string, limit: number) {
  return db.many<ListedCode>(sql`
    select ${codeColumns} from coupon where shop_id = ${shopId} and campaign_id = ${campaignId} limit ${limit}`);
}

/** The one with exactly this code. */
export function findCode(db: Queries, shopId: string, campaignId: string, codeKey: string) {
  return db.many<ListedCode>(sql`
    select ${codeColumns} from coupon
    where shop_id = ${shopId} and code_key = ${codeKey} and campaign_id = ${campaignId}`);
}

/** The codes after one, in their order: the next part of a file. */
export function findCodesAfter(
  db: Queries,
  shopId: string,
  campaignId: string,
  { after, limit }: { after: string; limit: number },
) {
  return db.many<ListedCode & { codeKey: string }>(sql`
    select code_key as "codeKey", ${codeColumns} from coupon
    where shop_id = ${shopId} and campaign_id = ${campaignId} and code_key > ${after}
    order by code_key limit ${limit}`);
}

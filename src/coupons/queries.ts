import type { Queries, Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import { sql } from '../db/sql.ts';
import type { Campaign } from './campaign.ts';

const columns = sql`
  campaign_id as "campaignId", identifier, name, currency, kind, amount,
  waive_shipping_costs as "waiveShippingCosts", minimum_order_value as "minimumOrderValue",
  usage_limit as "usageLimit", campaign_usage_limit as "campaignUsageLimit", valid_from as "validFrom",
  valid_to as "validTo", product_ids as "productIds", shipping_method_ids as "shippingMethodIds",
  payment_method_ids as "paymentMethodIds"`;

export function findCampaign(db: Queries, shopId: string, campaignId: string) {
  return db.one<Campaign>(sql`
    select ${columns} from coupon_campaign where shop_id = ${shopId} and campaign_id = ${campaignId}`);
}

export function findCampaigns(db: Queries, shopId: string) {
  return db.many<Campaign>(sql`select ${columns} from coupon_campaign where shop_id = ${shopId}`);
}

/** Locks it until the transaction ends: it cannot change, and no order can use its codes. */
export function lockCampaign(tx: Transaction, shopId: string, campaignId: string) {
  return tx.one<Campaign>(sql`
    select ${columns} from coupon_campaign where shop_id = ${shopId} and campaign_id = ${campaignId} for update`);
}

/** Prevents new codes in any of them until the transaction ends. */
export function lockCampaigns(tx: Transaction, shopId: string) {
  return tx.many<Campaign>(sql`
    select ${columns} from coupon_campaign where shop_id = ${shopId} order by campaign_id for update`);
}

/** undefined: the identifier is taken. */
export function insertCampaign(tx: Transaction, shopId: string, campaign: Campaign) {
  return tx.one<Campaign>(sql`
    insert into coupon_campaign (shop_id, campaign_id, identifier, name, created_at, currency, kind, amount,
      waive_shipping_costs, minimum_order_value, usage_limit, campaign_usage_limit, valid_from, valid_to,
      product_ids, shipping_method_ids, payment_method_ids)
    values (${shopId}, ${campaign.campaignId}, ${campaign.identifier}, ${campaign.name}, ${tx.now},
      ${campaign.currency}, ${campaign.kind}, ${campaign.amount}, ${campaign.waiveShippingCosts},
      ${campaign.minimumOrderValue}, ${campaign.usageLimit}, ${campaign.campaignUsageLimit},
      ${campaign.validFrom}, ${campaign.validTo}, ${campaign.productIds}, ${campaign.shippingMethodIds},
      ${campaign.paymentMethodIds})
    on conflict (shop_id, identifier) do nothing
    returning ${columns}`);
}

const upsertCampaigns = insertInto(
  'coupon_campaign',
  {
    campaignId: 'uuid',
    identifier: 'text',
    name: 'jsonb',
    createdAt: 'timestamptz',
    currency: 'text',
    kind: 'text',
    amount: 'bigint',
    waiveShippingCosts: 'boolean',
    minimumOrderValue: 'bigint',
    usageLimit: 'bigint',
    campaignUsageLimit: 'bigint',
    validFrom: 'timestamptz',
    validTo: 'timestamptz',
    productIds: 'uuid[]',
    shippingMethodIds: 'uuid[]',
    paymentMethodIds: 'uuid[]',
  },
  { key: ['campaignId'], keep: ['identifier', 'createdAt'] },
);

/** Inserts new ones and updates those with the same id; their use counts stay. */
export function replaceCampaigns(tx: Transaction, shopId: string, campaigns: readonly Campaign[]) {
  return tx.run(
    upsertCampaigns(
      shopId,
      campaigns.map((campaign) => ({ ...campaign, createdAt: tx.now })),
    ),
  );
}

/** Their codes go with them (foreign key). */
export function deleteCampaigns(tx: Transaction, shopId: string, campaignIds: readonly string[]) {
  return tx.run(sql`
    delete from coupon_campaign where shop_id = ${shopId} and campaign_id = any (${campaignIds}::uuid[])`);
}

export interface Coupon {
  campaignId: string;
  codeKey: string;
  /** As it was given. */
  code: string;
  withdrawn: boolean;
}

export function findCoupons(db: Queries, shopId: string) {
  return db.many<Coupon>(sql`
    select campaign_id as "campaignId", code_key as "codeKey", code, withdrawn_at is not null as withdrawn
    from coupon where shop_id = ${shopId}`);
}

/**
 * Adds a code unless it exists, and returns the campaign that it belongs to; undefined: there is no such campaign. The
 * update changes nothing: it makes the statement return a row that existed, or was just added by another request.
 */
export function insertCoupon(tx: Transaction, shopId: string, coupon: Omit<Coupon, 'withdrawn'>) {
  return tx.one<{ campaignId: string }>(sql`
    insert into coupon (shop_id, code_key, code, campaign_id, created_at)
    select shop_id, ${coupon.codeKey}, ${coupon.code}, campaign_id, ${tx.now}
    from coupon_campaign where shop_id = ${shopId} and campaign_id = ${coupon.campaignId}
    on conflict (shop_id, code_key) do update set code_key = excluded.code_key
    returning upper(campaign_id::text) as "campaignId"`);
}

/** Adds the codes that the shop does not have yet, and returns them. */
export async function insertCoupons(
  tx: Transaction,
  shopId: string,
  campaignId: string,
  codes: readonly { codeKey: string; code: string }[],
): Promise<string[]> {
  const rows = await tx.many<{ code: string }>(sql`
    insert into coupon (shop_id, code_key, code, campaign_id, created_at)
    select campaign.shop_id, given.code_key, given.code, campaign.campaign_id, ${tx.now}::timestamptz
    from coupon_campaign campaign
    cross join unnest(${codes.map(({ codeKey }) => codeKey)}::text[], ${codes.map(({ code }) => code)}::text[])
      as given (code_key, code)
    where campaign.shop_id = ${shopId} and campaign.campaign_id = ${campaignId}
    on conflict (shop_id, code_key) do nothing
    returning code`);
  return rows.map(({ code }) => code);
}

/**
 * Inserts new ones and updates those with the same key; their use counts and recall times stay. Joining the shop tells
 * Citus that all of them belong to one shard.
 */
export function replaceCoupons(tx: Transaction, shopId: string, coupons: readonly Coupon[]) {
  return tx.run(sql`
    insert into coupon (shop_id, code_key, code, campaign_id, created_at, withdrawn_at)
    select shop.shop_id, "codeKey", code, "campaignId", ${tx.now},
      case when withdrawn then ${tx.now}::timestamptz end
    from shop cross join json_to_recordset(${JSON.stringify(coupons)}) as entry ("codeKey" text, code text,
      "campaignId" uuid, withdrawn boolean)
    where shop.shop_id = ${shopId}
    on conflict (shop_id, code_key) do update
    set code = excluded.code,
      withdrawn_at = case when excluded.withdrawn_at is not null
        then coalesce(coupon.withdrawn_at, excluded.withdrawn_at) end`);
}

export function deleteCoupons(tx: Transaction, shopId: string, codeKeys: readonly string[]) {
  return tx.run(sql`
    delete from coupon where shop_id = ${shopId} and code_key = any (${codeKeys}::text[])`);
}

export interface NumberedProduct {
  productId: string;
  productNumber: string;
}

const productColumns = sql`upper(product_id::text) as "productId", product_number as "productNumber"`;

export function findProductsById(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<NumberedProduct>(sql`
    select ${productColumns} from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])`);
}

export function findProductsByNumber(db: Queries, shopId: string, productNumbers: readonly string[]) {
  return db.many<NumberedProduct>(sql`
    select ${productColumns} from product
    where shop_id = ${shopId} and product_number = any (${productNumbers}::text[])`);
}

/** Those of these codes that a coupon has, and whether it may be used now. */
export function findKnownCodes(db: Queries, shopId: string, codeKeys: readonly string[]) {
  return db.many<{ codeKey: string; isValid: boolean }>(sql`
    select coupon.code_key as "codeKey", (
        coupon.withdrawn_at is null and coalesce(campaign.valid_from, '-infinity') <= ${db.now}
        and coalesce(campaign.valid_to, 'infinity') > ${db.now}
      ) as "isValid"
    from coupon
    join coupon_campaign campaign on campaign.shop_id = coupon.shop_id
      and campaign.campaign_id = coupon.campaign_id
    where coupon.shop_id = ${shopId} and coupon.code_key = any (${codeKeys}::text[])`);
}

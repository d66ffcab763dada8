import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** The uses of promotions with a limit. */

/** Orders whose customers are known by an id, or by an email address only. */
type Buyers = readonly { customerId: string | null; email: string }[];

const buyerIds = (shopId: string, buyers: Buyers) => sql`array(
    select customer_id from customer where shop_id = ${shopId}
      and customer_id = any (${buyers.flatMap(({ customerId }) => customerId ?? [])}::uuid[])
    union
    select customer_id from customer where shop_id = ${shopId}
      and email_key = any (${buyers.map(({ email }) => email.toLowerCase())}::text[]))`;

/**
 * Locks the uses of these promotions, in the order of their ids. Placing an order locks them before the counters, as
 * cancelling one does, so the two cannot deadlock. Uses that are new are inserted under the lock of the counters.
 */
export async function lockPromotionUses(
  tx: Transaction,
  shopId: string,
  promotionIds: readonly string[],
): Promise<void> {
  if (promotionIds.length === 0) return;
  await tx.run(sql`
    select from promotion_use where shop_id = ${shopId} and promotion_id = any (${promotionIds}::uuid[])
    order by promotion_id for no key update`);
}

interface PromotionUses {
  promotionId: string;
  used: number;
}

/** Read while the counters of orders are locked, nothing can change them but what gives a use back. */
export async function findPromotionUses(tx: Transaction, shopId: string, promotionIds: readonly string[]) {
  if (promotionIds.length === 0) return [];
  return tx.many<PromotionUses>(sql`
    select upper(promotion_id::text) as "promotionId", used from promotion_use
    where shop_id = ${shopId} and promotion_id = any (${promotionIds}::uuid[])`);
}

export async function findCustomerUses(
  tx: Transaction,
  shopId: string,
  promotionIds: readonly string[],
  buyers: Buyers,
) {
  if (promotionIds.length === 0) return [];
  return tx.many<PromotionUses & { customerId: string }>(sql`
    select upper(promotion_id::text) as "promotionId", upper(customer_id::text) as "customerId", used
    from promotion_customer_use
    where shop_id = ${shopId} and promotion_id = any (${promotionIds}::uuid[])
      and customer_id = any (${buyerIds(shopId, buyers)})`);
}

interface CountedUse {
  promotionId: string;
  customerId: string;
}

/**
 * Counts a use of a promotion for each time that it is named. Joining the shop tells Citus that all rows belong to one
 * shard.
 */
export async function countPromotionUses(tx: Transaction, shopId: string, uses: readonly CountedUse[]) {
  if (uses.length === 0) return;
  await tx.run(sql`
    insert into promotion_use (shop_id, promotion_id, used)
    select shop.shop_id, given."promotionId", count(*)
    from shop cross join json_to_recordset(${JSON.stringify(uses)}) as given ("promotionId" uuid)
    where shop.shop_id = ${shopId}
    group by shop.shop_id, given."promotionId" order by given."promotionId"
    on conflict (shop_id, promotion_id) do update set used = promotion_use.used + excluded.used`);
}

/** The same of each customer. */
export async function countCustomerUses(tx: Transaction, shopId: string, uses: readonly CountedUse[]) {
  if (uses.length === 0) return;
  await tx.run(sql`
    insert into promotion_customer_use (shop_id, customer_id, promotion_id, used)
    select shop.shop_id, given."customerId", given."promotionId", count(*)
    from shop cross join json_to_recordset(${JSON.stringify(uses)}) as given ("customerId" uuid, "promotionId" uuid)
    where shop.shop_id = ${shopId}
    group by shop.shop_id, given."customerId", given."promotionId" order by given."customerId", given."promotionId"
    on conflict (shop_id, customer_id, promotion_id)
      do update set used = promotion_customer_use.used + excluded.used`);
}

/** Takes back the uses of a cancelled order. */
export async function giveBackPromotions(
  tx: Transaction,
  shopId: string,
  promotionIds: readonly string[],
  customerId: string,
) {
  if (promotionIds.length === 0) return;
  await lockPromotionUses(tx, shopId, promotionIds);
  await tx.run(sql`
    update promotion_use set used = used - 1
    where shop_id = ${shopId} and promotion_id = any (${promotionIds}::uuid[]) and used > 0`);
  await tx.run(sql`
    update promotion_customer_use set used = used - 1
    where shop_id = ${shopId} and customer_id = ${customerId} and promotion_id = any (${promotionIds}::uuid[])
      and used > 0`);
}

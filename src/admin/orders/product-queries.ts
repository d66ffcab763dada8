import type { CartProduct } from '../../pricing/cart-product.ts';
import { findCartProducts, versionStamps } from '../../pricing/cart-product-cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { foundCustomers } from '../../people/customers/find-people.ts';

const MAX_SUGGESTED = 20;
const MAX_CUSTOMERS = 10;

/** Sorts after every character. */
const LAST = '\u{10FFFF}';

/**
 * The sellable ones of these products (the variations instead of a master), and products whose number starts with the
 * text, as typed or in capitals.
 */
export async function findSellable(
  db: Queries,
  shopId: string,
  text: string,
  productIds: readonly string[],
): Promise<string[]> {
  const capitals = text.toUpperCase();
  const rows = await db.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and kind <> 'master' and product_id = any (array(
      (
        select product_id from product
        where shop_id = ${shopId} and product_number >= ${text} and product_number < ${text + LAST}
        order by product_number limit ${MAX_SUGGESTED}
      ) union (
        select product_id from product
        where shop_id = ${shopId} and product_number >= ${capitals} and product_number < ${capitals + LAST}
        order by product_number limit ${MAX_SUGGESTED}
      ) union (
        select product_id from product where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
      ) union (
        select product_id from product where shop_id = ${shopId} and master_id = any (${productIds}::uuid[])
        limit ${MAX_SUGGESTED}
      )
    ))
    order by product_number limit ${MAX_SUGGESTED}`);
  return rows.map(({ productId }) => productId);
}

/** Products as carts use them. */
export async function loadProducts(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
): Promise<CartProduct[]> {
  if (productIds.length === 0) return [];
  const row = await db.one<{ stamps: string[] }>(
    sql`select ${versionStamps(shopId, sql`${productIds}::uuid[]`)} as stamps`,
  );
  return findCartProducts(db, shopId, row!.stamps);
}

export interface FoundCustomer {
  customerId: string;
  customerNumber: string;
  email: string | null;
  name: string;
}

/** Customers whose number, email address, name or company starts with the text. */
export function searchCustomers(db: Queries, shopId: string, text: string) {
  return db.many<FoundCustomer>(sql`
    select upper(customer_id::text) as "customerId", customer_number as "customerNumber",
      billing_address ->> 'emailAddress' as email,
      concat_ws(' ', billing_address ->> 'firstName', billing_address ->> 'lastName', billing_address ->> 'company') as name
    from customer
    where shop_id = ${shopId} and customer_id = any (array(
      select customer_id from (${foundCustomers(shopId, { text, customerGroupId: '' }, MAX_CUSTOMERS)}) found))
    order by email_key limit ${MAX_CUSTOMERS}`);
}

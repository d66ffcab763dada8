import type { FoundCustomer } from '../orders/product-queries.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { foundCustomers } from '../../people/customers/find-people.ts';
import { findOrdersByNumberPart, foundOrders } from '../orders/queries.ts';

const MAX_FOUND = 5;
/** Limit of the matches of each kind that are read and compared. */
const MAX_OF_KIND = 50;

/** Sorts after every character. */
const LAST = '\u{10FFFF}';

export interface FoundOrder {
  orderId: string;
  orderNumber: string;
  name: string;
  /** The place in FOUND_BY. */
  place: number;
}

const customerName = sql`trim(concat_ws(' ', billing_address ->> 'firstName', billing_address ->> 'lastName'))`;

/** The orders that a text finds, the best matches first, then the newest. */
export async function findOrdersByText(db: Queries, shopId: string, text: string) {
  const search = { text, byNumberPart: await findOrdersByNumberPart(db, shopId, text) };
  return db.many<FoundOrder>(sql`
    with found as materialized (
      select order_id, min(place) as place from (${foundOrders(shopId, search, MAX_OF_KIND)}) found group by order_id
    )
    select upper(customer_order.order_id::text) as "orderId", order_number as "orderNumber", ${customerName} as name,
      found.place
    from customer_order join found on found.order_id = customer_order.order_id
    where customer_order.shop_id = ${shopId} and customer_order.order_id = any (array(select order_id from found))
    order by found.place, created_at desc limit ${MAX_FOUND}`);
}

/** Customers whose number, email address, name, company, street or postcode begins with the text, or by telephone. */
export function findCustomersByText(db: Queries, shopId: string, text: string) {
  return db.many<FoundCustomer>(sql`
    select upper(customer_id::text) as "customerId", customer_number as "customerNumber", ${customerName} as name,
      billing_address ->> 'emailAddress' as email
    from customer
    where shop_id = ${shopId} and customer_id = any (array(
      select customer_id from (${foundCustomers(shopId, { text, customerGroupId: '' }, MAX_FOUND)}) found))
    order by customer_number limit ${MAX_FOUND}`);
}

export interface FoundProduct {
  productId: string;
  productNumber: string;
  name: Record<string, string> | null;
}

/** Products whose number starts with the text, as typed or in capitals. A variation has the name of its product. */
export function findProductsByNumberPrefix(db: Queries, shopId: string, text: string) {
  const numbered = (beginning: string) => sql`(
    select product_id from product
    where shop_id = ${shopId} and product_number >= ${beginning} and product_number < ${beginning + LAST}
    order by product_number limit ${MAX_FOUND})`;
  return db.many<FoundProduct>(sql`
    select upper(product.product_id::text) as "productId", product.product_number as "productNumber",
      coalesce(product.facts -> 'name', master.facts -> 'name') as name
    from product left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    where product.shop_id = ${shopId}
      and product.product_id = any (array(${numbered(text)} union ${numbered(text.toUpperCase())}))
    order by product.product_number limit ${MAX_FOUND}`);
}

/** In the order of the ids. */
export function findProductNames(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<FoundProduct>(sql`
    select upper(product_id::text) as "productId", product_number as "productNumber", facts -> 'name' as name
    from product where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
    order by array_position(${productIds}::uuid[], product_id)`);
}

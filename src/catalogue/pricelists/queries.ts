import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ListPrices, PriceTier } from '../products/facts.ts';

/** A product with its prices in a list. */
export interface ListedPrices {
  productId: string;
  productNumber: string;
  tiers: PriceTier[];
}

const inList = (priceListId: string) => sql`
  facts ? 'listPrices' and facts -> 'listPrices' @> ${JSON.stringify([{ priceListId }])}::jsonb`;

const tiersIn = (priceListId: string) =>
  sql`jsonb_path_query_first(facts, '$.listPrices[*] ? (@.priceListId == $list).tiers', ${JSON.stringify({ list: priceListId })}::jsonb)`;

/** The products of a list after this number, by number. */
export function findListedPrices(
  db: Queries,
  shopId: string,
  priceListId: string,
  { after, limit, offset }: { after: string; limit: number; offset: number },
) {
  return db.many<ListedPrices>(sql`
    select upper(product_id::text) as "productId", product_number as "productNumber",
      ${tiersIn(priceListId)} as tiers
    from product
    where shop_id = ${shopId} and ${inList(priceListId)} and product_number > ${after}
    order by product_number limit ${limit} offset ${offset}`);
}

/** The number of products of each list that has any. */
export function countListPrices(db: Queries, shopId: string) {
  return db.many<{ priceListId: string; count: number }>(sql`
    select list ->> 'priceListId' as "priceListId", count(*) as count
    from product cross join jsonb_array_elements(facts -> 'listPrices') as list
    where shop_id = ${shopId} and facts ? 'listPrices'
    group by 1`);
}

/** A product whose prices in lists are about to change. */
export interface LockedPrices {
  productId: string;
  productNumber: string;
  listPrices: ListPrices[] | null;
}

const lockedColumns = sql`
  upper(product_id::text) as "productId", product_number as "productNumber", facts -> 'listPrices' as "listPrices"`;

/** Locks these products in the order of their ids, so that two files cannot deadlock. */
export function lockNumbered(tx: Transaction, shopId: string, productNumbers: readonly string[]) {
  return tx.many<LockedPrices>(sql`
    select ${lockedColumns} from product
    where shop_id = ${shopId} and product_number = any (${productNumbers})
    order by product_id for update`);
}

/** The same for the products of a list. */
export function lockListed(tx: Transaction, shopId: string, priceListId: string) {
  return tx.many<LockedPrices>(sql`
    select ${lockedColumns} from product
    where shop_id = ${shopId} and ${inList(priceListId)}
    order by product_id for update`);
}

/** A product without prices in lists has null. */
export function updateListPrices(
  tx: Transaction,
  shopId: string,
  rows: readonly { productId: string; listPrices: ListPrices[] | null }[],
) {
  return tx.run(sql`
    update product
    set version = version + 1, facts = case
      when jsonb_typeof(entry."listPrices") = 'array'
      then facts || jsonb_build_object('listPrices', entry."listPrices")
      else facts - 'listPrices' end
    from jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid, "listPrices" jsonb)
    where product.shop_id = ${shopId} and product.product_id = any (${rows.map(({ productId }) => productId)}::uuid[])
      and product.product_id = entry."productId"`);
}

import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** A shop with more products shows offers among those that were created or changed last. */
const MAX_CANDIDATES = 500;

interface Featured {
  /** `<id>:<version>,...` */
  offers: string | null;
  /** Products marked as new, then the newest others. */
  fresh: string | null;
  /** How many are marked as new. */
  marked: number;
}

/** At most `limit` offers, and as many new products. Whether one is still new depends on the time, which changes no version, so the statement decides it. */
export function findFeatured(db: Queries, shopId: string, limit: number) {
  return db.one<Featured>(sql`
    with changed as materialized (
      select product_id from product
      where shop_id = ${shopId} and attributes_changed_at is not null
      order by attributes_changed_at desc limit ${MAX_CANDIDATES}
    ), created as materialized (
      select product_id from product where shop_id = ${shopId} order by product_id desc limit ${MAX_CANDIDATES}
    ), featured as materialized (
      select product.product_id, product.version || coalesce('/' || product.stock, '') as version,
        product.facts -> 'specialOffer' = 'true' as is_offer,
        product.facts -> 'isNew' = 'true'
          and coalesce((product.facts ->> 'newUntil')::timestamptz > ${db.now}, true) as is_new
      from product
      where product.shop_id = ${shopId} and product.visible and product.kind <> 'variation'
        and product.product_id in (select product_id from changed union select product_id from created)
    )
    select (
      select string_agg(product_id || ':' || version, ',' order by product_id desc) from (
        select * from featured where is_offer order by product_id desc limit ${limit}
      ) as entry
    ) as offers, (
      select string_agg(product_id || ':' || version, ',' order by is_new desc nulls last, product_id desc) from (
        select * from featured order by is_new desc nulls last, product_id desc limit ${limit}
      ) as entry
    ) as fresh, (select count(*) from featured where is_new) as marked`);
}

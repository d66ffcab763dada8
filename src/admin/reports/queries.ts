import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';

export interface ReportedProduct {
  productId: string;
  productNumber: string;
  name: Localised | null;
  /** Its main category, which is the first one; a variation has that of its product. null: it has none. */
  categoryId: string | null;
  category: Localised | null;
}

/** The products among these that still exist. */
export function findReportedProducts(db: Queries, shopId: string, productIds: readonly string[]) {
  return db.many<ReportedProduct>(sql`
    select upper(product.product_id::text) as "productId", product.product_number as "productNumber",
      coalesce(product.facts -> 'name', master.facts -> 'name') as name, main.id as "categoryId",
      main.name as category
    from product left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    left join lateral (
      select upper(category.category_id::text) as id, category.name
      from product_category join category on category.shop_id = ${shopId}
        and category.category_id = product_category.category_id
      where product_category.shop_id = ${shopId}
        and product_category.product_id = coalesce(product.master_id, product.product_id)
      order by product_category.position, category.category_id limit 1
    ) main on true
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])`);
}

export function findGroupNames(db: Queries, shopId: string) {
  return db.many<{ id: string; name: string }>(sql`
    select upper(customer_group_id::text) as id, name from customer_group where shop_id = ${shopId}`);
}

export function findAppNames(db: Queries, shopId: string, appIds: readonly string[]) {
  return db.many<{ id: string; name: string }>(sql`
    select upper(app_id::text) as id, name from app where shop_id = ${shopId} and app_id = any (${appIds}::uuid[])`);
}

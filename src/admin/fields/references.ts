import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** How people name what a field refers to: by product number, alias of a category, customer number, address, file name. */
export interface NamedReference {
  id: string;
  type: 'product' | 'category' | 'customer' | 'page' | 'file';
  name: string;
}

/** The names of these things. A page has one for each language. */
export function findReferences(db: Queries, shopId: string, ids: readonly string[]) {
  return db.many<NamedReference>(sql`
    select upper(product_id::text) as id, 'product' as type, product_number as name from product
      where product.shop_id = ${shopId} and product_id = any (${ids}::uuid[])
    union all
    select upper(category_id::text), 'category', alias from category
      where category.shop_id = ${shopId} and category_id = any (${ids}::uuid[])
    union all
    select upper(customer_id::text), 'customer', customer_number from customer
      where customer.shop_id = ${shopId} and customer_id = any (${ids}::uuid[])
    union all
    select upper(page_id::text), 'page', min(slug) from page_text
      where page_text.shop_id = ${shopId} and page_id = any (${ids}::uuid[]) and slug is not null group by page_id
    union all
    select upper(image_key::text), 'file', name from library_image
      where library_image.shop_id = ${shopId} and image_key = any (${ids}::uuid[])`);
}

/** The things with these names. Of several pictures with the same name it is the newest. */
export function findReferencesByName(db: Queries, shopId: string, typed: readonly string[]) {
  return db.many<NamedReference>(sql`
    select upper(product_id::text) as id, 'product' as type, product_number as name from product
      where product.shop_id = ${shopId} and product_number = any (${typed}::text[])
    union all
    select upper(category_id::text), 'category', alias from category
      where category.shop_id = ${shopId} and alias = any (${typed}::text[])
    union all
    select upper(customer_id::text), 'customer', customer_number from customer
      where customer.shop_id = ${shopId} and customer_number = any (${typed}::text[])
    union all
    select upper(page_id::text), 'page', slug from page_text
      where page_text.shop_id = ${shopId} and slug = any (${typed}::text[])
    union all
    (select distinct on (name) upper(image_key::text), 'file', name from library_image
      where library_image.shop_id = ${shopId} and lower(name) collate "C" = any (${typed.map((name) => name.toLowerCase())}::text[])
        and name = any (${typed}::text[])
      order by name, created_at desc)`);
}

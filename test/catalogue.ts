import { sql } from '../src/db/sql.ts';
import { refreshListing } from '../src/catalogue/products/listing.ts';
import type { Service } from './service.ts';

/**
 * Adds many products that cost 1.00, 2.00, ... pounds, every tenth of them invisible, each in one of the two given
 * categories. Their ids rise with their prices.
 */
export async function givenManyProducts(
  { db }: Service,
  shopId: string,
  count: number,
  categoryIds: readonly [string, string],
): Promise<string[]> {
  return db.transaction(async (tx) => {
    const rows = await tx.many<{ id: string }>(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, stock, prices, facts)
      select ${shopId}, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'N' || n, 'regular', ${tx.now},
        1, n % 10 <> 0, 1000, jsonb_build_object('GBP', n * 100),
        jsonb_build_object('name', jsonb_build_object('en_GB', 'Thing ' || n, 'de_DE', 'Ding ' || n))
      from generate_series(1, ${count}::int) n order by n
      returning upper(product_id::text) as id`);
    await tx.run(sql`
      insert into product_category (shop_id, product_id, category_id, position)
      select shop_id, product_id, (${categoryIds}::uuid[])[1 + (abs(hashtext(product_number)) % 2)], 0
      from product where shop_id = ${shopId}`);
    const ids = rows.map(({ id }) => id);
    await refreshListing(tx, shopId, ids);
    return ids;
  });
}

/** A category below nothing, by its number. */
export async function givenCategory({ db }: Service, shopId: string, number: number): Promise<string> {
  const categoryId = `0190000c-0000-7000-8000-${String(number).padStart(12, '0')}`;
  await db.run(sql`
    insert into category (shop_id, category_id, number, alias, position, created_at, name, page_title,
      navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
    values (${shopId}, ${categoryId}, ${number}, ${`c${number}`}, 0, ${db.now}, '{}', '{}', '{}', '{}', true, true,
      false, true, 3)`);
  return categoryId;
}

/** All that lists and search are read from, in a fixed order. */
export async function listsOf({ db }: Service, shopId: string) {
  return {
    listing: await db.many(sql`
      select locale, product_id, visible, name, price, text, words::text, facets from listing
      where shop_id = ${shopId} order by product_id, locale`),
    inCategories: await db.many(sql`
      select category_id, locale, product_id, visible, name, price from category_listing
      where shop_id = ${shopId} order by product_id, locale, category_id`),
    inSubcategories: await db.many(sql`
      select category_id, locale, product_id, visible, name, price from subcategory_listing
      where shop_id = ${shopId} order by product_id, locale, category_id`),
    sizes: await db.many(sql`
      select category_id, visible, products, products_below from listing_size
      where shop_id = ${shopId} and (products, products_below) <> (0, 0) order by category_id, visible`),
  };
}

/** The same made from nothing, in one transaction that is rolled back. */
export async function freshListsOf(service: Service, shopId: string) {
  let fresh: Awaited<ReturnType<typeof listsOf>> | undefined;
  const rollback = new Error('rolled back');
  await service.db
    .transaction(async (tx) => {
      await tx.run(sql`delete from listing where shop_id = ${shopId}`);
      await tx.run(sql`delete from category_listing where shop_id = ${shopId}`);
      await tx.run(sql`delete from subcategory_listing where shop_id = ${shopId}`);
      await tx.run(sql`delete from listing_size where shop_id = ${shopId}`);
      const rows = await tx.many<{ id: string }>(sql`
        select product_id as id from product where shop_id = ${shopId} and kind <> 'variation'`);
      await refreshListing(
        tx,
        shopId,
        rows.map(({ id }) => id),
      );
      fresh = await listsOf({ ...service, db: tx as never }, shopId);
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  return fresh!;
}

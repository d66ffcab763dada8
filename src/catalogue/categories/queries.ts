import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';
import type { ImageSizes } from '../../platform/media/images.ts';

/** The data for a link to a category. */
export interface CategoryTitle {
  categoryId: string;
  alias: string;
  name: Localised;
}

export interface StoredCategory extends CategoryTitle {
  isRoot: boolean;
  pageTitle: Localised;
  navigationCaption: Localised;
  description: Localised;
  visible: boolean;
  visibleInNavigation: boolean;
  specialOffer: boolean;
  showFacets: boolean;
  facetStartDepth: number;
}

export interface CategoryRow extends StoredCategory {
  imageKey: string | null;
  imageSizes: ImageSizes | null;
  /** null: it is a root, or the parent is hidden from the caller. */
  parent: CategoryTitle | null;
  children: CategoryTitle[];
}

const stored = sql`
  upper(category.category_id::text) as "categoryId", category.alias, category.name,
  category.parent_id is null as "isRoot", category.page_title as "pageTitle",
  category.navigation_caption as "navigationCaption", category.description, category.visible,
  category.visible_in_navigation as "visibleInNavigation", category.special_offer as "specialOffer",
  category.show_facets as "showFacets", category.facet_start_depth as "facetStartDepth"`;

/** One select list: the category, its parent and its children, if the caller may see them. */
const columns = (shopId: string, includeInvisible: boolean) => sql`
  ${stored}, upper(category.image_key::text) as "imageKey",
  category.image_sizes as "imageSizes", (
    select json_build_object('categoryId', upper(parent.category_id::text), 'alias', parent.alias,
      'name', parent.name)
    from category parent
    where parent.shop_id = ${shopId} and parent.category_id = category.parent_id
      and (parent.visible or ${includeInvisible})
  ) as parent, (
    select coalesce(json_agg(json_build_object('categoryId', upper(child.category_id::text), 'alias', child.alias,
      'name', child.name) order by child.position), '[]')
    from category child
    where child.shop_id = ${shopId} and child.parent_id = category.category_id
      and (child.visible or ${includeInvisible})
  ) as children`;

export function findCategory(db: Queries, shopId: string, categoryId: string, includeInvisible: boolean) {
  return db.one<CategoryRow>(sql`
    select ${columns(shopId, includeInvisible)} from category
    where category.shop_id = ${shopId} and category.category_id = ${categoryId}
      and (category.visible or ${includeInvisible})`);
}

/** A category visible to visitors, with its name in search filters; without an alias, the first root. */
export function findShownCategory(db: Queries, shopId: string, alias: string | undefined) {
  const isRequested = alias === undefined ? sql`category.parent_id is null` : sql`category.alias = ${alias}`;
  return db.one<CategoryRow & { number: number }>(sql`
    select ${columns(shopId, false)}, category.number from category
    where category.shop_id = ${shopId} and category.visible and ${isRequested}
    order by category.position, category.number limit 1`);
}

/** From the top down to this one, without the root and hidden ones. */
export function findCategoryPath(db: Queries, shopId: string, categoryId: string) {
  return db.many<CategoryTitle>(sql`
    with recursive up as (
      select category_id, parent_id, alias, name, visible, 0 as step from category
      where shop_id = ${shopId} and category_id = ${categoryId}
      union all
      select parent.category_id, parent.parent_id, parent.alias, parent.name, parent.visible, up.step + 1
      from up join category parent on parent.shop_id = ${shopId} and parent.category_id = up.parent_id
    )
    select upper(category_id::text) as "categoryId", alias, name from up
    where visible and parent_id is not null order by step desc`);
}

/** The numbers of the visible categories below this one, nearest first. */
export async function findNumbersBelow(db: Queries, shopId: string, categoryId: string): Promise<number[]> {
  const rows = await db.many<{ number: number }>(sql`
    with recursive below as (
      select category_id, number, 1 as depth from category
      where shop_id = ${shopId} and parent_id = ${categoryId} and visible
      union all
      select child.category_id, child.number, below.depth + 1 from below
      join category child on child.shop_id = ${shopId} and child.parent_id = below.category_id and child.visible
    )
    select number from below order by depth, number limit ${MAX_BELOW}`);
  return rows.map(({ number }) => number);
}

/** A tree with more categories is filtered by the nearest ones. */
const MAX_BELOW = 1_000;

/** A category as a card: with its own picture, else that of a product in it or directly below it. */
export interface CategoryCard extends CategoryTitle {
  image: CardImage | null;
}

interface CardImage {
  imageKey: string;
  sizes: ImageSizes;
}

/** The categories below this one that are in menus; without an id, below the first root. */
export async function findCategoryCards(
  db: Queries,
  shopId: string,
  locale: string,
  parentId: string | undefined,
): Promise<CategoryCard[]> {
  const below =
    parentId === undefined
      ? sql`(
          select root.category_id from category root
          where root.shop_id = ${shopId} and root.parent_id is null and root.visible
          order by root.position, root.number limit 1
        )`
      : sql`${parentId}::uuid`;
  const rows = await db.many<CardRow>(sql`
    ${cardColumns(shopId, locale)}
    from category
    where category.shop_id = ${shopId} and category.parent_id = ${below} and category.visible
      and category.visible_in_navigation
    order by category.position, category.number limit ${MAX_CARDS}`);
  return cardsWithPictures(rows);
}

/** The visible categories with these aliases, in no order. */
export async function findChosenCards(
  db: Queries,
  shopId: string,
  locale: string,
  aliases: readonly string[],
): Promise<CategoryCard[]> {
  const rows = await db.many<CardRow>(sql`
    ${cardColumns(shopId, locale)}
    from category
    where category.shop_id = ${shopId} and category.alias = any (${aliases}::text[]) and category.visible
    order by category.position, category.number`);
  return cardsWithPictures(rows);
}

type CardRow = CategoryTitle & { images: CardImage[] };

const cardColumns = (shopId: string, locale: string) => sql`
  select upper(category.category_id::text) as "categoryId", category.alias, category.name,
    case when category.image_key is not null
      then json_build_array(
        json_build_object('imageKey', upper(category.image_key::text), 'sizes', category.image_sizes))
      else array_to_json(array(
        select json_build_object('imageKey', upper(image.image_key::text), 'sizes', image.sizes)
        from category place
        cross join lateral (
          select name, product_id from category_listing entry
          where entry.shop_id = ${shopId} and entry.category_id = place.category_id and entry.locale = ${locale}
            and entry.visible
          order by name, product_id limit ${MAX_PICTURES}
        ) as first
        join product on product.shop_id = ${shopId} and product.product_id = first.product_id
        join product_image image on image.shop_id = ${shopId} and image.product_id = product.product_id
          and image.name = product.main_image
        where place.shop_id = ${shopId} and place.visible
          and category.category_id in (place.category_id, place.parent_id)
        order by place.category_id = category.category_id desc, place.position, first.name, first.product_id
        limit ${MAX_PICTURES}
      )) end as images`;

/** A product may be in several categories: each card gets a picture that no earlier card has, if there is one. */
function cardsWithPictures(rows: readonly CardRow[]): CategoryCard[] {
  const shown = new Set<string>();
  return rows.map(({ images, ...card }) => {
    const image = images.find(({ imageKey }) => !shown.has(imageKey)) ?? images[0] ?? null;
    if (image) shown.add(image.imageKey);
    return { ...card, image };
  });
}

/** How many pictures of products a card chooses from. */
const MAX_PICTURES = 4;

/** A page with more cards would be too long to read. */
const MAX_CARDS = 60;

export function findRoots(db: Queries, shopId: string, includeInvisible: boolean) {
  return db.many<CategoryRow>(sql`
    select ${columns(shopId, includeInvisible)} from category
    where category.shop_id = ${shopId} and category.parent_id is null
      and (category.visible or ${includeInvisible})
    order by category.position, category.number`);
}

/** The main category comes first. A variation has its master's categories. */
export function findCategoriesOf(db: Queries, shopId: string, productId: string, includeInvisible: boolean) {
  return db.many<CategoryRow>(sql`
    select ${columns(shopId, includeInvisible)} from product
    join product_category assigned on assigned.shop_id = product.shop_id
      and assigned.product_id = coalesce(product.master_id, product.product_id)
    join category on category.shop_id = assigned.shop_id and category.category_id = assigned.category_id
    where product.shop_id = ${shopId} and product.product_id = ${productId}
      and (category.visible or ${includeInvisible})
    order by assigned.position, assigned.category_id`);
}

export function lockCategory(tx: Transaction, shopId: string, categoryId: string) {
  return tx.one<StoredCategory>(sql`
    select ${stored} from category
    where category.shop_id = ${shopId} and category.category_id = ${categoryId} for update`);
}

/** The aliases that start with this. */
export async function findAliases(tx: Transaction, shopId: string, start: string): Promise<Set<string>> {
  const rows = await tx.many<{ alias: string }>(sql`
    select alias from category where shop_id = ${shopId} and starts_with(alias, ${start})`);
  return new Set(rows.map(({ alias }) => alias));
}

export interface NewCategoryRow extends CategoryTitle {
  number: number;
  parentId: string;
  pageTitle: Localised;
  navigationCaption: Localised;
  description: Localised;
}

/** Last among its siblings, hidden until the merchant shows it. The parent must be locked. */
export async function insertCategory(
  tx: Transaction,
  shopId: string,
  category: NewCategoryRow,
): Promise<void> {
  const last = await tx.one<{ position: number }>(sql`
    select coalesce(max(position), -1) as position from category
    where shop_id = ${shopId} and parent_id = ${category.parentId}`);
  await tx.run(sql`
    insert into category (shop_id, category_id, number, alias, parent_id, position, created_at, name, page_title,
      navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets,
      facet_start_depth)
    values (${shopId}, ${category.categoryId}, ${category.number}, ${category.alias}, ${category.parentId},
      ${last!.position + 1}, ${tx.now}, ${category.name}, ${category.pageTitle}, ${category.navigationCaption},
      ${category.description}, false, true, false, true, 3)`);
}

export function updateCategoryRow(tx: Transaction, shopId: string, category: StoredCategory) {
  return tx.run(sql`
    update category
    set alias = ${category.alias}, name = ${category.name}, page_title = ${category.pageTitle},
      navigation_caption = ${category.navigationCaption}, description = ${category.description},
      visible = ${category.visible}, visible_in_navigation = ${category.visibleInNavigation},
      special_offer = ${category.specialOffer}, show_facets = ${category.showFacets},
      facet_start_depth = ${category.facetStartDepth}
    where shop_id = ${shopId} and category_id = ${category.categoryId}`);
}

export function lockCategoryImage(tx: Transaction, shopId: string, categoryId: string) {
  return tx.one<{ imageKey: string | null; sizes: ImageSizes | null }>(sql`
    select upper(image_key::text) as "imageKey", image_sizes as sizes from category
    where shop_id = ${shopId} and category_id = ${categoryId} for update`);
}

export function updateCategoryImage(
  tx: Transaction,
  shopId: string,
  categoryId: string,
  image: { imageKey: string; sizes: ImageSizes } | undefined,
) {
  return tx.run(sql`
    update category set image_key = ${image?.imageKey ?? null}, image_sizes = ${image?.sizes ?? null}
    where shop_id = ${shopId} and category_id = ${categoryId}`);
}

/** The aliases of the subcategories, including hidden ones; undefined: no such category. */
export async function findSequence(
  db: Queries,
  shopId: string,
  categoryId: string,
): Promise<string[] | undefined> {
  const row = await db.one<{ aliases: string[] }>(sql`
    select (
      select coalesce(json_agg(child.alias order by child.position), '[]') from category child
      where child.shop_id = ${shopId} and child.parent_id = category.category_id
    ) as aliases
    from category where category.shop_id = ${shopId} and category.category_id = ${categoryId}`);
  return row?.aliases;
}

export function updateSequence(
  tx: Transaction,
  shopId: string,
  categoryId: string,
  aliases: readonly string[],
) {
  return tx.run(sql`
    update category set position = sequence.position
    from unnest(${aliases}::text[]) with ordinality as sequence (alias, position)
    where category.shop_id = ${shopId} and category.parent_id = ${categoryId} and category.alias = sequence.alias`);
}

/** The ids of the direct subcategories, in order, including hidden ones. */
export async function findChildren(tx: Transaction, shopId: string, parentId: string): Promise<string[]> {
  const rows = await tx.many<{ categoryId: string }>(sql`
    select upper(category_id::text) as "categoryId" from category
    where shop_id = ${shopId} and parent_id = ${parentId} order by position, number`);
  return rows.map(({ categoryId }) => categoryId);
}

/** Puts these categories below this one, in this order. */
export function placeCategories(
  tx: Transaction,
  shopId: string,
  parentId: string,
  categoryIds: readonly string[],
) {
  return tx.run(sql`
    update category set parent_id = ${parentId}, position = place.position
    from unnest(${categoryIds}::uuid[]) with ordinality as place (category_id, position)
    where category.shop_id = ${shopId} and category.category_id = place.category_id`);
}

/**
 * Locks the category and everything below it: a request that assigns products to one of them waits, and then gets 404.
 */
export async function lockTree(tx: Transaction, shopId: string, categoryId: string): Promise<string[]> {
  const rows = await tx.many<{ categoryId: string }>(sql`
    with recursive tree as (
      select category_id from category where shop_id = ${shopId} and category_id = ${categoryId}
      union all
      select child.category_id from tree
      join category child on child.shop_id = ${shopId} and child.parent_id = tree.category_id
    )
    select category_id as "categoryId" from category
    where shop_id = ${shopId} and category_id in (select category_id from tree)
    order by category_id for update`);
  return rows.map(({ categoryId }) => categoryId);
}

/** The next products after `after` that are in one of the categories. */
export async function findProductsIn(
  tx: Transaction,
  shopId: string,
  categoryIds: readonly string[],
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select distinct product_id as "productId" from product_category
    where shop_id = ${shopId} and category_id = any (${categoryIds}::uuid[]) and product_id > ${after}
    order by product_id limit ${limit}`);
  return rows.map(({ productId }) => productId);
}

/** Including their rows in lists. Returns the sizes of the pictures that they had. */
export async function deleteCategories(
  tx: Transaction,
  shopId: string,
  categoryIds: readonly string[],
): Promise<ImageSizes[]> {
  await tx.run(sql`
    delete from category_listing where shop_id = ${shopId} and category_id = any (${categoryIds}::uuid[])`);
  await tx.run(sql`
    delete from subcategory_listing where shop_id = ${shopId} and category_id = any (${categoryIds}::uuid[])`);
  await tx.run(sql`
    delete from listing_size where shop_id = ${shopId} and category_id = any (${categoryIds}::uuid[])`);
  const deleted = await tx.many<{ sizes: ImageSizes | null }>(sql`
    delete from category where shop_id = ${shopId} and category_id = any (${categoryIds}::uuid[])
    returning image_sizes as sizes`);
  return deleted.flatMap(({ sizes }) => sizes ?? []);
}

/** The existing ids; locked against deletion until the transaction ends. */
export async function lockCategories(
  tx: Transaction,
  shopId: string,
  categoryIds: readonly string[],
): Promise<number> {
  const rows = await tx.many(sql`
    select from category where shop_id = ${shopId} and category_id = any (${categoryIds}::uuid[])
    order by category_id for key share`);
  return rows.length;
}

/** The products that categories hold: for a variation its master. One entry for each existing id. */
export async function findAssignable(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select coalesce(master_id, product_id) as "productId" from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])`);
  return rows.map(({ productId }) => productId);
}

/** The categories of a product; those of a variation are its master's. */
export async function findAssigned(tx: Transaction, shopId: string, productId: string): Promise<string[]> {
  const rows = await tx.many<{ categoryId: string }>(sql`
    select upper(category_id::text) as "categoryId" from product_category
    where shop_id = ${shopId} and product_id = (
      select coalesce(master_id, product_id) from product where shop_id = ${shopId} and product_id = ${productId})`);
  return rows.map(({ categoryId }) => categoryId);
}

/** In a fixed order, so that two requests for the same products cannot deadlock. */
export async function lockProducts(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<void> {
  await tx.run(sql`
    select from product where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
    order by product_id for no key update`);
}

/** Every product to every category, after those it has. Returns the products that were not in all of them. */
export async function insertAssignments(
  tx: Transaction,
  shopId: string,
  categoryIds: readonly string[],
  productIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    insert into product_category (shop_id, product_id, category_id, position)
    select shop_id, product.id, category.id, category.place + coalesce((
        select max(assigned.position) from product_category assigned
        where assigned.shop_id = ${shopId} and assigned.product_id = product.id
      ), -1)
    from shop
    cross join unnest(${productIds}::uuid[]) as product (id)
    cross join unnest(${categoryIds}::uuid[]) with ordinality as category (id, place)
    where shop_id = ${shopId}
    on conflict (shop_id, product_id, category_id) do nothing
    returning product_id as "productId"`);
  return distinct(rows);
}

/** Returns the products that were in one of them. */
export async function deleteAssignmentRows(
  tx: Transaction,
  shopId: string,
  categoryIds: readonly string[],
  productIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    delete from product_category
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
      and category_id = any (${categoryIds}::uuid[])
    returning product_id as "productId"`);
  return distinct(rows);
}

function distinct(rows: readonly { productId: string }[]): string[] {
  return [...new Set(rows.map(({ productId }) => productId))];
}

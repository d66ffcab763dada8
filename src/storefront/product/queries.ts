import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { ImageSizes } from '../../platform/media/images.ts';
import type { BackorderTerms, Prices } from '../../catalogue/products/facts.ts';
import { openTerms } from '../../catalogue/products/queries.ts';
import type { Selection } from '../../catalogue/products/combinations.ts';

export interface PageProduct {
  productNumber: string;
  productId: string;
  masterId: string | null;
  visible: boolean;
  version: string;
  settingsVersion: number;
  /** The cross-selling products as `<id>:<version>,...`, first its own, then its master's. */
  crossSelling: string | null;
  /** A hash of the visible variations; null for a product without any. The page of a master offers one of them. */
  variations: string | null;
}

/** From this stock on, the page does not show the exact number. */
export const PLENTY = 1_000;

/**
 * Orders reduce the stock without changing a version. A change of stock that the page does not show must not rerender
 * it.
 */
const stockVersion = (product: Sql, isExact: boolean) => sql`coalesce('/' || case
  when ${product}.stock > greatest(${PLENTY}, ${product}.min_stock) and not ${isExact} then 'plenty'
  else ${product}.stock::text end, '')`;

/**
 * Reads in one statement the versions of all that the page of a product shows. Of other
 * variations the page only shows whether there is any stock. `isExact`: the page also contains the product as the API shows it, with its stock.
 */
export function findPageProduct(
  db: Queries,
  shopId: string,
  productNumber: string,
  { isExact }: { isExact: boolean },
): Promise<PageProduct | undefined> {
  return db.shared.byId(shopId, `page products ${isExact}`, productNumber, async (productNumbers) => {
    const found = await db.many<PageProduct>(sql`
      select product.product_number as "productNumber", upper(product.product_id::text) as "productId",
        upper(product.master_id::text) as "masterId",
        product.visible, shop.settings_version as "settingsVersion",
        product.version || coalesce('.' || master.version, '') || ${stockVersion(sql`product`, isExact)} as version,
        (
          select string_agg(sold.product_id || ':' || sold.version || coalesce('.' || sold_master.version, '')
              || ${stockVersion(sql`sold`, false)}, ','
            order by assigned.product_id <> product.product_id, assigned.position, assigned.target_id)
          from cross_selling assigned
          join product sold on sold.shop_id = ${shopId} and sold.product_id = assigned.target_id and sold.visible
          left join product sold_master on sold_master.shop_id = ${shopId} and sold_master.product_id = sold.master_id
          where assigned.shop_id = ${shopId} and assigned.product_id in (product.product_id, product.master_id)
        ) as "crossSelling",
        case when product.kind <> 'regular' then (
          select count(*) || ':' || sum(hashtextextended(
            variation.product_id::text || variation.version || case
              when product.kind = 'master' then ${stockVersion(sql`variation`, false)}
              else coalesce(variation.stock > 0, true)::text end, 0))
          from product variation
          where variation.shop_id = ${shopId} and variation.visible
            and variation.master_id = coalesce(product.master_id, product.product_id)
        ) end as variations
      from product
      join shop on shop.shop_id = product.shop_id
      left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
      where product.shop_id = ${shopId} and product.product_number = any (${productNumbers}::text[])`);
    return new Map(found.map((product) => [product.productNumber, product]));
  });
}

/** Changes with everything that the page shows, except what changes the version of the settings. */
export function productVersionStamp({ version, crossSelling, variations }: PageProduct): string {
  return `${version} ${crossSelling} ${variations}`;
}

export interface PageVariation {
  productId: string;
  productNumber: string;
  selection: Selection;
  /** Its own prices, else those of its master. */
  prices: Prices | null;
  hasStock: boolean;
  /** How it is sold beyond its stock today; null: it is not. */
  backorder: BackorderTerms | null;
  /** It says whether it is sold beyond its stock, so what the shop says does not count. */
  hasTerms: boolean;
  /** False before the first and after the last day of its sale. */
  isOnSale: boolean;
  image: PictureRow | null;
  ean: string | null;
  upc: string | null;
}

/** The visible variations of a master. */
export function findPageVariations(db: Queries, shopId: string, masterId: string, today: string) {
  const dayOf = (name: string) =>
    sql`coalesce(variation.facts ->> ${name}::text, master.facts ->> ${name}::text)::timestamptz`;
  return db.many<PageVariation>(sql`
    select upper(variation.product_id::text) as "productId", variation.product_number as "productNumber",
      variation.selection, variation.facts ->> 'ean' as ean, variation.facts ->> 'upc' as upc,
      coalesce(variation.prices, master.prices) as prices,
      coalesce(variation.stock > 0, true) as "hasStock",
      ${openTerms(sql`variation`, today)} as backorder,
      variation.facts ? 'backorder' or master.facts ? 'backorder' as "hasTerms",
      coalesce(${dayOf('forSaleFrom')} <= ${db.now}, true)
        and coalesce(${dayOf('forSaleUntil')} > ${db.now}, true) as "isOnSale", (
          select json_build_object('imageKey', upper(image.image_key::text), 'sizes', image.sizes)
          from product_image image
          where image.shop_id = ${shopId} and image.product_id = variation.product_id
            and image.name = variation.main_image
        ) as image
    from product variation
    join product master on master.shop_id = ${shopId} and master.product_id = variation.master_id
    where variation.shop_id = ${shopId} and variation.master_id = ${masterId} and variation.visible
    order by variation.product_id`);
}

export interface PictureRow {
  imageKey: string;
  sizes: ImageSizes;
}

export interface ShownPicture extends PictureRow {
  /** Its descriptions, by locale. */
  altTexts: Readonly<Record<string, string>>;
}

/** The main picture comes first. A variation without pictures of its own shows those of its master. */
export function findDescribedPictures(
  db: Queries,
  shopId: string,
  productId: string,
  masterId: string | null,
) {
  return db.many<ShownPicture>(sql`
    select upper(image.image_key::text) as "imageKey", image.sizes, image.alt_texts as "altTexts"
    from product
    join product_image image on image.shop_id = ${shopId} and image.product_id = product.product_id
    where product.shop_id = ${shopId} and product.product_id = case
        when ${masterId}::uuid is null or exists (
          select from product_image own where own.shop_id = ${shopId} and own.product_id = ${productId}
        ) then ${productId}::uuid else ${masterId}::uuid end
    order by image.name = product.main_image desc, image.position, image.name`);
}

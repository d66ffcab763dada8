import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ImageSizes } from '../../platform/media/images.ts';
import { ORDERS, pageVersions } from '../products/listing-page.ts';
import { findAlternative } from './alternatives.ts';
import { inScope, rank } from './conditions.ts';
import { hits } from './hits.ts';
import { escapeLike, likePattern, parseQuery, type Term } from './query.ts';

export interface Suggestion {
  productId: string;
  name: string;
  imageKey: string | null;
  sizes: ImageSizes | null;
}

/** The maximum number of names compared. */
const MAX_CANDIDATES = 500;

/** Names of the newest products, read before the letter index is used. */
const MAX_NAMES_READ = 2_000;

/** Fewer letters start so many words that the letter index would collect a large part of the shop. */
const MIN_LETTERS = 3;

/** Sorts after every letter. */
const LAST = '\uFFFF';

/**
 * Names that contain the text: those that start with it, then those with a word that does, then the rest. The first
 * are read from the name index. When they are too few, the names of the newest products are read: a text in many names
 * is found there, while the letter index would collect all of them. Only then that index is used, for three letters or
 * more. The first ones by name would not do, because they all start with the same words. The parts are `materialized`,
 * so that PostgreSQL counts one before it starts the next.
 */
export function suggestProducts(
  db: Queries,
  shopId: string,
  locale: string,
  text: string,
  limit: number,
): Promise<Suggestion[]> {
  const begins = `${escapeLike(text)}%`;
  const pattern = likePattern({ text, isPhrase: text.includes(' ') });
  const listed = sql`shop_id = ${shopId} and locale = ${locale} and visible`;
  // As in a rank, the name is lowered by the default collation: that of its column takes several times as long.
  const name = sql`lower(name collate "default")`;
  const contains = sql`' ' || ${name} like (select lower(${pattern}))`;
  return db.many(sql`
    with beginning as materialized (
      select product_id, name from listing
      where ${listed} and name >= lower(${text}) and name < lower(${text}) || ${LAST} and ${name} like lower(${begins})
      order by name, product_id limit ${limit}
    ), newest as materialized (
      select product_id, name from listing
      where ${listed} and (select count(*) from beginning) < ${limit}
      order by product_id desc limit ${MAX_NAMES_READ}
    ), early as materialized (
      select product_id, name from newest where ${contains}
      union select product_id, name from beginning
    ), containing as materialized (
      select product_id, name from listing
      where ${inScope(shopId, { locale, includeInvisible: false })} and text like (select lower(${pattern}))
        and (select count(*) from early) < ${limit}
        and (select count(*) from newest) = ${MAX_NAMES_READ} and ${Array.from(text).length >= MIN_LETTERS}
      limit ${MAX_CANDIDATES}
    ), candidate as (
      select product_id, name from early
      union
      select product_id, name from containing where ${contains}
    ), best as (
      select product_id, name, case
          when ${name} like (select lower(${begins})) then 0
          when ${name} like (select lower(${`% ${begins}`})) then 1
          else 2 end as place
      from candidate order by place, name, product_id limit ${limit}
    )
    select upper(best.product_id::text) as "productId", best.name, image.image_key as "imageKey", image.sizes
    from best
    join product on product.shop_id = ${shopId} and product.product_id = best.product_id
    left join product_image image on image.shop_id = ${shopId} and image.product_id = product.product_id
      and image.name = product.main_image
    order by best.place, best.name, best.product_id`);
}

/** The best hits of a search, as the `versions` of a page. As with names, only a limited number is compared. */
export async function suggestMatches(
  db: Queries,
  shopId: string,
  locale: string,
  terms: readonly Term[],
  limit: number,
): Promise<string> {
  const found = hits(shopId, {
    terms,
    locale,
    includeInvisible: false,
    columns: sql`listing.product_id, listing.name, ${rank(terms, locale)} as rank`,
    narrowed: sql`true`,
    listOrder: ORDERS.name.asc,
    most: MAX_CANDIDATES,
  });
  const best = pageVersions(shopId, sql`select * from hit`, sql`rank desc, name, product_id`, limit, 0);
  const [row] = await db.search<{ versions: string }>(sql`
    with ${found} select ${best} as versions from shop where shop_id = ${shopId}`);
  return row?.versions ?? '';
}

/** The products whose names contain the text; if there are none, those of the corrected words. */
export async function suggestOrFallBack(
  db: Queries,
  shopId: string,
  locale: string,
  text: string,
  limit: number,
): Promise<Suggestion[]> {
  const found = await suggestProducts(db, shopId, locale, text, limit);
  if (found.length > 0) return found;
  const terms = parseQuery(text.replaceAll('"', ' '));
  const scope = { locale, includeInvisible: false };
  const { alternative, isCorrected } = await findAlternative(db, shopId, scope, terms);
  if (!alternative || !isCorrected) return found;
  return suggestProducts(db, shopId, locale, alternative.terms.map((term) => term.text).join(' '), limit);
}

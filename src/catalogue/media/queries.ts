import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';
import type { ImageSizes } from '../../platform/media/images.ts';

/** A picture of a product, or one that was uploaded for the look of the shop. */
export interface LibraryPicture {
  imageKey: string;
  name: string;
  sizes: ImageSizes;
  altTexts: Localised;
  /** null: it belongs to no product. */
  productId: string | null;
}

/** Sorts after every character. */
const LAST = '\u{10FFFF}';
const FIRST_KEY = '00000000-0000-0000-0000-000000000000';
const LAST_KEY = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The newest pictures first: a key begins with the time when it was made. `after` is the last picture of a page. */
export function findNewestPictures(db: Queries, shopId: string, after: string | undefined, limit: number) {
  const key = after ?? LAST_KEY;
  return db.many<LibraryPicture>(sql`
    select upper(image_key::text) as "imageKey", name, sizes, alt_texts as "altTexts",
      upper(product_id::text) as "productId"
    from (
      (
        select image_key, name, sizes, alt_texts, product_id from product_image
        where shop_id = ${shopId} and image_key < ${key} order by image_key desc limit ${limit}
      ) union all (
        select image_key, name, sizes, alt_texts, null from library_image
        where shop_id = ${shopId} and image_key < ${key} order by image_key desc limit ${limit}
      )
    ) as picture
    order by image_key desc limit ${limit}`);
}

/** Pictures whose name begins with the text, by name. */
export function findPicturesByName(
  db: Queries,
  shopId: string,
  text: string,
  after: { name: string; imageKey: string } | undefined,
  limit: number,
) {
  const start = text.toLowerCase();
  const [name, key] = after ? [after.name.toLowerCase(), after.imageKey] : [start, FIRST_KEY];
  return db.many<LibraryPicture>(sql`
    select upper(image_key::text) as "imageKey", name, sizes, alt_texts as "altTexts",
      upper(product_id::text) as "productId"
    from (
      (
        select image_key, name, sizes, alt_texts, product_id from product_image
        where shop_id = ${shopId} and (lower(name) collate "C", image_key) > (${name}, ${key}::uuid)
          and lower(name) collate "C" < ${start + LAST}
        order by lower(name) collate "C", image_key limit ${limit}
      ) union all (
        select image_key, name, sizes, alt_texts, null from library_image
        where shop_id = ${shopId} and (lower(name) collate "C", image_key) > (${name}, ${key}::uuid)
          and lower(name) collate "C" < ${start + LAST}
        order by lower(name) collate "C", image_key limit ${limit}
      )
    ) as picture
    order by lower(name) collate "C", image_key limit ${limit}`);
}

export function findLibraryPicture(db: Queries, shopId: string, imageKey: string) {
  return db.one<LibraryPicture>(sql`
    select upper(image_key::text) as "imageKey", name, sizes, alt_texts as "altTexts",
      upper(product_id::text) as "productId"
    from (
      select image_key, name, sizes, alt_texts, product_id from product_image
      where shop_id = ${shopId} and image_key = ${imageKey}
      union all
      select image_key, name, sizes, alt_texts, null from library_image
      where shop_id = ${shopId} and image_key = ${imageKey}
    ) as picture`);
}

/** The pictures with these keys, in no order. */
export function findPicturesByKeys(db: Queries, shopId: string, imageKeys: readonly string[]) {
  return db.many<LibraryPicture>(sql`
    select upper(image_key::text) as "imageKey", name, sizes, alt_texts as "altTexts",
      upper(product_id::text) as "productId"
    from (
      select image_key, name, sizes, alt_texts, product_id from product_image
      where shop_id = ${shopId} and image_key = any (${imageKeys}::uuid[])
      union all
      select image_key, name, sizes, alt_texts, null from library_image
      where shop_id = ${shopId} and image_key = any (${imageKeys}::uuid[])
    ) as picture`);
}

export function insertLibraryImage(
  tx: Transaction,
  shopId: string,
  { imageKey, name, sizes }: Pick<LibraryPicture, 'imageKey' | 'name' | 'sizes'>,
) {
  return tx.run(sql`
    insert into library_image (shop_id, image_key, name, sizes, created_at)
    values (${shopId}, ${imageKey}, ${name}, ${sizes}, ${tx.now})`);
}

export function updateLibraryTexts(tx: Transaction, shopId: string, imageKey: string, texts: Localised) {
  return tx.run(sql`
    update library_image set alt_texts = ${texts} where shop_id = ${shopId} and image_key = ${imageKey}`);
}

/** The files of a picture never change, so another file has another key. */
export function replaceLibraryFiles(
  tx: Transaction,
  shopId: string,
  imageKey: string,
  stored: { imageKey: string; sizes: ImageSizes },
) {
  return tx.run(sql`
    update library_image set image_key = ${stored.imageKey}, sizes = ${stored.sizes}
    where shop_id = ${shopId} and image_key = ${imageKey}`);
}

export function replaceProductFiles(
  tx: Transaction,
  shopId: string,
  imageKey: string,
  stored: { imageKey: string; sizes: ImageSizes },
) {
  return tx.run(sql`
    update product_image set image_key = ${stored.imageKey}, sizes = ${stored.sizes}
    where shop_id = ${shopId} and image_key = ${imageKey}`);
}

export function deleteLibraryImage(tx: Transaction, shopId: string, imageKey: string) {
  return tx.one<{ sizes: ImageSizes }>(sql`
    delete from library_image where shop_id = ${shopId} and image_key = ${imageKey} returning sizes`);
}

import type { Config } from '../../config.ts';
import type { Transaction } from '../../db/database.ts';
import { deleteFileValues, moveFileValues } from '../../fields/queries.ts';
import { notFound } from '../../http/errors.ts';
import type { Localised } from '../../http/locale.ts';
import { addMedia, bytesOf, takeMedia } from '../../platform/media/quota.ts';
import type { StoredImage } from '../../platform/media/store-image.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { lockCategoryImage, updateCategoryImage } from '../categories/queries.ts';
import { describePictures } from '../products/picture-texts.ts';
import { touchProducts } from '../products/product-events.ts';
import { findImageNames, lockProduct, moveVersions } from '../products/queries.ts';
import { attachImage } from '../products/slideshow.ts';
import {
  deleteLibraryImage,
  insertLibraryImage,
  replaceLibraryFiles,
  replaceProductFiles,
  updateLibraryTexts,
  type LibraryPicture,
} from './queries.ts';

/** Adds a picture that belongs to no product. Its files exist. */
export async function addLibraryImage(
  tx: Transaction,
  config: Config,
  shopId: string,
  picture: StoredImage & { name: string },
): Promise<void> {
  await insertLibraryImage(tx, shopId, picture);
  await takeMedia(tx, config, shopId, bytesOf([picture]));
}

/** The picture keeps its name, its texts and its place; the files of the old one are left to the clean-up. */
export async function replacePicture(
  tx: Transaction,
  config: Config,
  shopId: string,
  { imageKey, sizes, productId }: LibraryPicture,
  stored: StoredImage,
): Promise<void> {
  if (productId !== null && !(await lockProduct(tx, shopId, productId))) throw notFound();
  const replace = productId === null ? replaceLibraryFiles : replaceProductFiles;
  if ((await replace(tx, shopId, imageKey, stored)) === 0) throw notFound();
  if (productId === null) {
    const moved = await moveFileValues(tx, shopId, imageKey, stored.imageKey);
    await moveVersions(
      tx,
      shopId,
      moved.flatMap((value) => value.productId ?? []),
    );
  }
  await addMedia(tx, shopId, -bytesOf([{ sizes }]));
  await takeMedia(tx, config, shopId, bytesOf([stored]));
  if (productId !== null) await touchProducts(tx, shopId, [productId], ['slideshow', 'productImage']);
}

/** Sets the texts of some locales; an empty one removes it. */
export async function describePicture(
  tx: Transaction,
  shopId: string,
  { imageKey, name, altTexts, productId }: LibraryPicture,
  texts: Localised,
): Promise<void> {
  if (productId !== null) {
    await describePictures(tx, shopId, productId, new Map([[name, texts]]));
    return;
  }
  const all = Object.entries({ ...altTexts, ...texts }).filter(([, text]) => text !== '');
  await updateLibraryTexts(tx, shopId, imageKey, Object.fromEntries(all));
}

/** Its files are left to the clean-up, because earlier settings may name them. */
export async function removeLibraryImage(tx: Transaction, shopId: string, imageKey: string): Promise<void> {
  const deleted = await deleteLibraryImage(tx, shopId, imageKey);
  if (!deleted) throw notFound();
  await deleteFileValues(tx, shopId, imageKey);
  await addMedia(tx, shopId, -bytesOf([deleted]));
}

/** Adds a copy of a picture to a product, with its texts. `copy` is the copied files. */
export async function addToProduct(
  tx: Transaction,
  config: Config,
  shopId: string,
  productId: string,
  { name, altTexts }: Pick<LibraryPicture, 'name' | 'altTexts'>,
  copy: StoredImage,
): Promise<void> {
  if (!(await lockProduct(tx, shopId, productId))) throw notFound();
  const free = freeName(name, await findImageNames(tx, shopId, productId));
  await attachImage(tx, config, shopId, productId, free, copy);
  await describePictures(tx, shopId, productId, new Map([[free, altTexts]]));
}

/** A product has each name once: the second `lamp.jpg` becomes `lamp-2.jpg`. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const dot = name.lastIndexOf('.');
  const [start, end] = dot === -1 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
  let number = 2;
  while (taken.has(`${start}-${number}${end}`)) number++;
  return `${start}-${number}${end}`;
}

/**
 * Sets the picture of a category to these files, which belong to it alone; undefined: it has none. Returns the key of
 * the files that it had.
 */
export async function setCategoryPicture(
  tx: Transaction,
  config: Config,
  shopId: string,
  categoryId: string,
  stored: StoredImage | undefined,
): Promise<string | undefined> {
  // Rendered pages show the picture.
  await moveSettingsVersion(tx, shopId);
  const before = await lockCategoryImage(tx, shopId, categoryId);
  if (!before) throw notFound();
  await updateCategoryImage(tx, shopId, categoryId, stored);
  if (before.sizes) await addMedia(tx, shopId, -bytesOf([{ sizes: before.sizes }]));
  if (stored) await takeMedia(tx, config, shopId, bytesOf([stored]));
  return before.imageKey ?? undefined;
}

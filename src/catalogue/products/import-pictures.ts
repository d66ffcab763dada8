import type { Config } from '../../config.ts';
import type { Database, Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { isRefusal } from '../../http/errors.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { storeImage } from '../../platform/media/store-image.ts';
import { receiverPolicy } from '../../shops/webhooks/receiver-address.ts';
import { rowsOf, type ProductFile } from './csv-file.ts';
import type { Mapping } from './csv-mapping.ts';
import { fetchPicture, PictureProblem } from './fetch-picture.ts';
import { readPictures } from './picture-addresses.ts';
import { CellProblem, rowProblem, type RowProblem } from './row-problem.ts';
import { addImage } from './slideshow.ts';

export interface PictureImport {
  db: Database;
  config: Config;
  media: MediaStorage;
  shopId: string;
  file: ProductFile;
  mapping: Mapping;
  /** Reads a picture that is named as a file; throws a PictureProblem or a CellProblem. */
  readFile: (name: string) => Promise<Buffer>;
  /** Only looks whether the files are there. */
  isCheck?: boolean;
  /** After each picture; undefined: it was stored. */
  onPicture: (problem: RowProblem | undefined) => Promise<void>;
}

/**
 * Fetches the pictures that a file names, for the products that are there. A picture whose name the product has already is
 * not fetched again, so this can be repeated after a restart.
 */
export async function importPictures(given: PictureImport): Promise<void> {
  const { db, config, shopId, file, mapping, readFile, isCheck = false, onPicture } = given;
  const [numbers, pictures] = [mapping.indexOf('Alias'), mapping.indexOf('Images')];
  if (pictures === -1) return;
  const policy = receiverPolicy(config);
  for await (const { row } of rowsOf(file)) {
    const cell = row?.cells[pictures]?.trim() ?? '';
    if (!row || cell === '') continue;
    const named = picturesIn(cell).filter(({ isFile }) => isFile || !isCheck);
    if (named.length === 0) continue;
    const product = await findImageNames(db, shopId, (row.cells[numbers] ?? '').trim());
    // A product that a check would make is not there yet.
    if (!product && !isCheck) continue;
    for (const { place, isFile, name } of named) {
      if (product?.names.includes(name)) continue;
      try {
        const bytes = await (isFile ? readFile(place) : fetchPicture(policy, place));
        if (isCheck) continue;
        await store(given, product!.productId, name, bytes);
        await onPicture(undefined);
      } catch (error) {
        await onPicture(rowProblem(row.line, 'Images', pictureProblem(place, error), cell));
      }
    }
  }
}

/** Throws what is no fault of the picture. */
function pictureProblem(place: string, error: unknown): CellProblem {
  if (error instanceof CellProblem) return error;
  if (!(error instanceof PictureProblem) && !isRefusal(error)) throw error;
  return new CellProblem('picture', `${place}: ${error.message}`, { reason: error.message });
}

/** A cell that can't be read was reported with its row. */
function picturesIn(cell: string) {
  try {
    return readPictures(cell);
  } catch (error) {
    if (error instanceof CellProblem) return [];
    throw error;
  }
}

async function store(
  { db, config, media, shopId }: PictureImport,
  productId: string,
  name: string,
  bytes: Buffer,
): Promise<void> {
  const stored = await storeImage(media, shopId, bytes, name);
  try {
    await db.transaction((tx) => addImage(tx, config, shopId, productId, name, stored));
  } catch (error) {
    await media.removeFolders(shopId, [stored.imageKey]).catch(() => {});
    throw error;
  }
}

function findImageNames(db: Queries, shopId: string, productNumber: string) {
  return db.one<{ productId: string; names: string[] }>(sql`
    select upper(product_id::text) as "productId", array(
        select name from product_image image
        where image.shop_id = ${shopId} and image.product_id = product.product_id
      ) as names
    from product where shop_id = ${shopId} and product_number = ${productNumber}`);
}

import type { Config } from '../../config.ts';
import type { Database, Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { isRefusal } from '../../http/errors.ts';
import type { Localised } from '../../http/locale.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { storeImage } from '../../platform/media/store-image.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { receiverPolicy } from '../../shops/webhooks/receiver-address.ts';
import { pictureTextColumns } from './csv-columns.ts';
import { rowsOf, type ProductFile } from './csv-file.ts';
import type { Mapping } from './csv-mapping.ts';
import { fetchPicture, PictureProblem } from './fetch-picture.ts';
import { readPictures, readPictureTexts, type NamedPicture } from './picture-addresses.ts';
import { describePictures } from './picture-texts.ts';
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
 * Fetches the pictures that a file names, for the products that are there, and says what they show. A picture whose name the
 * product has already is not fetched again, so this can be repeated after a restart. Returns of how many products the texts
 * have changed.
 */
export async function importPictures(given: PictureImport): Promise<number> {
  const { db, config, shopId, file, mapping, readFile, isCheck = false, onPicture } = given;
  const [numbers, pictures] = [mapping.indexOf('Alias'), mapping.indexOf('Images')];
  if (pictures === -1) return 0;
  const policy = receiverPolicy(config);
  const textPlaces = pictureTextColumns(await shopSettings(db, shopId)).flatMap(({ key, locale }) => {
    const place = mapping.indexOf(key);
    return place === -1 ? [] : [{ place, locale }];
  });
  let described = 0;
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
    if (isCheck || textPlaces.length === 0) continue;
    const texts = textsByPicture(named, row.cells, textPlaces);
    const isChanged = await db.transaction((tx) => describePictures(tx, shopId, product!.productId, texts));
    if (isChanged) described++;
  }
  return described;
}

/** The first text belongs to the first picture of the row, and so on; a picture without one gets an empty text. */
function textsByPicture(
  named: readonly NamedPicture[],
  cells: readonly string[],
  places: readonly { place: number; locale: string }[],
): Map<string, Localised> {
  const columns = places.map(({ place, locale }) => [locale, textsIn(cells[place] ?? '')] as const);
  return new Map(
    named.map(({ name }, index) => [
      name,
      Object.fromEntries(columns.map(([locale, texts]) => [locale, texts[index] ?? ''])),
    ]),
  );
}

/** Throws what is no fault of the picture. */
function pictureProblem(place: string, error: unknown): CellProblem {
  if (error instanceof CellProblem) return error;
  if (!(error instanceof PictureProblem) && !isRefusal(error)) throw error;
  return new CellProblem('picture', `${place}: ${error.message}`, { reason: error.message });
}

const picturesIn = (cell: string) => readable(() => readPictures(cell));
const textsIn = (cell: string) => readable(() => readPictureTexts(cell));

/** A cell that can't be read was reported with its row. */
function readable<Part>(read: () => Part[]): Part[] {
  try {
    return read();
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

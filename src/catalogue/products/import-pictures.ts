import type { Config } from '../../config.ts';
import type { Database, Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { readDemoAccess } from '../../http/demo-access.ts';
import { isRefusal } from '../../http/errors.ts';
import type { Localised } from '../../http/locale.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { storeImage } from '../../platform/media/store-image.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { receiverPolicy } from '../../apps/webhooks/receiver-address.ts';
import { pictureTextColumns } from './csv-columns.ts';
import { rowsOf, type ProductFile } from './csv-file.ts';
import type { Mapping } from './csv-mapping.ts';
import { fetchPicture, PictureProblem } from './fetch-picture.ts';
import { readPictures, readPictureTexts, type NamedPicture } from './picture-addresses.ts';
import { describePictures, hasOtherTexts, type DescribedPicture } from './picture-texts.ts';
import { CellProblem, rowProblem, type RowProblem } from './row-problem.ts';
import { attachImage } from './slideshow.ts';

export interface PictureImport {
  db: Database;
  config: Config;
  media: MediaStorage;
  shopId: string;
  file: ProductFile;
  mapping: Mapping;
  /** Reads a picture named as a file; throws a PictureProblem or a CellProblem. */
  readFile: (name: string) => Promise<Buffer>;
  /** Only checks that the files exist. */
  isCheck?: boolean;
  /** Called after each picture, and for texts that describe none; undefined: it was stored. */
  onPicture: (problem: RowProblem | undefined) => Promise<void>;
}

/**
 * Fetches the pictures that a file names, for existing products, and sets their descriptions. A picture whose name the
 * product already has is not fetched again, so this can be repeated after a restart. Returns the number of products
 * whose texts have changed.
 */
export async function importPictures(given: PictureImport): Promise<number> {
  const { db, shopId, file, mapping } = given;
  const [numbers, pictures] = [mapping.indexOf('Alias'), mapping.indexOf('Images')];
  const textColumns = pictureTextColumns(await shopSettings(db, shopId)).filter(({ key }) =>
    mapping.includes(key),
  );
  if (pictures === -1 && textColumns.length === 0) return 0;
  let described = 0;
  let rows = new Map<string, PictureRow>();
  let characters = 0;
  const importRows = async () => {
    const products = await findPictures(db, shopId, [...rows.keys()]);
    for (const [number, row] of rows) if (await importRow(given, row, products.get(number))) described++;
    rows = new Map();
    characters = 0;
  };
  for await (const { row } of rowsOf(file)) {
    if (!row) continue;
    const cell = row.cells[pictures]?.trim() ?? '';
    if (cell === '' && textColumns.length === 0) continue;
    const texts = textColumns.map(({ key, locale }) => ({
      key,
      locale,
      cell: row.cells[mapping.indexOf(key)] ?? '',
    }));
    const number = (row.cells[numbers] ?? '').trim();
    // A second row of a product must see the pictures of the first one.
    if (rows.has(number)) await importRows();
    rows.set(number, { line: row.line, cell, texts });
    characters += texts.reduce((sum, text) => sum + text.cell.length, cell.length);
    if (rows.size === ROWS_AT_ONCE || characters >= CHARACTERS_AT_ONCE) await importRows();
  }
  await importRows();
  return described;
}

/** The limits of the rows whose pictures are read at once. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 500_000;

/** The cells about pictures of a row. */
interface PictureRow {
  line: number;
  /** The pictures. */
  cell: string;
  texts: { key: string; locale: string; cell: string }[];
}

interface PicturedProduct {
  productId: string;
  pictures: DescribedPicture[];
}

/** Returns whether the texts of the product have changed. */
async function importRow(
  given: PictureImport,
  { line, cell, texts: cells }: PictureRow,
  product: PicturedProduct | undefined,
): Promise<boolean> {
  const { db, shopId, isCheck = false } = given;
  // A product that a check would create does not exist yet.
  if (!product && !isCheck) return false;
  const named = picturesIn(cell);
  const present = (product?.pictures ?? []).map(({ name }) => name);
  const missing = named.filter(({ name }) => !present.includes(name));
  if (missing.length > 0)
    await storePictures(given, product, missing, (problem) => rowProblem(line, 'Images', problem, cell));
  // A row without pictures describes the product's existing ones.
  const names = named.length > 0 ? named.map(({ name }) => name) : present;
  const texts = cells.map((column) => ({ ...column, texts: textsIn(column.cell) }));
  for (const { key, cell: text, texts: left } of texts.filter(
    (column) => column.texts.length > names.length,
  )) {
    await given.onPicture(rowProblem(line, key, tooManyTexts(left.length, names.length), text));
  }
  if (isCheck || texts.length === 0) return false;
  const byPicture = textsByPicture(
    names,
    texts.filter((column) => column.texts.length <= names.length),
  );
  if (missing.length === 0 && !hasOtherTexts(product!.pictures, byPicture)) return false;
  return db.transaction((tx) => describePictures(tx, shopId, product!.productId, byPicture));
}

/** A check only verifies that the files exist. */
async function storePictures(
  given: PictureImport,
  product: { productId: string } | undefined,
  missing: readonly NamedPicture[],
  toProblem: (problem: CellProblem) => RowProblem,
): Promise<void> {
  const { db, config, isCheck = false, readFile, onPicture } = given;
  const policy = receiverPolicy(config, await readDemoAccess(db, config));
  for (const { place, isFile, name } of missing) {
    if (isCheck && !isFile) continue;
    try {
      const bytes = await (isFile ? readFile(place) : fetchPicture(policy, place));
      if (isCheck) continue;
      await store(given, product!.productId, name, bytes);
      await onPicture(undefined);
    } catch (error) {
      await onPicture(toProblem(pictureProblem(place, error)));
    }
  }
}

/** The first text belongs to the first picture, and so on; a picture without one gets an empty text. */
function textsByPicture(
  names: readonly string[],
  columns: readonly { locale: string; texts: readonly string[] }[],
): Map<string, Localised> {
  return new Map(
    names.map((name, index) => [
      name,
      Object.fromEntries(columns.map(({ locale, texts }) => [locale, texts[index] ?? ''])),
    ]),
  );
}

const tooManyTexts = (texts: number, pictures: number) =>
  new CellProblem('pictureTexts', `has ${texts} texts for ${pictures} pictures`, { texts, pictures });

/** Rethrows errors that are not the picture's fault. */
function pictureProblem(place: string, error: unknown): CellProblem {
  if (error instanceof CellProblem) return error;
  if (!(error instanceof PictureProblem) && !isRefusal(error)) throw error;
  return new CellProblem('picture', `${place}: ${error.message}`, { reason: error.message });
}

const picturesIn = (cell: string) => readable(() => readPictures(cell));
const textsIn = (cell: string) => readable(() => readPictureTexts(cell));

/** An unreadable cell was already reported with its row. */
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
    await db.transaction((tx) => attachImage(tx, config, shopId, productId, name, stored));
  } catch (error) {
    await media.removeFolders(shopId, [stored.imageKey]).catch(() => {});
    throw error;
  }
}

/** The products with these numbers, and their pictures. */
async function findPictures(
  db: Queries,
  shopId: string,
  productNumbers: readonly string[],
): Promise<Map<string, PicturedProduct>> {
  if (productNumbers.length === 0) return new Map();
  const rows = await db.many<{ number: string; productId: string; pictures: DescribedPicture[] }>(sql`
    select product_number as number, upper(product_id::text) as "productId", (
        select coalesce(json_agg(json_build_object('name', name, 'texts', alt_texts) order by position, name), '[]')
        from product_image image
        where image.shop_id = ${shopId} and image.product_id = product.product_id
      ) as pictures
    from product where shop_id = ${shopId} and product_number = any (${productNumbers}::text[])`);
  return new Map(rows.map(({ number, productId, pictures }) => [number, { productId, pictures }]));
}

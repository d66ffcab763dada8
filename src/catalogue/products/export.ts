import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { readingLocale, type Localised } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { newPauses } from '../../http/pauses.ts';
import { LocaleParameter } from '../../http/schemas.ts';
import { shopSettings, type CustomField, type Settings } from '../../shops/settings/settings.ts';
import { findAssignedPaths, findCategoryTree, idsBelow, type CategoryPaths } from './category-paths.ts';
import { columnsOf, type CsvColumn, type FileProduct } from './csv-columns.ts';
import { findFileFields } from './csv-fields.ts';
import { csvLine, escapeFormula, longCsvLine } from './csv-cells.ts';
import { imageUrl } from '../../platform/media/images.ts';
import { namedAddress } from './picture-addresses.ts';
import { storedColumns } from './queries.ts';

const ROWS_AT_ONCE = 500;
/** Characters that are sent at once. */
const PIECE = 200_000;

const exportProducts = operation({
  tag: 'products',
  labels: ['Base', 'Now'],
  method: 'GET',
  path: '/products/export',
  name: 'exportProducts',
  summary: 'Export products',
  description:
    'All products as a file, always current: first regular products and masters, then variations, which name their master. Cells are separated by semicolons; a cell is empty where a product has no value of its own. A text that a spreadsheet would run as a formula gets a leading apostrophe, which an import removes.',
  access: 'products_read_batch',
  produces: 'csv',
  query: Type.Object({ locale: LocaleParameter }),
  answer: Type.String({ description: 'The file, in UTF-8.' }),
});

export function productExport(api: Operations): void {
  api.read(exportProducts, async ({ db, shopId, query }) => {
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    const language = locale.slice(0, 2);
    return productFile(db, settings, {
      columns: columnsOf(settings),
      titleOf: ({ title }) => title(language),
    });
  });
}

export interface ProductExportOptions {
  columns: readonly CsvColumn[];
  titleOf: (column: CsvColumn) => string;
  /** undefined: both visible and hidden. */
  isVisible?: boolean | undefined;
  /** Only products in this category or one below it. */
  categoryId?: string | undefined;
  /** Scheme and host of the addresses of pictures; undefined: the file names none. */
  origin?: string | undefined;
}

/** Streamed: never more than a few hundred products are in memory. */
export function productFile(db: Queries, settings: Settings, options: ProductExportOptions): Readable {
  return Readable.from(productText(db, settings, options), { objectMode: false, highWaterMark: 65_536 });
}

/** The same as text. */
export async function* productText(
  db: Queries,
  settings: Settings,
  options: ProductExportOptions,
): AsyncGenerator<string> {
  const { columns, titleOf, isVisible, categoryId, origin } = options;
  const hasPaths = columns.some(({ key }) => key === 'Categories');
  const tree =
    hasPaths || categoryId !== undefined
      ? await findCategoryTree(db, settings.shopId, settings.defaultLocale)
      : undefined;
  const filter: ProductFilter = {
    visibilities: isVisible === undefined ? [true, false] : [isVisible],
    categoryIds: categoryId === undefined ? undefined : idsBelow(tree!, categoryId),
    paths: hasPaths ? tree : undefined,
    origin,
    fields: columns.flatMap(({ fields = [] }) => fields),
  };
  const pause = newPauses();
  let piece = '';
  yield csvLine(columns.map((column) => `${titleOf(column)} [${column.key}]`));
  for (const variations of [false, true]) {
    let last = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const products = await findFileProducts(db, settings, filter, variations, last);
      if (products.length === 0) break;
      for (const product of products) {
        piece += await longCsvLine(writtenCells(columns, product), pause);
        if (piece.length < PIECE && product !== products.at(-1)) continue;
        yield piece;
        piece = '';
      }
      last = products.at(-1)!.productId;
    }
  }
}

function* writtenCells(columns: readonly CsvColumn[], product: FileProduct): Generator<string> {
  for (const { cell, isNumber } of columns) {
    yield isNumber ? cell(product) : escapeFormula(cell(product));
  }
}

interface ProductFilter {
  visibilities: readonly boolean[];
  /** undefined: all products, in any category or in none. */
  categoryIds: readonly string[] | undefined;
  /** The source of category paths; undefined: they were not requested. */
  paths: CategoryPaths | undefined;
  origin: string | undefined;
  /** Custom fields. */
  fields: readonly CustomField[];
}

async function findFileProducts(
  db: Queries,
  { shopId, productTypes }: Settings,
  { visibilities, categoryIds, paths, origin, fields }: ProductFilter,
  variations: boolean,
  after: string,
): Promise<FileProduct[]> {
  // A separate statement text, because an optional condition would read all assignments of the shop.
  const isInCategory =
    categoryIds === undefined
      ? sql`true`
      : sql`exists (
          select from product_category assigned
          where assigned.shop_id = ${shopId} and assigned.product_id = coalesce(product.master_id, product.product_id)
            and assigned.category_id = any (${categoryIds}::uuid[]))`;
  const rows = await db.many<
    Omit<FileProduct, 'class' | 'categories' | 'images' | 'imageTexts' | 'fields'> & { typeId: string | null }
  >(sql`
    select ${storedColumns}, upper(coalesce(master.product_type_id, product.product_type_id)::text) as "typeId",
      coalesce(master.product_number, '') as "masterNumber"
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where product.shop_id = ${shopId} and product.product_id > ${after}
      and (product.kind = 'variation') = ${variations} and product.visible = any (${visibilities}::boolean[])
      and ${isInCategory}
    order by product.product_id limit ${ROWS_AT_ONCE}`);
  const aliases = new Map(productTypes.map(({ productTypeId, alias }) => [productTypeId, alias]));
  // A variation has its master's categories, and its own cell is empty.
  const assigned = paths && !variations ? await findAssignedPaths(db, shopId, paths, rows) : undefined;
  const pictures = origin === undefined ? undefined : await findPictures(db, shopId, origin, rows);
  const values = await findFileFields(
    db,
    shopId,
    rows.map(({ productId }) => productId),
    [...new Set(fields)],
  );
  return rows.map(({ typeId, ...row }) => ({
    ...row,
    class: aliases.get(typeId ?? '') ?? 'Default',
    categories: assigned?.get(row.productId) ?? '',
    images: (pictures?.get(row.productId) ?? []).map(({ address }) => address).join(' | '),
    imageTexts: (pictures?.get(row.productId) ?? []).map(({ texts }) => texts),
    fields: values.get(row.productId) ?? {},
  }));
}

interface Picture {
  /** The address of its largest size. */
  address: string;
  /** Its descriptions. */
  texts: Localised;
}

/** The pictures in the order of the slideshow, by the id of the product. */
async function findPictures(
  db: Queries,
  shopId: string,
  origin: string,
  products: readonly { productId: string }[],
): Promise<Map<string, Picture[]>> {
  const rows = await db.many<{
    productId: string;
    name: string;
    imageKey: string;
    file: string;
    texts: Localised;
  }>(sql`
    select upper(product_id::text) as "productId", name, image_key as "imageKey", sizes -> 'Large' ->> 'file' as file,
      alt_texts as texts
    from product_image
    where shop_id = ${shopId} and product_id = any (${products.map(({ productId }) => productId)}::uuid[])
      and sizes -> 'Large' ->> 'file' is not null
    order by product_id, position, name`);
  const pictures = new Map<string, Picture[]>();
  for (const { productId, name, imageKey, file, texts } of rows) {
    const address = namedAddress(imageUrl(origin, shopId, imageKey, file), name);
    pictures.set(productId, [...(pictures.get(productId) ?? []), { address, texts }]);
  }
  return pictures;
}

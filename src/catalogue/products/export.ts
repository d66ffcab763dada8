import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { readingLocale } from '../../http/locale.ts';
import type { Operations } from '../../http/operation.ts';
import { newPauses } from '../../http/pauses.ts';
import { LocaleParameter } from '../../http/schemas.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { columnsOf, type Column, type FileProduct } from './csv-columns.ts';
import { csvLine, escapeFormula } from './csv-cells.ts';
import { storedColumns } from './queries.ts';

const ROWS_AT_ONCE = 500;
/** Characters: a row may hold a megabyte, so other requests are served between the pieces. */
const PIECE = 200_000;

export function exportProducts(api: Operations): void {
  api.read(
    {
      tag: 'products',
      labels: ['Base', 'Now'],
      method: 'GET',
      path: '/products/export',
      name: 'exportProducts',
      summary: 'Export products',
      description:
        'All products as a file, always current: first those of their own, then variations, which name their ' +
        'master. Cells are separated by semicolons; a cell is empty where a product says nothing itself. A text that ' +
        'a spreadsheet would run as a formula has an apostrophe before it, which an import removes.',
      access: 'products_read_batch',
      produces: 'csv',
      query: Type.Object({ locale: LocaleParameter }),
      answer: Type.String({ description: 'The file, in UTF-8.' }),
    },
    async ({ db, shopId, query }) => {
      const settings = await shopSettings(db, shopId);
      const locale = readingLocale(query.locale, settings);
      return Readable.from(fileText(db, settings, locale), { objectMode: false, highWaterMark: 65_536 });
    },
  );
}

/** Piece by piece, as fast as it is read: never more than a few hundred products are in memory. */
async function* fileText(db: Queries, settings: Settings, locale: string): AsyncGenerator<string> {
  const columns = columnsOf(settings);
  const language = locale.slice(0, 2);
  const pause = newPauses();
  let piece = '';
  yield csvLine(columns.map(({ key, title }) => `${title(language)} [${key}]`));
  for (const variations of [false, true]) {
    let last = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const products = await findFileProducts(db, settings, variations, last);
      if (products.length === 0) break;
      for (const product of products) {
        piece += csvLine(columns.map((column) => writtenCell(column, product)));
        if (piece.length < PIECE && product !== products.at(-1)) continue;
        yield piece;
        piece = '';
        await pause();
      }
      last = products.at(-1)!.productId;
    }
  }
}

function writtenCell({ cell, isNumber }: Column, product: FileProduct): string {
  return isNumber ? cell(product) : escapeFormula(cell(product));
}

async function findFileProducts(
  db: Queries,
  { shopId, productTypes }: Settings,
  variations: boolean,
  after: string,
): Promise<FileProduct[]> {
  const rows = await db.many<Omit<FileProduct, 'class' | 'categories'> & { typeId: string | null }>(sql`
    select ${storedColumns}, upper(coalesce(master.product_type_id, product.product_type_id)::text) as "typeId",
      coalesce(master.product_number, '') as "masterNumber"
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where product.shop_id = ${shopId} and product.product_id > ${after}
      and (product.kind = 'variation') = ${variations}
    order by product.product_id limit ${ROWS_AT_ONCE}`);
  const aliases = new Map(productTypes.map(({ productTypeId, alias }) => [productTypeId, alias]));
  return rows.map(({ typeId, ...row }) => ({
    ...row,
    class: aliases.get(typeId ?? '') ?? 'Default',
    categories: '',
  }));
}

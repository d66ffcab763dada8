import { FileProblem } from '../../catalogue/products/file-problem.ts';
import type { CategoryRecord, SourcePlace } from '../records.ts';
import type { SourceFile } from '../source-files.ts';
import { tableRows, type TableRow } from '../table.ts';

export interface ShopwareFiles {
  products: readonly SourceFile[];
  properties: readonly SourceFile[];
  categories: readonly SourceFile[];
  discounts: readonly SourceFile[];
  codes: readonly SourceFile[];
}

export async function* rowsIn(
  files: readonly SourceFile[],
): AsyncGenerator<{ row: TableRow; place: SourcePlace }> {
  for (const { file } of files) {
    for await (const row of tableRows(file)) yield { row, place: { file: file.name, line: row.line } };
  }
}

/** An option or a property: the value of a group. */
export interface Property {
  group: string;
  name: string;
}

export interface SoldProduct {
  number: string;
  name: string;
}

/** What other files name by an id only. Each is read when it is first asked for. */
export interface ShopwareIndex {
  properties(): Promise<ReadonlyMap<string, Property>>;
  /** The names of a category from the top, by its id. */
  categories(): Promise<ReadonlyMap<string, readonly string[]>>;
  products(): Promise<ReadonlyMap<string, SoldProduct>>;
}

/** Entries of an index: they are in memory. */
const MAX_ENTRIES = 2_000_000;
const MAX_DEPTH = 20;

export function shopwareIndex({ properties, categories, products }: ShopwareFiles): ShopwareIndex {
  return {
    properties: once(() =>
      indexOf(properties, (row) => ({ group: row.cell('group_name'), name: row.cell('name') })),
    ),
    categories: once(async () =>
      pathsOf(
        await indexOf(categories, (row) => ({ parent: row.cell('parent_id'), name: row.cell('name') })),
      ),
    ),
    products: once(async () => {
      const parents = new Map<string, string>();
      const sold = await indexOf(products, (row) => {
        parents.set(row.cell('id'), row.cell('parent_id'));
        return { number: row.cell('product_number'), name: row.cell('name') };
      });
      // A variant has the name of its product unless it has one of its own.
      for (const [id, product] of sold) {
        if (product.name === '') product.name = sold.get(parents.get(id) ?? '')?.name ?? '';
      }
      return sold;
    }),
  };
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => (reading ??= read());
}

async function indexOf<Entry>(
  files: readonly SourceFile[],
  toEntry: (row: TableRow) => Entry,
): Promise<Map<string, Entry>> {
  const index = new Map<string, Entry>();
  for await (const { row } of rowsIn(files)) {
    const id = row.cell('id');
    if (id === '') continue;
    if (index.size >= MAX_ENTRIES) throw new FileProblem(`The export names more than ${MAX_ENTRIES} things`);
    index.set(id, toEntry(row));
  }
  return index;
}

/** The roots are the entry points of menus, such as main and footer, so they are no categories of products. */
function pathsOf(
  categories: ReadonlyMap<string, { parent: string; name: string }>,
): Map<string, readonly string[]> {
  const paths = new Map<string, readonly string[]>();
  for (const id of categories.keys()) {
    const path: string[] = [];
    let at = categories.get(id);
    while (at && at.parent !== '' && path.length < MAX_DEPTH) {
      path.unshift(at.name || '-');
      at = categories.get(at.parent);
    }
    if (path.length > 0) paths.set(id, path);
  }
  return paths;
}

export async function* shopwareCategories(
  files: readonly SourceFile[],
  index: ShopwareIndex,
): AsyncGenerator<CategoryRecord> {
  const paths = await index.categories();
  for await (const { row, place } of rowsIn(files)) {
    const id = row.cell('id');
    const path = paths.get(id);
    if (!path) continue;
    yield {
      kind: 'category',
      sourceId: id,
      place,
      formerAddresses: [`/navigation/${id}`],
      path,
      description: row.cell('description'),
    };
  }
}

/** Ids between bars. */
export const idsIn = (text: string): string[] =>
  text
    .split('|')
    .map((id) => id.trim())
    .filter((id) => id !== '');

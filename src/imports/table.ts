import { newPauses } from '../http/pauses.ts';
import { rowsOf, type ProductFile } from '../catalogue/products/csv-file.ts';

/** A row of a table with a header: its cells by the names of their columns in lower case. */
export interface TableRow {
  line: number;
  /** The cell of the first of these columns that the table has, without blanks around it; '' without one. */
  cell: (...names: string[]) => string;
  has: (name: string) => boolean;
  /** Bytes read since the row before. */
  bytes: number;
}

/** Reads the rows of a table one by one, whatever its size. */
export async function* tableRows(file: ProductFile): AsyncGenerator<TableRow> {
  let columns: ReadonlyMap<string, number> | undefined;
  const pause = newPauses();
  for await (const { header, row, bytes } of rowsOf(file)) {
    if (header) columns = columnIndexes(header);
    if (!row || !columns) continue;
    const known = columns;
    await pause();
    const { line, cells } = row;
    yield {
      line,
      bytes,
      has: (name) => known.has(name.toLowerCase()),
      cell: (...names) => {
        for (const name of names) {
          const place = known.get(name.toLowerCase());
          if (place !== undefined) return (cells[place] ?? '').trim();
        }
        return '';
      },
    };
  }
}

/** Of two columns with the same name, the first one counts. */
export function columnIndexes(header: readonly string[]): Map<string, number> {
  const columns = new Map<string, number>();
  for (const [place, name] of header.entries()) {
    const key = name.trim().toLowerCase();
    if (key !== '' && !columns.has(key)) columns.set(key, place);
  }
  return columns;
}

/**
 * Rows of one thing follow each other: they have the same key, or none after the first. Of one with more than `maxRows`
 * one more is kept, so that a file of any length fits into memory and its reader can refuse the thing.
 */
export async function* groupedRows(
  rows: AsyncIterable<TableRow>,
  keyOf: (row: TableRow) => string,
  maxRows: number,
): AsyncGenerator<TableRow[]> {
  let group: TableRow[] = [];
  let key = '';
  for await (const row of rows) {
    const next = keyOf(row);
    const isSame = group.length > 0 && (next === '' || next === key);
    if (!isSame && group.length > 0) yield group;
    if (!isSame) [group, key] = [[], next];
    if (group.length <= maxRows) group.push(row);
  }
  if (group.length > 0) yield group;
}

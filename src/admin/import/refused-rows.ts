import { Readable } from 'node:stream';
import { escapeFormula, longCsvLine } from '../../catalogue/products/csv-cells.ts';
import { rowsOf, textFile } from '../../catalogue/products/csv-file.ts';
import { PROBLEM_COLUMN } from '../../catalogue/products/csv-mapping.ts';
import {
  eachProblem,
  findImportContent,
  type StoredImport,
} from '../../catalogue/products/import-queries.ts';
import { badRequest } from '../../http/errors.ts';
import { newPauses } from '../../http/pauses.ts';
import { optionsOf, readFields } from '../components/declared-form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { loadImport } from './import-page.ts';
import { storeImport } from './new-import.ts';
import { columnTitle } from './column-titles.ts';
import { cellInput, CELLS, rowRefusal } from './report.ts';
import { Redirect } from '../../http/page-kit.ts';

/** The refused rows: as a file to fix elsewhere, or fixed on the page. */
export function refusedRows(pages: ShopPages): void {
  pages.file('/products/import/:importId/refused.csv', 'products_write', async (visit, request) => {
    const found = await loadImport(visit, request);
    return {
      type: 'text/csv',
      fileName: visit.messages.import.refusedFile,
      content: Readable.from(refusedLines(visit, found), { objectMode: false }),
    };
  });

  pages.post(
    '/products/import/:importId/mend',
    'products_write',
    async (visit, form) => {
      const found = await loadImport(visit, form);
      const columns = new Map(found.problems.map(({ line, column }) => [line, column]));
      const pause = newPauses();
      let titles: string[] = [];
      const lines: string[] = [];
      for await (const { header, line, cells } of rowsIn(visit, found, columns)) {
        titles = header;
        const place = found.reading.mapping.indexOf(columns.get(line) ?? '');
        if (place === -1 || !form.fieldNames.includes(cellInput(line, visit))) continue;
        const { cell } = readFields(CELLS, form, visit, { row: String(line) });
        lines.push(
          await longCsvLine(padded(cells, header.length).with(place, cell).map(escapeFormula), pause),
        );
      }
      if (lines.length === 0) throw badRequest(visit.messages.import.noRows);
      const importId = await storeImport(visit, {
        fileName: visit.messages.import.mendedName({ name: found.fileName }),
        content: [headerLine(titles), ...lines].join(''),
        rowCount: lines.length,
        reading: found.reading,
        state: 'checking',
      });
      return new Redirect(adminPath(visit, `/products/import/${importId}`));
    },
    optionsOf(CELLS),
  );
}

/** The file with the rows and the reason for each refusal, line by line. */
async function* refusedLines(visit: ShopVisit, found: StoredImport): AsyncGenerator<string> {
  const reasons = new Map<number, string>();
  for await (const problem of eachProblem(visit.db, visit.shopId, found.importId)) {
    const column = problem.column === null ? '' : `${columnTitle(visit, problem.column)}: `;
    reasons.set(problem.line, column + rowRefusal(visit, problem));
  }
  const pause = newPauses();
  let isFirst = true;
  for await (const { header, line, cells } of rowsIn(visit, found, reasons)) {
    // The byte order mark tells spreadsheets that it is UTF-8.
    if (isFirst) yield `\u{feff}${headerLine([...header, PROBLEM_COLUMN])}`;
    isFirst = false;
    yield await longCsvLine([...padded(cells, header.length), reasons.get(line)!].map(escapeFormula), pause);
  }
}

/** In quotes, so that a comma in a title is not read as a separator. */
const headerLine = (titles: readonly string[]): string =>
  `${titles.map((title) => `"${escapeFormula(title).replaceAll('"', '""')}"`).join(';')}\n`;

const padded = (cells: readonly string[], length: number): string[] =>
  Array.from({ length }, (_, place) => cells[place] ?? '');

/** The rows of the file in these lines. */
async function* rowsIn(
  visit: ShopVisit,
  { importId, fileName }: StoredImport,
  lines: Pick<ReadonlySet<number>, 'has'>,
): AsyncGenerator<{ header: string[]; line: number; cells: string[] }> {
  const content = await findImportContent(visit.db, visit.shopId, importId);
  let titles: string[] = [];
  for await (const { header, row } of rowsOf(textFile(fileName, content))) {
    if (header) titles = header;
    if (row && lines.has(row.line)) yield { header: titles, ...row };
  }
}

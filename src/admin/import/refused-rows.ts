import { LONGEST } from '../../catalogue/products/request-fields.ts';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { rowsOf, textFile } from '../../catalogue/products/csv-file.ts';
import { PROBLEM_COLUMN } from '../../catalogue/products/csv-mapping.ts';
import { findImportContent, type StoredImport } from '../../catalogue/products/import-queries.ts';
import { badRequest } from '../../http/errors.ts';
import { Redirect } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { to, type ShopVisit } from '../visit.ts';
import { loadImport } from './import-page.ts';
import { storeImport } from './new-import.ts';
import { columnTitle } from './column-titles.ts';
import { reasonText, SHOWN_PROBLEMS } from './report.ts';

/** The rows that were not taken: as a file to mend elsewhere, or mended on the page. */
export function refusedRows(pages: ShopPages): void {
  pages.file('/products/import/:importId/refused.csv', 'products_write', async (visit, request) => {
    const found = await loadImport(visit, request);
    const { header, rows } = await readRefused(visit, found);
    const reasons = new Map(
      found.problems.map((problem) => {
        const column = problem.column === null ? '' : `${columnTitle(visit, problem.column)}: `;
        return [problem.line, column + reasonText(visit, problem)];
      }),
    );
    const lines = [
      headerLine([...header, PROBLEM_COLUMN]),
      ...rows.map(({ line, cells }) =>
        csvLine([...padded(cells, header.length), reasons.get(line) ?? ''].map(escapeFormula)),
      ),
    ];
    // The mark at the beginning tells spreadsheets that it is UTF-8.
    return { type: 'text/csv', fileName: visit.words.import.refusedFile, content: `\uFEFF${lines.join('')}` };
  });

  pages.post(
    '/products/import/:importId/mend',
    'products_write',
    async (visit, form) => {
      const found = await loadImport(visit, form);
      const { header, rows } = await readRefused(visit, found);
      const columns = new Map(found.problems.map(({ line, column }) => [line, column]));
      const mended = rows.slice(0, SHOWN_PROBLEMS).flatMap(({ line, cells }) => {
        const name = `cell.${line}`;
        const place = found.reading.mapping.indexOf(columns.get(line) ?? '');
        if (place === -1 || !form.fieldNames.includes(name)) return [];
        return [padded(cells, header.length).with(place, form.field(name))];
      });
      if (mended.length === 0) throw badRequest(visit.words.import.noRows);
      const importId = await storeImport(visit, {
        fileName: visit.words.import.mendedName({ name: found.fileName }),
        content: [headerLine(header), ...mended.map((cells) => csvLine(cells.map(escapeFormula)))].join(''),
        rowCount: mended.length,
        reading: found.reading,
        state: 'checking',
      });
      return new Redirect(to(visit, `/products/import/${importId}`));
    },
    { limits: { texts: { 'cell.*': LONGEST.text } } },
  );
}

/** In quotes, so that a comma in a title is not taken for what separates the cells. */
const headerLine = (titles: readonly string[]): string =>
  `${titles.map((title) => `"${escapeFormula(title).replaceAll('"', '""')}"`).join(';')}\n`;

const padded = (cells: readonly string[], length: number): string[] =>
  Array.from({ length }, (_, place) => cells[place] ?? '');

async function readRefused(visit: ShopVisit, { importId, fileName, problems }: StoredImport) {
  const content = await findImportContent(visit.db, visit.shopId, importId);
  const refused = new Set(problems.map(({ line }) => line));
  const rows: { line: number; cells: string[] }[] = [];
  let titles: string[] = [];
  for await (const { header, row } of rowsOf(textFile(fileName, content))) {
    if (header) titles = header;
    if (row && refused.has(row.line)) rows.push(row);
  }
  return { header: titles, rows };
}

import type { Pause } from '../../http/pauses.ts';

/**
 * A spreadsheet runs a cell that begins with one of these as a formula, whoever wrote it: a product called
 * `=HYPERLINK("https://...")` would send a merchant's data elsewhere when the file is opened. An apostrophe before it
 * makes a text of it. Apostrophes that a text begins with itself get one more, so that every text comes back.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** The cell as it is written. */
export function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** The cell as it was before it was written; one that nobody has escaped stays as it is. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** A line of the file. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(';')}\n`;
}

/** The same for cells of any length: other requests are served between them. */
export async function longCsvLine(cells: readonly string[], pause: Pause): Promise<string> {
  const written: string[] = [];
  for (const cell of cells) {
    written.push(csvCell(escapeFormula(cell)));
    await pause();
  }
  return `${written.join(';')}\n`;
}

/** Quotes are doubled by splitting: it is the fastest way for a text of 100,000 of them. */
function csvCell(cell: string): string {
  return /[;"\r\n]/.test(cell) ? `"${cell.split('"').join('""')}"` : cell;
}

import {
  CsvReader,
  DELIMITERS,
  type Delimiter,
  type TableLimits,
} from '../../catalogue/products/csv-reader.ts';
import { FileProblem } from '../../catalogue/products/file-problem.ts';
import { readJson } from '../../kernel/json-file.ts';
import {
  creditAmount,
  dayIn,
  MAX_PAYER_LENGTH,
  MAX_BANK_REFERENCE_LENGTH,
  MAX_PURPOSE_LENGTH,
  boundedLine,
  type BankCredit,
} from './credit.ts';
import type columnNames from './csv-columns.json';
import { StatementProblem } from './statement-problem.ts';

/** The titles of the columns in the exports of banks, in lower case, the most telling one first. */
const names = readJson(new URL('./csv-columns.json', import.meta.url)) as typeof columnNames;

type Column = keyof typeof columnNames;
type Places = Partial<Record<Column, number>>;

const LIMITS: TableLimits = { rows: 100_000, columns: 100, cell: 10_000, row: 50_000 };
/** Some banks write the account and the period above the table. */
const MAX_PREAMBLE_ROWS = 30;
/** Enough of a file for its preamble. */
const START = 65_536;
const PIECE = 16_384;

/**
 * The credits of a table as banks export it; undefined for other rows, so that the caller can serve others in between. Rows
 * without a day are notes below the table. `currency` is that of tables that name none.
 */
export function* csvCredits(text: string, currency: string): Generator<BankCredit | undefined> {
  const delimiter = DELIMITERS.find((one) => headerIn(text.slice(0, START), one));
  if (delimiter === undefined) throw new StatementProblem('columns');
  let places: Places | undefined;
  for (const cells of rowsOf(text, delimiter)) {
    if (places) yield creditOf(cells, places, currency);
    else {
      places = placesIn(cells);
      yield undefined;
    }
  }
}

function headerIn(start: string, delimiter: Delimiter): boolean {
  let rows = 0;
  try {
    for (const cells of rowsOf(start, delimiter)) {
      if (placesIn(cells)) return true;
      if (++rows === MAX_PREAMBLE_ROWS) return false;
    }
  } catch (error) {
    // With another delimiter the same text may be a table.
    if (!(error instanceof StatementProblem)) throw error;
  }
  return false;
}

function* rowsOf(text: string, delimiter: Delimiter): Generator<string[]> {
  const reader = new CsvReader(delimiter, LIMITS);
  try {
    for (let at = 0; at < text.length; at += PIECE) {
      for (const { cells } of reader.read(text.slice(at, at + PIECE))) yield cells;
    }
    for (const { cells } of reader.end()) yield cells;
  } catch (error) {
    throw error instanceof FileProblem ? new StatementProblem('table') : error;
  }
}

/** undefined: the row is not the header of a statement. */
function placesIn(cells: readonly string[]): Places | undefined {
  const titles = cells.map((cell) => cell.replace('\u{feff}', '').trim().toLowerCase());
  const places: Places = {};
  for (const column of Object.keys(names) as Column[]) {
    const title = names[column].find((name) => titles.includes(name));
    // Where a title stands twice, the last one belongs to the amount, which is the last column.
    if (title !== undefined) places[column] = titles.lastIndexOf(title);
  }
  const hasAmount = places.amount !== undefined || places.credit !== undefined;
  return places.date !== undefined && hasAmount && places.text !== undefined ? places : undefined;
}

function creditOf(cells: readonly string[], places: Places, ownCurrency: string): BankCredit | undefined {
  const cell = (column: Column) =>
    places[column] === undefined ? '' : (cells[places[column]]?.trim() ?? '');
  const bookedOn = dayIn(cell('date'));
  if (bookedOn === undefined) return undefined;
  const written = cell('amount') || cell('credit');
  if (written === '') return undefined;
  const currency = cell('currency').toUpperCase().replace('€', 'EUR') || ownCurrency;
  const decimal = decimalIn(written);
  const amount = decimal === undefined ? undefined : creditAmount(decimal, currency);
  if (amount === undefined) throw new StatementProblem('amount');
  if (amount <= 0 || cell('side').toUpperCase().startsWith('S')) return undefined;
  return {
    bookedOn,
    amount,
    currency,
    payer: boundedLine(cell('payer'), MAX_PAYER_LENGTH),
    text: boundedLine(`${cell('text')} ${endToEnd(cell('reference'))}`, MAX_PURPOSE_LENGTH),
    reference: boundedLine(endToEnd(cell('reference')), MAX_BANK_REFERENCE_LENGTH),
  };
}

const endToEnd = (reference: string) => (reference === 'NOTPROVIDED' ? '' : reference);

/** `1.234,56`, `1,234.56`, `-12,00 €`; undefined: it is not a number. */
function decimalIn(text: string): string | undefined {
  const plain = text.replaceAll(/[\s€+']|EUR/g, '').replace('−', '-');
  if (/^-?(?:\d{1,3}(?:\.\d{3})+|\d{1,12})(?:,\d{1,4})?$/.test(plain)) {
    return plain.replaceAll('.', '').replace(',', '.');
  }
  return /^-?(?:\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.\d{1,4})?$/.test(plain)
    ? plain.replaceAll(',', '')
    : undefined;
}

import { newPauses } from '../../http/pauses.ts';
import { toDecimal } from '../../kernel/money.ts';
import { csvLine, escapeFormula, unescapeFormula } from '../products/csv-cells.ts';
import { CsvReader, DELIMITERS, type Delimiter, type FileRow } from '../products/csv-reader.ts';
import { decimalSignOf, plainNumber } from '../products/decimal-comma.ts';
import { FileProblem } from '../products/file-problem.ts';
import { PRICE_COLUMNS, type GivenPrice, type PriceField } from './prices.ts';
import type { ListedPrices } from './queries.ts';

export const MAX_PRICE_FILE_BYTES = 2 * 1_048_576;
export const MAX_PRICE_FILE_ROWS = 20_000;

const LIMITS = { rows: MAX_PRICE_FILE_ROWS, columns: 20, cell: 200, row: 1_000 };

/** The columns as spreadsheets in our languages name them. */
const NAMES: Readonly<Record<string, PriceField>> = {
  productnumber: 'productNumber',
  'product number': 'productNumber',
  number: 'productNumber',
  sku: 'productNumber',
  artikelnummer: 'productNumber',
  référence: 'productNumber',
  currency: 'currency',
  währung: 'currency',
  devise: 'currency',
  quantity: 'quantity',
  from: 'quantity',
  menge: 'quantity',
  ab: 'quantity',
  quantité: 'quantity',
  price: 'price',
  preis: 'price',
  prix: 'price',
};

export interface PriceRow extends GivenPrice {
  /** The line of the file. */
  line: number;
}

/** The prices of a file. Without a header, its columns are the number, the price and maybe the quantity. */
export async function readPrices(text: string): Promise<PriceRow[]> {
  const pause = newPauses();
  const rows: FileRow[] = [];
  for (const row of rowsOf(text)) {
    rows.push(row);
    await pause();
  }
  const [head] = rows;
  if (!head) throw new FileProblem('the file is empty', 'empty');
  const columns = columnsOf(head.cells);
  const places = columns ?? { productNumber: 0, price: 1, quantity: 2 };
  const read = rows.slice(columns ? 1 : 0).map(({ line, cells }) => {
    const cell = (field: PriceField) => unescapeFormula(cells[places[field] ?? Infinity] ?? '').trim();
    return { line, cell };
  });
  const sign = decimalSignOf(read.slice(0, ROWS_FOR_SIGN).map(({ cell }) => cell('price')));
  const prices: PriceRow[] = [];
  for (const { line, cell } of read) {
    prices.push({
      line,
      productNumber: cell('productNumber'),
      currency: cell('currency'),
      quantity: cell('quantity').replace(',', '.'),
      price: plainNumber(cell('price'), sign),
    });
    await pause();
  }
  return prices;
}

/** The first rows tell whether the file writes 1.50 or 1,50. */
const ROWS_FOR_SIGN = 1_000;

function* rowsOf(text: string): Generator<FileRow> {
  const reader = new CsvReader(delimiterOf(text), LIMITS);
  yield* reader.read(text);
  yield* reader.end();
}

function columnsOf(cells: readonly string[]): Partial<Record<PriceField, number>> | undefined {
  const named = cells.map((cell) => NAMES[cell.trim().toLowerCase()]);
  if (!named.includes('productNumber') || !named.includes('price')) return undefined;
  const columns: Partial<Record<PriceField, number>> = {};
  for (const [index, name] of named.entries()) if (name && columns[name] === undefined) columns[name] = index;
  return columns;
}

/** The delimiter that the first line has most of. */
function delimiterOf(text: string): Delimiter {
  const first = text.slice(0, 2_000).split(/[\r\n]/, 1)[0]!;
  const count = (delimiter: Delimiter) => first.split(delimiter).length;
  return DELIMITERS.reduce((best, one) => (count(one) > count(best) ? one : best));
}

export const priceFileHead = (): string => csvLine(PRICE_COLUMNS);

export const priceFileLines = ({ productNumber, tiers }: ListedPrices): string =>
  tiers
    .flatMap(({ quantity, prices }) =>
      Object.entries(prices).map(([currency, price]) =>
        csvLine([escapeFormula(productNumber), currency, quantity, String(toDecimal(price, currency))]),
      ),
    )
    .join('');

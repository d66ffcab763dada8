import { csvLine, escapeFormula, unescapeFormula } from '../products/csv-cells.ts';
import { CsvReader, DELIMITERS, type Delimiter } from '../products/csv-reader.ts';
import { FileProblem } from '../products/file-problem.ts';
import { MAX_SOURCE_LENGTH } from './address.ts';
import { TARGET_KINDS, type ListedRedirect, type TargetKind } from './queries.ts';
import { MAX_TARGET_LENGTH, type GivenRedirect } from './save.ts';

export const MAX_REDIRECT_FILE_BYTES = 10 * 1_048_576;
export const MAX_REDIRECT_FILE_ROWS = 100_000;

const LIMITS = {
  rows: MAX_REDIRECT_FILE_ROWS,
  columns: 20,
  cell: Math.max(MAX_SOURCE_LENGTH, MAX_TARGET_LENGTH),
  row: 10_000,
};

const COLUMNS = ['source', 'status', 'kind', 'target'] as const;
type ColumnName = (typeof COLUMNS)[number];

/** The columns as other shop software names them. */
const NAMES: Readonly<Record<string, ColumnName>> = {
  source: 'source',
  from: 'source',
  'redirect from': 'source',
  'source url': 'source',
  'old url': 'source',
  status: 'status',
  code: 'status',
  'http code': 'status',
  kind: 'kind',
  target: 'target',
  to: 'target',
  'redirect to': 'target',
  'target url': 'target',
  'new url': 'target',
};

export interface RedirectRow extends GivenRedirect {
  /** The line of the file. */
  line: number;
}

/** The redirects of a file, one after the other. Without a header, its first two columns are the address and the target. */
export function* readRedirects(text: string): Generator<RedirectRow> {
  const reader = new CsvReader(delimiterOf(text), LIMITS);
  let columns: Partial<Record<ColumnName, number>> | undefined;
  for (const { line, cells } of rowsOf(reader, text)) {
    if (!columns) {
      columns = columnsOf(cells);
      if (columns) continue;
      columns = { source: 0, target: 1 };
    }
    const cell = (name: ColumnName) => {
      const index = columns![name];
      return index === undefined ? '' : unescapeFormula(cells[index] ?? '').trim();
    };
    yield { line, ...redirectOf(cell) };
  }
  if (!columns) throw new FileProblem('the file is empty', 'empty');
}

function* rowsOf(reader: CsvReader, text: string) {
  yield* reader.read(text);
  yield* reader.end();
}

function columnsOf(cells: readonly string[]): Partial<Record<ColumnName, number>> | undefined {
  const named = cells.map((cell) => NAMES[cell.trim().toLowerCase()]);
  if (!named.includes('source')) return undefined;
  const columns: Partial<Record<ColumnName, number>> = {};
  for (const [index, name] of named.entries()) if (name && columns[name] === undefined) columns[name] = index;
  return columns;
}

function redirectOf(cell: (name: ColumnName) => string): GivenRedirect {
  const [source, target] = [cell('source'), cell('target')];
  const isGone = cell('status') === '410';
  const named = TARGET_KINDS.find((kind) => kind === cell('kind').toLowerCase());
  return {
    source,
    status: isGone ? 410 : 301,
    kind: isGone ? null : (named ?? kindOf(target)),
    target: isGone || target === '' ? null : target,
  };
}

/** A file of other software names addresses; one that names products has no other kind. */
function kindOf(target: string): TargetKind {
  return /^(?:\/|https?:\/\/)/i.test(target) ? 'address' : 'product';
}

/** The delimiter that the first line has most of. */
function delimiterOf(text: string): Delimiter {
  const first = text.slice(0, 2_000).split(/[\r\n]/, 1)[0]!;
  const count = (delimiter: Delimiter) => first.split(delimiter).length;
  return DELIMITERS.reduce((best, one) => (count(one) > count(best) ? one : best));
}

export const redirectFileHead = (): string => csvLine(COLUMNS);

export const redirectFileLine = ({ source, status, kind, target }: ListedRedirect): string =>
  csvLine([source, String(status), kind ?? '', target ?? ''].map(escapeFormula));

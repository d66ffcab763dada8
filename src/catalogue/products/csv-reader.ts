import { FileProblem, type FileProblemCode } from './file-problem.ts';

/** The delimiters of spreadsheets: a semicolon where the comma is the decimal separator, a tab in copied cells. */
export const DELIMITERS = [';', ',', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** The limits of a table. They are checked during reading, so a table beyond them costs no more than one within. */
export interface TableLimits {
  /** Without the header. */
  rows: number;
  columns: number;
  /** Characters of one cell. */
  cell: number;
  /** Characters of all cells of one row. */
  row: number;
}

export interface FileRow {
  /** The line of the file in which the row ends. */
  line: number;
  cells: string[];
}

const QUOTE = 34;
const LINE_FEED = 10;
const RETURN = 13;
const BYTE_ORDER_MARK = '\u{feff}';

/**
 * - `start`: nothing of the cell was read yet.
 * - `plain`: inside of a cell without quotes.
 * - `quoted`: inside of quotes.
 * - `quote`: after a quote that ends the cell, unless a second one follows.
 */
type State = 'start' | 'plain' | 'quoted' | 'quote';

/**
 * Reads the rows of a CSV text that comes in pieces: RFC 4180, with other delimiters, any line break, and rows of different
 * lengths. Empty lines are skipped. Throws a FileProblem.
 */
export class CsvReader {
  readonly #delimiter: number;
  readonly #limits: TableLimits;
  #state: State = 'start';
  #cell = '';
  #cells: string[] = [];
  /** Characters of the cells of this row that have ended. */
  #rowLength = 0;
  /** With the header. */
  #rows = 0;
  #line = 1;
  /** The line in which the current cell starts. */
  #cellLine = 1;
  #isBeginning = true;
  /** A line feed belongs to the return before it. */
  #isAfterReturn = false;

  constructor(delimiter: Delimiter, limits: TableLimits) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#limits = limits;
  }

  /** The rows that end in this piece. */
  *read(piece: string): Generator<FileRow> {
    const skipped = this.#isBeginning && piece.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
    if (piece !== '') this.#isBeginning = false;
    const delimiter = this.#delimiter;
    /** The part that the cell does not have yet; the end is only known after a quote. */
    let [start, end] = [skipped, skipped];
    for (let at = skipped; at < piece.length; at++) {
      // Most characters are inside of cells, where they mean nothing: this loop passes over them.
      if (this.#state === 'plain' || this.#state === 'quoted') {
        const first = at;
        const isQuoted = this.#state === 'quoted';
        for (; at < piece.length; at++) {
          const code = piece.charCodeAt(at);
          if (code === QUOTE || code === LINE_FEED || code === RETURN) break;
          if (code === delimiter && !isQuoted) break;
        }
        if (at > first) this.#isAfterReturn = false;
        if (at === piece.length) break;
      }
      const code = piece.charCodeAt(at);
      const isBreak = code === LINE_FEED || code === RETURN;
      const isSecondHalf = code === LINE_FEED && this.#isAfterReturn;
      this.#isAfterReturn = code === RETURN;

      if (this.#state === 'quoted') {
        if (code === QUOTE) {
          end = at;
          this.#state = 'quote';
        } else if (isBreak && !isSecondHalf) this.#line++;
      } else if (code === QUOTE) {
        if (this.#state === 'plain') {
          throw this.#problem('quoteInCell', 'a quote is inside of a cell without quotes');
        }
        if (this.#state === 'start') start = at + 1;
        this.#state = 'quoted';
      } else if (isBreak || code === delimiter) {
        if (this.#state !== 'start') this.#addToCell(piece.slice(start, this.#state === 'plain' ? at : end));
        if (!isBreak) this.#endCell();
        else if (this.#state !== 'start' || this.#cells.length > 0) yield this.#endRow();
        if (isBreak && !isSecondHalf) this.#line++;
        this.#cellLine = this.#line;
      } else if (this.#state === 'start') {
        start = at;
        this.#state = 'plain';
      } else if (this.#state === 'quote') {
        throw this.#problem('textAfterQuote', 'text follows the quote that ends a cell');
      }
    }
    if (this.#state !== 'start')
      this.#addToCell(piece.slice(start, this.#state === 'quote' ? end : undefined));
  }

  /** The last row, if no line break ends it. */
  *end(): Generator<FileRow> {
    if (this.#state === 'quoted')
      throw this.#problem('quoteNotClosed', 'a quote is not closed', this.#cellLine);
    if (this.#state !== 'start' || this.#cells.length > 0) yield this.#endRow();
  }

  /** Two quotes stand for one. They are replaced in one go, because a text may have hundreds of thousands of them. */
  #addToCell(text: string): void {
    this.#cell += this.#state === 'plain' ? text : text.split('""').join('"');
    const { cell, row } = this.#limits;
    // A missing quote makes one cell of everything after it.
    const reason = this.#state === 'quoted' ? '; is its quote closed?' : '';
    if (this.#cell.length > cell) {
      const message = `a cell has more than ${cell} characters${reason}`;
      throw this.#problem('cellTooLong', message, this.#cellLine, cell);
    }
    if (this.#rowLength + this.#cell.length > row) {
      throw this.#problem('rowTooLong', `a row has more than ${row} characters`, this.#cellLine, row);
    }
  }

  #endCell(): void {
    const { columns } = this.#limits;
    if (this.#cells.length === columns) {
      throw this.#problem('tooManyColumns', `there are more than ${columns} columns`, this.#line, columns);
    }
    this.#cells.push(this.#cell);
    this.#rowLength += this.#cell.length;
    this.#cell = '';
    this.#state = 'start';
  }

  #endRow(): FileRow {
    const { rows } = this.#limits;
    this.#endCell();
    const row = { line: this.#line, cells: this.#cells };
    if (++this.#rows > rows + 1) {
      throw this.#problem('tooManyRows', `there are more than ${rows} rows`, this.#line, rows);
    }
    this.#cells = [];
    this.#rowLength = 0;
    return row;
  }

  #problem(code: FileProblemCode, message: string, line = this.#line, most = 0): FileProblem {
    return new FileProblem(`line ${line}: ${message}`, code, { line, most });
  }
}

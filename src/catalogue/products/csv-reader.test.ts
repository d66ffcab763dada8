import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { halfOf, SEED } from '../../../test/seed.ts';
import { csvLine } from './csv-cells.ts';
import { decodedText } from './csv-file.ts';
import { CsvReader, DELIMITERS, type Delimiter, type TableLimits } from './csv-reader.ts';
import { FileProblem } from './file-problem.ts';

const LIMITS: TableLimits = { rows: 100, columns: 20, cell: 200, row: 400 };

/** Reads a text in pieces of this length. */
function read(
  text: string,
  {
    delimiter = ';',
    piece = text.length,
    limits = LIMITS,
  }: { delimiter?: Delimiter; piece?: number; limits?: TableLimits } = {},
) {
  const reader = new CsvReader(delimiter, limits);
  const rows = [];
  for (let start = 0; start < text.length; start += piece) {
    rows.push(...reader.read(text.slice(start, start + piece)));
  }
  return [...rows, ...reader.end()];
}

const cellsOf = (...parameters: Parameters<typeof read>) => read(...parameters).map(({ cells }) => cells);

test.each<[string, string, string[][]]>([
  [
    'rows',
    'a;b\nc;d\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'a last line without a break',
    'a;b\nc;d',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['every kind of line break', 'a\r\nb\rc\nd', [['a'], ['b'], ['c'], ['d']]],
  ['empty lines', '\n\r\n\na\n\n\r\rb\n\n', [['a'], ['b']]],
  [
    'lines with separators only',
    ';\n;;',
    [
      ['', ''],
      ['', '', ''],
    ],
  ],
  ['rows of different lengths', 'a\nb;c;d\ne;', [['a'], ['b', 'c', 'd'], ['e', '']]],
  ['quotes', '"a;b";"c\r\nd";""\n""\n"""e""";"""";""', [['a;b', 'c\r\nd', ''], [''], ['"e"', '"', '']]],
  ['blanks', ' a ; b\n ', [[' a ', ' b'], [' ']]],
  ['a mark at the beginning', '\u{feff}a;\u{feff}b', [['a', '\u{feff}b']]],
  ['nothing', '', []],
])('reads %s, however they are cut', (_name, text, rows) => {
  for (let piece = 1; piece <= Math.max(text.length, 1); piece++)
    expect(cellsOf(text, { piece })).toEqual(rows);
});

test('knows the line in which a row ends', () => {
  const text = 'a\r\n"b\r\nc";"d\ne\rf"\n\n\r\ng\rh';
  for (const piece of [1, 2, 3, text.length]) {
    expect(read(text, { piece }).map(({ line, cells }) => [line, cells[0]])).toEqual([
      [1, 'a'],
      [5, 'b\r\nc'],
      [8, 'g'],
      [9, 'h'],
    ]);
  }
});

test.each<[string, string, string, object]>([
  ['quoteNotClosed', 'a\nb;"c\nd\n', 'line 2: a quote is not closed', { line: 2 }],
  ['quoteInCell', 'a\nb;c"d\n', 'line 2: a quote is inside of a cell without quotes', { line: 2 }],
  ['textAfterQuote', 'a\n"b" ;c\n', 'line 2: text follows the quote that ends a cell', { line: 2 }],
  ['tooManyRows', 'a\n'.repeat(102), 'line 102: there are more than 100 rows', { most: 100 }],
  ['tooManyColumns', `a\n${'b;'.repeat(20)}`, 'line 2: there are more than 20 columns', { most: 20 }],
  ['cellTooLong', `a\n${'b'.repeat(201)}`, 'line 2: a cell has more than 200 characters', { most: 200 }],
  ['cellTooLong', `a\nb;"${'c\n'.repeat(101)}`, 'is its quote closed?', { line: 2, most: 200 }],
  ['rowTooLong', `a\n${`${'b'.repeat(150)};`.repeat(3)}`, 'line 2: a row has more than 400', { most: 400 }],
])('refuses %s', (code, text, message, values) => {
  for (const piece of [1, 7, text.length]) {
    const failure = (() => {
      try {
        return read(text, { piece });
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(FileProblem);
    expect(failure).toMatchObject({ code, message: expect.stringContaining(message), values });
  }
});

test('takes as much as its limits say', () => {
  expect(read('a\n'.repeat(101))).toHaveLength(101);
  expect(cellsOf('b;'.repeat(19))[0]).toHaveLength(20);
  expect(cellsOf(`${'b'.repeat(200)};"${'c'.repeat(200)}"`)).toEqual([['b'.repeat(200), 'c'.repeat(200)]]);
});

const anyText = fc
  .array(fc.constantFrom(...Array.from('ab;,\t"\r\n é\u{1f375}'), '\r\n', '""', '";"'), { maxLength: 40 })
  .map((parts) => parts.join(''));

test('reads what we write', () => {
  const table = fc.array(fc.array(anyText, { minLength: 2, maxLength: 5 }), { maxLength: 10 });
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 30 }), (rows, piece) => {
      const limits = { rows: 100, columns: 20, cell: Infinity, row: Infinity };
      expect(cellsOf(rows.map((row) => csvLine(row)).join(''), { piece, limits })).toEqual(rows);
    }),
    { numRuns: halfOf(500), seed: SEED },
  );
});

test('reads what another parser reads', () => {
  const limits = { rows: Infinity, columns: Infinity, cell: Infinity, row: Infinity };
  let readable = 0;
  const compare = (text: string, delimiter: Delimiter, lineBreak: string, piece: number) => {
    // The other one takes the first line break for the one of the whole file.
    const given = text.replaceAll(/\r\n|\r|\n/g, lineBreak);
    let rows: string[][] | undefined;
    try {
      rows = parse(given, {
        delimiter,
        record_delimiter: lineBreak,
        relax_column_count: true,
        skip_empty_lines: true,
      });
      readable++;
    } catch {
      expect(() => read(given, { delimiter, piece, limits })).toThrow(FileProblem);
    }
    if (rows) expect(cellsOf(given, { delimiter, piece, limits })).toEqual(rows);
  };
  fc.assert(
    fc.property(
      anyText,
      fc.constantFrom(...DELIMITERS),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.integer({ min: 1, max: 30 }),
      compare,
    ),
    { numRuns: halfOf(3_000), seed: SEED },
  );
  expect(readable).toBeGreaterThan(200);
});

test('a file in Windows-1252 keeps its own characters', async () => {
  expect(await decodedText(Buffer.from([0x80, 0x20, 0x84, 0x54, 0xe4, 0x93]))).toBe('€ „Tä“');
});

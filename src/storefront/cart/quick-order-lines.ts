/** Lines of a quick order: a product number and a quantity each, typed or pasted from a spreadsheet. */

export const MAX_ORDERED_LINES = 200;
export const MAX_ORDERED_CHARACTERS = 20_000;

export interface OrderedLine {
  /** Of the text, from 1 on. */
  place: number;
  text: string;
  /** What the line may mean, the likeliest first: a number of the shop may itself end in a blank and digits. */
  meanings: readonly { productNumber: string; quantity: string }[];
}

/** Longer than any number with its quantity. */
const MAX_LINE_LENGTH = 150;

/** Cells of a spreadsheet or a CSV file. */
const CELLS = /[;\t]/;
const DECIMAL = /\d+(?:[.,]\d+)?$/;
const WHOLE = /\d+$/;

export function typedLines(text: string): OrderedLine[] {
  return text.split('\n').flatMap((line, index) => {
    const trimmed = line.trim().slice(0, MAX_LINE_LENGTH);
    if (trimmed === '' || (index === 0 && isHeading(trimmed))) return [];
    return { place: index + 1, text: trimmed, meanings: meaningsOf(trimmed) };
  });
}

/** The first line of a table names its columns. */
const isHeading = (line: string) => CELLS.test(line) && !/\d/.test(line);

function meaningsOf(line: string): OrderedLine['meanings'] {
  if (CELLS.test(line)) {
    const [productNumber = '', quantity = ''] = line.split(CELLS).map(unquoted);
    return [{ productNumber, quantity: quantity || '1' }];
  }
  const alone = { productNumber: line, quantity: '1' };
  const split = splitAt(line, DECIMAL, /\s$/) ?? splitAt(line, WHOLE, /[\s,]$/);
  return split ? [alone, split] : [alone];
}

/** Takes the quantity off the end of a line, if it is separated from the number. */
function splitAt(line: string, quantity: RegExp, separator: RegExp) {
  const found = quantity.exec(line);
  if (!found) return undefined;
  const before = line.slice(0, found.index);
  if (!separator.test(before)) return undefined;
  const productNumber = unquoted(before.replace(/[\s,]+$/, ''));
  return productNumber === '' ? undefined : { productNumber, quantity: found[0] };
}

const unquoted = (cell: string) => cell.trim().replace(/^"(.*)"$/, '$1');

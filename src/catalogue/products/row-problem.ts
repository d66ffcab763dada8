/** The possible problems of a row of a product file. The admin shows each in the user's language. */
export type RowProblemCode =
  | 'price'
  | 'number'
  | 'weightUnit'
  | 'unit'
  | 'shippingMethod'
  | 'taxClass'
  | 'date'
  | 'yesOrNo'
  | 'tooLong'
  | 'unicode'
  | 'words'
  | 'exclusion'
  | 'party'
  | 'energyLabel'
  | 'form'
  | 'categoryPath'
  | 'address'
  | 'picture'
  | 'pictureMissing'
  | 'pictureTexts'
  | 'otherProduct'
  | 'noNumber'
  | 'twice'
  | 'controlCharacters'
  | 'masterUnknown'
  | 'masterIsVariation'
  | 'otherMaster'
  | 'otherField'
  | 'fieldsTooLong'
  | 'refused';

/** The values in the text of a problem: the maximum length, the line of the first row. */
export type ProblemValues = Readonly<Record<string, string | number>>;

export interface RowProblem {
  /** The line in the file; the header is line 1. */
  line: number;
  /** The key of the column; null: the row as a whole. */
  column: string | null;
  code: RowProblemCode;
  values: ProblemValues;
  /** The cell as read, shortened. */
  cell: string;
  /** One English line for the command line. */
  text: string;
}

/** A refused cell; the message continues after the name of its column. */
export class CellProblem extends Error {
  override name = 'CellProblem';
  readonly code: RowProblemCode;
  readonly values: ProblemValues;

  constructor(code: RowProblemCode, message: string, values: ProblemValues = {}) {
    super(message);
    this.code = code;
    this.values = values;
  }
}

export const tooLong = (most: number) =>
  new CellProblem('tooLong', `is longer than ${most} characters`, { most });

/** Characters sufficient to find the place. */
const SHOWN = 100;
/** The maximum length of a text: it may quote the cell. */
const MAX_TEXT = 500;

export function rowProblem(
  line: number,
  column: string | null,
  { code, values, message }: CellProblem,
  cell: string,
): RowProblem {
  const text = column === null ? message : `${column} ${message}`;
  return {
    line,
    column,
    code,
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shortened(value)])),
    cell: cell.slice(0, SHOWN).toWellFormed(),
    text: shortened(text),
  };
}

/** Half of a surrogate pair can't be stored. */
function shortened<Value extends string | number>(value: Value): Value | string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT).toWellFormed() : value;
}

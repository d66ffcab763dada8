/** Why a product file is refused as a whole. The admin shows each reason in the user's language. */
export type FileProblemCode =
  | 'empty'
  | 'tooManyRows'
  | 'tooManyColumns'
  | 'cellTooLong'
  | 'rowTooLong'
  | 'quoteNotClosed'
  | 'quoteInCell'
  | 'textAfterQuote';

export class FileProblem extends Error {
  override name = 'FileProblem';
  /** undefined: it occurs only on the command line. */
  readonly code: FileProblemCode | undefined;
  /** The values in its text: the line, the limit. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(message: string, code?: FileProblemCode, values: FileProblem['values'] = {}) {
    super(message);
    this.code = code;
    this.values = values;
  }
}

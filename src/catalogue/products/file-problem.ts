/** Why a file of products can't be taken as a whole. The admin says each of them in the language of the person. */
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
  /** undefined: only the command line meets it. */
  readonly code: FileProblemCode | undefined;
  /** What its text names: the line, the limit. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(message: string, code?: FileProblemCode, values: FileProblem['values'] = {}) {
    super(message);
    this.code = code;
    this.values = values;
  }
}

/** Why a bank statement is refused as a whole. The admin shows each reason in the user's language. */
export type StatementProblemCode =
  | 'empty'
  | 'encoding'
  | 'xml'
  | 'doctype'
  | 'notCamt'
  | 'columns'
  | 'table'
  | 'amount'
  | 'tooMany';

export class StatementProblem extends Error {
  override name = 'StatementProblem';
  readonly code: StatementProblemCode;

  constructor(code: StatementProblemCode) {
    super(code);
    this.code = code;
  }
}

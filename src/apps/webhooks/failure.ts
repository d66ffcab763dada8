/** Why a receiver was not reached. The admin shows it in the reader's language; the API and emails in English. */
export type Failure = 'unknownHost' | 'refused' | 'timeout' | 'certificate' | 'forbiddenAddress' | 'other';

const NOT_CALLED = 'The receiver could not be called';
const TOO_LATE = 'The receiver did not answer within';
const FORBIDDEN_ADDRESS = 'The address';

/** Its name resolves only to addresses that may not be called. */
export const FORBIDDEN_NAME = 'Its name leads to no address that may be called';

export const timeoutText = (milliseconds: number): string => `${TOO_LATE} ${milliseconds / 1000} s`;

/** `problem` says what an address must be or must not contain. */
export const addressText = (problem: string): string => `${FORBIDDEN_ADDRESS} ${problem}`;

/** Only the code of an error, because its message may reveal too much. */
export const errorCodeText = (code: unknown): string =>
  typeof code === 'string' ? `${NOT_CALLED}: ${code}` : NOT_CALLED;

/** The codes of Node, of its resolver and of OpenSSL. */
const CODES: readonly (readonly [RegExp, Failure])[] = [
  [/^(?:ENOTFOUND|ENODATA|EAI_AGAIN|EAI_NODATA|ESERVFAIL|ENONAME)$/, 'unknownHost'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(?:ETIMEDOUT|ETIMEOUT)$/, 'timeout'],
  [/CERT|LEAF_SIGNATURE/, 'certificate'],
];

/** The kind of a failure, by its stored text. */
export function failureOf(text: string): Failure {
  if (text.startsWith(TOO_LATE)) return 'timeout';
  if (text === FORBIDDEN_NAME || text.startsWith(FORBIDDEN_ADDRESS)) return 'forbiddenAddress';
  const code = text.slice(`${NOT_CALLED}: `.length);
  return CODES.find(([codes]) => codes.test(code))?.[1] ?? 'other';
}

import {
  REFUSALS,
  refusalMessage,
  type RefusalCode,
  type RefusalEntry,
  type RefusalValue,
  type RefusalValues,
} from './refusals.ts';

/**
 * A refused request. `answerFailure` answers with the error body of the contract:
 * {"message": "<text>, Request: <METHOD> <path>", "status": "<reason phrase>"}.
 *
 * Operations throw a `Refusal`, which has a code; pages throw texts in the language of their reader.
 */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly status: number;
  readonly headers: Record<string, string>;
  /** The wrong values, where it is about values. */
  readonly problems: readonly FieldProblem[];

  constructor(
    status: number,
    text: string,
    headers: Record<string, string> = {},
    problems: readonly FieldProblem[] = [],
  ) {
    super(text);
    this.status = status;
    this.headers = headers;
    this.problems = problems;
  }
}

/** A refusal of the catalogue: `new Refusal('CART_FULL', { limit: 500 })`. */
export class Refusal<Code extends RefusalCode = RefusalCode> extends HttpError {
  readonly code: Code;
  readonly values: Readonly<Record<string, RefusalValue>>;
  /** The part of the request that it is about: a field of the body, a parameter or a header. */
  readonly field: string | undefined;

  constructor(code: Code, ...[values, options]: RefusalArguments<Code>) {
    const given: Readonly<Record<string, RefusalValue>> = values ?? {};
    super(REFUSALS[code].status, refusalMessage(code, given), options?.headers);
    const entry: RefusalEntry = REFUSALS[code];
    this.code = code;
    this.values = given;
    this.field = options?.field ?? entry.field;
  }
}

interface RefusalOptions {
  headers?: Record<string, string>;
  /** Replaces the field of the catalogue. */
  field?: string;
}

type RefusalArguments<Code extends RefusalCode> = keyof RefusalValues<Code> extends never
  ? [values?: Readonly<Record<string, never>>, options?: RefusalOptions]
  : [values: RefusalValues<Code>, options?: RefusalOptions];

/** The codes of this status. */
type RefusalCodeOf<Status extends number> = {
  [Code in RefusalCode]: (typeof REFUSALS)[Code]['status'] extends Status ? Code : never;
}[RefusalCode];

/** Only codes that old clients know: others confuse them. */
export const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  // Only for clients that send If-Match.
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export function errorBody(status: number, text: string, method: string, path: string) {
  return { message: `${text}, Request: ${method} ${path}`, status: REASONS[status] ?? String(status) };
}

export const badRequest = (text: string, problems?: readonly FieldProblem[]) =>
  new HttpError(400, text, {}, problems);

export const unauthorised = (code: RefusalCodeOf<401>) =>
  new Refusal(
    code,
    {},
    {
      headers: {
        'www-authenticate': `Bearer realm="kontor", error="invalid_token", error_description="${REFUSALS[code].message}"`,
      },
    },
  );

export const missingScope = (scope: string) =>
  new Refusal(
    'SCOPE_MISSING',
    { scope },
    {
      headers: { 'www-authenticate': `Bearer realm="kontor", error="insufficient_scope", scope="${scope}"` },
    },
  );

export const forbidden = (text: string) => new HttpError(403, text);

/** `field` names the id that does not exist, where it is not in the path. */
export const notFound = (field?: string) =>
  new Refusal('NOT_FOUND', {}, field === undefined ? {} : { field });

export const methodNotAllowed = (allow: string) =>
  new Refusal('METHOD_NOT_ALLOWED', { methods: allow }, { headers: { allow } });

export const conflict = (text: string) => new HttpError(409, text);

export const gone = (text: string) => new HttpError(410, text);

/** For clients that send If-Match, when the resource has changed since. */
export class PreconditionFailed extends Refusal<'ETAG_CHANGED'> {
  constructor() {
    super('ETAG_CHANGED');
  }
}

export const tooManyRequests = (limit: number, secondsToWait: number, what = 'calls') =>
  new Refusal('RATE_LIMIT_EXCEEDED', { limit, what, seconds: secondsToWait }, retryAfter(secondsToWait));

export const retryAfter = (seconds: number) => ({ headers: { 'retry-after': String(seconds) } });

/** The service is starting, or its database is down: neither the request nor the program is at fault. */
export class Unavailable extends Refusal<'UNAVAILABLE'> {
  constructor() {
    super('UNAVAILABLE', {}, retryAfter(2));
  }
}

export const unavailable = () => new Unavailable();

/** `cause` is for the log; the client learns nothing about how an image is stored. */
export const mediaUnavailable = (cause: unknown) =>
  Object.assign(new Refusal('IMAGES_UNAVAILABLE', {}, retryAfter(2)), { cause });

/** The same for the store of backups. */
export const backupsUnavailable = (cause: unknown) =>
  Object.assign(new Refusal('BACKUPS_UNAVAILABLE', {}, retryAfter(10)), { cause });

export const busy = () => new Refusal('BUSY', {}, retryAfter(2));

/** The problems that a value can have, for the documentation. */
export const PROBLEM_CODES = {
  MISSING: 'The value is missing.',
  STRING_EMPTY: 'The text is empty, or shorter than it must be.',
  TOO_LONG: 'The text is too long, or the list has too many entries.',
  WRONG_TYPE: 'The value has another type: a text in place of a number, for example.',
  WRONG_FORMAT: 'The value is not written as its field demands.',
  OUT_OF_RANGE: 'The value is too small or too large.',
  UNKNOWN_VALUE: 'The value is none of those that are possible, or names something that does not exist.',
  UNKNOWN_PATH: 'The path of a JSON Patch names nothing that can be changed.',
  WRONG_OPERATION: 'The path of a JSON Patch does not take this operation.',
  LIST_EMPTY: 'The list is empty.',
} as const;

export type ProblemCode = keyof typeof PROBLEM_CODES;

export interface FieldProblem {
  code: ProblemCode;
  field: string;
}

/** A value sent by the client is wrong. The route adds the operation: "Create customer failed: ...". */
export class ValidationError extends Error {
  override name = 'ValidationError';
  readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[]) {
    super(problems.map(({ code, field }) => `\n\tvalidation error ${code} on field ${field}`).join(''));
    this.problems = problems;
  }
}

export const invalid = (code: ProblemCode, field: string) => new ValidationError([{ code, field }]);

/** The client's mistake, not ours. */
export function isRefusal(error: unknown): error is HttpError | ValidationError {
  return error instanceof HttpError || error instanceof ValidationError;
}

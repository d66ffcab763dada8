/**
 * The one catalogue of refusals. Modules throw them; `answerFailure` answers with the error body of the contract:
 * {"message": "<text>, Request: <METHOD> <path>", "status": "<reason phrase>"}.
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

/** Only codes that old clients know: others confuse them. */
const REASONS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
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

export const unauthorised = (text: string) =>
  new HttpError(401, text, {
    'www-authenticate': `Bearer realm="kontor", error="invalid_token", error_description="${text}"`,
  });

export const missingScope = (scope: string) =>
  new HttpError(403, `The token lacks the scope ${scope}`, {
    'www-authenticate': `Bearer realm="kontor", error="insufficient_scope", scope="${scope}"`,
  });

export const forbidden = (text: string) => new HttpError(403, text);

export const notFound = () => new HttpError(404, 'HTTP 404 Not Found');

export const methodNotAllowed = (allow: string) =>
  new HttpError(405, `HTTP 405 Method Not Allowed, allowed here: ${allow}`, { allow });

export const notAcceptable = (accepted: string) =>
  new HttpError(406, `The Accept header can't be met, send one of: ${accepted}`);

export const conflict = (text: string) => new HttpError(409, text);

export const gone = (text: string) => new HttpError(410, text);

/** For clients that send If-Match, when the resource has changed since. */
export class PreconditionFailed extends HttpError {
  constructor() {
    super(412, 'It has changed: its ETag is none of those in the If-Match header');
  }
}

export const tooLarge = (text: string) => new HttpError(413, text);

export const tooManyRequests = (limit: number, secondsToWait: number, what = 'calls') =>
  new HttpError(429, `More than ${limit} ${what} in this hour, try again in ${secondsToWait} s`, {
    'retry-after': String(secondsToWait),
  });

/** The service is starting, or its database is down: neither the request nor the program is at fault. */
export class Unavailable extends HttpError {
  constructor() {
    super(503, 'The service is starting or its database can not be reached, try again soon', {
      'retry-after': '2',
    });
  }
}

export const unavailable = () => new Unavailable();

/** `cause` is for the log; the client learns nothing about how an image is stored. */
export const mediaUnavailable = (cause: unknown) =>
  Object.assign(
    new HttpError(503, 'The store of images can not be reached, try again soon', { 'retry-after': '2' }),
    { cause },
  );

export const busy = () =>
  new HttpError(503, 'Others are changing the same data, or it took too long; try again soon', {
    'retry-after': '2',
  });

export type ProblemCode =
  | 'MISSING'
  | 'STRING_EMPTY'
  | 'TOO_LONG'
  | 'WRONG_TYPE'
  | 'WRONG_FORMAT'
  | 'OUT_OF_RANGE'
  | 'UNKNOWN_VALUE'
  | 'UNKNOWN_PATH'
  | 'WRONG_OPERATION'
  | 'LIST_EMPTY';

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

import type { ErrorBody } from './schema.ts';

/** The service has refused a call. */
export class KontorError extends Error {
  override readonly name = 'KontorError';
  /** Of HTTP: 404, 409, ... */
  readonly status: number;
  /** The stable code of the refusal, such as `ORDER_CANCELLED`; undefined: a proxy in between has answered. */
  readonly code: string | undefined;
  /** The field of the body, the parameter or the header that it is about. */
  readonly field: string | undefined;
  /** Seconds after which it may be tried again; undefined: the service does not say. */
  readonly retryAfter: number | undefined;
  /** By which the operator finds the call in the log. */
  readonly requestId: string | undefined;

  constructor(response: Response, body: ErrorBody | string | undefined) {
    // What comes from a proxy in between may be any text.
    super(
      (typeof body === 'object' ? body.message : body) || `HTTP ${response.status} ${response.statusText}`,
    );
    this.status = response.status;
    this.code = response.headers.get('x-error-code') ?? undefined;
    this.field = response.headers.get('x-error-field') ?? undefined;
    this.retryAfter = retryAfterOf(response);
    this.requestId = response.headers.get('x-request-id') ?? undefined;
  }
}

/** The header Retry-After in seconds; it is a number, or a date. */
export function retryAfterOf({ headers }: Response): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

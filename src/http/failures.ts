import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorObject } from 'ajv';
import { isBadValue, isDatabaseAway, isTimeout, violatedConstraint } from '../db/failure.ts';
import { BODY_LIMIT, wrongContentType } from './body.ts';
import {
  badRequest,
  busy,
  errorBody,
  HttpError,
  Refusal,
  Unavailable,
  unavailable,
  ValidationError,
} from './errors.ts';
import { headerText } from './header-text.ts';
import type { OperationMetadata } from './operation.ts';
import { fieldProblemOf } from './validation.ts';

/** Answers any thrown error. An unknown error is a 500 with a log line and no detail for the caller. */
export function answerFailure(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const refusal = refusalOf(error, request);
  logFailure(error, refusal, request);
  const path = request.url.split('?', 1)[0]!;
  const body = JSON.stringify(errorBody(refusal.status, refusal.message, request.method, path));
  void reply
    .code(refusal.status)
    .headers(refusal.headers)
    .headers(detailHeaders(refusal, request))
    .type('application/json')
    // As bytes, because Fastify adds a charset to the type of text, and not every failure passes onSend.
    .send(Buffer.from(body));
}

/**
 * The stable code of a refusal, its field and its documentation. They are headers because old clients know the two
 * fields of the body, and nothing else.
 */
function detailHeaders(refusal: HttpError, { params }: FastifyRequest): Record<string, string> {
  const [problem] = refusal.problems;
  const code = problem?.code ?? (refusal instanceof Refusal ? refusal.code : undefined);
  if (code === undefined) return {};
  const field =
    problem?.field ??
    (refusal instanceof Refusal ? refusal.field : undefined) ??
    (code === 'NOT_FOUND' ? idsIn(params) : undefined);
  return {
    'x-error-code': code,
    // A client may name a field as it likes, and a header holds visible ASCII only.
    ...(field !== undefined && { 'x-error-field': headerText(field) }),
    link: `</docs/errors#${code.toLowerCase()}>; rel="help"`,
  };
}

/** The names of the ids in the path: one of them does not exist. */
function idsIn(params: unknown): string | undefined {
  const names = Object.keys(params ?? {}).filter((name) => name !== 'shopId' && name !== '*');
  return names.length === 0 ? undefined : names.join(', ');
}

/**
 * Logs a failure that is not the caller's fault. While the service starts, the request line says enough. A database
 * that is down fails many requests in the same way, so each of them gets a line and no stack.
 */
export function logFailure(error: Error, refusal: HttpError, request: FastifyRequest): void {
  if (refusal.status < 500 || error instanceof Unavailable) return;
  const { id: requestId, log } = request;
  if (refusal instanceof Unavailable) log.warn({ requestId, reason: error.message }, 'no database');
  else log.error({ err: error, requestId }, 'request failed');
}

/** The answer to the caller. A page of the admin names the operation that it called. */
export function refusalOf(
  error: FastifyError | Error,
  request: FastifyRequest,
  operation: OperationMetadata | undefined = request.routeOptions.config.operation,
): HttpError {
  if (error instanceof HttpError) return error;
  const failed = `${operation?.action ?? operation?.summary ?? 'Request'} failed:`;
  if (error instanceof ValidationError) return badRequest(failed + error.message, error.problems);

  if ('validation' in error && error.validation) {
    const problem = fieldProblemOf(error.validation[0] as ErrorObject);
    return badRequest(failed + new ValidationError([problem]).message, [problem]);
  }
  const { code } = error as { code?: unknown };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('BODY_TOO_LARGE', { limit: BODY_LIMIT });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return wrongContentType(operation?.accepts);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Refusal('CONTENT_LENGTH_WRONG');
    case 'FST_ERR_BAD_URL':
      return new Refusal('ADDRESS_MALFORMED');
  }

  const constraint = violatedConstraint(error);
  if (constraint !== undefined) {
    const known = operation?.constraints?.[constraint];
    if (known) return known();
    // This should not happen; if it does, the client gets 409 and the operator a log line.
    request.log.warn({ constraint, requestId: request.id }, 'constraint without an error of its own');
    return new Refusal('CONTRADICTION');
  }
  if (isBadValue(error)) {
    request.log.warn({ err: error, requestId: request.id }, 'a value passed the schema but not the database');
    return new Refusal('VALUE_NOT_STORABLE');
  }
  if (isTimeout(error)) return busy();
  if (isDatabaseAway(error)) return unavailable();
  return new Refusal('INTERNAL_ERROR');
}

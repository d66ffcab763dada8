import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorObject } from 'ajv';
import { isBadValue, isDatabaseAway, isTimeout, violatedConstraint } from '../db/failure.ts';
import { BODY_LIMIT, wrongContentType } from './body.ts';
import {
  badRequest,
  busy,
  conflict,
  errorBody,
  HttpError,
  tooLarge,
  Unavailable,
  unavailable,
  ValidationError,
} from './errors.ts';
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
    .type('application/json')
    // As bytes, because Fastify adds a charset to the type of text, and not every failure passes onSend.
    .send(Buffer.from(body));
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
    const problem = fieldProblemOf(error.validation[0] as unknown as ErrorObject);
    return badRequest(failed + new ValidationError([problem]).message, [problem]);
  }
  const { code } = error as { code?: unknown };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(`The body is larger than ${BODY_LIMIT} bytes`);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return wrongContentType(operation?.accepts);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return badRequest('The Content-Length does not fit the body');
    case 'FST_ERR_BAD_URL':
      return badRequest('The address is not well formed');
  }

  const constraint = violatedConstraint(error);
  if (constraint !== undefined) {
    const known = operation?.constraints?.[constraint];
    if (known) return known();
    // This should not happen; if it does, the client gets 409 and the operator a log line.
    request.log.warn({ constraint, requestId: request.id }, 'constraint without an error of its own');
    return conflict('The change contradicts the data of the shop');
  }
  if (isBadValue(error)) {
    request.log.warn({ err: error, requestId: request.id }, 'a value passed the schema but not the database');
    return badRequest('A value can not be stored');
  }
  if (isTimeout(error)) return busy();
  if (isDatabaseAway(error)) return unavailable();
  return new HttpError(500, 'Internal Server Error');
}

import type { FastifyContextConfig } from 'fastify';
import { wrongContentType } from '../http/body.ts';
import { wrongCartToken } from '../http/cart-token.ts';
import {
  errorBody,
  type HttpError,
  missingScope,
  notFound,
  PreconditionFailed,
  Refusal,
  tooManyRequests,
  unauthorised,
} from '../http/errors.ts';
import { isOfHost, needsCartToken, needsToken, scopesOf } from '../http/scopes.ts';
import type { Parameter } from './components.ts';

/** An operation and its example, as far as its refusals depend on them. */
export interface RefusableOperation {
  method: string;
  /** With the names of its parameters in braces. */
  path: string;
  facts: NonNullable<FastifyContextConfig['operation']>;
  parameters: readonly Parameter[];
  hasBody: boolean;
}

export interface ErrorExample {
  message: string;
  status: string;
}

const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000';

/** The exact body of each refusal of this operation, by status. `test/examples.test.ts` provokes each of them. */
export function errorExamples(
  operation: RefusableOperation,
  orderedCart: string,
): Record<string, ErrorExample> {
  const { method, path, parameters } = operation;
  const valueOf = (name: string) => String(parameters.find((parameter) => parameter.name === name)?.example);
  const requestPath = (changed: Readonly<Record<string, string>> = {}) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(changed[name] ?? valueOf(name)));
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const last = names.at(-1);
  const unknown = last === undefined ? {} : { [last]: last === 'shopId' ? 'NoSuchShop' : UNKNOWN_ID };
  const entries = refusalsOf(operation).map((refusal) => {
    const changed = refusal.status === 404 ? unknown : refusal.status === 410 ? { cartId: orderedCart } : {};
    return [
      refusal.status,
      errorBody(refusal.status, refusal.message, method, requestPath(changed)),
    ] as const;
  });
  return Object.fromEntries(entries);
}

function refusalsOf({ path, facts, parameters, hasBody }: RefusableOperation): HttpError[] {
  const { access, writes, accepts, secretAnswer, takesIfMatch } = facts;
  const [scope] = scopesOf(access);
  const takesLocale = parameters.some(({ name }) => name === 'locale');
  const hasKey = writes && secretAnswer !== 'not stored';
  return [
    ...(hasBody
      ? [wrongContentType(accepts)]
      : hasKey
        ? [new Refusal('IDEMPOTENCY_KEY_MALFORMED')]
        : takesLocale
          ? [new Refusal('LOCALE_INCOMPLETE')]
          : []),
    ...(needsToken(access) ? [unauthorised(isOfHost(access) ? 'HOST_TOKEN_UNKNOWN' : 'TOKEN_UNKNOWN')] : []),
    ...(scope !== undefined ? [missingScope(scope)] : needsCartToken(access) ? [wrongCartToken()] : []),
    ...(path.includes('{') ? [notFound()] : []),
    ...(hasKey ? [new Refusal('IDEMPOTENCY_KEY_REUSED')] : []),
    ...(needsCartToken(access) ? [new Refusal('CART_ORDERED')] : []),
    ...(takesIfMatch ? [new PreconditionFailed()] : []),
    tooManyRequests(6000, 1320),
  ];
}

import type { Middleware } from 'openapi-fetch';
import { retryAfterOf } from './error.ts';

export interface RetryOptions {
  /** How often a call is sent at most, the first time included; 1: it is never sent again. */
  attempts: number;
  /** The most seconds that a call waits before it is sent again. When the service wants more, the call fails. */
  longestWait: number;
}

export const DEFAULT_RETRY: RetryOptions = { attempts: 4, longestWait: 30 };

const IDEMPOTENCY_KEY = 'idempotency-key';

/**
 * A new cart, whose key the service honours only with a token; the token of an app, the test call of a webhook, and links
 * that let somebody into the admin. The service stores no answer of theirs, so it can't replay one, and a key would not keep it from doing them twice.
 */
export const WITHOUT_KEY: ReadonlySet<string> = new Set([
  'POST /rs/shops/{shopId}/carts',
  'POST /rs/shops/{shopId}/token',
  'POST /manage/shops/{shopId}/webhooks/{webhookId}/test',
  'POST /host/shops/{shopId}/support-links',
  'POST /host/shops/{shopId}/sign-in-links',
]);

/** Gives every write a key of its own, so that it can be sent again and still happens once. */
export const idempotencyKeys: Middleware = {
  onRequest({ request, schemaPath }) {
    if (isRead(request) || WITHOUT_KEY.has(`${request.method} ${schemaPath}`)) return;
    if (!request.headers.has(IDEMPOTENCY_KEY)) request.headers.set(IDEMPOTENCY_KEY, newKey());
  },
};

/** `crypto.randomUUID` is missing in browsers on pages without https. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A fetch that sends a call again when the service is busy or can't be reached. */
export function retryingFetch(
  fetch: (request: Request) => Promise<Response>,
  { attempts, longestWait }: RetryOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let attempt = 1; attempt < attempts; attempt++) {
      // A body can be sent only once, so each attempt gets a copy.
      const outcome = await fetch(request.clone()).catch((error: unknown) => ({ error }));
      if (!mayRepeat(request, outcome)) {
        if (outcome instanceof Response) return outcome;
        throw outcome.error;
      }
      const wait = waitAfter(outcome, attempt);
      if (outcome instanceof Response) {
        if (wait > longestWait) return outcome;
        await outcome.body?.cancel();
      }
      await pause(Math.min(wait, longestWait), request.signal);
      request.signal.throwIfAborted();
    }
    return fetch(request);
  };
}

/** A 429 was refused before anything was done. Of anything else nobody knows whether the service has done it. */
function mayRepeat(request: Request, outcome: Response | { error: unknown }): boolean {
  if (request.signal.aborted) return false;
  const isRepeatable = isRead(request) || request.headers.has(IDEMPOTENCY_KEY);
  if (!(outcome instanceof Response)) return isRepeatable;
  return outcome.status === 429 || (isRepeatable && [502, 503, 504].includes(outcome.status));
}

const isRead = ({ method }: Request) => method === 'GET' || method === 'HEAD';

/** Seconds: what the service says, else ever longer, and not the same for all clients that failed together. */
export function waitAfter(outcome: Response | { error: unknown }, attempt: number): number {
  const said = outcome instanceof Response ? retryAfterOf(outcome) : undefined;
  return said ?? Math.min(30, 0.25 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

/** Waits so many seconds, or until the signal comes. */
export function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal?.addEventListener('abort', end);
  });
}

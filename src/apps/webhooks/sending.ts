import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import { addressText, errorCodeText, timeoutText } from './failure.ts';
import { ReceiverProblem, type ReceiverPolicy } from './receiver-address.ts';

/** The result of one call of a receiver. */
export interface DeliveryAttempt {
  isDelivered: boolean;
  /** null: there was no answer. */
  statusCode: number | null;
  milliseconds: number;
  /** The beginning of the answer. */
  answer: string;
  /** null: it was delivered. */
  error: string | null;
}

/** What a receiver has answered; a reason instead of it, when there was no answer. */
export type WebhookExchange = { milliseconds: number } & (
  | { statusCode: number; headers: IncomingHttpHeaders; bytes: Buffer; isWhole: boolean }
  | { statusCode: null; reason: string }
);

export interface Sender {
  /** The answer as it came, with a timeout of its own. Never throws. undefined: `close` has ended it. */
  exchange(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    timeout: number,
  ): Promise<WebhookExchange | undefined>;
  /** Never throws: failures are part of the result. undefined: `close` has ended it. */
  send(
    callbackUrl: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
  ): Promise<DeliveryAttempt | undefined>;
  /** Aborts the calls in progress. */
  close(): void;
}

/** Timeout in milliseconds for a whole call, from the DNS lookup to the end of the response. */
const TIMEOUT = 10_000;
/** Bytes of a response that are read, and how many of them are stored unless the caller needs more. */
const MAX_READ = 65_536;
const MAX_STORED = 1_024;
/** Milliseconds for which an idle connection is kept open. */
const KEPT_OPEN = 5_000;

/** Sends HTTP POST requests to receivers. Redirects are not followed: they would lead to unchecked addresses. */
export function createSender(
  policy: ReceiverPolicy,
  { timeout = TIMEOUT, maxStored = MAX_STORED } = {},
): Sender {
  const options = { keepAlive: true, maxFreeSockets: 8, timeout: KEPT_OPEN };
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) };
  const underWay = new Set<AbortController>();
  let isClosed = false;

  const call = async (
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<Omit<Extract<WebhookExchange, { bytes: Buffer }>, 'milliseconds'>> => {
    // Checked for each call, because a literal address never reaches `lookup`.
    const problem = policy.problemOf(url);
    if (problem !== undefined) throw new ReceiverProblem(addressText(problem));
    const client = url.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const request = client.request(url, {
        method: 'POST',
        agent: agents[url.protocol as keyof typeof agents],
        lookup: lookupOf(policy, url),
        signal,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': body.length,
          'user-agent': 'Kontor',
        },
      });
      request.on('error', (error) => reject(Object.assign(error, { isStale: request.reusedSocket })));
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        let length = 0;
        const end = () =>
          resolve({
            statusCode: response.statusCode!,
            headers: response.headers,
            bytes: Buffer.concat(parts),
            isWhole: length < MAX_READ,
          });
        response.on('data', (part: Buffer) => {
          parts.push(part.subarray(0, MAX_READ - length));
          length += part.length;
          if (length < MAX_READ) return;
          end();
          response.destroy();
        });
        response.on('end', end);
        response.on('error', reject);
      });
      request.end(body);
    });
  };

  const exchange: Sender['exchange'] = async (callbackUrl, headers, body, timeout) => {
    if (isClosed) return undefined;
    const begun = performance.now();
    const ended = () => Math.round(performance.now() - begun);
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), timeout);
    underWay.add(ending);
    try {
      const url = new URL(callbackUrl);
      const send = () => inTime(call(url, headers, body, ending.signal), ending.signal);
      // The receiver may have closed a kept-alive connection at the moment of the call.
      const answer = await send().catch((error: unknown) => {
        if (!isStaleConnection(error) || ending.signal.aborted) throw error;
        return send();
      });
      return { ...answer, milliseconds: ended() };
    } catch (error) {
      if (isClosed) return undefined;
      const reason = ending.signal.aborted ? timeoutText(timeout) : reasonOf(error);
      return { statusCode: null, milliseconds: ended(), reason };
    } finally {
      clearTimeout(timer);
      underWay.delete(ending);
    }
  };

  return {
    exchange,
    async send(callbackUrl, headers, body) {
      const exchanged = await exchange(callbackUrl, headers, body, timeout);
      if (!exchanged) return undefined;
      const { milliseconds } = exchanged;
      if (exchanged.statusCode === null) {
        return { isDelivered: false, statusCode: null, milliseconds, answer: '', error: exchanged.reason };
      }
      const { statusCode, bytes } = exchanged;
      const isDelivered = statusCode >= 200 && statusCode < 300;
      return {
        isDelivered,
        statusCode,
        milliseconds,
        answer: storedText(bytes, maxStored),
        error: isDelivered ? null : `The receiver answered ${statusCode}`,
      };
    },
    close: () => {
      isClosed = true;
      for (const ending of underWay) ending.abort();
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** Node asks for one address or for all, to try one after the other. */
export function lookupOf(policy: ReceiverPolicy, url: URL): LookupFunction {
  return (_host, { all }, done) => {
    policy.addressesOf(url).then(
      (addresses) => (all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family)),
      (error: Error) => done(error, ''),
    );
  };
}

/** A lookup cannot be aborted, but the caller need not wait for it. */
async function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function isStaleConnection(error: unknown): boolean {
  const { isStale, code } = error as { isStale?: boolean; code?: string };
  return isStale === true && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** PostgreSQL texts cannot hold character 0. A character that was cut off at the end is dropped. */
function storedText(answer: Buffer, maxStored: number): string {
  return new TextDecoder()
    .decode(answer.subarray(0, maxStored))
    .replaceAll('\0', '')
    .replace(/\uFFFD+$/, '');
}

function reasonOf(error: unknown): string {
  return error instanceof ReceiverProblem ? error.message : errorCodeText((error as { code?: unknown }).code);
}

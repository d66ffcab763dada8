import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReceiverProblem, type ReceiverPolicy } from '../../apps/webhooks/receiver-address.ts';
import { lookupOf } from '../../apps/webhooks/sending.ts';

/** Why another shop can't be read; the command ends with it and can be run again. */
export class ClientProblem extends Error {
  override name = 'ClientProblem';
  /** The status of the answer, if there was one. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

const TRIES = 5;
const TIMEOUT = 60_000;
/** An answer with more bytes is no page of a list. */
const MAX_BYTES = 32 * 1_048_576;
/** Milliseconds: the longest that a server may ask for. */
const MAX_WAIT = 3_600_000;

export interface Client {
  /** The address of the shop, without a slash at the end. */
  url: string;
  /** undefined: it does not exist. */
  get(path: string): Promise<unknown>;
}

export interface ClientOptions {
  url: string;
  token: string;
  /** Milliseconds between two requests: the old shop is still selling. */
  pause?: number;
  /** Which machines may be called; absent: any, because the operator has typed the address. */
  policy?: ReceiverPolicy | undefined;
  maxBytes?: number;
}

/** Reads a shop by its REST API, one request after the other, and waits when the server asks for it. */
export function createClient({
  url: given,
  token,
  pause = 100,
  policy,
  maxBytes = MAX_BYTES,
}: ClientOptions): Client {
  const url = given.replace(/\/+$/, '');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ClientProblem(`${given} is no address such as https://shop.example/rs/shops/MyShop`);
  }
  let next = 0;
  return {
    url,
    async get(path) {
      for (let tries = 1; ; tries++) {
        await sleep(Math.max(0, next - Date.now()));
        next = Date.now() + pause;
        const answer = await request(url + path, { token, policy, maxBytes }).catch(
          (error: unknown) => error as Error,
        );
        // What the policy forbids stays forbidden, and what is too long stays too long.
        if (answer instanceof ClientProblem || answer instanceof ReceiverProblem)
          throw new ClientProblem(answer.message, 400);
        if (!(answer instanceof Error)) {
          if (answer.status === 200) return jsonIn(answer.text, url + path);
          if (answer.status === 404) return undefined;
          if (answer.status < 429 || tries === TRIES) {
            throw new ClientProblem(
              `${url}${path} answers ${answer.status}: ${answer.text.slice(0, 200)}`,
              answer.status,
            );
          }
          next = Date.now() + Math.min(answer.retryAfter ?? 1_000 * 2 ** tries, MAX_WAIT);
        } else if (tries === TRIES) throw new ClientProblem(`${url}${path}: ${answer.message}`);
        else next = Date.now() + 1_000 * 2 ** tries;
      }
    },
  };
}

function jsonIn(text: string, address: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ClientProblem(`${address} answers with something else than JSON: ${text.slice(0, 200)}`, 200);
  }
}

interface Answer {
  status: number;
  text: string;
  retryAfter: number | undefined;
}

/**
 * Redirects are not followed: a token must not be sent to another host. With a policy, only the machines that it allows
 * are connected to.
 */
function request(
  address: string,
  { token, policy, maxBytes }: { token: string; policy: ReceiverPolicy | undefined; maxBytes: number },
): Promise<Answer> {
  const url = new URL(address);
  const problem = policy?.problemOf(url);
  if (problem !== undefined) throw new ClientProblem(`The address ${problem}`);
  const client = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = client.get(url, {
      ...(policy && { lookup: lookupOf(policy, url) }),
      signal: AbortSignal.timeout(TIMEOUT),
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.epages.v1+json',
        'user-agent': 'Kontor import',
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        parts.push(part);
        bytes += part.length;
        if (bytes <= maxBytes) return;
        response.destroy();
        reject(new ClientProblem(`${address} answers with more than ${maxBytes} bytes`, 200));
      });
      response.on('error', reject);
      response.on('end', () => {
        const seconds = Number(response.headers['retry-after'] ?? '');
        resolve({
          status: response.statusCode!,
          text: Buffer.concat(parts).toString(),
          retryAfter: seconds > 0 ? seconds * 1_000 : undefined,
        });
      });
    });
  });
}

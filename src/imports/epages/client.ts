import { setTimeout as sleep } from 'node:timers/promises';

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
}

/** Reads a shop by its REST API, one request after the other, and waits when the server asks for it. */
export function createClient({ url: given, token, pause = 100 }: ClientOptions): Client {
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
        const answer = await request(url + path, token).catch((error: unknown) => error as Error);
        if (!(answer instanceof Error)) {
          if (answer.status === 200) return JSON.parse(answer.text) as unknown;
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

async function request(address: string, token: string) {
  const response = await fetch(address, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.epages.v1+json',
      'user-agent': 'Kontor import',
    },
    // A token must not follow a redirect to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT),
  });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part as Uint8Array);
    bytes += (part as Uint8Array).length;
    if (bytes > MAX_BYTES) throw new ClientProblem('the answer is too long');
  }
  const seconds = Number(response.headers.get('retry-after') ?? '');
  return {
    status: response.status,
    text: Buffer.concat(parts).toString(),
    retryAfter: seconds > 0 ? seconds * 1_000 : undefined,
  };
}

import createFetchClient, { type Middleware } from 'openapi-fetch';
import { cartTokenHeaders, type CartTokens } from './cart-tokens.ts';
import { KontorError } from './error.ts';
import { eventPages, events, type EventOptions } from './events.ts';
import type { Answer, Init, InitArgument, ItemOf, Method, Page, PagedPath, PathOf } from './paths.ts';
import { DEFAULT_RETRY, idempotencyKeys, retryingFetch, type RetryOptions } from './retry.ts';
import type { ErrorBody, EventList, paths, ShopEvent } from './schema.ts';

export type * from './schema.ts';
export type { CartTokens } from './cart-tokens.ts';
export { KontorError } from './error.ts';
export type { EventOptions } from './events.ts';
export type { RetryOptions } from './retry.ts';
export {
  verifyWebhook,
  WebhookVerificationError,
  type SigningSecret,
  type WebhookCall,
  type WebhookRequest,
} from './webhooks.ts';

export interface ClientOptions {
  /** Where the service is: `https://shop.example`. */
  baseUrl: string;
  shopId: string;
  /** Absent: what shoppers may see and do. */
  accessToken?: string;
  /** Where the tokens of carts are stored; absent: every call on a cart names the token itself. */
  cartTokens?: CartTokens;
  retry?: Partial<RetryOptions>;
  /** Sends the requests; absent: the `fetch` of the platform. */
  fetch?: (request: Request) => Promise<Response>;
}

/** A call of the API by its path in the reference; it rejects with a KontorError when it is refused. */
export type Call<M extends Method> = <Path extends PathOf<M>, Options extends Init<Path, M>>(
  path: Path,
  ...init: InitArgument<Options>
) => Promise<Answer<Path, M, Options>>;

export interface KontorClient {
  GET: Call<'get'>;
  POST: Call<'post'>;
  PUT: Call<'put'>;
  PATCH: Call<'patch'>;
  DELETE: Call<'delete'>;
  /** The entries of all pages of a list. */
  list<Path extends PagedPath>(
    path: Path,
    ...init: InitArgument<Init<Path, 'get'>>
  ): AsyncGenerator<ItemOf<Path>, void, undefined>;
  /** What happens in the shop, without an end; see `eventPages` for a position to go on from. */
  events(options?: EventOptions): AsyncGenerator<ShopEvent, void, undefined>;
  /** The same in pages, whose `next` is the position to go on from. */
  eventPages(options?: EventOptions): AsyncGenerator<EventList, void, undefined>;
  /** Adds a middleware of openapi-fetch, which sees every request and response. */
  use(...middleware: Middleware[]): void;
}

/** Most entries that the service puts on one page. */
const MAX_PAGE_SIZE = 100;

/** A client for one shop. */
export function createClient({
  baseUrl,
  shopId,
  accessToken,
  cartTokens,
  retry,
  fetch = (request) => globalThis.fetch(request),
}: ClientOptions): KontorClient {
  const { href } = new URL(baseUrl);
  const api = createFetchClient<paths>({
    baseUrl: href,
    fetch: retryingFetch(fetch, { ...DEFAULT_RETRY, ...retry }),
    ...(accessToken !== undefined && { headers: { authorization: `Bearer ${accessToken}` } }),
  });
  api.use(idempotencyKeys);
  if (cartTokens) api.use(cartTokenHeaders(cartTokens));

  const call = async (method: Method, path: string, init: AnyInit = {}): Promise<unknown> => {
    const params = { ...init.params, path: { shopId, ...init.params?.path } };
    // A file is text; what else comes is JSON, or nothing.
    const options = { parseAs: 'text', ...init, params };
    const { data, error, response } = (await api.request(method, path as never, options as never)) as {
      data?: string;
      error?: ErrorBody | string;
      response: Response;
    };
    if (!response.ok) throw new KontorError(response, error);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    if (init.parseAs !== undefined || !isJson) return data;
    return data ? JSON.parse(data) : undefined;
  };
  const readPages = async function* (path: string, init: AnyInit = {}) {
    for (let page = 1; ; page++) {
      const query = { resultsPerPage: MAX_PAGE_SIZE, ...init.params?.query, page };
      const answer = (await call('get', path, {
        ...init,
        params: { ...init.params, query },
      })) as Page<unknown>;
      yield* answer.items;
      if (answer.items.length === 0 || page * answer.resultsPerPage >= answer.results) return;
    }
  };

  const calls = {
    GET: (path: string, init?: AnyInit) => call('get', path, init),
    POST: (path: string, init?: AnyInit) => call('post', path, init),
    PUT: (path: string, init?: AnyInit) => call('put', path, init),
    PATCH: (path: string, init?: AnyInit) => call('patch', path, init),
    DELETE: (path: string, init?: AnyInit) => call('delete', path, init),
    list: readPages,
  };
  // The types say which path takes and answers what; at run time all of them are the same.
  const typed = calls as Pick<KontorClient, keyof typeof calls>;
  return {
    ...typed,
    events: (options) => events(typed.GET, options),
    eventPages: (options) => eventPages(typed.GET, options),
    use: (...middleware) => api.use(...middleware),
  };
}

interface AnyInit {
  parseAs?: string;
  params?: { path?: Record<string, string>; query?: Record<string, unknown> };
}

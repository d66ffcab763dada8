import type { FetchOptions, FetchResponse } from 'openapi-fetch';
import type { paths } from './schema.ts';

/** The paths of the OpenAPI document, for a client that knows its shop and the tokens of its carts. */
export type ShopPaths = {
  [Path in keyof paths]: { [Method in keyof paths[Path]]: InShop<paths[Path][Method]> };
};

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have this method. */
export type PathOf<M extends Method> = {
  [Path in keyof ShopPaths]: ShopPaths[Path] extends Record<M, unknown> ? Path : never;
}[keyof ShopPaths];

/** What a call sends: `params`, `body`, and the options of `fetch`. */
export type Init<Path extends keyof ShopPaths, M extends Method> = FetchOptions<
  ShopPaths[Path][M & keyof ShopPaths[Path]]
>;

/** May be left out where nothing in it is required. */
export type InitArgument<Options> = Partial<Options> extends Options ? [init?: Options] : [init: Options];

/** What a call answers. */
export type Answer<Path extends keyof ShopPaths, M extends Method, Options = object> = Extract<
  FetchResponse<ShopPaths[Path][M & keyof ShopPaths[Path]] & object, Options, `${string}/${string}`>,
  { data: unknown }
>['data'];

/** The lists that are read page by page. */
export type PagedPath = {
  [Path in PathOf<'get'>]: Answer<Path, 'get'> extends Page<unknown> ? Path : never;
}[PathOf<'get'>];

export interface Page<Item> {
  results: number;
  page: number;
  resultsPerPage: number;
  items: Item[];
}

export type ItemOf<Path extends PagedPath> = Answer<Path, 'get'> extends Page<infer Item> ? Item : never;

type InShop<Operation> = Operation extends { parameters: infer Parameters }
  ? Omit<Operation, 'parameters' | 'requestBody'> &
      RequestBody<Operation> & {
        parameters: Omit<Parameters, 'path' | 'header'> &
          PathParameters<Parameters> &
          HeaderParameters<Parameters>;
      }
  : Operation;

/** A file is sent as a form; everything else as JSON, which the service takes for its other forms as well. */
type RequestBody<Operation> = Operation extends {
  requestBody: { content: { 'multipart/form-data': unknown } };
}
  ? { requestBody: { content: { 'multipart/form-data': FormData } } }
  : Pick<Operation, 'requestBody' & keyof Operation>;

/** The shop is known; the others are named in the call. */
type PathParameters<Parameters> = Parameters extends { path: infer Named }
  ? object extends Omit<Named, 'shopId'>
    ? { path?: { shopId?: string } }
    : { path: Omit<Named, 'shopId'> & { shopId?: string } }
  : unknown;

/** The client sets them: the token of a cart, the idempotency key. */
type HeaderParameters<Parameters> = Parameters extends { header?: infer Named }
  ? { header?: Partial<NonNullable<Named>> }
  : unknown;

import type { Readable } from 'node:stream';
import type { FormLimits } from '../http/form-fields.ts';
import type { FormRequest, PageRequest, Redirect } from '../http/page-kit.ts';
import type { FailureLimit } from '../http/rate-limit.ts';
import type { Page } from './page.ts';
import type { Visit } from './visit.ts';

export interface ShopFormRequest extends FormRequest {
  /** The page of this shop that contained the form; the front page when the browser does not say. */
  referrerPath: string;
  /** Runs work that may fail only a limited number of times per hour; beyond that it is refused with 429. */
  limitFailures: <Result>(
    limit: (address: string) => FailureLimit,
    work: () => Promise<Result>,
  ) => Promise<Result>;
}

export type PageResponse = Page | Redirect;

export interface PageFile {
  /** Absent: 200. */
  status?: number;
  type: string;
  content: string | Buffer | Readable;
  /** Without quotes. A client that already has this version gets no content. */
  etag?: string;
  headers?: object;
}

export interface FormOptions {
  /** How often a client address may send the form in an hour. */
  perHour?: number;
  /** The form is on a page with a secret address, which its own address contains. */
  hasSecretPath?: boolean;
  /** Its address says everything: programs send a body of any kind. */
  ignoresBody?: boolean;
  /** The limits of a form with more than short fields. */
  limits?: FormLimits;
}

export interface FileOptions {
  /** False: the service's host serves it too when the shop has a domain. */
  movesWithShop?: boolean;
  /** How often a client address may fetch the file in an hour. */
  perHour?: number;
}

/** Registers pages: `pages.get('/cart', ...)` serves `/cart` on the shop's own host and `/shop/ID/cart` on the service's. */
export interface Pages {
  get(path: string, handler: (visit: Visit, request: PageRequest) => Promise<PageResponse>): void;

  /**
   * Begins with cached settings, which saves a round trip. The handler's own statement reads the version of the
   * settings and passes it to `visit.verifySettings`, so that a page of old settings is rendered again.
   */
  getOptimistic(path: string, handler: (visit: Visit, request: PageRequest) => Promise<PageResponse>): void;

  /** Accepts forms of the shop's own pages only. */
  post(
    path: string,
    handler: (visit: Visit, form: ShopFormRequest) => Promise<PageResponse>,
    options?: FormOptions,
  ): void;

  /** Serves something that is not a page, such as suggestions or a sitemap. */
  file(
    path: string,
    handler: (visit: Visit, request: PageRequest) => Promise<PageFile>,
    options?: FileOptions,
  ): void;
}

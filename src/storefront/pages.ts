import type { FailureLimit } from '../http/rate-limit.ts';
import type { Page, Redirect } from './page.ts';
import type { Visit } from './visit.ts';

/** What the address says beside its path; of a parameter that is repeated, all values. */
export interface Asked {
  /** The page itself is not wanted, only whether it is there: nothing may be written. */
  isHead: boolean;
  params: Readonly<Record<string, string>>;
  /** The first value of a parameter. */
  query: (name: string) => string | undefined;
  queries: (name: string) => string[];
}

export interface Sent extends Asked {
  /** What was typed into a field, without blanks around it; '' when it is missing. */
  field: (name: string) => string;
  /** A path of this shop that the form was sent from; the front page when the browser does not say. */
  cameFrom: string;
  /** Runs what may fail only so often in an hour; beyond that it is refused with 429. */
  limitFailures: <Result>(
    limit: (address: string) => FailureLimit,
    work: () => Promise<Result>,
  ) => Promise<Result>;
}

export type PageAnswer = Page | Redirect;

export interface FormOptions {
  /** Forms of this kind per hour and client address. */
  perHour?: number;
}

export interface FileOptions {
  /** False: it is answered on the service's host too when the shop has a domain. */
  movesWithShop?: boolean;
}

/** What pages are registered with: `pages.show('/cart', ...)` is at `/cart` on the shop's own host, and at `/shop/ID/cart`. */
export interface Pages {
  /** A page that is read. */
  show(path: string, handler: (visit: Visit, asked: Asked) => Promise<PageAnswer>): void;

  /**
   * A page whose own statement names the version of the settings: `requireVersion` compares it with that of the
   * visit. That is one round trip instead of two for almost everybody.
   */
  getOptimistic(path: string, handler: (visit: Visit, asked: Asked) => Promise<PageAnswer>): void;

  /** A form that is sent to it. Only forms of our own pages are taken. */
  take(path: string, options: FormOptions, handler: (visit: Visit, sent: Sent) => Promise<PageAnswer>): void;

  /** Something that is not a page, such as suggestions or a sitemap. */
  file(
    path: string,
    handler: (visit: Visit, asked: Asked) => Promise<{ type: string; content: string; headers?: object }>,
    options?: FileOptions,
  ): void;
}

/** The page was begun with settings that have changed since: it is rendered again with those of now. */
export class StaleSettings extends Error {
  override name = 'StaleSettings';
}

/** For optimistic pages: throws when the settings of the visit are not those that the statement has seen. */
export function requireVersion({ settings }: Visit, version: number | undefined): void {
  if (version !== undefined && version !== settings.version) throw new StaleSettings();
}

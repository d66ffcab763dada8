import type { FastifyReply, FastifyRequest } from 'fastify';
import { forbidden, isRefusal } from './errors.ts';
import { formReader, type FormFields, type FormLimits } from './form-fields.ts';
import { countTry, type RateLimiter } from './rate-limit.ts';

/* The page kit that the shop's pages and the admin share. */

export interface PageRequest {
  /** A HEAD request must not write anything. */
  isHead: boolean;
  /** The parameters of the path: `:orderId`. */
  params: Readonly<Record<string, string>>;
  /** The first value of a query parameter. */
  query: (name: string) => string | undefined;
  /** All values of a query parameter. */
  queryList: (name: string) => string[];
  /** The part of the address after the question mark. */
  search: string;
  /** The first value of a header, by its name in lower case. */
  header: (name: string) => string | undefined;
}

export function toPageRequest(request: FastifyRequest): PageRequest {
  const query = request.query as Record<string, string | string[]>;
  const queryList = (name: string) => (Object.hasOwn(query, name) ? [query[name]!].flat() : []);
  return {
    isHead: request.method === 'HEAD',
    params: request.params as Record<string, string>,
    queryList,
    query: (name) => queryList(name)[0],
    search: request.url.split('?', 2)[1] ?? '',
    header: (name) => [request.headers[name]].flat()[0],
  };
}

export interface FormRequest extends PageRequest, FormFields {
  /** The user agent of the browser; '' if not sent. */
  userAgent: string;
  /** The address of the browser, for limits. */
  address: string;
  isWithinLimit: LimitCheck;
}

/** Reads the forms of a route, each within the limits of the route. */
export function formRequests(
  limits: FormLimits | undefined,
): (request: FastifyRequest, isWithinLimit: LimitCheck) => FormRequest {
  const readFields = formReader(limits);
  return (request, isWithinLimit) => ({
    ...toPageRequest(request),
    ...readFields(request.body),
    userAgent: request.headers['user-agent'] ?? '',
    address: request.ip,
    isWithinLimit,
  });
}

/**
 * Another site can send a form in the visitor's name, but it can't pretend that it comes from one of our pages,
 * because the browser sets the origin. A form without an origin is refused.
 */
export function requireOwnForm({ headers, host }: FastifyRequest, origin: string, refusal: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs =
    [new URL(origin).host, host].includes(hostOf(headers.origin) ?? '') &&
    (site === undefined || site === 'same-origin');
  if (!isOurs) throw forbidden(refusal);
}

function hostOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
}

/** Counts one call under this key; false: the limit of this hour is exceeded. */
export type LimitCheck = (key: string, perHour: number) => Promise<boolean>;

/** The keys begin with `prefix`. Without a limit of calls there are no others either. */
export function limitCheck(
  limiter: RateLimiter,
  { RATE_LIMIT_ANONYMOUS }: { RATE_LIMIT_ANONYMOUS: number },
  prefix: string,
): LimitCheck {
  return async (key, perHour) => {
    if (RATE_LIMIT_ANONYMOUS === 0) return true;
    try {
      await countTry(limiter, prefix + key, perHour);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
  };
}

/** A message that the next page shows once. */
export interface Notice {
  text: string;
  /** Something did not work, so it must not look like a success. */
  isProblem?: boolean | undefined;
  /** A form that undoes the change: its address, and its fields. */
  undo?: { action: string; fields: Readonly<Record<string, string>> } | undefined;
}

/** The answer to a form: the browser goes to `href`, where the next page shows the notice once. */
export class Redirect {
  readonly href: string;
  readonly notice: Notice | undefined;

  constructor(href: string, notice?: string | Notice) {
    this.href = href;
    this.notice = typeof notice === 'string' ? { text: notice } : notice;
  }
}

/** The messages of error pages, by the status of the failure. */
interface ErrorMessages {
  titles: Readonly<Record<number, string>>;
  texts: Readonly<Record<number, string>>;
  /** The title for any other status. */
  other: string;
}

/** The title and the text of an error page; a status without a text of its own has none. */
export function errorTexts(
  status: number,
  { titles, texts, other }: ErrorMessages,
): { title: string; text: string | undefined } {
  return { title: titles[status] ?? other, text: texts[status] };
}

/** No script can read it, and no other site can send it with a form. */
export interface PageCookie {
  name: string;
  path: string;
  secure: boolean;
}

/** Sets a cookie for some seconds, or removes it with null. */
export function writeCookie(
  reply: FastifyReply,
  { name, path, secure }: PageCookie,
  value: string | null,
  maxAge?: number,
): void {
  const options = { path, secure, httpOnly: true, sameSite: 'lax' } as const;
  if (value === null) reply.clearCookie(name, options);
  else reply.setCookie(name, value, { ...options, ...(maxAge !== undefined && { maxAge }) });
}

import type { FastifyRequest } from 'fastify';
import { forbidden } from '../http/errors.ts';
import type { PageRequest } from './pages.ts';

export function toPageRequest(request: FastifyRequest): PageRequest {
  const query = request.query as Record<string, string | string[]>;
  const queryList = (name: string) => (Object.hasOwn(query, name) ? [query[name]!].flat() : []);
  return {
    params: request.params as Record<string, string>,
    queryList,
    query: (name) => queryList(name)[0],
    search: request.url.split('?', 2)[1] ?? '',
  };
}

/** The page that contained a form, if it is one of the admin. */
export function backToForm({ headers }: FastifyRequest): string {
  const { referer } = headers;
  if (referer === undefined || !URL.canParse(referer)) return '/admin';
  const { pathname, search } = new URL(referer);
  return pathname.startsWith('/admin/') ? pathname + search : '/admin';
}

/**
 * Another site, and the pages of a shop, can send a form in the user's name, but they can't pretend that it comes from
 * a page of the admin, because the browser sets the origin. A form without an origin is refused.
 */
export function requireOwnForm({ headers, host }: FastifyRequest, origin: string): void {
  const site = headers['sec-fetch-site'];
  const sender =
    headers.origin !== undefined && URL.canParse(headers.origin) ? new URL(headers.origin).host : '';
  const isOurs =
    [new URL(origin).host, host].includes(sender) && (site === undefined || site === 'same-origin');
  if (!isOurs) throw forbidden('The form does not come from the admin');
}

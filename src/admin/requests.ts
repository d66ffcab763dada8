import type { FastifyRequest } from 'fastify';

/** The page that contained a form, if it is one of the admin. */
export function backToForm({ headers }: FastifyRequest): string {
  const { referer } = headers;
  if (referer === undefined || !URL.canParse(referer)) return '/admin';
  const { pathname, search } = new URL(referer);
  return pathname.startsWith('/admin/') ? pathname + search : '/admin';
}

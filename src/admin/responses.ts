import type { FastifyReply, FastifyRequest } from 'fastify';
import { logFailure, refusalOf } from '../http/failures.ts';
import { errorPage } from './error-page.ts';
import { CONTENT_SECURITY_POLICY } from './layout/assets.ts';
import { documentBytes } from './layout/layout.ts';
import type { AdminFile, AdminPage } from './page.ts';
import type { ShopVisit, Visit } from './visit.ts';

const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  // Nobody sees a page with the back button after somebody has signed out.
  'cache-control': 'no-store',
  // Not no-referrer: with it, browsers would not say where our own forms come from.
  'referrer-policy': 'same-origin',
};

export function sendPage(
  reply: FastifyReply,
  visit: Visit<'anybody'> | ShopVisit,
  page: AdminPage,
): FastifyReply {
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .headers({ ...PAGE_HEADERS, ...(page.next !== undefined && { refresh: `0; url=${page.next}` }) })
    .send(documentBytes(visit, page));
}

const FILE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'";
/** The viewers that browsers have for PDF are built of what the other policy forbids, and then show nothing. */
const PDF_POLICY = "frame-ancestors 'self'";

export function sendFile(reply: FastifyReply, { type, content, fileName }: AdminFile): FastifyReply {
  // Shown inside of our own pages only. What a customer or an app wrote may be in it, so it runs no script.
  return reply
    .type(type)
    .headers({
      'content-security-policy': type === 'application/pdf' ? PDF_POLICY : FILE_POLICY,
      'x-frame-options': 'SAMEORIGIN',
      'cache-control': 'no-store',
      ...(fileName !== undefined && {
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
      }),
    })
    .send(content);
}

/** Everything that was thrown becomes a page, in the layout as far as it is known who asks. */
export function sendFailure(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error, request);
  logFailure(error, refusal, request);
  reply.headers(refusal.headers);
  const visit = request.adminVisit;
  if (!visit) return reply.code(refusal.status).type('text/plain').send(refusal.message);
  return sendPage(reply, visit, errorPage(visit, refusal));
}

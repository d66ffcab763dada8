import type { FastifyReply, FastifyRequest } from 'fastify';
import { logFailure, refusalOf } from '../http/failures.ts';
import { errorPage } from './error-page.ts';
import { contentSecurityPolicy } from './layout/assets.ts';
import { documentBytes } from './layout/layout.ts';
import type { AdminFile, AdminPage } from './page.ts';
import type { ShopVisit, Visit } from './visit.ts';

const PAGE_HEADERS = {
  // The back button must not show a page after the user has signed out.
  'cache-control': 'no-store',
  // Not no-referrer: with it, browsers would not send the origin of our own forms.
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
    .headers({
      ...PAGE_HEADERS,
      'content-security-policy': contentSecurityPolicy(page.frames),
      ...(page.next !== undefined && { refresh: `0; url=${page.next}` }),
    })
    .send(documentBytes(visit, page));
}

const FILE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'";
const PICTURE_POLICY = FILE_POLICY.replace("img-src 'self' data:", "img-src 'self' data: https: http:");
/** The PDF viewers of browsers use features that the other policy forbids, and would then show nothing. */
const PDF_POLICY = "frame-ancestors 'self'";

export function sendFile(
  reply: FastifyReply,
  { type, content, fileName, showsPictures }: AdminFile,
): FastifyReply {
  // Shown only inside our own pages. It may contain texts of a customer or an app, so it runs no script.
  return reply
    .type(type)
    .headers({
      'content-security-policy':
        type === 'application/pdf' ? PDF_POLICY : showsPictures ? PICTURE_POLICY : FILE_POLICY,
      'x-frame-options': 'SAMEORIGIN',
      'cache-control': 'no-store',
      ...(fileName !== undefined && {
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
      }),
    })
    .send(content);
}

/** Every error becomes a page, with as much of the layout as is known about the caller. */
export function sendFailure(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error, request);
  logFailure(error, refusal, request);
  reply.headers(refusal.headers);
  const visit = request.adminVisit;
  if (!visit) return reply.code(refusal.status).type('text/plain').send(refusal.message);
  const { formLabels } = request.routeOptions.config;
  return sendPage(reply, visit, errorPage(visit, refusal, formLabels?.(visit.messages)));
}

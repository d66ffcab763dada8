import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';

const DAY = 86_400_000;
/** RFC 9116 asks for less than a year, so that a file that is left behind is not trusted for ever. */
const DAYS = 90;

/**
 * /.well-known/security.txt of the service's own host (RFC 9116), where the operator names a contact. The hosts of shops
 * have none: their visitors know the merchant, not the operator.
 */
export function securityContact(
  app: FastifyInstance,
  { db, config }: { db: Database; config: Config },
): void {
  const { SECURITY_CONTACT: contact, PUBLIC_URL } = config;
  if (contact === undefined) return;
  const path = '/.well-known/security.txt';
  app.get(path, { schema: { hide: true } }, async (_request, reply) => {
    const today = Math.floor(db.now.getTime() / DAY) * DAY;
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${new Date(today + DAYS * DAY).toISOString()}`,
      ...(PUBLIC_URL === undefined ? [] : [`Canonical: ${PUBLIC_URL.replace(/\/$/, '')}${path}`]),
      '',
    ];
    return reply
      .type('text/plain; charset=utf-8')
      .headers({ 'cache-control': 'public, max-age=86400' })
      .send(lines.join('\n'));
  });
}

import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { originOf } from '../http/links.ts';
import { countShops, findShops } from '../shop/queries.ts';
import { sendPage } from './page.ts';
import { startingPage, startPage } from './start-view.ts';

const MOST_SHOWN = 100;
export interface StartPageDeps {
  db: Database;
  config: Config;
  isMigrated: () => boolean;
}

/** What people see first: the shops of this server. */
export function startPageRoutes(app: FastifyInstance, { db, config, isMigrated }: StartPageDeps): void {
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');

  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    if (!isMigrated()) {
      return sendPage(reply.code(503).headers({ 'retry-after': '1', refresh: '1' }), startingPage);
    }
    const [count, shops] = await Promise.all([countShops(db), findShops(db, MOST_SHOWN)]);
    return sendPage(reply, startPage(shops, count, originOf(request, publicUrl)));
  });
}

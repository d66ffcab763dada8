import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/**
 * `/health`: the process answers. `/ready`: it can serve, which it can't during a migration or while the database is
 * down; load balancers ask this one.
 */
export function registerHealth(app: FastifyInstance, db: Database, isMigrated: () => boolean): void {
  app.get('/health', { schema: { hide: true } }, async () => ({ status: 'ok' }));

  app.get('/ready', { schema: { hide: true } }, async (_request, reply) => {
    const reason = isMigrated() ? await databaseProblem(db) : 'migrating';
    return reason === undefined
      ? { ready: true }
      : reply.code(503).header('retry-after', '1').send({ ready: false, reason });
  });
}

async function databaseProblem(db: Database): Promise<string | undefined> {
  try {
    await db.one(sql`select 1`);
    return undefined;
  } catch {
    return 'the database can not be reached';
  }
}

import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { startPolling, type Polling } from '../../db/polling.ts';
import { findClocks } from './queries.ts';

/**
 * Keeps the clocks of sandboxes in memory, because a shop's time is needed before anything of it is read. Where there is
 * no sandbox, it is a look at an empty index every few seconds.
 */
export function startReadingClocks(
  db: Database,
  { log, isMigrated }: { log: FastifyBaseLogger; isMigrated: () => boolean },
): Polling {
  const load = async () => {
    const rows = await findClocks(db);
    db.clocks.replace(new Map(rows.map(({ shopId, clock }) => [shopId, clock])));
  };
  return startPolling(load, {
    isMigrated,
    onFailure: (error) => log.warn({ err: error }, 'the clocks of sandboxes could not be read'),
  });
}

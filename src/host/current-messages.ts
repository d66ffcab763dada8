import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import { startPolling, type Polling } from '../db/polling.ts';
import { findCurrentMessages, type HostMessage } from './message-queries.ts';

export interface CurrentMessages extends Polling {
  /** Those that have not ended, at most 200; some of them have not begun. */
  all(): readonly HostMessage[];
}

/** Keeps the messages of the host in memory, because every page of the admin shows them. */
export function createCurrentMessages(
  db: Database,
  { log, isMigrated }: { log: FastifyBaseLogger; isMigrated: () => boolean },
): CurrentMessages {
  let messages: readonly HostMessage[] = [];
  const polling = startPolling(
    async () => {
      messages = await findCurrentMessages(db);
    },
    {
      isMigrated,
      onFailure: (error) => log.warn({ err: error }, 'the messages of the host could not be read'),
    },
  );
  return { ...polling, all: () => messages };
}

import type { FastifyBaseLogger } from 'fastify';
import { cleanupSteps } from './cleanup-steps.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { repeat, type Background } from './platform/background.ts';
import { runCleanup } from './platform/cleanup.ts';
import { runDueRebuilds } from './catalogue/products/listing-rebuild.ts';

const CHECK_REBUILDS = 5_000;
const CHECK_CLEANUP = 60_000;

/** What goes on beside the requests. All processes look for it; leases in the database say which one does it. */
export function startBackground(db: Database, config: Config, log: FastifyBaseLogger): Background {
  const steps = cleanupSteps(config, log);
  const works = [
    repeat('the rebuild of lists', CHECK_REBUILDS, log, (signal) => runDueRebuilds(db, signal)),
    repeat('the clean-up', CHECK_CLEANUP, log, (signal) => runCleanup(db, steps, { log, signal })),
  ];
  return { stop: async () => void (await Promise.all(works.map((work) => work.stop()))) };
}

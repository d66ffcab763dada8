import type { FastifyBaseLogger } from 'fastify';
import { repeat, type Background } from '../../platform/background.ts';
import { checkDomain, type CheckDeps } from './check.ts';
import { findDueDomains, takeDomain } from './queries.ts';

/** Domains that are checked at once. */
const MAX_CHECKED = 5;

/**
 * Checks the domains that are due, until it is stopped. Any number of processes may do this at once: taking a domain
 * moves the time at which it is due.
 */
export function startDomainChecks({
  pause = 5_000,
  log,
  ...deps
}: CheckDeps & { log: FastifyBaseLogger; pause?: number | undefined }): Background {
  return repeat('the check of domains', pause, log, (signal) => checkDueDomains(deps, log, signal));
}

/** Goes on while there are any, so that thousands of domains are not checked in a day's thousands of rounds. */
export async function checkDueDomains(
  deps: CheckDeps,
  log: FastifyBaseLogger,
  signal?: AbortSignal,
): Promise<void> {
  const mayGoOn = () => signal?.aborted !== true;
  for (let found = MAX_CHECKED; found === MAX_CHECKED && mayGoOn();) {
    const due = await findDueDomains(deps.db, MAX_CHECKED);
    await Promise.all(
      due.map(async (key) => {
        try {
          const taken = await takeDomain(deps.db, key);
          if (taken) await checkDomain(deps, key, taken);
        } catch (error) {
          log.warn({ shop: key.shopId, host: key.host, err: error }, 'a domain could not be checked');
        }
      }),
    );
    found = due.length;
  }
}

import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { AppProblem } from '../apps.ts';
import { fetchManifest, type FetchDeps } from './fetch-manifest.ts';
import { nextReading, takeOver } from './install.ts';
import { ManifestProblem } from './manifest.ts';
import { findDueManifests, takeDueManifest, updateProblem } from './queries.ts';

/** Manifests that are read at once. */
const AT_ONCE = 5;

interface Deps extends FetchDeps {
  db: Database;
  loadKey: () => Promise<Buffer>;
}

/**
 * Reads the manifests that are due: each once a day. Any number of processes may do this at once: taking one moves the
 * time at which it is due.
 */
export async function readDueManifests(
  deps: Deps,
  log: FastifyBaseLogger,
  signal?: AbortSignal,
): Promise<void> {
  const mayGoOn = () => signal?.aborted !== true;
  for (let found = AT_ONCE; found === AT_ONCE && mayGoOn();) {
    const due = await findDueManifests(deps.db, AT_ONCE);
    await Promise.all(
      due.map(async (one) => {
        try {
          const taken = await takeDueManifest(deps.db, one, nextReading(deps.db.serviceNow));
          if (taken > 0) await readAgain(deps, one.shopId, one.appId, one.address);
        } catch (error) {
          log.warn({ shop: one.shopId, app: one.appId, err: error }, 'a manifest could not be read');
        }
      }),
    );
    found = due.length;
  }
}

/**
 * Reads the manifest of an app again; returns whether something in it waits for the merchant. What is wrong with it is
 * stored for the page of the app, which works on with the old one, and thrown.
 */
export async function readAgain(
  { db, loadKey, ...deps }: Deps,
  shopId: string,
  appId: string,
  address: string,
): Promise<boolean> {
  try {
    const read = await fetchManifest(deps, new URL(address));
    const key = await loadKey();
    return await db.transaction((tx) => takeOver(tx, shopId, appId, read, { policy: deps.policy, key }));
  } catch (error) {
    const isOfApp = error instanceof ManifestProblem || error instanceof AppProblem;
    if (isOfApp) await updateProblem(db, shopId, appId, error.message.slice(0, 500));
    throw error;
  }
}

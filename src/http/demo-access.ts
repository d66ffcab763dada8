import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { isDemo, isPrivate, type Config } from '../config.ts';
import type { Database, Queries } from '../db/database.ts';
import { startPolling } from '../db/polling.ts';
import { sql } from '../db/sql.ts';
import { signOfOthers } from './forwarded.ts';

declare module 'fastify' {
  interface FastifyInstance {
    demoAccess: ObservedDemoAccess;
  }
}

/**
 * Access that is open to everyone on a machine for trying things out: the known tokens of the demo shop, its owner
 * without a password, the payment without a bank, domains without a proof, and webhooks to private addresses.
 */
export interface DemoAccess {
  isOpen(): boolean;
}

export type ObservedDemoAccess = ReturnType<typeof createDemoAccess>;

export interface DemoAccessDeps {
  db: Database;
  config: Config;
  log: FastifyBaseLogger;
  isMigrated: () => boolean;
}

/** How the operator can proceed when demo access is closed. */
const DEMO_ACCESS_STEPS =
  'If it is for others, set PUBLIC_URL and TRUST_PROXY, and use the link that the terminal shows at the start to ' +
  'become the owner. If it is for this machine only, open it again with: npx kontor demo open';

/**
 * Demo access of a running service. A service on a loopback address can only learn from its requests that it is behind
 * a proxy, so the first request that shows it closes demo access for good: at once in this process, and in the
 * database for all others and for every later start. A request costs a look at its headers and no statement; every few
 * seconds one statement reads the changes of other processes and `kontor demo open`.
 */
export function createDemoAccess({ db, config, log, isMigrated }: DemoAccessDeps) {
  const canBeOpen = isPrivate(config) && !isDemo(config);
  /** Closed until the database has been asked. */
  let state: 'unknown' | 'open' | 'closed' = canBeOpen ? 'unknown' : 'closed';
  /** The sign that this process has seen and not saved to the database yet. */
  let unsavedSign: string | undefined;

  const load = async () => {
    if (unsavedSign !== undefined) {
      await insertEnd(db, unsavedSign);
      unsavedSign = undefined;
    }
    const isEnded = await hasEnded(db);
    // A request may have shown a sign in the meantime.
    state = isEnded || unsavedSign !== undefined ? 'closed' : 'open';
  };

  const polling = canBeOpen
    ? startPolling(load, {
        isMigrated,
        // An unsaved sign is written with the next try.
        onFailure: (error) =>
          log.warn({ err: error }, 'the state of demo access could not be read or written'),
      })
    : undefined;

  return {
    isOpen: () => state === 'open',

    /** Whether it would be open on this machine if no request had shown that others can call. */
    isEnded: () => canBeOpen && state === 'closed',

    /** Closes demo access when the request shows that callers outside this machine exist. */
    observe({ raw, log: requestLog }: FastifyRequest): void {
      if (state === 'closed') return;
      const sign = signOfOthers(raw);
      if (sign === undefined) return;
      state = 'closed';
      unsavedSign = sign;
      requestLog.warn(
        { sign },
        `demo access is closed for good, because a request came through a proxy or from a stranger: it had ${sign}. ` +
          DEMO_ACCESS_STEPS,
      );
      void polling?.refreshQuietly();
    },

    refresh: async () => polling?.refresh(),
    refreshQuietly: async () => polling?.refreshQuietly(),
    close: async () => polling?.close(),
  };
}

/** Demo access as a command finds it. */
export async function readDemoAccess(db: Queries, config: Config): Promise<DemoAccess> {
  const isOpen = isPrivate(config) && !isDemo(config) && !(await hasEnded(db));
  return { isOpen: () => isOpen };
}

async function hasEnded(db: Queries): Promise<boolean> {
  const row = await db.one<{ isEnded: boolean }>(sql`
    select exists (select from demo_access_end) as "isEnded"`);
  return row!.isEnded;
}

/** The first sign stays. */
function insertEnd(db: Database, sign: string) {
  return db.run(sql`
    insert into demo_access_end (ended_at, sign) values (${db.now}, ${sign})
    on conflict (is_only) do nothing`);
}

/** Opens it again; undefined: it was not closed. */
export function reopenDemoAccess(db: Queries) {
  return db.one<{ endedAt: Date; sign: string }>(sql`
    delete from demo_access_end returning ended_at as "endedAt", sign`);
}

import type { Database } from '../src/db/database.ts';
import { distribute } from '../src/db/distribute.ts';
import { median, type Verdict } from './report.ts';
import { CALLS, ratioOf, timeCalls, type Site } from './sites.ts';

/** How many times as long a call may take on a cluster, all of whose nodes are on one machine. */
const GOALS = { get: 2, list: 3, 'second line': 3, order: 3 };

/** Shards of each table, as many as a small cluster would have. */
const SHARDS = 8;

export function distributeForBench(db: Database): Promise<unknown> {
  return distribute(db, { shards: SHARDS, onStart: () => {}, onStep: () => {} });
}

/** How much longer a single call takes on a cluster than on its coordinator alone. */
export async function measureCluster(plain: Site, cluster: Site, calls: number): Promise<Verdict[]> {
  const times = await timeCalls([plain, cluster], { busy: 1, calls });
  return CALLS.map(({ kind, name }) => {
    const [alone, distributed] = times.map((ofSite) => median(ofSite[kind]!));
    return ratioOf(`${name}, p50`, 'ms', alone!, distributed!, GOALS[kind]);
  });
}

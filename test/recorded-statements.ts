import type { PoolClient, Query } from 'pg';
import type { Database } from '../src/db/database.ts';

const recorded = new WeakSet<PoolClient>();

/**
 * The texts of all statements that are sent from now on, and how many of them had no name. They are noted at the
 * connections and not where names are given, because other test files of the same process have statements of their own.
 */
export function recordStatements({ pool }: Database): { named: Set<string>; unnamed: Set<string> } {
  const [named, unnamed] = [new Set<string>(), new Set<string>()];
  pool.on('acquire', (client) => {
    if (recorded.has(client)) return;
    recorded.add(client);
    const send = client.query.bind(client) as (...given: unknown[]) => unknown;
    const note = (...given: unknown[]) => {
      const query = given[0] as string | (Query & { name?: string; text?: string });
      // Plain texts are `begin` and `commit`, and what tests and the job queue send.
      if (typeof query !== 'string' && query.text !== undefined) {
        (query.name === undefined ? unnamed : named).add(query.text);
      }
      return send(...given);
    };
    client.query = note as typeof client.query;
  });
  return { named, unnamed };
}

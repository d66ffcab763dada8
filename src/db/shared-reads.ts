import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseBusy } from './failure.ts';

/** Maximum ids per statement: the requests that asked for them all continue in the same moment. */
const MAX_IDS = 20;

/** Reads that wait for the current one; further ones are refused at once. */
const MAX_WAITING = 2_000;

/** Reads several things at once; a missing thing has no entry. */
type ReadByIds<Result> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Result>>;

/**
 * Reads that requests of a shop share. Requests that arrive during a read wait for the next one, which answers them
 * all: no answer is older than its question, and a request that comes alone does not wait. Callers must not change a
 * shared answer.
 */
export interface SharedReads {
  /** Reads a value that all callers share; `what` names it, with everything that it depends on. */
  once<Result>(shopId: string, what: string, read: () => Promise<Result>): Promise<Result>;
  /** Reads one thing, together with things of the same kind that others request. */
  byId<Result>(
    shopId: string,
    what: string,
    id: string,
    read: ReadByIds<Result>,
  ): Promise<Result | undefined>;
}

/** For a transaction, which sees its own changes: every read is its own. */
export const unsharedReads: SharedReads = {
  once: (_shopId, _what, read) => read(),
  byId: async (_shopId, _what, id, read) => (await read([id])).get(id),
};

interface Waiting {
  id: string;
  read: ReadByIds<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

export function createSharedReads(): SharedReads {
  /** The waiting callers, by what they wait for. There is a queue while a read is under way. */
  const queues = new Map<string, Waiting[]>();

  const run = async (key: string, waiting: Waiting[]) => {
    while (waiting.length > 0) {
      // Requests that have arrived by now are read first, so they share the read.
      await nextTurn();
      const group = takeGroup(waiting);
      try {
        const results = await group[0]!.read([...new Set(group.map(({ id }) => id))]);
        for (const { id, resolve } of group) resolve(results.get(id));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    queues.delete(key);
  };

  const add = <Result>(key: string, id: string, read: ReadByIds<Result>) =>
    new Promise<Result | undefined>((resolve, reject) => {
      const entry = { id, read, resolve: resolve as Waiting['resolve'], reject };
      const queue = queues.get(key);
      if (!queue) {
        const waiting = [entry];
        queues.set(key, waiting);
        void run(key, waiting);
      } else if (queue.length < MAX_WAITING) queue.push(entry);
      else reject(new DatabaseBusy());
    });

  return {
    once: <Result>(shopId: string, what: string, read: () => Promise<Result>) =>
      add(`${shopId} ${what}`, '', async () => new Map([['', await read()]])) as Promise<Result>,
    byId: (shopId, what, id, read) => add(`${shopId} ${what}`, id, read),
  };
}

/** The first waiting callers, up to as many different ids as one statement reads. */
function takeGroup(waiting: Waiting[]): Waiting[] {
  const ids = new Set<string>();
  const end = waiting.findIndex(({ id }) => ids.add(id).size > MAX_IDS);
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

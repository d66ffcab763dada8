import type { Database } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { addCallEntries, type CallEntry } from './queries.ts';

/** Milliseconds between two writes. */
const WRITE_EVERY = 5_000;
/** Entries of one app, and of all, between two writes; what comes beyond them is much the same. */
const MAX_OF_APP = 10;
const MAX_HELD = 1_000;

export interface CallLog {
  /** Adds an entry, without a statement. */
  add(shopId: string, appId: string, entry: Omit<CallEntry, 'entryId' | 'at'>): void;
  /** Writes the entries now. */
  write(): Promise<void>;
  /** Writes the remaining entries, and ends. */
  close(): Promise<void>;
}

/**
 * The log of slow and failed calls. It is for people to look at, so the last seconds may be lost when the database is
 * unavailable or the process is killed; no customer waits for it.
 */
export function createCallLog(db: Database, onFailure: (error: unknown) => void): CallLog {
  let held = new Map<string, { shopId: string; appId: string; entries: CallEntry[] }>();
  let size = 0;
  const write = async () => {
    const apps = [...held.values()];
    held = new Map();
    size = 0;
    for (const { shopId, appId, entries } of apps)
      await addCallEntries(db, shopId, appId, entries).catch(onFailure);
  };
  let writing = Promise.resolve();
  const writeNext = () => (writing = writing.then(write));
  const timer = setInterval(() => {
    if (size > 0) void writeNext();
  }, WRITE_EVERY).unref();
  return {
    add(shopId, appId, entry) {
      const key = `${shopId} ${appId}`;
      const known = held.get(key) ?? { shopId, appId, entries: [] };
      if (known.entries.length >= MAX_OF_APP || size >= MAX_HELD) return;
      const at = db.serviceNow;
      known.entries.push({ entryId: newId(at), at, ...entry });
      held.set(key, known);
      size++;
    },
    write: writeNext,
    close() {
      clearInterval(timer);
      return writeNext();
    },
  };
}

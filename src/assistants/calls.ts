import type { Database } from '../db/database.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import { addCalls, deleteCallsBefore, MAX_CALLS, type CallRow } from './queries.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The calls of assistants that this process has counted and not yet written. */
    assistantCalls: AssistantCalls;
  }
}

export type AssistantCalls = ReturnType<typeof createAssistantCalls>;

const WRITE_EVERY = 2_000;
/** Shops whose calls are held until the next write. */
const MAX_SHOPS = 1_000;

/** Notes the last calls of each shop. Merchants look at them, so the last seconds may be lost. */
export function createAssistantCalls(db: Database, onFailure: (error: unknown) => void) {
  let held = new Map<string, CallRow[]>();
  const write = async () => {
    const shops = [...held];
    held = new Map();
    for (const [shopId, calls] of shops) await addCalls(db, shopId, calls).catch(onFailure);
  };
  let writing = Promise.resolve();
  const writeNext = () => (writing = writing.then(write));
  const timer = setInterval(() => void writeNext(), WRITE_EVERY).unref();
  return {
    note(shopId: string, call: CallRow): void {
      const calls = held.get(shopId) ?? [];
      if (calls.length === 0 && held.size >= MAX_SHOPS) return;
      calls.push(call);
      // Older ones would be deleted with the next write.
      if (calls.length > MAX_CALLS) calls.shift();
      held.set(shopId, calls);
    },
    /** Writes the calls now. */
    write: writeNext,
    /** Writes the remaining calls, and ends. */
    close() {
      clearInterval(timer);
      return writeNext();
    },
  };
}

const STAY_FOR = 30 * 86_400_000;

export const assistantCallCleanup: CleanupStep = {
  name: 'calls of assistants',
  run: (db, limit) => deleteCallsBefore(db, new Date(db.serviceNow.getTime() - STAY_FOR), limit),
};

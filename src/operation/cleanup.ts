import type { Database } from '../db/database.ts';

/**
 * One kind of old data that a module deletes. The steps of all modules are listed in `src/cleanup-steps.ts`; one
 * process at a time runs them, one after the other.
 */
export interface CleanupStep {
  /** Names it in the log and in the table `cleanup`, so it must not change. */
  name: string;
  /** Milliseconds between two runs; an hour when not given. */
  every?: number;
  /**
   * Deals with at most `limit` rows in one short statement or transaction, and returns how many it found. It is called
   * again until it finds fewer than `limit`. It may run twice at the same time, after a process was taken for dead.
   */
  run(db: Database, limit: number): Promise<number>;
}

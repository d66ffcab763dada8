import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { NEW_EVENTS } from './log.ts';
import { findLastPositions } from './queries.ts';

/** Milliseconds after which events of other processes are noticed. */
const LOOK_EVERY = 250;
const MAX_READERS = 2_000;
const MAX_READERS_OF_SHOP = 100;

interface Waiter {
  after: number;
  wake: () => void;
}

/**
 * Lets readers of event logs wait for new events. The process learns of its own commits at once, and asks the database
 * for those of others: one statement for all shops with waiting readers.
 */
export function createEventWaiting(db: Database, log: FastifyBaseLogger) {
  const waiting = new Map<string, Set<Waiter>>();
  /** How many readers of each shop wait or get a stream, also while events are being sent to them. */
  const readersOf = new Map<string, number>();
  let readers = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const wakeShop = (shopId: string, last = Infinity) => {
    for (const waiter of waiting.get(shopId) ?? []) if (waiter.after < last) waiter.wake();
  };

  const look = async () => {
    timer = undefined;
    if (waiting.size === 0 || isClosed) return;
    try {
      const positions = await findLastPositions(db, [...waiting.keys()]);
      for (const { shopId, position } of positions) wakeShop(shopId, position);
    } catch (error) {
      // Readers ask again by themselves when their timeout is over.
      log.warn({ err: error }, 'new events could not be looked for');
    }
    lookLater();
  };
  const lookLater = () => {
    if (waiting.size > 0 && !isClosed) timer ??= setTimeout(() => void look(), LOOK_EVERY).unref();
  };

  db.notices.on(NEW_EVENTS, wakeShop);

  return {
    /** Takes a place for a reader; undefined: none is free. The returned function releases the place. */
    enter(shopId: string): (() => void) | undefined {
      const ofShop = readersOf.get(shopId) ?? 0;
      if (isClosed || readers >= MAX_READERS || ofShop >= MAX_READERS_OF_SHOP) return undefined;
      readers += 1;
      readersOf.set(shopId, ofShop + 1);
      return () => {
        readers -= 1;
        const left = readersOf.get(shopId)! - 1;
        if (left === 0) readersOf.delete(shopId);
        else readersOf.set(shopId, left);
      };
    },

    /** Returns when the shop may have events after this position, on timeout, or when the service ends. */
    async wait(shopId: string, after: number, milliseconds: number): Promise<void> {
      if (isClosed) return;
      const waiters = waiting.get(shopId) ?? new Set<Waiter>();
      waiting.set(shopId, waiters);
      await new Promise<void>((resolve) => {
        const end = setTimeout(() => waiter.wake(), milliseconds);
        const waiter: Waiter = {
          after,
          wake: () => {
            clearTimeout(end);
            waiters.delete(waiter);
            if (waiters.size === 0 && waiting.get(shopId) === waiters) waiting.delete(shopId);
            resolve();
          },
        };
        waiters.add(waiter);
        lookLater();
      });
    },

    get isClosed() {
      return isClosed;
    },

    /** Ends all waiting, so that the service can stop. */
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      db.notices.off(NEW_EVENTS, wakeShop);
      for (const shopId of waiting.keys()) wakeShop(shopId);
    },
  };
}

export type EventWaiting = ReturnType<typeof createEventWaiting>;

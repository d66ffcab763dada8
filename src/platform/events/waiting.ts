import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { NEW_EVENTS } from './log.ts';
import { findLastPositions } from './queries.ts';

/** Milliseconds after which the events of other processes are noticed. */
const LOOK_EVERY = 250;
const MOST_WAITING = 2_000;
const MOST_WAITING_OF_SHOP = 100;

interface Waiter {
  after: number;
  wake: () => void;
}

/**
 * Lets readers of event logs wait for what comes. The process hears of its own commits at once, and asks the database
 * for those of others: one statement for all shops that somebody waits for.
 */
export function createEventWaiting(db: Database, log: FastifyBaseLogger) {
  const waiting = new Map<string, Set<Waiter>>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const wakeShop = (shopId: string, last = Infinity) => {
    for (const waiter of waiting.get(shopId) ?? []) if (waiter.after < last) waiter.wake();
  };

  const look = async () => {
    timer = undefined;
    if (count === 0 || isClosed) return;
    try {
      const positions = await findLastPositions(db, [...waiting.keys()]);
      for (const { shopId, position } of positions) wakeShop(shopId, position);
    } catch (error) {
      // Readers ask again by themselves when their time is over.
      log.warn({ err: error }, 'new events could not be looked for');
    }
    lookLater();
  };
  const lookLater = () => {
    if (count > 0 && !isClosed) timer ??= setTimeout(() => void look(), LOOK_EVERY).unref();
  };

  db.notices.on(NEW_EVENTS, wakeShop);

  return {
    /** Whether one more reader of this shop may wait. */
    hasRoom: (shopId: string): boolean =>
      !isClosed && count < MOST_WAITING && (waiting.get(shopId)?.size ?? 0) < MOST_WAITING_OF_SHOP,

    /** Returns when the shop may have events behind this position, when the time is over, or when the service ends. */
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
            if (waiters.delete(waiter)) count -= 1;
            if (waiters.size === 0 && waiting.get(shopId) === waiters) waiting.delete(shopId);
            resolve();
          },
        };
        waiters.add(waiter);
        count += 1;
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

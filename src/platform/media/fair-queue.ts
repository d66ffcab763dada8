import { Refusal, retryAfter } from '../../http/errors.ts';

export interface FairQueueOptions {
  /** How many tasks run at the same time. */
  atOnce: number;
  /** Tasks of one shop that may wait, and of all shops. */
  waitingPerShop: number;
  waitingInAll: number;
}

/** A rough number, because the sizes of the waiting images are unknown. */
const RETRY_AFTER = 10;

/**
 * Runs slow tasks, a few at the same time. Shops take turns: a shop that sends a hundred images waits for its own, and
 * a single image of another shop is next.
 */
export function createFairQueue({ atOnce, waitingPerShop, waitingInAll }: FairQueueOptions) {
  /** The shops whose tasks wait, in the order of their turns; a shop without tasks is not in it. */
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  let length = 0;

  const startNext = () => {
    if (running === atOnce) return;
    const [next] = waiting;
    if (!next) return;
    const [shopId, tasks] = next;
    const start = tasks.shift()!;
    // After all other shops.
    waiting.delete(shopId);
    if (tasks.length > 0) waiting.set(shopId, tasks);
    length--;
    running++;
    start();
  };

  /** Runs `work` when it is the shop's turn. Throws at once when the queue is full. */
  return async <Result>(shopId: string, work: () => Promise<Result>): Promise<Result> => {
    const own = waiting.get(shopId) ?? [];
    if (own.length >= waitingPerShop) throw tooMuch('SHOP_IMAGES_WAITING');
    if (length >= waitingInAll) throw tooMuch('IMAGES_WAITING');
    await new Promise<void>((start) => {
      own.push(start);
      waiting.set(shopId, own);
      length++;
      startNext();
    });
    try {
      return await work();
    } finally {
      running--;
      startNext();
    }
  };
}

const tooMuch = (code: 'SHOP_IMAGES_WAITING' | 'IMAGES_WAITING') =>
  new Refusal(code, { seconds: RETRY_AFTER }, retryAfter(RETRY_AFTER));

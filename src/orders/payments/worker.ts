import { repeat, type Background } from '../../platform/background.ts';
import { checkAttempt, makeRefund, type PaymentDeps } from './calls.ts';
import { findDueAttempts, findDueRefunds, takeDueAttempt, type DueKey, type DuePage } from './queries.ts';

/** Items read in one round, and the maximum per shop: a provider that does not answer delays only its own shops. */
const MAX_READ = 100;
const MAX_OF_SHOP = 20;

export interface PaymentWorkerOptions extends PaymentDeps {
  /** Milliseconds between two rounds. */
  pause?: number | undefined;
}

/**
 * Asks the providers of all shops about payments that are due for a check, and makes the requested refunds, until it
 * is stopped. Any number of processes may do this at once: taking an item moves the time at which it is due.
 */
export function startPaymentWorker({ pause = 1_000, ...deps }: PaymentWorkerOptions): Background {
  const attempts = dueRounds(deps, findDueAttempts, async (key) => {
    if (await takeDueAttempt(deps.db, key)) await checkAttempt(deps, key.shopId, key.id);
  });
  const refunds = dueRounds(deps, findDueRefunds, (key) => makeRefund(deps, key));
  const works = [
    repeat('the check of payments', pause, deps.log, attempts),
    repeat('the refunds', pause, deps.log, refunds),
  ];
  return { stop: async () => void (await Promise.all(works.map((work) => work.stop()))) };
}

/** Each round begins after the shops of the last one, so they take turns. */
function dueRounds(
  { db, log }: PaymentDeps,
  find: (queries: PaymentDeps['db'], page: DuePage) => Promise<DueKey[]>,
  work: (key: DueKey) => Promise<void>,
): () => Promise<void> {
  let lastShop = '';
  return async () => {
    const due = await find(db, { afterShop: lastShop, limit: MAX_READ });
    lastShop = due.length === MAX_READ ? due.at(-1)!.shopId : '';
    const countOf = new Map<string, number>();
    const chosen = due.filter(({ shopId }) => {
      const count = (countOf.get(shopId) ?? 0) + 1;
      countOf.set(shopId, count);
      return count <= MAX_OF_SHOP;
    });
    await Promise.all(
      chosen.map((key) =>
        work(key).catch((error: unknown) =>
          log.warn({ shop: key.shopId, payment: key.id, err: error }, 'a payment could not be dealt with'),
        ),
      ),
    );
  };
}

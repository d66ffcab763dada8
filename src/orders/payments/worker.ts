import { repeat, type Background } from '../../platform/background.ts';
import { checkAttempt, makeRefund, type PaymentDeps } from './calls.ts';
import {
  findDueAttempts,
  findDueAttemptsOf,
  findDueRefunds,
  findDueRefundsOf,
  takeDueAttempt,
  type DueKey,
  type DuePage,
} from './queries.ts';

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
  const attempts = dueRounds(deps, findDueAttempts, findDueAttemptsOf, async (key) => {
    if (await takeDueAttempt(deps.db.atClockOf(key.shopId), key))
      await checkAttempt(deps, key.shopId, key.id);
  });
  const refunds = dueRounds(deps, findDueRefunds, findDueRefundsOf, (key) => makeRefund(deps, key));
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
  findOfShop: (queries: PaymentDeps['db'], shopId: string, limit: number) => Promise<DueKey[]>,
  work: (key: DueKey) => Promise<void>,
): () => Promise<void> {
  let lastShop = '';
  return async () => {
    const found = await find(db, { afterShop: lastShop, limit: MAX_READ });
    lastShop = found.length === MAX_READ ? found.at(-1)!.shopId : '';
    const due = [...found];
    // A shop whose clock is ahead has payments that are due only by its own.
    for (const shopId of db.clocks.ahead())
      due.push(...(await findOfShop(db.atClockOf(shopId), shopId, MAX_OF_SHOP)));
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

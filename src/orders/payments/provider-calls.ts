import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { loadAccount } from './accounts.ts';
import { CALL_TIMEOUT, PaymentRefused, type Account, type PaymentProvider } from './provider.ts';
import { isProviderName, providerOf, type Providers } from './providers.ts';
import type { Attempt } from './queries.ts';
import { settle } from './settle.ts';

/** The dependencies of calls to providers. */
export interface PaymentDeps {
  db: Database;
  providers: Providers;
  /** The key of the installation, which unseals the merchants' values. */
  loadKey: () => Promise<Buffer>;
  log: FastifyBaseLogger;
}

/** The same at the clock of the shop. */
export const atClockOf = (deps: PaymentDeps, shopId: string): PaymentDeps => ({
  ...deps,
  db: deps.db.atClockOf(shopId),
});

/** The provider of an attempt, and the account of the shop there. */
export async function accountOf(
  { db, providers, loadKey }: PaymentDeps,
  shopId: string,
  { provider: name, paymentMethodId }: Attempt,
  settings: Settings,
): Promise<{ provider: PaymentProvider; account: Account }> {
  const method = settings.paymentMethods.find((one) => one.paymentMethodId === paymentMethodId);
  if (!method || !isProviderName(name)) {
    throw new PaymentRefused('The payment method is not in the settings of the shop any more');
  }
  const provider = providerOf(providers, name, settings);
  return { provider, account: await loadAccount(db, await loadKey(), shopId, method, provider) };
}

/** Ends an attempt without a state from the provider. */
export function settleAs(
  db: Database,
  shopId: string,
  attempt: Attempt,
  state: 'failed',
  error: string | null,
): Promise<void> {
  const { currency } = attempt;
  return db.transaction((tx) => settle(tx, shopId, attempt, { state, captured: 0, currency }, error));
}

/** Limits a call to the time that a shopper would wait; the next check finds its later result. */
export async function inTime<Result>(call: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The payment provider did not answer in time')), CALL_TIMEOUT);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** PostgreSQL does not allow character 0 in texts. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll('\0', '').slice(0, 500);
}

import { installedApps, type InstalledApp } from '../../apps/manifest/installed.ts';
import type { AppCall, AppPaymentMethod } from '../../apps/manifest/schema.ts';
import type { Queries } from '../../db/database.ts';

/** A way to pay that an installed app handles. */
export interface AppMethod {
  /** As the settings of a payment method say it: `pay.example/later`. */
  name: string;
  app: InstalledApp;
  call: AppCall;
  method: AppPaymentMethod;
}

type AppsOf = { shopId: string; version: number };

/** All of the installed apps of a shop, without a statement as long as its settings have this version. */
export async function findAppMethods(db: Queries, settings: AppsOf): Promise<AppMethod[]> {
  const apps = await installedApps(db, settings);
  return apps.flatMap((app) => {
    const call = app.calls.find(({ kind }) => kind === 'payment');
    if (!call) return [];
    return app.paymentMethods.map((method) => ({ name: `${app.host}/${method.name}`, app, call, method }));
  });
}

/** The facts of a payment that an app can limit. */
export interface Payable {
  /** Minor units. */
  amount: number;
  currency: string;
  /** Of the billing address; undefined: not known yet. */
  country: string | undefined;
}

/** Whether a payment is within the limits of the method. */
export function isPayable(
  { currencies, countries, minimum = 0, maximum = Infinity }: AppPaymentMethod,
  { amount, currency, country }: Payable,
): boolean {
  return (
    (!currencies || currencies.includes(currency)) &&
    (!countries || country === undefined || countries.includes(country)) &&
    minimum <= amount &&
    amount <= maximum
  );
}

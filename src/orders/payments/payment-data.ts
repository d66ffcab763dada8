import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unsealIfPossible } from '../../platform/sealing.ts';
import type { PaymentMethod, Settings } from '../../shops/settings/settings.ts';
import { ACCOUNTS, type Fields } from './accounts.ts';
import { findAppMethods, type AppMethod } from './app-methods.ts';
import type { PaymentDeps } from './calls.ts';
import type { PaymentProvider } from './provider.ts';
import { isProviderName, providerOf, type Providers } from './providers.ts';

/** Every new shop has this key for a bank transfer in advance. */
export const IN_ADVANCE = 'advance';

/** The data that a transfer needs, by the name of the setting. */
export const BANK_ACCOUNT = 'invoicing.bank.iban';

/**
 * The data without which nobody could pay with a method, by the names of the settings: the bank account of a transfer in
 * advance, or the keys of a provider, or its app. `fields` are the stored keys. An app or the merchant handles all other methods.
 */
export function missingPaymentData(
  { key, providerName, appMethod }: PaymentMethod,
  { invoicing, sandbox }: Pick<Settings, 'invoicing' | 'sandbox'>,
  { providers, fields, apps }: { providers: Providers; fields: Fields; apps: readonly AppMethod[] },
): string[] {
  if (providerName === 'app' && !sandbox) {
    return apps.some(({ name }) => name === appMethod) ? [] : [`paymentMethods.${key}.${APP}`];
  }
  if (isProviderName(providerName)) {
    return requiredFields(providerOf(providers, providerName, { sandbox }))
      .filter((name) => fields[name] === undefined)
      .map((name) => `paymentMethods.${key}.${name}`);
  }
  return key === IN_ADVANCE && providerName === null && !invoicing.bank ? [BANK_ACCOUNT] : [];
}

/** Names the missing app of a payment method, which is installed rather than typed. */
const APP = 'app';

const requiredFields = (provider: PaymentProvider) =>
  Object.entries(provider.fields).flatMap(([field, { isOptional }]) => (isOptional ? [] : [field]));

/**
 * The missing data of each payment method of a shop, and the app that handles it, in the order of the methods. An account
 * of another key counts as none.
 */
export async function findPaymentGaps(
  db: Queries,
  settings: Settings,
  { providers, loadKey }: Pick<PaymentDeps, 'providers' | 'loadKey'>,
): Promise<{ method: PaymentMethod; missing: string[]; app: AppMethod | undefined }[]> {
  const { shopId, paymentMethods } = settings;
  const hasKeys = paymentMethods.some(
    ({ providerName }) =>
      isProviderName(providerName) &&
      requiredFields(providerOf(providers, providerName, settings)).length > 0,
  );
  const accounts = hasKeys ? await findAccounts(db, shopId, await loadKey()) : new Map<string, Fields>();
  const hasApps = paymentMethods.some(({ providerName }) => providerName === 'app') && !settings.sandbox;
  const apps = hasApps ? await findAppMethods(db, settings) : [];
  return paymentMethods.map((method) => ({
    method,
    app: apps.find(({ name }) => name === method.appMethod),
    missing: missingPaymentData(method, settings, {
      providers,
      fields: accounts.get(method.paymentMethodId) ?? {},
      apps,
    }),
  }));
}

async function findAccounts(db: Queries, shopId: string, key: Buffer): Promise<Map<string, Fields>> {
  const rows = await db.many<{ id: string; sealed: Buffer }>(sql`
    select upper(payment_method_id::text) as id, fields_sealed as sealed from payment_account
    where shop_id = ${shopId}`);
  return new Map(
    rows.map(({ id, sealed }) => [id, JSON.parse(unsealIfPossible(key, sealed, ACCOUNTS) ?? '{}') as Fields]),
  );
}

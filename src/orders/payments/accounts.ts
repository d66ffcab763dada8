import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { seal, unseal, unsealIfPossible } from '../../platform/sealing.ts';
import type { SealingKeys } from '../../apps/apps.ts';
import type { PaymentMethod } from '../../shops/settings/settings.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { PaymentRefused, type Account, type PaymentProvider } from './provider.ts';

/** The sealing key of accounts is derived from that of the installation. */
export const ACCOUNTS = 'kontor payment accounts';

export type Fields = Record<string, string>;

/** Keys of all providers are short ASCII texts without blanks. */
export function isFieldValue(value: string): boolean {
  return /^[\x21-\x7e]*$/.test(value) && value.length <= MAX_CHARACTERS;
}

export const MAX_CHARACTERS = 2_000;

/** The merchant's values for a method, unsealed; empty when nothing is set. */
export async function loadFields(
  db: Queries,
  key: Buffer,
  shopId: string,
  paymentMethodId: string,
): Promise<Fields> {
  const row = await db.one<{ sealed: Buffer }>(sql`
    select fields_sealed as sealed from payment_account
    where shop_id = ${shopId} and payment_method_id = ${paymentMethodId}`);
  return row ? (JSON.parse(unseal(key, row.sealed, ACCOUNTS)) as Fields) : {};
}

export async function saveFields(
  tx: Transaction,
  key: Buffer,
  shopId: string,
  paymentMethodId: string,
  fields: Fields,
): Promise<void> {
  await tx.run(sql`
    insert into payment_account (shop_id, payment_method_id, fields_sealed, updated_at)
    values (${shopId}, ${paymentMethodId}, ${seal(key, JSON.stringify(fields), ACCOUNTS)}, ${tx.now})
    on conflict (shop_id, payment_method_id)
    do update set fields_sealed = excluded.fields_sealed, updated_at = excluded.updated_at`);
  // Pages cache with the settings which methods can be offered.
  await moveSettingsVersion(tx, shopId);
}

/** The account for calls to a provider. Refused while a required value is missing. */
export async function loadAccount(
  db: Queries,
  key: Buffer,
  shopId: string,
  method: PaymentMethod,
  provider: PaymentProvider,
): Promise<Account> {
  const fields = await loadFields(db, key, shopId, method.paymentMethodId);
  const missing = Object.entries(provider.fields).find(
    ([name, { isOptional }]) => !isOptional && fields[name] === undefined,
  );
  if (missing) {
    throw new PaymentRefused(`${missing[0]} is not set, run: npx kontor payment set ${shopId} ${method.key}`);
  }
  const { appMethod, capture, additionalData } = method;
  return { shopId, fields, appMethod, capture, settings: additionalData ?? {} };
}

/**
 * Seals the accounts of a restored shop with the key of this installation. Removes those that neither key opens, and
 * returns how many.
 */
export async function resealAccounts(
  tx: Transaction,
  shopId: string,
  { own, former }: SealingKeys,
): Promise<number> {
  const rows = await tx.many<{ id: string; sealed: Buffer }>(sql`
    select payment_method_id as id, fields_sealed as sealed from payment_account where shop_id = ${shopId}`);
  let lost = 0;
  for (const { id, sealed } of rows) {
    if (unsealIfPossible(own, sealed, ACCOUNTS) !== undefined) continue;
    const text = former && unsealIfPossible(former, sealed, ACCOUNTS);
    if (text === undefined) {
      lost++;
      await tx.run(sql`delete from payment_account where shop_id = ${shopId} and payment_method_id = ${id}`);
    } else {
      await saveFields(tx, own, shopId, id, JSON.parse(text) as Fields);
    }
  }
  return lost;
}

import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { BrowserName } from '../../people/accounts/browser-name.ts';
import { MAX_PASSKEYS, type NewPasskey, type PasskeyRow } from '../../people/accounts/passkeys.ts';

export function findAdminPasskeys(db: Queries, userId: string) {
  return db.many<PasskeyRow>(sql`
    select credential_id as "credentialId", transports, browser, system, created_at as "createdAt",
      used_at as "usedAt"
    from admin_passkey where user_id = ${userId} order by created_at, credential_id limit ${MAX_PASSKEYS}`);
}

/** False: the user has reached the limit, or this passkey is already registered. */
export async function insertAdminPasskey(
  tx: Transaction,
  userId: string,
  { credentialId, publicKey, counter, transports, browser, system }: NewPasskey & BrowserName,
): Promise<boolean> {
  // Locked, so that two concurrent requests can't exceed the limit.
  await tx.run(sql`select from admin_user where user_id = ${userId} for no key update`);
  if ((await findAdminPasskeys(tx, userId)).length >= MAX_PASSKEYS) return false;
  const inserted = await tx.run(sql`
    insert into admin_passkey (credential_id, user_id, public_key, counter, transports, browser, system, created_at)
    values (${credentialId}, ${userId}, ${publicKey}, ${counter}, ${transports}, ${browser}, ${system}, ${tx.now})
    on conflict (credential_id) do nothing`);
  return inserted === 1;
}

/** Locks the passkey and returns it with its owner. */
export function lockAdminPasskey(tx: Transaction, credentialId: string) {
  return tx.one<NewPasskey & { userId: string; email: string; usedAt: Date | null }>(sql`
    select credential_id as "credentialId", public_key as "publicKey", counter, transports, used_at as "usedAt",
      upper(admin_user.user_id::text) as "userId", email
    from admin_passkey join admin_user on admin_user.user_id = admin_passkey.user_id
    where credential_id = ${credentialId} for update of admin_passkey`);
}

export function updateAdminPasskey(tx: Transaction, credentialId: string, counter: number) {
  return tx.run(sql`
    update admin_passkey set counter = ${counter}, used_at = ${tx.now} where credential_id = ${credentialId}`);
}

export function deleteAdminPasskey(tx: Transaction, userId: string, credentialId: string) {
  return tx.run(sql`
    delete from admin_passkey where user_id = ${userId} and credential_id = ${credentialId}`);
}

import { hkdfSync } from 'node:crypto';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { secretHash } from '../../kernel/ids.ts';
import { hashWithSalt } from '../users/password.ts';
import { seal, unseal } from '../../platform/sealing.ts';
import { matchingStep, newRecoveryCode, toRecoveryCode } from './totp-code.ts';

const PURPOSE = 'kontor authenticator secrets';
const RECOVERY_CODES = 10;

/**
 * Fifty bits can be tried one by one, so a recovery code is hashed like a password. Its salt is derived, because a typed
 * code is compared with all of the user's at once; without the key of the installation a stolen database has none.
 */
function recoveryHash(key: Buffer, userId: string, code: string): Promise<Buffer> {
  const salt = hkdfSync('sha256', key, userId, 'kontor recovery codes', 16);
  return hashWithSalt(code, Buffer.from(salt));
}

/**
 * Whether this is a code of the user's authenticator app, or a recovery code. Each works once: the user's row is
 * locked, so that two concurrent forms can't use the same code.
 */
export async function takeCode(
  tx: Transaction,
  key: Buffer,
  userId: string,
  typed: string,
): Promise<boolean> {
  const user = await tx.one<{ sealed: Buffer | null; step: number | null }>(sql`
    select totp_sealed as sealed, totp_step as step from admin_user where user_id = ${userId} for update`);
  if (!user?.sealed) return false;
  const recoveryCode = toRecoveryCode(typed);
  if (recoveryCode !== undefined) {
    // Codes of earlier versions have a plain hash.
    const hashes = [await recoveryHash(key, userId, recoveryCode), secretHash(recoveryCode)];
    const deleted = await tx.run(sql`
      delete from admin_recovery_code where user_id = ${userId} and code_hash = any(${hashes}::bytea[])`);
    return deleted > 0;
  }
  const step = matchingStep(
    unseal(key, user.sealed, PURPOSE),
    typed.replaceAll(/\s/g, ''),
    tx.now,
    user.step,
  );
  if (step === undefined) return false;
  await tx.run(sql`update admin_user set totp_step = ${step} where user_id = ${userId}`);
  return true;
}

/** New recovery codes, which are shown only once, and what is stored of them. */
export interface RecoveryCodes {
  codes: readonly string[];
  hashes: readonly Buffer[];
}

/** Hashing takes half a second, so it is done before the transaction that stores them. */
export async function newRecoveryCodes(key: Buffer, userId: string): Promise<RecoveryCodes> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  return { codes, hashes: await Promise.all(codes.map((code) => recoveryHash(key, userId, code))) };
}

/** With the step of the code that proved it. */
export async function setTotp(
  tx: Transaction,
  key: Buffer,
  userId: string,
  { secret, step }: { secret: string; step: number },
  recovery: RecoveryCodes,
): Promise<void> {
  await tx.run(sql`
    update admin_user set totp_sealed = ${seal(key, secret, PURPOSE)}, totp_step = ${step}
    where user_id = ${userId}`);
  await replaceRecoveryCodes(tx, userId, recovery);
}

export async function replaceRecoveryCodes(
  tx: Transaction,
  userId: string,
  { hashes }: RecoveryCodes,
): Promise<void> {
  await tx.run(sql`delete from admin_recovery_code where user_id = ${userId}`);
  await tx.run(sql`
    insert into admin_recovery_code (user_id, code_hash)
    select ${userId}::uuid, code_hash from unnest(${hashes}::bytea[]) as code_hash`);
}

export async function deleteTotp(tx: Transaction, userId: string): Promise<void> {
  await tx.run(sql`
    update admin_user set totp_sealed = null, totp_step = null where user_id = ${userId}`);
  await tx.run(sql`delete from admin_recovery_code where user_id = ${userId}`);
}

export async function countRecoveryCodes(db: Queries, userId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from admin_recovery_code where user_id = ${userId}`);
  return row!.count;
}

import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { HostScope } from '../http/scopes.ts';
import { newId, newSecret, secretHash } from '../kernel/ids.ts';

/** Tokens of the host: they open /host and nothing of a shop. Only their hashes are stored. */

export interface HostToken {
  tokenId: string;
  name: string;
  scopes: HostScope[];
  createdAt: Date;
  /** null: never. */
  lastUsedAt: Date | null;
}

/** Returns the token, which is shown this once. */
export async function createHostToken(
  tx: Transaction,
  { name, scopes }: Pick<HostToken, 'name'> & { scopes: readonly HostScope[] },
): Promise<string> {
  const token = newSecret(32);
  await tx.run(sql`
    insert into host_token (token_hash, token_id, name, scopes, created_at)
    values (${secretHash(token)}, ${newId(tx.now)}, ${name}, ${scopes}, ${tx.now})`);
  return token;
}

const MAX_TOKENS = 1_000;

export function findHostTokens(db: Queries) {
  return db.many<HostToken>(sql`
    select upper(token_id::text) as "tokenId", name, scopes, created_at as "createdAt",
      last_used_at as "lastUsedAt"
    from host_token order by created_at, token_id limit ${MAX_TOKENS}`);
}

/** By its id or by the token itself. false: there is none. */
export async function endHostToken(tx: Transaction, tokenOrId: string, isId: boolean): Promise<boolean> {
  const ended = isId
    ? await tx.run(sql`delete from host_token where token_id = ${tokenOrId}`)
    : await tx.run(sql`delete from host_token where token_hash = ${secretHash(tokenOrId)}`);
  return ended > 0;
}

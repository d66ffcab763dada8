import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { Scope } from '../http/scopes.ts';

/** A private app with this name: it has tokens, but no client secret. Finds the one that exists. */
export async function ensureApp(
  tx: Transaction,
  shopId: string,
  app: { appId: string; name: string; scopes: readonly Scope[] },
): Promise<string> {
  const row = await tx.one<{ appId: string }>(sql`
    insert into app (shop_id, app_id, name, scopes, created_at)
    values (${shopId}, ${app.appId}, ${app.name}, ${app.scopes}, ${tx.now})
    on conflict (shop_id, name) do update set name = excluded.name
    returning app_id as "appId"`);
  return row!.appId;
}

export function insertToken(
  tx: Transaction,
  shopId: string,
  token: { tokenHash: Buffer; appId: string; scopes: readonly Scope[] },
) {
  return tx.run(sql`
    insert into token (shop_id, token_hash, app_id, scopes, created_at)
    values (${shopId}, ${token.tokenHash}, ${token.appId}, ${token.scopes}, ${tx.now})`);
}

import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { secretHash } from '../ids.ts';
import { tokenCaller } from './rate-limit.ts';
import type { Scope } from './scopes.ts';

/** Who calls: an app by its token, or anybody without one. */
export interface Caller {
  /** undefined: no token was sent, or one that is unknown in this shop. */
  app: { appId: string; tokenHash: string; scopes: ReadonlySet<string>; rateKey: string } | undefined;
  /** The shop's setting: may anybody read what shoppers see? */
  publicCatalogue: boolean;
}

export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.app?.scopes.has(scope) ?? false;
}

/** How long another process's revocation may go unnoticed; the contract allows 5 s. */
export const FRESH_FOR = 4_000;
const MOST_KEPT = 20_000;

/**
 * Finds callers, and remembers them for a few seconds so that a busy token costs no statement per call. Only
 * what was found is kept: a new token or shop works at once, and guesses do not fill the memory.
 */
export function callerDirectory(db: Database) {
  const kept = new Map<string, { caller: Caller; until: number }>();
  let forgotten = 0;

  /** The remembered caller, if it is fresh. */
  const recall = (shopId: string, token: string | undefined): Caller | undefined => {
    const entry = kept.get(keyOf(shopId, token));
    return entry && entry.until > performance.now() ? entry.caller : undefined;
  };

  /** undefined: there is no such shop. */
  const find = async (shopId: string, token: string | undefined): Promise<Caller | undefined> => {
    const tokenHash = token === undefined ? null : secretHash(token);
    const before = forgotten;
    const row = await selectCaller(db, shopId, tokenHash);
    if (!row) return undefined;
    const { publicCatalogue, appId, scopes } = row;
    const app = appId && tokenHash ? toApp(shopId, appId, tokenHash.toString('hex'), scopes!) : undefined;
    const caller: Caller = { app, publicCatalogue };
    // What was read before a `forget` may be what had to be forgotten.
    if (before === forgotten && (app || token === undefined)) {
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(keyOf(shopId, token), { caller, until: performance.now() + FRESH_FOR });
    }
    return caller;
  };

  /** After this process changed a shop's tokens. */
  const forget = (shopId: string) => {
    forgotten++;
    for (const key of kept.keys()) if (key === shopId || key.startsWith(`${shopId}/`)) kept.delete(key);
  };

  return { recall, find, forget };
}

export type CallerDirectory = ReturnType<typeof callerDirectory>;

function toApp(shopId: string, appId: string, tokenHash: string, scopes: string[]): Caller['app'] {
  return { appId, tokenHash, scopes: new Set(scopes), rateKey: tokenCaller(shopId, tokenHash) };
}

/** Shop ids hold no slash, so a key says where the shop's name ends. */
function keyOf(shopId: string, token: string | undefined): string {
  return token === undefined ? shopId : `${shopId}/${token}`;
}

function selectCaller(db: Database, shopId: string, tokenHash: Buffer | null) {
  return db.one<{ publicCatalogue: boolean; appId: string | null; scopes: string[] | null }>(sql`
    select shop.public_catalogue as "publicCatalogue", token.app_id as "appId", token.scopes
    from shop
    left join token on token.shop_id = shop.shop_id and token.token_hash = ${tokenHash}
    where shop.shop_id = ${shopId}`);
}

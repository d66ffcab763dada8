import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { secretHash } from '../kernel/ids.ts';
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
/** How long a token or shop that another process has just made may still be called unknown here. */
export const UNKNOWN_FOR = 1_000;
const MOST_CALLERS = 20_000;
const MOST_UNKNOWN = 5_000;

/** What a lookup has found. */
export interface Found {
  /** undefined: there is no such shop. */
  caller: Caller | undefined;
}

interface CacheEntry extends Found {
  until: number;
}

/**
 * Finds callers, and caches them for a few seconds so that a busy token costs no statement per call. Tokens and shops
 * that do not exist are cached for a moment, in a cache of their own: guesses can't displace those that exist.
 */
export function callerDirectory(db: Database) {
  const callers = new Map<string, CacheEntry>();
  const unknown = new Map<string, CacheEntry>();
  let forgotten = 0;

  /** What is in the cache and fresh. */
  const recall = (shopId: string, token: string | undefined): Found | undefined => {
    const key = keyOf(shopId, token);
    const entry = callers.get(key) ?? unknown.get(key) ?? unknown.get(absentShop(shopId));
    return entry && entry.until > performance.now() ? entry : undefined;
  };

  /** Whether this process has ever found it, even if that was too long ago to rely on. */
  const wasFound = (shopId: string, token: string | undefined): boolean => callers.has(keyOf(shopId, token));

  const find = async (shopId: string, token: string | undefined): Promise<Found> => {
    const tokenHash = token === undefined ? null : secretHash(token);
    const before = forgotten;
    const row = await selectCaller(db, shopId, tokenHash);
    const app =
      row?.appId && tokenHash ? toApp(shopId, row.appId, tokenHash.toString('hex'), row.scopes!) : undefined;
    const caller: Caller | undefined = row && { app, publicCatalogue: row.publicCatalogue };
    // What was read before a `forget` may be what had to be forgotten.
    if (before === forgotten) remember(shopId, token, caller);
    return { caller };
  };

  const remember = (shopId: string, token: string | undefined, caller: Caller | undefined) => {
    const key = keyOf(shopId, token);
    const now = performance.now();
    if (caller && (caller.app || token === undefined)) {
      unknown.delete(key);
      store(callers, key, { caller, until: now + FRESH_FOR }, MOST_CALLERS);
    } else {
      callers.delete(key);
      store(unknown, caller ? key : absentShop(shopId), { caller, until: now + UNKNOWN_FOR }, MOST_UNKNOWN);
    }
  };

  /** After this process changed a shop's tokens, or made the shop. */
  const forget = (shopId: string) => {
    forgotten++;
    const isOfShop = (key: string) => key === shopId || key.startsWith(`${shopId}/`);
    for (const key of unknown.keys()) if (isOfShop(key)) unknown.delete(key);
    // They stay as something that was found, but have to be looked up again.
    for (const [key, entry] of callers) if (isOfShop(key)) entry.until = 0;
  };

  return { recall, wasFound, find, forget };
}

export type CallerDirectory = ReturnType<typeof callerDirectory>;

function toApp(shopId: string, appId: string, tokenHash: string, scopes: string[]): Caller['app'] {
  return { appId, tokenHash, scopes: new Set(scopes), rateKey: tokenCaller(shopId, tokenHash) };
}

/** Without the oldest entry when it is full. */
function store(cache: Map<string, CacheEntry>, key: string, entry: CacheEntry, most: number): void {
  cache.delete(key);
  if (cache.size >= most) cache.delete(cache.keys().next().value!);
  cache.set(key, entry);
}

/** One entry for a shop that does not exist, whatever tokens are sent to it. */
function absentShop(shopId: string): string {
  return `${shopId}/`;
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

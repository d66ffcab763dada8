import { BlockList, isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { secretHash } from '../kernel/ids.ts';
import { missingScope } from './errors.ts';
import { hostTokenCaller, tokenCaller } from './rate-limit.ts';
import type { HostScope, Scope } from './scopes.ts';

/** An app with its token, or a user who is signed in to the admin: both may do what their scopes name. */
export interface CallingApp {
  /** For a person, the id of the user. */
  appId: string;
  /** For a person, the email address. */
  name: string;
  tokenHash: string;
  scopes: ReadonlySet<string>;
  rateKey: string;
  /** null: until it is revoked. */
  expiresAt: Date | null;
  /** Addresses that calls may come from; null: any. */
  networks: BlockList | null;
  /** A user of the admin, whose `appId` names no app. */
  isPerson?: boolean;
}

/** The caller: an app with its token, or a request without one. */
export interface Caller {
  /** undefined: no token was sent, or the token is unknown in this shop. */
  app: CallingApp | undefined;
  /** The shop's setting: shoppers may read without a token. */
  publicCatalogue: boolean;
  /** The operator has closed the shop: all calls are refused. */
  isSuspended: boolean;
  /** The plan of the shop; null or absent: the default one. */
  plan?: string | null;
}

/** Why the token of this app is not valid for a call from this address; undefined: it is. */
export type TokenProblem = 'TOKEN_EXPIRED' | 'TOKEN_FROM_OTHER_ADDRESS';

export function tokenProblem(
  { expiresAt, networks }: CallingApp,
  address: string,
  now: Date,
): TokenProblem | undefined {
  if (expiresAt !== null && expiresAt <= now) return 'TOKEN_EXPIRED';
  if (networks !== null && !networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) {
    return 'TOKEN_FROM_OTHER_ADDRESS';
  }
  return undefined;
}

export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.app?.scopes.has(scope) ?? false;
}

export function requireScopes(app: CallingApp, scopes: readonly (Scope | HostScope)[]): void {
  for (const scope of scopes) if (!app.scopes.has(scope)) throw missingScope(scope);
}

/** Milliseconds for which a token revocation by another process may go unnoticed; the contract allows 5 s. */
export const FRESH_FOR = 4_000;
/** Milliseconds for which a token or shop that another process has just created may still be unknown here. */
export const UNKNOWN_FOR = 1_000;
const MAX_CALLERS = 20_000;
const MAX_UNKNOWN = 5_000;

/** A hash that no token has. Citus cannot route a comparison with null, because it removes the condition. */
const NO_TOKEN = Buffer.alloc(0);

export interface FoundCaller {
  /** undefined: there is no such shop. */
  caller: Caller | undefined;
}

interface CacheEntry extends FoundCaller {
  /** Milliseconds of `performance.now()`. */
  freshUntil: number;
}

/** With `max` the package would reserve room for all entries at once: megabytes in a process that serves one shop. */
const newCache = (entries: number) =>
  new LRUCache<string, CacheEntry>({ maxSize: entries, sizeCalculation: () => 1 });

/**
 * Loads callers and caches them for a few seconds, so a busy token costs no statement per call. Tokens and shops that
 * do not exist are cached briefly in a separate cache, so guesses can't displace existing ones.
 */
export function createCallerDirectory(db: Database, select: SelectCaller = selectShopCaller) {
  const known = newCache(db.caches.scaleEntries(MAX_CALLERS));
  const unknown = newCache(db.caches.scaleEntries(MAX_UNKNOWN));
  let invalidations = 0;

  /** undefined: it is not in the cache, or too old. */
  const cached = (shopId: string, token: string | undefined): FoundCaller | undefined => {
    const key = keyOf(shopId, token);
    const entry = known.get(key) ?? unknown.get(key) ?? unknown.get(absentShop(shopId));
    return entry && entry.freshUntil > performance.now() ? entry : undefined;
  };

  /** Whether this process has found it before, even if too long ago to rely on. */
  const wasFound = (shopId: string, token: string | undefined): boolean => known.has(keyOf(shopId, token));

  const load = async (shopId: string, token: string | undefined): Promise<FoundCaller> => {
    const tokenHash = token === undefined ? NO_TOKEN : secretHash(token);
    const before = invalidations;
    const caller = await select(db, shopId, tokenHash);
    // A row that was read before an invalidation may be out of date.
    if (before === invalidations) store(shopId, token, caller);
    return { caller };
  };

  const store = (shopId: string, token: string | undefined, caller: Caller | undefined) => {
    const key = keyOf(shopId, token);
    const now = performance.now();
    if (caller && (caller.app || token === undefined)) {
      unknown.delete(key);
      known.set(key, { caller, freshUntil: now + FRESH_FOR });
    } else {
      known.delete(key);
      unknown.set(caller ? key : absentShop(shopId), { caller, freshUntil: now + UNKNOWN_FOR });
    }
  };

  /** Called after this process has changed the tokens of a shop, or created the shop. */
  const invalidate = (shopId: string) => {
    invalidations++;
    const isOfShop = (key: string) => key === shopId || key.startsWith(`${shopId}/`);
    // The entries stay, because `wasFound` reads them, and must be loaded again.
    for (const cache of [known, unknown]) {
      for (const [key, entry] of cache.entries()) if (isOfShop(key)) entry.freshUntil = 0;
    }
  };

  return { cached, wasFound, load, invalidate };
}

export type CallerDirectory = ReturnType<typeof createCallerDirectory>;

function toApp(
  shopId: string,
  { scopes, expiresAt, networks, ...app }: AppRow,
  tokenHash: string,
): CallingApp {
  return {
    ...app,
    tokenHash,
    scopes: new Set(scopes),
    rateKey: tokenCaller(shopId, tokenHash),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    networks: networks && networkList(networks),
  };
}

/** Networks in CIDR notation, as they were checked when the token was made. */
function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string];
    list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** The key of a shop that does not exist: it has one entry, whatever tokens are sent. */
function absentShop(shopId: string): string {
  return `${shopId}/`;
}

/** Shop ids contain no slash, so keys of two shops cannot be equal. */
function keyOf(shopId: string, token: string | undefined): string {
  return token === undefined ? shopId : `${shopId}/${token}`;
}

interface AppRow {
  appId: string;
  name: string;
  scopes: string[];
  /** As JSON has it. */
  expiresAt: string | null;
  networks: string[] | null;
}

/** undefined: there is no such shop. */
type SelectCaller = (db: Database, shopId: string, tokenHash: Buffer) => Promise<Caller | undefined>;

async function selectShopCaller(
  db: Database,
  shopId: string,
  tokenHash: Buffer,
): Promise<Caller | undefined> {
  const row = await db.one<{
    publicCatalogue: boolean;
    isSuspended: boolean;
    plan: string | null;
    app: AppRow | null;
  }>(sql`
    select shop.public_catalogue
        and coalesce(shop.settings -> 'visibility' ->> 'shop', 'everybody') = 'everybody' as "publicCatalogue",
      (shop.suspended_at is not null or shop.deletion_at is not null) as "isSuspended", shop.plan,
      case when app.app_id is not null then json_build_object(
      'appId', app.app_id, 'name', app.name, 'scopes', token.scopes, 'expiresAt', token.expires_at,
      'networks', token.networks) end as app
    from shop
    left join token on token.shop_id = ${shopId} and token.token_hash = ${tokenHash}
    left join app on app.shop_id = ${shopId} and app.app_id = token.app_id
    where shop.shop_id = ${shopId}`);
  if (!row) return undefined;
  const { app, ...shop } = row;
  return { ...shop, app: app ? toApp(shopId, app, tokenHash.toString('hex')) : undefined };
}

/** The key under which a directory of the host finds its callers. */
export const HOST = 'host';

/** A caller of the host: it belongs to no shop. */
export const selectHostCaller: SelectCaller = async (db, _host, tokenHash) => {
  const row = await db.one<{ tokenId: string; name: string; scopes: string[] }>(sql`
    select upper(token_id::text) as "tokenId", name, scopes from host_token where token_hash = ${tokenHash}`);
  const hash = tokenHash.toString('hex');
  const app: CallingApp | undefined = row && {
    appId: row.tokenId,
    name: row.name,
    tokenHash: hash,
    scopes: new Set(row.scopes),
    rateKey: hostTokenCaller(hash),
    expiresAt: null,
    networks: null,
  };
  return { app, publicCatalogue: false, isSuspended: false };
};

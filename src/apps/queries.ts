import type { Queries, Transaction } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import type { Scope } from '../http/scopes.ts';

export interface AppRow {
  appId: string;
  name: string;
  callbackUrl: string | null;
  scopes: Scope[];
  secretHash: Buffer | null;
  secretSealed: Buffer | null;
  createdAt: Date;
}

const columns = sql`
  app_id as "appId", name, callback_url as "callbackUrl", scopes, secret_hash as "secretHash",
  secret_sealed as "secretSealed", created_at as "createdAt"`;

export function findApps(db: Queries, shopId: string) {
  return db.many<AppRow>(sql`select ${columns} from app where shop_id = ${shopId} order by name`);
}

export function findAppById(db: Queries, shopId: string, appId: string) {
  return db.one<AppRow>(sql`select ${columns} from app where shop_id = ${shopId} and app_id = ${appId}`);
}

export function findAppByName(db: Queries, shopId: string, name: string) {
  return db.one<AppRow>(sql`select ${columns} from app where shop_id = ${shopId} and name = ${name}`);
}

export function lockApp(tx: Transaction, shopId: string, appId: string) {
  return tx.one<AppRow>(sql`
    select ${columns} from app where shop_id = ${shopId} and app_id = ${appId} for update`);
}

/** A private app with this name: it has tokens, but no client secret. Returns an existing one. */
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

/** The constraint `app_name` refuses a name that is taken. */
export function insertApp(tx: Transaction, shopId: string, app: Omit<AppRow, 'createdAt'>) {
  return tx.run(sql`
    insert into app (shop_id, app_id, name, callback_url, scopes, secret_hash, secret_sealed, created_at)
    values (${shopId}, ${app.appId}, ${app.name}, ${app.callbackUrl}, ${app.scopes}, ${app.secretHash},
      ${app.secretSealed}, ${tx.now})`);
}

/** null: it can no longer be read. */
export function updateSealedSecret(
  tx: Transaction,
  shopId: string,
  appId: string,
  secretSealed: Buffer | null,
) {
  return tx.run(sql`
    update app set secret_sealed = ${secretSealed} where shop_id = ${shopId} and app_id = ${appId}`);
}

/** false: the name is taken. */
export async function insertNamedApp(
  tx: Transaction,
  shopId: string,
  app: { appId: string; name: string; scopes: readonly Scope[] },
): Promise<boolean> {
  const row = await tx.one(sql`
    insert into app (shop_id, app_id, name, scopes, created_at)
    values (${shopId}, ${app.appId}, ${app.name}, ${app.scopes}, ${tx.now})
    on conflict (shop_id, name) do nothing
    returning app_id`);
  return row !== undefined;
}

export function updateAppScopes(tx: Transaction, shopId: string, appId: string, scopes: readonly Scope[]) {
  return tx.run(sql`update app set scopes = ${scopes} where shop_id = ${shopId} and app_id = ${appId}`);
}

/** The one token of an app becomes another one, which keeps its last use; 0: it has none. */
export function replaceToken(
  tx: Transaction,
  shopId: string,
  token: { tokenHash: Buffer; appId: string; scopes: readonly Scope[]; expiresAt: Date },
) {
  return tx.run(sql`
    update token set token_hash = ${token.tokenHash}, scopes = ${token.scopes}, expires_at = ${token.expiresAt}
    where shop_id = ${shopId} and app_id = ${token.appId}`);
}

/** Foreign keys delete its tokens, codes and script tags too. */
export function deleteAppById(tx: Transaction, shopId: string, appId: string) {
  return tx.run(sql`delete from app where shop_id = ${shopId} and app_id = ${appId}`);
}

/** The apps of a shop, and the tokens that open it. */
export async function findAccess(db: Queries, shopId: string): Promise<ShopAccess> {
  const row = await db.one<ShopAccess>(sql`
    select array(
        select upper(app_id::text) || ' ' || array_to_string(scopes, ' ') from app where shop_id = ${shopId}
      ) as apps, array(
        select encode(token_hash, 'hex') || ' ' || array_to_string(scopes, ' ') from token where shop_id = ${shopId}
      ) as tokens, array(
        select webhook_id::text from webhook where shop_id = ${shopId} and app_id is not null
      ) as "webhookIds"`);
  return row!;
}

/** Who may do what in a shop at a moment. */
export interface ShopAccess {
  /** The id and the scopes of each, with spaces between them. */
  apps: string[];
  /** The same with the hashes of the tokens. */
  tokens: string[];
  webhookIds: string[];
}

/**
 * Ends all other access: apps go with their webhooks, codes and script tags. What stays has no scope that it did not have
 * then.
 */
export async function deleteOtherAccess(
  tx: Transaction,
  shopId: string,
  { apps, tokens, webhookIds }: ShopAccess,
): Promise<void> {
  const keyOf = (entry: string) => entry.split(' ', 1)[0]!;
  await tx.run(sql`delete from app where shop_id = ${shopId} and app_id <> all (${apps.map(keyOf)}::uuid[])`);
  await tx.run(sql`
    delete from token where shop_id = ${shopId} and encode(token_hash, 'hex') <> all (${tokens.map(keyOf)}::text[])`);
  await tx.run(sql`
    delete from webhook
    where shop_id = ${shopId} and app_id is not null and webhook_id <> all (${webhookIds}::uuid[])`);
  const scopesIn = (entries: readonly string[], key: Sql) => sql`array(
    select scope from unnest(scopes) scope
    where ${key} || ' ' || scope = any (${entries.flatMap((entry) => {
      const [of = '', ...scopes] = entry.split(' ');
      return scopes.map((scope) => `${of} ${scope}`);
    })}::text[]))`;
  await tx.run(sql`
    update app set scopes = ${scopesIn(apps, sql`upper(app_id::text)`)} where shop_id = ${shopId}`);
  await tx.run(sql`
    update token set scopes = ${scopesIn(tokens, sql`encode(token_hash, 'hex')`)} where shop_id = ${shopId}`);
}

export function insertToken(
  tx: Transaction,
  shopId: string,
  token: { tokenHash: Buffer; appId: string; scopes: readonly Scope[] } & Partial<TokenLimits>,
) {
  const { expiresAt = null, networks = null } = token;
  return tx.run(sql`
    insert into token (shop_id, token_hash, app_id, scopes, created_at, expires_at, networks)
    values (${shopId}, ${token.tokenHash}, ${token.appId}, ${token.scopes}, ${tx.now}, ${expiresAt}, ${networks})`);
}

export interface TokenLimits {
  /** null: it is valid until revoked. */
  expiresAt: Date | null;
  /** In CIDR notation; null: it is valid from anywhere. */
  networks: readonly string[] | null;
}

export interface TokenRow extends TokenLimits {
  tokenHash: Buffer;
  app: string;
  scopes: Scope[];
  createdAt: Date;
  lastUsedAt: Date | null;
}

export function findTokens(db: Queries, shopId: string) {
  return db.many<TokenRow>(sql`
    select token.token_hash as "tokenHash", app.name as app, token.scopes, token.created_at as "createdAt",
      token.last_used_at as "lastUsedAt", token.expires_at as "expiresAt", token.networks
    from token join app on app.shop_id = token.shop_id and app.app_id = token.app_id
    where token.shop_id = ${shopId}
    order by token.created_at, token.token_hash`);
}

/** Whether one unexpired token of the app holds all of these scopes. */
export async function hasTokenWith(
  db: Queries,
  shopId: string,
  appId: string,
  scopes: readonly Scope[],
): Promise<boolean> {
  const row = await db.one(sql`
    select 1 from token
    where shop_id = ${shopId} and app_id = ${appId} and scopes @> ${scopes}::text[]
      and (expires_at is null or expires_at > ${db.serviceNow})
    limit 1`);
  return row !== undefined;
}

/** The hashes that begin with these hexadecimal digits; two are enough to detect an ambiguity. */
export async function findTokenHashes(db: Queries, shopId: string, digits: string): Promise<Buffer[]> {
  const rows = await db.many<{ tokenHash: Buffer }>(sql`
    select token_hash as "tokenHash" from token
    where shop_id = ${shopId} and starts_with(encode(token_hash, 'hex'), ${digits})
    limit 2`);
  return rows.map((row) => row.tokenHash);
}

export function deleteToken(tx: Transaction, shopId: string, tokenHash: Buffer) {
  return tx.run(sql`delete from token where shop_id = ${shopId} and token_hash = ${tokenHash}`);
}

export function deleteTokensOf(tx: Transaction, shopId: string, appId: string) {
  return tx.run(sql`delete from token where shop_id = ${shopId} and app_id = ${appId}`);
}

export function insertCode(
  tx: Transaction,
  shopId: string,
  code: { codeHash: Buffer; appId: string; expiresAt: Date },
) {
  return tx.run(sql`
    insert into authorisation_code (shop_id, code_hash, app_id, expires_at)
    values (${shopId}, ${code.codeHash}, ${code.appId}, ${code.expiresAt})`);
}

/** 1 when the code was valid: it is this app's, in time, and not used before. It is deleted. */
export function takeAuthorisationCode(tx: Transaction, shopId: string, appId: string, codeHash: Buffer) {
  return tx.run(sql`
    delete from authorisation_code
    where shop_id = ${shopId} and code_hash = ${codeHash} and app_id = ${appId} and expires_at > ${tx.serviceNow}`);
}

export function deleteExpiredCodes(tx: Transaction, shopId: string) {
  return tx.run(
    sql`delete from authorisation_code where shop_id = ${shopId} and expires_at <= ${tx.serviceNow}`,
  );
}

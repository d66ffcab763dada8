import type { Queries, Transaction } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import type { Scope } from '../../http/scopes.ts';

export interface RegisteredClient {
  clientId: string;
  name: string;
  redirectAddresses: string[];
}

export function insertClient(tx: Queries, client: RegisteredClient & { createdAt: Date; endsAt: Date }) {
  return tx.run(sql`
    insert into oauth_client (client_id, name, redirect_addresses, created_at, ends_at)
    values (${client.clientId}, ${client.name}, ${client.redirectAddresses}, ${client.createdAt},
      ${client.endsAt})`);
}

export function findClient(db: Queries, clientId: string) {
  return db.one<RegisteredClient>(sql`
    select upper(client_id::text) as "clientId", name, redirect_addresses as "redirectAddresses"
    from oauth_client where client_id = ${clientId} and ends_at > ${db.serviceNow}`);
}

/** Moves the end of a registration that is used. */
export function extendClient(db: Queries, clientId: string, endsAt: Date) {
  return db.run(sql`
    update oauth_client set ends_at = ${endsAt}
    where client_id = ${clientId} and ends_at < ${new Date(endsAt.getTime() - DAY)}`);
}

const DAY = 86_400_000;

export function deleteClientsBefore(db: Queries, now: Date, limit: number) {
  return db.run(sql`
    delete from oauth_client where client_id in (
      select client_id from oauth_client where ends_at <= ${now} order by ends_at limit ${limit})`);
}

export interface Consent {
  clientId: string;
  clientName: string;
  userId: string;
  redirectAddress: string;
  challenge: string;
  scopes: Scope[];
}

export function insertConsentCode(
  tx: Transaction,
  shopId: string,
  consent: Consent & { codeHash: Buffer; expiresAt: Date },
) {
  return tx.run(sql`
    insert into consent_code (shop_id, code_hash, client_id, client_name, user_id, redirect_address, challenge, scopes,
      expires_at)
    values (${shopId}, ${consent.codeHash}, ${consent.clientId}, ${consent.clientName}, ${consent.userId},
      ${consent.redirectAddress}, ${consent.challenge}, ${consent.scopes}, ${consent.expiresAt})`);
}

export interface GivenConsent extends Consent {
  /** The connection that the code was exchanged for; null: it was not used yet. */
  appId: string | null;
}

/** The consent of a code that is in time, locked, so that of two requests with it one is the second. */
export function lockConsentCode(tx: Transaction, shopId: string, codeHash: Buffer) {
  return tx.one<GivenConsent>(sql`
    select client_id as "clientId", client_name as "clientName", upper(user_id::text) as "userId",
      redirect_address as "redirectAddress", challenge, scopes, upper(app_id::text) as "appId"
    from consent_code
    where shop_id = ${shopId} and code_hash = ${codeHash} and expires_at > ${tx.serviceNow}
    for update`);
}

/** Remembers the connection that a code was exchanged for, until the code would have ended. */
export function setCodeUsed(tx: Transaction, shopId: string, codeHash: Buffer, appId: string) {
  return tx.run(sql`
    update consent_code set app_id = ${appId} where shop_id = ${shopId} and code_hash = ${codeHash}`);
}

export function deleteConsentCode(tx: Transaction, shopId: string, codeHash: Buffer) {
  return tx.run(sql`delete from consent_code where shop_id = ${shopId} and code_hash = ${codeHash}`);
}

/** The code of an earlier connection of the same assistant, which ends nothing any more. */
export function deleteCodesOf(tx: Transaction, shopId: string, appId: string) {
  return tx.run(sql`delete from consent_code where shop_id = ${shopId} and app_id = ${appId}`);
}

export interface ConnectedAssistant {
  appId: string;
  clientId: string;
  userId: string;
}

export function findAssistant(db: Queries, shopId: string, appId: string) {
  return db.one<ConnectedAssistant>(sql`
    select app_id as "appId", client_id as "clientId", upper(user_id::text) as "userId" from connected_assistant
    where shop_id = ${shopId} and app_id = ${appId}`);
}

/** The same assistant of the same person, locked. */
export function lockAssistant(tx: Transaction, shopId: string, clientId: string, userId: string) {
  return tx.one<{ appId: string; name: string }>(sql`
    select app.app_id as "appId", app.name
    from connected_assistant join app on app.shop_id = ${shopId} and app.app_id = connected_assistant.app_id
    where connected_assistant.shop_id = ${shopId} and client_id = ${clientId} and user_id = ${userId}
    for update of app`);
}

export function insertAssistant(tx: Transaction, shopId: string, assistant: ConnectedAssistant) {
  return tx.run(sql`
    insert into connected_assistant (shop_id, app_id, client_id, user_id, connected_at)
    values (${shopId}, ${assistant.appId}, ${assistant.clientId}, ${assistant.userId}, ${tx.now})`);
}

export interface RefreshToken {
  appId: string;
  name: string;
  clientId: string;
  userId: string;
  secretHash: Buffer;
  scopes: Scope[];
}

/** Locked together with its app, so that two refreshes at once are one after the other. */
export function lockRefreshToken(tx: Transaction, shopId: string, familyHash: Buffer) {
  return tx.one<RefreshToken>(sql`
    select refresh_token.app_id as "appId", app.name, client_id as "clientId", upper(user_id::text) as "userId",
      refresh_token.secret_hash as "secretHash", app.scopes
    from refresh_token
    join connected_assistant on connected_assistant.shop_id = ${shopId}
      and connected_assistant.app_id = refresh_token.app_id
    join app on app.shop_id = ${shopId} and app.app_id = refresh_token.app_id
    where refresh_token.shop_id = ${shopId} and family_hash = ${familyHash} and expires_at > ${tx.serviceNow}
    for update of refresh_token, app`);
}

/** The connection that an access token belongs to, locked. */
export function lockAssistantOfToken(tx: Transaction, shopId: string, tokenHash: Buffer) {
  return tx.one<{ appId: string; name: string; clientId: string }>(sql`
    select app.app_id as "appId", app.name, client_id as "clientId"
    from token
    join connected_assistant on connected_assistant.shop_id = ${shopId}
      and connected_assistant.app_id = token.app_id
    join app on app.shop_id = ${shopId} and app.app_id = token.app_id
    where token.shop_id = ${shopId} and token_hash = ${tokenHash}
    for update of app`);
}

export function putRefreshToken(
  tx: Transaction,
  shopId: string,
  token: { familyHash: Buffer; appId: string; secretHash: Buffer; expiresAt: Date },
) {
  return tx.run(sql`
    insert into refresh_token (shop_id, family_hash, app_id, secret_hash, expires_at)
    values (${shopId}, ${token.familyHash}, ${token.appId}, ${token.secretHash}, ${token.expiresAt})
    on conflict (shop_id, family_hash) do update
    set secret_hash = excluded.secret_hash, expires_at = excluded.expires_at`);
}

export function deleteRefreshToken(tx: Transaction, shopId: string, appId: string) {
  return tx.run(sql`delete from refresh_token where shop_id = ${shopId} and app_id = ${appId}`);
}

/** Codes that nobody has exchanged in time. */
export const deleteCodesBefore = deleteOld('consent_code', 'expires_at', { code_hash: 'bytea' });

export function findRefreshTokensBefore(db: Queries, now: Date, limit: number) {
  return db.many<{ shopId: string; appId: string }>(sql`
    select shop_id as "shopId", app_id as "appId" from refresh_token
    where expires_at <= ${now} order by expires_at limit ${limit}`);
}

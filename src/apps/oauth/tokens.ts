import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import { recordEntry } from '../../http/audit-entry.ts';
import type { Scope } from '../../http/scopes.ts';
import { isSecretOf, newId, newSecret, secretHash } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { deleteTokensOf, insertNamedApp, insertToken, replaceToken, updateAppScopes } from '../queries.ts';
import {
  deleteClientsBefore,
  deleteCodesBefore,
  deleteCodesOf,
  deleteConsentCode,
  deleteRefreshToken,
  findRefreshTokensBefore,
  insertAssistant,
  insertConsentCode,
  lockAssistant,
  lockAssistantOfToken,
  lockConsentCode,
  lockRefreshToken,
  putRefreshToken,
  setCodeUsed,
  type Consent,
} from './queries.ts';

/*
 * What opens a shop to a connected assistant. Codes and tokens begin with the id of their shop, DemoShop.4HZ9..., so that
 * each statement can name it.
 */

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const CODE_LIVES = 5 * MINUTE;
const ACCESS_LIVES = 60 * MINUTE;
/** An assistant that is not used for this long is connected again. */
const REFRESH_LIVES = 60 * DAY;

/**
 * What is looked up for a token of an assistant. An API client can not send it, because it is no token: so those of
 * assistants open the tools, and not the API, where nobody would be asked before a refund.
 */
export const accessKey = (token: string) => `mcp ${token}`;

const SHOP_PART = /^([A-Za-z0-9][A-Za-z0-9_-]{0,62})\.([A-Za-z0-9.]{32,80})$/;

/** The shop that a code or token names; undefined: it is none of ours. */
export function shopOfSecret(text: string): string | undefined {
  return SHOP_PART.exec(text)?.[1];
}

/** A person has agreed: the code that their browser takes to the assistant. */
export async function issueCode(tx: Transaction, shopId: string, consent: Consent): Promise<string> {
  const code = `${shopId}.${newSecret(32)}`;
  const expiresAt = new Date(tx.serviceNow.getTime() + CODE_LIVES);
  await insertConsentCode(tx, shopId, { ...consent, codeHash: secretHash(code), expiresAt });
  return code;
}

export interface IssuedTokens {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/** Why there are no tokens. It is no exception, because what was deleted for it stays deleted. */
export type GrantProblem = 'code' | 'code used twice' | 'refresh token' | 'used twice';

interface CodeExchange {
  code: string;
  clientId: string;
  redirectAddress: string;
  verifier: string;
}

/**
 * Exchanges a code, which is good for one try. An earlier connection of the same assistant and person ends. A code that
 * was exchanged before ends the connection that it began: one of the two who have it is a thief.
 */
export async function exchangeCode(
  tx: Transaction,
  shopId: string,
  { code, clientId, redirectAddress, verifier }: CodeExchange,
): Promise<IssuedTokens | GrantProblem> {
  const codeHash = secretHash(code);
  const consent = await lockConsentCode(tx, shopId, codeHash);
  if (!consent) return 'code';
  if (consent.appId !== null) {
    const { appId, name } = (await lockAssistant(tx, shopId, consent.clientId, consent.userId))!;
    await deleteSecretsOf(tx, shopId, appId);
    await recordGrant(tx, shopId, { appId, name, problem: 'code used twice' });
    return 'code used twice';
  }
  const isRight =
    consent.clientId === clientId &&
    consent.redirectAddress === redirectAddress &&
    consent.challenge === createHash('sha256').update(verifier).digest('base64url');
  if (!isRight) {
    await deleteConsentCode(tx, shopId, codeHash);
    return 'code';
  }
  const { appId, name } = await connect(tx, shopId, consent);
  await setCodeUsed(tx, shopId, codeHash, appId);
  await recordGrant(tx, shopId, { appId, name });
  const access = newAccess(tx, shopId);
  await insertToken(tx, shopId, { ...access, appId, scopes: consent.scopes });
  const family = newSecret(32);
  const refreshToken = await renewRefreshToken(tx, shopId, appId, family);
  return issued(access.token, refreshToken, consent.scopes);
}

/** The app of the assistant, without a token. */
async function connect(tx: Transaction, shopId: string, { clientId, clientName, userId, scopes }: Consent) {
  const known = await lockAssistant(tx, shopId, clientId, userId);
  if (known) {
    await deleteSecretsOf(tx, shopId, known.appId);
    await updateAppScopes(tx, shopId, known.appId, scopes);
    return known;
  }
  const appId = newId(tx.now);
  const name = await insertUnderFreeName(tx, shopId, { appId, clientName, scopes });
  await insertAssistant(tx, shopId, { appId, clientId, userId });
  return { appId, name };
}

const MAX_NAMESAKES = 20;

/** Two people may connect the same assistant: the second one is `Assistant 2`. */
async function insertUnderFreeName(
  tx: Transaction,
  shopId: string,
  { appId, clientName, scopes }: { appId: string; clientName: string; scopes: readonly Scope[] },
): Promise<string> {
  for (let number = 1; number <= MAX_NAMESAKES; number++) {
    const name = number === 1 ? clientName : `${clientName} ${number}`;
    if (await insertNamedApp(tx, shopId, { appId, name, scopes })) return name;
  }
  const name = `${clientName} ${appId.slice(-12)}`;
  await insertNamedApp(tx, shopId, { appId, name, scopes });
  return name;
}

/** Everything that opens the shop to an assistant. */
async function deleteSecretsOf(tx: Transaction, shopId: string, appId: string): Promise<void> {
  await deleteTokensOf(tx, shopId, appId);
  await deleteRefreshToken(tx, shopId, appId);
  await deleteCodesOf(tx, shopId, appId);
}

interface Refresh {
  refreshToken: string;
  clientId: string;
}

/**
 * Renews the access of an assistant. A refresh token that was used before ends the whole connection: one
 * of two holders is a thief.
 */
export async function refresh(
  tx: Transaction,
  shopId: string,
  { refreshToken, clientId }: Refresh,
): Promise<IssuedTokens | GrantProblem> {
  const [, family = '', secret = ''] = refreshToken.split('.');
  const known = await lockRefreshToken(tx, shopId, secretHash(family));
  if (!known || known.clientId !== clientId) return 'refresh token';
  const { appId, name, scopes } = known;
  if (!isSecretOf(secret, known.secretHash)) {
    await deleteSecretsOf(tx, shopId, appId);
    await recordGrant(tx, shopId, { appId, name, problem: 'used twice' });
    return 'used twice';
  }
  const access = newAccess(tx, shopId);
  const renewed = await replaceToken(tx, shopId, { ...access, appId, scopes });
  // A person has revoked the token: that is the end of the connection.
  if (renewed === 0) {
    await deleteRefreshToken(tx, shopId, appId);
    return 'refresh token';
  }
  return issued(access.token, await renewRefreshToken(tx, shopId, appId, family), scopes);
}

/**
 * Ends a connection that its assistant has no use for any more (RFC 7009); either of its tokens names it. A token that is
 * over already is as good as revoked. Returns false for a token of another client.
 */
export async function revoke(
  tx: Transaction,
  shopId: string,
  { token, clientId }: { token: string; clientId: string },
): Promise<boolean> {
  const [, part = ''] = token.split('.');
  const known =
    (await lockAssistantOfToken(tx, shopId, secretHash(accessKey(token)))) ??
    (await lockRefreshToken(tx, shopId, secretHash(part)));
  if (!known) return true;
  const { appId, name } = known;
  if (known.clientId !== clientId) return false;
  await deleteSecretsOf(tx, shopId, appId);
  await recordGrant(tx, shopId, { appId, name, route: '/oauth/revoke' });
  return true;
}

function newAccess(tx: Transaction, shopId: string) {
  const token = `${shopId}.${newSecret(32)}`;
  return {
    token,
    tokenHash: secretHash(accessKey(token)),
    expiresAt: new Date(tx.serviceNow.getTime() + ACCESS_LIVES),
  };
}

async function renewRefreshToken(
  tx: Transaction,
  shopId: string,
  appId: string,
  family: string,
): Promise<string> {
  const secret = newSecret(32);
  const expiresAt = new Date(tx.serviceNow.getTime() + REFRESH_LIVES);
  await putRefreshToken(tx, shopId, {
    familyHash: secretHash(family),
    appId,
    secretHash: secretHash(secret),
    expiresAt,
  });
  return `${shopId}.${family}.${secret}`;
}

const issued = (access: string, refreshToken: string, scopes: readonly Scope[]): IssuedTokens => ({
  access_token: access,
  token_type: 'Bearer',
  expires_in: ACCESS_LIVES / 1_000,
  refresh_token: refreshToken,
  scope: scopes.join(' '),
});

/** The entry names no token. */
function recordGrant(
  tx: Transaction,
  shopId: string,
  {
    appId,
    name,
    problem,
    route = '/oauth/token',
  }: { appId: string; name: string; problem?: string; route?: string },
): Promise<void> {
  return recordEntry(tx, {
    shopId,
    entryId: newId(tx.now),
    at: tx.now,
    appId,
    appName: name,
    method: 'POST',
    route,
    object: { appId: appId.toUpperCase(), ...(problem !== undefined && { problem }) },
  });
}

/** Registrations that nobody uses, codes that nobody exchanged, and connections that were not used for long. */
export const oauthCleanup: CleanupStep = {
  name: 'connected assistants',
  run: async (db, limit) => {
    const now = db.serviceNow;
    const codes = await deleteCodesBefore(db, now, limit);
    const clients = await deleteClientsBefore(db, now, limit);
    const ended = await findRefreshTokensBefore(db, now, limit);
    for (const { shopId, appId } of ended) await endConnection(db, shopId, appId);
    return Math.max(codes, clients, ended.length);
  },
};

function endConnection(db: Database, shopId: string, appId: string): Promise<void> {
  return db.ofShop(shopId).transaction((tx) => deleteSecretsOf(tx, shopId, appId));
}

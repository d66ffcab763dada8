import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import type { Queries, Transaction } from '../db/database.ts';
import { violatedConstraint } from '../db/failure.ts';
import { facetFields } from '../fields/facets.ts';
import { removeNamespaces, restoreNamespaces } from '../fields/queries.ts';
import type { Scope } from '../http/scopes.ts';
import { isId, newId, newSecret, secretHash } from '../kernel/ids.ts';
import { recordEvents } from '../platform/events/log.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { requestListingRebuild } from '../shops/settings/writes.ts';
import { moveSettingsVersion } from '../shops/shop/queries.ts';
import { findAssistant } from './oauth/queries.ts';
import { detachWebhooks, findSealedSecrets, updateSealedSecrets } from './webhooks/queries.ts';
import {
  deleteAppById,
  deleteExpiredCodes,
  deleteToken,
  deleteTokensOf,
  ensureApp,
  findAppById,
  findAppByName,
  findApps,
  findTokenHashes,
  findTokens,
  insertApp,
  insertCode,
  insertToken,
  updateSealedSecret,
  type TokenLimits,
} from './queries.ts';
import { seal, unseal, unsealIfPossible } from '../platform/sealing.ts';

/** Operations of the command line and the admin on apps and tokens. */

/**
 * The operation failed; the message is one line for the operator. Forms show it in the reader's language, by its
 * reason; a problem without a reason can't come from a form.
 */
export class AppProblem extends Error {
  override name = 'AppProblem';
  readonly reason: AppReason | undefined;

  constructor(text: string, reason?: AppReason, options?: ErrorOptions) {
    super(text, options);
    this.reason = reason;
  }
}

export type AppReason =
  | 'callback'
  | 'endInThePast'
  | 'name'
  | 'nameTaken'
  | 'network'
  | 'secretLost'
  | 'tokenByInstalling'
  | 'tooManyNetworks';

const CODE_LIVES = 10 * 60_000;
const SHOWN_DIGITS = 12;
const HASH_DIGITS = /^[0-9a-f]{4,64}$/;
/** No leading or trailing blanks, nothing that breaks a line or a table. */
const APP_NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,100}(?<! )$/u;
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A token of the private app with this name, which is created if missing. Shown once, never stored. */
export async function createToken(
  tx: Transaction,
  shopId: string,
  {
    app: name = 'private app',
    scopes,
    expiresAt = null,
    networks = null,
  }: { app?: string; scopes: readonly Scope[] } & Partial<TokenLimits>,
): Promise<string> {
  checkName(name);
  checkLimits(tx.serviceNow, { expiresAt, networks });
  const token = newSecret(32);
  const appId = await explained(shopId, name, () =>
    ensureApp(tx, shopId, { appId: newId(tx.now), name, scopes }),
  );
  await bringFieldsBack(tx, shopId, { appId, name });
  const app = await findAppById(tx, shopId, appId);
  if (app?.secretHash || (await findAssistant(tx, shopId, appId))) {
    // The next installation would silently delete a token that was made by hand.
    throw new AppProblem(
      `The app ${JSON.stringify(name)} gets its token by being installed. Choose another name.`,
      'tokenByInstalling',
    );
  }
  await insertToken(tx, shopId, { tokenHash: secretHash(token), appId, scopes, expiresAt, networks });
  return token;
}

const MAX_NETWORKS = 50;

function checkLimits(now: Date, { expiresAt, networks }: TokenLimits): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw new AppProblem(
      `A token must end in the future, not at ${expiresAt.toISOString()}.`,
      'endInThePast',
    );
  }
  for (const network of networks ?? []) {
    if (!isNetwork(network)) {
      throw new AppProblem(
        `A network is written like 203.0.113.0/24 or 2001:db8::/32, not ${JSON.stringify(network)}.`,
        'network',
      );
    }
  }
  if (networks !== null && (networks.length === 0 || networks.length > MAX_NETWORKS)) {
    throw new AppProblem(`A token can be limited to 1 to ${MAX_NETWORKS} networks.`, 'tooManyNetworks');
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = isIP(address);
  return (
    family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  );
}

export async function listTokens(db: Queries, shopId: string) {
  const rows = await findTokens(db, shopId);
  return rows.map(({ tokenHash, ...token }) => ({
    id: tokenHash.toString('hex').slice(0, SHOWN_DIGITS),
    ...token,
  }));
}

/** By the token itself or by the id that listTokens shows; false when there is no such token. */
export async function revokeToken(tx: Transaction, shopId: string, tokenOrId: string): Promise<boolean> {
  if ((await deleteToken(tx, shopId, secretHash(tokenOrId))) > 0) return true;
  const digits = tokenOrId.toLowerCase();
  if (!HASH_DIGITS.test(digits)) return false;
  const [found, another] = await findTokenHashes(tx, shopId, digits);
  if (another) {
    throw new AppProblem(`More than one token begins with ${digits}. Give more digits of its id.`);
  }
  return found !== undefined && (await deleteToken(tx, shopId, found)) > 0;
}

/** An app that is installed with a code. Its secret is shown once; the database holds a hash and a sealed copy. */
export async function createApp(
  tx: Transaction,
  key: Buffer,
  shopId: string,
  { name, callbackUrl, scopes }: { name: string; callbackUrl: string; scopes: readonly Scope[] },
): Promise<{ clientId: string; clientSecret: string }> {
  checkName(name);
  checkCallback(callbackUrl);
  const clientId = newId(tx.now);
  const clientSecret = newSecret(32);
  await explained(shopId, name, () =>
    insertApp(tx, shopId, {
      appId: clientId,
      name,
      callbackUrl,
      scopes: [...scopes],
      secretHash: secretHash(clientSecret),
      secretSealed: seal(key, clientSecret),
    }),
  );
  await bringFieldsBack(tx, shopId, { appId: clientId, name });
  return { clientId, clientSecret };
}

/** The custom fields of an app that was uninstalled not long ago. */
async function bringFieldsBack(tx: Transaction, shopId: string, app: { appId: string; name: string }) {
  if ((await restoreNamespaces(tx, shopId, app)) === 0) return;
  await moveSettingsVersion(tx, shopId);
  await rebuildFacetsOf(tx, shopId, app.appId);
}

/** The values by which shoppers filter are in the lists of the shop as long as the app is installed. */
async function rebuildFacetsOf(tx: Transaction, shopId: string, appId: string) {
  const facets = facetFields(await shopSettings(tx, shopId));
  if (facets.some((field) => field.appId === appId.toUpperCase())) await requestListingRebuild(tx, shopId);
}

/** `callbackUrl` is null for a private app. */
export async function listApps(db: Queries, shopId: string) {
  const rows = await findApps(db, shopId);
  return rows.map(({ appId, name, callbackUrl, scopes, createdAt }) => ({
    clientId: appId.toUpperCase(),
    name,
    callbackUrl,
    scopes,
    createdAt,
  }));
}

/**
 * Uninstalls: deletes the app's tokens, script tags and webhooks, except the webhooks for uninstallations. False when
 * there is no such app.
 */
export async function deleteApp(tx: Transaction, shopId: string, nameOrClientId: string): Promise<boolean> {
  const app = await findApp(tx, shopId, nameOrClientId);
  if (!app) return false;
  // The pages of the storefront load its scripts no longer.
  await moveSettingsVersion(tx, shopId);
  await detachWebhooks(tx, shopId, app.appId);
  await rebuildFacetsOf(tx, shopId, app.appId);
  await removeNamespaces(tx, shopId, app.appId);
  if ((await deleteAppById(tx, shopId, app.appId)) === 0) return false;
  recordEvents(tx, shopId, [
    { type: 'APP_UNINSTALL', resourceId: app.appId.toUpperCase(), data: { name: app.name } },
  ]);
  return true;
}

/**
 * The merchant agrees: the address to open, with which the app gets a code that it exchanges for its token within ten
 * minutes, once. The token of an earlier installation ends here, whether or not the app fetches the new one. `apiUrl`
 * is the shop's, without a trailing slash.
 */
export async function authorise(
  tx: Transaction,
  key: Buffer,
  shopId: string,
  nameOrClientId: string,
  apiUrl: string,
): Promise<string> {
  const app = await requireInstallable(tx, shopId, nameOrClientId);
  const clientSecret = unseal(key, app.secretSealed);
  const code = newSecret(32);
  await deleteExpiredCodes(tx, shopId);
  await deleteTokensOf(tx, shopId, app.appId);
  await insertCode(tx, shopId, {
    codeHash: secretHash(code),
    appId: app.appId,
    expiresAt: new Date(tx.serviceNow.getTime() + CODE_LIVES),
  });
  const accessTokenUrl = `${apiUrl}/token`;
  const address = new URL(app.callbackUrl);
  address.searchParams.set('code', code);
  address.searchParams.set('signature', installSignature(clientSecret, code, accessTokenUrl));
  address.searchParams.set(
    'return_url',
    `${new URL(apiUrl).origin}/admin/shops/${shopId}/apps/${app.appId.toUpperCase()}`,
  );
  address.searchParams.set('api_url', apiUrl);
  address.searchParams.set('access_token_url', accessTokenUrl);
  return address.href;
}

export interface SealingKeys {
  /** The key of this installation. */
  own: Buffer;
  /** The key of the installation that the shop comes from, where known. */
  former?: Buffer | undefined;
}

/**
 * Seals the secrets of a restored shop with the key of this installation. Those that neither key opens are removed;
 * returns the names of their apps. The tokens of these apps stay valid.
 */
export async function resealSecrets(
  tx: Transaction,
  shopId: string,
  { own, former }: SealingKeys,
): Promise<string[]> {
  const lost: string[] = [];
  for (const { appId, name, secretSealed } of await findApps(tx, shopId)) {
    if (!secretSealed || unsealIfPossible(own, secretSealed) !== undefined) continue;
    const secret = former && unsealIfPossible(former, secretSealed);
    await updateSealedSecret(tx, shopId, appId, secret === undefined ? null : seal(own, secret));
    if (secret === undefined) lost.push(name);
  }
  return lost;
}

/**
 * The same for the secrets of its webhooks. A webhook whose secret neither key opens is deactivated, because it could
 * not sign; returns their number.
 */
export async function resealWebhookSecrets(
  tx: Transaction,
  shopId: string,
  { own, former }: SealingKeys,
): Promise<number> {
  const resealed = (sealed: Buffer | null): Buffer | null => {
    if (!sealed || unsealIfPossible(own, sealed) !== undefined) return sealed;
    const secret = former && unsealIfPossible(former, sealed);
    return secret === undefined ? null : seal(own, secret);
  };
  let lost = 0;
  for (const sealed of await findSealedSecrets(tx, shopId)) {
    const secrets = {
      webhookId: sealed.webhookId,
      secretSealed: resealed(sealed.secretSealed),
      formerSecretSealed: resealed(sealed.formerSecretSealed),
      clientSecretSealed: resealed(sealed.clientSecretSealed),
    };
    await updateSealedSecrets(tx, shopId, secrets);
    if (sealed.secretSealed && !secrets.secretSealed) lost++;
  }
  return lost;
}

/** Lets an app verify that a code comes from the service: the contract fixes what is signed. */
export function installSignature(clientSecret: string, code: string, accessTokenUrl: string): string {
  return createHmac('sha256', clientSecret).update(`${code}:${accessTokenUrl}`).digest('base64');
}

/** An app that a merchant can install. */
export async function requireInstallable(db: Queries, shopId: string, nameOrClientId: string) {
  const app = await findApp(db, shopId, nameOrClientId);
  if (!app) throw new AppProblem(`The shop ${shopId} has no app ${JSON.stringify(nameOrClientId)}.`);
  if (app.secretHash && !app.secretSealed) {
    throw new AppProblem(
      `The secret of the app ${JSON.stringify(app.name)} was left out when the shop was restored. Delete the app, and create it again.`,
      'secretLost',
    );
  }
  if (!app.callbackUrl || !app.secretSealed) {
    throw new AppProblem(
      `The app ${JSON.stringify(app.name)} is private: it is not installed, it just has tokens.`,
    );
  }
  const { callbackUrl, secretSealed } = app;
  return { ...app, callbackUrl, secretSealed };
}

async function findApp(db: Queries, shopId: string, nameOrClientId: string) {
  const byId = isId(nameOrClientId) ? await findAppById(db, shopId, nameOrClientId) : undefined;
  return byId ?? findAppByName(db, shopId, nameOrClientId);
}

export function checkName(name: string): void {
  if (!APP_NAME.test(name)) {
    throw new AppProblem(`The name of an app is 1 to 100 characters, not ${JSON.stringify(name)}.`, 'name');
  }
}

/** The code travels in this address, so it must not cross a network in clear. */
function checkCallback(callbackUrl: string): void {
  const url = URL.canParse(callbackUrl) ? new URL(callbackUrl) : undefined;
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL_HOSTS.has(url.hostname.toLowerCase()));
  if (!url || !isSafe || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new AppProblem(
      `The callback must be an https address (http on localhost only), without a user and a fragment, not ${JSON.stringify(callbackUrl)}.`,
      'callback',
    );
  }
}

/** A name that is taken is a problem of the form. */
export async function explained<Result>(
  shopId: string,
  name: string,
  insert: () => Promise<Result>,
): Promise<Result> {
  try {
    return await insert();
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'app_name') {
      throw new AppProblem(
        `The shop ${shopId} has an app named ${JSON.stringify(name)} already.`,
        'nameTaken',
        { cause: error },
      );
    }
    if (constraint === 'app_shop') {
      throw new AppProblem(`There is no shop ${JSON.stringify(shopId)}.`, undefined, { cause: error });
    }
    throw error;
  }
}

import type { Queries, Transaction } from '../../db/database.ts';
import { Refusal } from '../../http/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { seal, unseal } from '../../platform/sealing.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { checkName, createApp, explained, requireInstallable } from '../apps.ts';
import { MAX_WEBHOOKS } from '../webhooks/create.ts';
import {
  deleteWebhookRow,
  insertWebhook,
  lockWebhookCount,
  updateIncludesFields,
} from '../webhooks/queries.ts';
import type { ReceiverPolicy } from '../webhooks/receiver-address.ts';
import { createSender, type DeliveryAttempt } from '../webhooks/sending.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';
import { WEBHOOKS_CHANGED } from '../webhooks/worker.ts';
import type { ReadManifest } from './fetch-manifest.ts';
import { asksForMore, ManifestProblem } from './manifest.ts';
import {
  findAppIdByAddress,
  findWebhooksOfManifest,
  insertManifest,
  lockManifest,
  markByManifest,
  updateApp,
  updateManifest,
} from './queries.ts';
import type { Manifest } from './schema.ts';
import { currentSigningKey, signToken } from './signing-keys.ts';

const DAY = 86_400_000;
const REGISTER_TIMEOUT = 5_000;
/** Seconds. */
const TOKEN_LIVES = 60;

interface InstallDeps {
  /** Which machines may be called. */
  policy: ReceiverPolicy;
  /** Of the installation: it seals secrets. */
  key: Buffer;
}

/** When a manifest that was read now is read again. */
export const nextReading = (now: Date) => new Date(now.getTime() + DAY);

/**
 * Adds the app that was read at this address; nothing of it works before the merchant agrees. Returns the id of the app,
 * also of one that was added before.
 */
export async function addApp(
  tx: Transaction,
  deps: InstallDeps,
  shopId: string,
  { address, manifest, icon }: ReadManifest & { address: string },
): Promise<string> {
  const known = await findAppIdByAddress(tx, shopId, address);
  if (known !== undefined) {
    await takeOver(tx, shopId, known, { manifest, icon }, deps);
    return known;
  }
  const { name, installUrl, scopes } = manifest;
  const { clientId } = await createApp(tx, deps.key, shopId, { name, callbackUrl: installUrl, scopes });
  await insertManifest(tx, shopId, {
    appId: clientId,
    address,
    offered: manifest,
    icon,
    dueAt: nextReading(tx.serviceNow),
  });
  return clientId;
}

/**
 * A manifest that was read again. What asks for no more than the merchant has agreed to is in force at once; the rest
 * waits, and the app works on as before. Returns whether it waits.
 */
export async function takeOver(
  tx: Transaction,
  shopId: string,
  appId: string,
  { manifest, icon }: ReadManifest,
  deps: InstallDeps,
): Promise<boolean> {
  const row = await lockManifest(tx, shopId, appId);
  if (!row) return false;
  if (!row.agreed || asksForMore(row.agreed, manifest)) {
    await updateManifest(tx, shopId, { ...row, offered: manifest, icon: row.agreed ? row.icon : icon });
    return true;
  }
  await agree(tx, shopId, appId, { manifest, icon }, deps);
  return false;
}

/** What the merchant has agreed to is in force: the app has its name and scopes, and its webhooks exist. */
export async function agree(
  tx: Transaction,
  shopId: string,
  appId: string,
  { manifest, icon }: ReadManifest,
  deps: InstallDeps,
): Promise<void> {
  checkName(manifest.name);
  // Every page of the admin shows the entries of the menu, and caches them by this version.
  await moveSettingsVersion(tx, shopId);
  await updateManifest(tx, shopId, { appId, agreed: manifest, offered: null, icon });
  await explained(shopId, manifest.name, () => updateApp(tx, shopId, appId, manifest));
  await syncWebhooks(tx, shopId, appId, manifest, deps);
}

/** Creates the webhooks that the manifest names, and deletes those that an earlier one has named. */
async function syncWebhooks(
  tx: Transaction,
  shopId: string,
  appId: string,
  { webhooks }: Manifest,
  { policy, key }: InstallDeps,
): Promise<void> {
  const idOf = (eventType: string, url: string) => `${eventType} ${url}`;
  const wanted = new Map(webhooks.map((webhook) => [idOf(webhook.eventType, webhook.url), webhook]));
  const known = await findWebhooksOfManifest(tx, shopId, appId);
  for (const { webhookId, eventType, callbackUrl, includesFields } of known) {
    const id = idOf(eventType, callbackUrl);
    const webhook = wanted.get(id);
    const { includeFields = false } = webhook ?? {};
    if (!webhook) await deleteWebhookRow(tx, shopId, webhookId);
    else if (includeFields !== includesFields) {
      await updateIncludesFields(tx, shopId, webhookId, includeFields);
    }
    wanted.delete(id);
  }
  if (wanted.size > 0) {
    const count = await lockWebhookCount(tx, shopId);
    if (count + wanted.size > MAX_WEBHOOKS) throw new Refusal('TOO_MANY_WEBHOOKS', { limit: MAX_WEBHOOKS });
  }
  for (const { eventType, url, includeFields = false } of wanted.values()) {
    const problem = policy.problemOf(new URL(url));
    if (problem !== undefined) throw new Refusal('WEBHOOK_ADDRESS_REFUSED', { problem });
    const { webhookId } = await insertWebhook(tx, shopId, {
      webhookId: newId(tx.now),
      appId,
      eventType,
      callbackUrl: url,
      active: true,
      includesFields: includeFields,
      secretSealed: seal(key, newWebhookSecret()),
    });
    await markByManifest(tx, shopId, webhookId);
  }
  if (webhooks.length > 0 || known.length > 0) tx.notifyAfterCommit(WEBHOOKS_CHANGED, shopId);
}

/**
 * Tells the app its client id and client secret. It comes before the code that the browser takes to it. The token says
 * which installation sends it.
 */
export async function register(
  db: Queries,
  shopId: string,
  appId: string,
  { registerUrl }: Manifest,
  { policy, key, origin }: InstallDeps & { origin: string },
): Promise<void> {
  const { secretSealed } = await requireInstallable(db, shopId, appId);
  const token = signToken(await currentSigningKey(db, key), {
    iss: origin,
    aud: appId,
    shop: shopId,
    page: 'register',
    ...tokenTimes(db.serviceNow),
  });
  const body = {
    clientId: appId,
    clientSecret: unseal(key, secretSealed),
    shopId,
    apiUrl: `${origin}/rs/shops/${shopId}`,
  };
  const sender = createSender(policy, { timeout: REGISTER_TIMEOUT });
  try {
    const headers = { authorization: `Bearer ${token}` };
    const attempt = await sender.send(registerUrl, headers, Buffer.from(JSON.stringify(body)));
    if (!attempt?.isDelivered) throw new ManifestProblem('register', registrationAnswer(attempt));
  } finally {
    sender.close();
  }
}

/** The status that the app has answered, and the first line of its text, in which it says why. */
function registrationAnswer(attempt: DeliveryAttempt | undefined): string {
  if (!attempt?.statusCode) return '';
  const [line = ''] = attempt.answer.trim().split(/\p{Cc}/u, 1);
  return `${attempt.statusCode} ${line}`.trim();
}

/** `iat` and `exp` of a token that is made now. */
export function tokenTimes(now: Date): { iat: number; exp: number; jti: string } {
  const iat = Math.floor(now.getTime() / 1000);
  return { iat, exp: iat + TOKEN_LIVES, jti: newId(now) };
}

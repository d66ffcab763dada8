import { createPrivateKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import type { Config } from '../config.ts';
import type { CacheKind } from '../db/cache.ts';
import type { Database, Queries } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import { installationKey, seal, unsealIfPossible } from '../platform/sealing.ts';
import type { PublishedKey } from './capabilities.ts';
import type { SigningKey } from './message-signature.ts';
import { deleteKeysBefore, findKeys, findShopsWithoutKey, insertKey, type KeyRow } from './queries.ts';

/**
 * The keys by which a shop signs its answers. A new one is published a day before it signs, because assistants cache the
 * profile; a former one stays published for a week, so that what it has signed can still be verified.
 */

const PURPOSE = 'kontor keys for assistants';
const DAY = 86_400_000;
const SIGNS_FOR = 90 * DAY;
const PUBLISHED_BEFORE = DAY;
const STAYS_FOR = SIGNS_FOR + PUBLISHED_BEFORE + 7 * DAY;

/** The newest first. */
export async function publishedKeys(db: Queries, shopId: string): Promise<PublishedKey[]> {
  const rows = await findKeys(db, shopId);
  return rows.map(({ keyId, publicKey: { kty, crv, x, y } }) => ({
    kid: keyId,
    kty: kty!,
    crv: crv!,
    x: x!,
    y: y!,
    use: 'sig',
    alg: 'ES256',
  }));
}

interface CachedKey {
  key: SigningKey;
  readUntil: number;
}

/** Reading and unsealing the key for each answer would cost more than the signature. */
const keyCache: CacheKind<CachedKey> = { name: 'keys for assistants', limit: { entries: 1_000 } };
const READ_AGAIN = 60_000;

/** The key that signs now. A shop that has none gets one, and so does one whose key another installation has sealed. */
export async function signingKey(
  db: Database,
  shopId: string,
  loadKey: () => Promise<Buffer>,
): Promise<SigningKey> {
  const cache = db.caches.of(keyCache);
  const now = db.serviceNow.getTime();
  const cached = cache.get(shopId);
  if (cached && cached.readUntil > now) return cached.key;
  const sealingKey = await loadKey();
  const key =
    chosenKey(await findKeys(db, shopId), sealingKey, now) ?? (await createKey(db, shopId, sealingKey));
  cache.set(shopId, { key, readUntil: now + READ_AGAIN });
  return key;
}

/** The newest one that has been published for a day; where none has, the oldest. */
function chosenKey(rows: readonly KeyRow[], sealingKey: Buffer, now: number): SigningKey | undefined {
  const published = rows.filter(({ createdAt }) => createdAt.getTime() <= now - PUBLISHED_BEFORE);
  const [row] = published.length > 0 ? published : rows.slice(-1);
  const text = row && unsealIfPossible(sealingKey, row.privateKeySealed, PURPOSE);
  if (!row || text === undefined) return undefined;
  return {
    keyId: row.keyId,
    privateKey: createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' }),
  };
}

/** Two processes may make one each: both are published, and either may sign. */
async function createKey(db: Queries, shopId: string, sealingKey: Buffer): Promise<SigningKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = newId(db.serviceNow);
  await insertKey(db, shopId, {
    keyId,
    publicKey: publicKey.export({ format: 'jwk' }),
    privateKeySealed: seal(sealingKey, JSON.stringify(privateKey.export({ format: 'jwk' })), PURPOSE),
    createdAt: db.serviceNow,
  });
  return { keyId, privateKey };
}

/** Makes the keys that shops lack, or will need soon, and deletes those whose signatures are long over. */
export function assistantKeyRotation(config: Config): CleanupStep {
  let key: Promise<Buffer> | undefined;
  return {
    name: 'keys for assistants',
    run: async (db, limit) => {
      const now = db.serviceNow.getTime();
      const shopIds = await findShopsWithoutKey(db, new Date(now - SIGNS_FOR), limit);
      for (const shopId of shopIds) await createKey(db, shopId, await (key ??= installationKey(config)));
      const deleted = await deleteKeysBefore(db, new Date(now - STAYS_FOR), limit);
      return Math.max(shopIds.length, deleted);
    },
  };
}

import { createPrivateKey, generateKeyPairSync, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Database, Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { seal, unsealIfPossible } from '../../platform/sealing.ts';

/**
 * The keys of the installation that sign tokens for pages of apps (JWS with ES256). Apps find the public parts at
 * /.well-known/jwks.json of the service's host.
 */

const PURPOSE = 'kontor signing keys';
const DAY = 86_400_000;
/** A key signs for this long, and is published for a day more. */
const SIGNS_FOR = 30 * DAY;
const MAX_PUBLISHED = 20;
/** Seconds for which an app may keep the keys; a new one is asked for when a token names it. */
const MAX_AGE = 300;

export interface SigningKey {
  keyId: string;
  privateKey: KeyObject;
}

interface KeyRow {
  keyId: string;
  publicKey: JsonWebKey;
  privateKeySealed: Buffer;
  createdAt: Date;
}

const columns = sql`
  upper(key_id::text) as "keyId", public_key as "publicKey", private_key_sealed as "privateKeySealed",
  created_at as "createdAt"`;

/** The key that signs now. One that is too old, or that another installation has sealed, is replaced. */
export async function currentSigningKey(db: Queries, sealingKey: Buffer): Promise<SigningKey> {
  const newest = await db.one<KeyRow>(sql`
    select ${columns} from signing_key order by created_at desc, key_id desc limit 1`);
  const now = db.serviceNow;
  const isFresh = newest !== undefined && now.getTime() - newest.createdAt.getTime() < SIGNS_FOR;
  const text = isFresh ? unsealIfPossible(sealingKey, newest.privateKeySealed, PURPOSE) : undefined;
  if (newest && text !== undefined) return { keyId: newest.keyId, privateKey: readKey(text) };
  // Two processes may make one each: both are published, and either may sign.
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = newId(now);
  const sealed = seal(sealingKey, JSON.stringify(privateKey.export({ format: 'jwk' })), PURPOSE);
  await db.run(sql`
    insert into signing_key (key_id, public_key, private_key_sealed, created_at)
    values (${keyId}, ${publicKey.export({ format: 'jwk' })}, ${sealed}, ${now})`);
  return { keyId, privateKey };
}

const readKey = (text: string) => createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' });

/** A JSON Web Token with these claims. */
export function signToken(
  { keyId, privateKey }: SigningKey,
  claims: Readonly<Record<string, unknown>>,
): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'ES256', typ: 'JWT', kid: keyId })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** /.well-known/jwks.json of the service's own host. */
export function publicKeys(app: FastifyInstance, { db }: { db: Database }): void {
  app.get('/.well-known/jwks.json', { schema: { hide: true } }, async (_request, reply) => {
    const rows = await db.many<Pick<KeyRow, 'keyId' | 'publicKey'>>(sql`
      select upper(key_id::text) as "keyId", public_key as "publicKey" from signing_key
      order by created_at desc, key_id desc limit ${MAX_PUBLISHED}`);
    const keys = rows.map(({ keyId, publicKey: { kty, crv, x, y } }) => ({
      kid: keyId,
      use: 'sig',
      alg: 'ES256',
      kty,
      crv,
      x,
      y,
    }));
    return reply
      .type('application/json')
      .headers({ 'cache-control': `public, max-age=${MAX_AGE}`, 'access-control-allow-origin': '*' })
      .send(JSON.stringify({ keys }));
  });
}

/** What an old key has signed is long invalid. */
export const signingKeyCleanup: CleanupStep = {
  name: 'signing keys',
  run: (db) =>
    db.run(sql`
      delete from signing_key where created_at < ${new Date(db.serviceNow.getTime() - SIGNS_FOR - DAY)}`),
};

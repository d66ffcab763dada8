import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import type { Database, Queries } from '../../db/database.ts';
import { repeat, type Background } from '../../platform/background.ts';
import { seal } from '../../platform/sealing.ts';
import { withNameServers } from '../domains/name-servers.ts';
import { findDomainsOfShop, type NamedDomain } from '../domains/queries.ts';
import { hostName } from '../shop/domain-policy.ts';
import type { DnsRecord } from '../domains/steps.ts';
import {
  findDkimKeys,
  findDueDkimKeys,
  insertDkimKey,
  recordDkimCheck,
  takeDkimKey,
  type DkimKey,
  type DkimRecordState,
} from './dkim-queries.ts';
import { DKIM_KEYS } from './relay-queries.ts';

/** Every receiver knows RSA; 2048 bits are the most that all of them check (RFC 8301). */
const BITS = 2048;

/** Makes a key for the domain; it signs once its record stands. */
export async function createDkimKey(
  db: Database,
  key: Buffer,
  shopId: string,
  domain: string,
  onCreated: (tx: Parameters<Parameters<Database['transaction']>[0]>[0]) => Promise<void>,
): Promise<void> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const selector = `kontor${randomBytes(5).toString('hex')}`;
  await db.transaction(async (tx) => {
    await insertDkimKey(tx, shopId, {
      selector,
      domain,
      publicKey: publicKey.toString('base64'),
      sealed: seal(key, privateKey, DKIM_KEYS),
    });
    await onCreated(tx);
  });
}

/** What to enter at the domain provider. */
export const dkimRecord = ({
  selector,
  domain,
  publicKey,
}: Pick<DkimKey, 'selector' | 'domain' | 'publicKey'>): DnsRecord => ({
  type: 'TXT',
  name: `${selector}._domainkey.${domain}`,
  value: `v=DKIM1; k=rsa; p=${publicKey}`,
});

/**
 * The domains that a shop may sign for: those it has proved. Who has proved www.shop.example may sign for shop.example,
 * because the record of the key stands there and proves it as well.
 */
export function signableDomains(domains: readonly NamedDomain[], needsProof: boolean): Set<string> {
  const proved = domains.filter(({ isUsed, proof }) => isUsed && (proof !== null || !needsProof));
  return new Set(
    proved.map(({ host }) => hostName(host)).flatMap((host) => [host, host.replace(/^www\./, '')]),
  );
}

/** Whether the record stands; blanks and the order of its parts do not matter. */
export async function lookUpDkimRecord(key: DkimKey): Promise<DkimRecordState> {
  const { name } = dkimRecord(key);
  const texts = await withNameServers((ask) => ask((resolver) => resolver.resolveTxt(name)));
  if (texts === undefined) return 'unknown';
  if (texts.length === 0) return 'missing';
  const keys = texts.map((parts) => /(?:^|;)p=([^;]*)/.exec(parts.join('').replaceAll(/\s/g, ''))?.[1]);
  // Two records of one name make a signature invalid.
  return keys.length === 1 && keys[0] === key.publicKey ? 'found' : 'other';
}

/** Checks a key now. undefined: the shop has no such key. */
export async function checkDkimKey(
  db: Database,
  { shopId, selector, needsProof }: { shopId: string; selector: string; needsProof: boolean },
): Promise<DkimRecordState | undefined> {
  const key = await findKey(db, shopId, selector);
  if (!key) return undefined;
  const [found, domains] = await Promise.all([lookUpDkimRecord(key), findDomainsOfShop(db, shopId)]);
  const mayBeUsed = signableDomains(domains, needsProof).has(key.domain);
  await db.transaction((tx) => recordDkimCheck(tx, shopId, selector, { found, mayBeUsed }));
  return found;
}

const findKey = async (db: Queries, shopId: string, selector: string) =>
  (await findDkimKeys(db, shopId)).find((key) => key.selector === selector);

const CHECKED_AT_ONCE = 5;

/** Checks the records that are due, until it is stopped; any number of processes may do this at once. */
export function startDkimChecks(db: Database, log: FastifyBaseLogger, pause = 5_000): Background {
  return repeat('the check of signatures', pause, log, (signal) => checkDueDkimKeys(db, log, signal));
}

export async function checkDueDkimKeys(
  db: Database,
  log: FastifyBaseLogger,
  signal?: AbortSignal,
): Promise<void> {
  const mayGoOn = () => signal?.aborted !== true;
  for (let found = CHECKED_AT_ONCE; found === CHECKED_AT_ONCE && mayGoOn();) {
    const due = await findDueDkimKeys(db, CHECKED_AT_ONCE);
    await Promise.all(
      due.map(async (key) => {
        try {
          if (await takeDkimKey(db, key)) await checkDkimKey(db, { ...key, needsProof: true });
        } catch (error) {
          log.warn({ shop: key.shopId, err: error }, 'the record of a signature could not be checked');
        }
      }),
    );
    found = due.length;
  }
}

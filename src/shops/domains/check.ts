import type { Database, Transaction } from '../../db/database.ts';
import { SettingsProblem, type Problem } from '../settings/problem.ts';
import { useDomain } from '../settings/prove-domain.ts';
import { findProof, type DomainChallenge, type DomainProof } from '../shop/domain-challenge.ts';
import { hostName } from '../shop/domain-policy.ts';
import type { ShopHosts } from '../shop/hosts.ts';
import { NO_CERTIFICATE, readCertificate } from './certificate-look.ts';
import {
  findDomainsOfShop,
  updateStatus,
  type FoundStatus,
  type NamedDomain,
  type Routing,
} from './queries.ts';
import { resolveServiceAddresses, type ServiceAddresses } from './service-addresses.ts';
import { domainSteps, isDone } from './steps.ts';

export interface CheckDeps {
  db: Database;
  service: ServiceAddresses;
  challengeOf: (shopId: string, host: string) => DomainChallenge;
  hosts: Pick<ShopHosts, 'refreshQuietly'>;
  /** Authorities to trust instead of the usual ones. */
  ca?: string | undefined;
}

export interface CheckedDomain {
  /** The record that has just been found; the shop uses the domain from now on. */
  proof: DomainProof | undefined;
  /** The name servers answered the question about the proof, or it was not asked. */
  hasAnswer: boolean;
  /** The proof is there, and the domain cannot be used: another shop has it. */
  problems: readonly Problem[];
}

const DAY = 86_400_000;
const MINUTE = 60_000;

/**
 * Checks a domain that a shop has named: its proof, where it leads, and its certificate, which the proxy may get with
 * this very question. The result is saved, and says when the domain is checked again: a day later when all is done, and
 * otherwise after pauses that double from a minute. `attempts` are the checks before this one. Undefined: the shop has
 * not named it.
 */
export async function checkDomain(
  { db, service, challengeOf, hosts, ca }: CheckDeps,
  { shopId, host }: { shopId: string; host: string },
  {
    attempts = 0,
    onProved,
  }: { attempts?: number; onProved?: (tx: Transaction, proof: DomainProof) => Promise<void> },
): Promise<CheckedDomain | undefined> {
  const before = await findDomain(db, shopId, host);
  if (!before) return undefined;
  const challenge = challengeOf(shopId, host);
  const expected = await service.find();
  const [{ proof, hasAnswer }, routed] = await Promise.all([
    before.proof === null ? findProof(challenge) : { proof: undefined, hasAnswer: true },
    findRouting(host, expected),
  ]);
  const problems = proof ? await takeIntoUse(db, { shopId, host, proof }, onProved) : [];
  const isUsed = before.isUsed || (proof !== undefined && problems.length === 0);
  // The proxy asks this process, or another one that reads its hosts again for a name it does not know.
  if (isUsed && before.proof === null) await hosts.refreshQuietly();
  const looked =
    isUsed && routed.routing === 'here' && service.tlsPort !== undefined
      ? await readCertificate({ host: expected[0]!, port: service.tlsPort, name: hostName(host), ca })
      : undefined;
  const { state, issuer, validUntil, names } = looked ?? NO_CERTIFICATE;
  const found: FoundStatus = {
    ...routed,
    certificate: looked ? state : null,
    issuer,
    validUntil,
    names,
  };
  const after: NamedDomain = { ...before, ...found, isUsed, proof: isUsed ? (proof ?? before.proof) : null };
  const isComplete = isDone(
    domainSteps(after, {
      challenge,
      needsProof: true,
      service: { ...service, addresses: expected },
      now: db.now,
    }),
  );
  const pause = isComplete ? DAY : Math.min(DAY, MINUTE * 2 ** Math.min(attempts, 11));
  await updateStatus(
    db,
    { shopId, host },
    {
      ...found,
      attempts: isComplete ? 0 : Math.min(attempts + 1, 1_000),
      dueAt: new Date(db.now.getTime() + pause),
    },
  );
  return { proof, hasAnswer, problems };
}

async function findDomain(db: Database, shopId: string, host: string): Promise<NamedDomain | undefined> {
  return (await findDomainsOfShop(db, shopId)).find((domain) => domain.host === host);
}

/** What keeps the shop from using it; empty: it uses it now. */
async function takeIntoUse(
  db: Database,
  { shopId, host, proof }: { shopId: string; host: string; proof: DomainProof },
  onProved: ((tx: Transaction, proof: DomainProof) => Promise<void>) | undefined,
): Promise<readonly Problem[]> {
  try {
    await db.transaction(async (tx) => {
      if (await useDomain(tx, shopId, host, proof)) await onProved?.(tx, proof);
    });
    return [];
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    return error.places;
  }
}

/** An old address beside the right one would get some of the visitors, so all must lead here. */
async function findRouting(
  host: string,
  expected: readonly string[],
): Promise<{ routing: Routing | null; addresses: string[] }> {
  if (expected.length === 0) return { routing: null, addresses: [] };
  const found = await resolveServiceAddresses(hostName(host));
  if (found === undefined) return { routing: 'unknown', addresses: [] };
  const addresses = [...found];
  if (addresses.length === 0) return { routing: 'nowhere', addresses };
  return {
    routing: addresses.every((address) => expected.includes(address)) ? 'here' : 'elsewhere',
    addresses,
  };
}

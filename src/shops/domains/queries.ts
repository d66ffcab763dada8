import type { Queries, Transaction } from '../../db/database.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import type { CertificateState } from './certificate-look.ts';

/** Where a domain leads, compared with where it should. */
export const ROUTINGS = ['here', 'elsewhere', 'nowhere', 'unknown'] as const;
export type Routing = (typeof ROUTINGS)[number];

/** A domain that a shop has named, with what is known about it. */
export interface NamedDomain {
  host: string;
  /** The shop's pages are there. */
  isUsed: boolean;
  /** null: it waits for its proof, or was used without one. */
  proof: string | null;
  checkedAt: Date | null;
  routing: Routing | null;
  addresses: string[];
  certificate: CertificateState | null;
  issuer: string | null;
  validUntil: Date | null;
  names: string[];
}

/** The domains of a shop, at most 20, those in use first. */
export function findDomainsOfShop(db: Queries, shopId: string) {
  return db.many<NamedDomain>(sql`
    select domain_status.host, shop_domain.host is not null as "isUsed", proof, checked_at as "checkedAt", routing,
      addresses, certificate, issuer, valid_until as "validUntil", names
    from domain_status
    left join shop_domain on shop_domain.host = domain_status.host and shop_domain.shop_id = ${shopId}
    where domain_status.shop_id = ${shopId}
    order by shop_domain.position, domain_status.host`);
}

/** Follows the list of domains that a shop has named; what is known about the others stays. */
export async function alignStatuses(
  tx: Transaction,
  shopId: string,
  domains: readonly string[],
): Promise<void> {
  await tx.run(sql`delete from domain_status where shop_id = ${shopId} and host <> all (${domains}::text[])`);
  await tx.run(sql`
    insert into domain_status (shop_id, host, due_at)
    select ${shopId}, host, ${tx.now} from unnest(${domains}::text[]) as given (host)
    on conflict (shop_id, host) do nothing`);
}

export interface DueDomain {
  shopId: string;
  host: string;
}

export function findDueDomains(db: Queries, limit: number) {
  return db.many<DueDomain>(sql`
    select shop_id as "shopId", host from domain_status where due_at <= ${db.now} order by due_at limit ${limit}`);
}

/** Of two processes one gets it: the other finds the new `due_at`. undefined: another one has it. */
export function takeDomain(db: Queries, { shopId, host }: DueDomain) {
  return db.one<{ attempts: number }>(sql`
    update domain_status set due_at = ${leaseEnd(db.now)}
    where shop_id = ${shopId} and host = ${host} and due_at <= ${db.now}
    returning attempts`);
}

export type FoundStatus = Pick<
  NamedDomain,
  'routing' | 'addresses' | 'certificate' | 'issuer' | 'validUntil' | 'names'
>;

export function updateStatus(
  db: Queries,
  { shopId, host }: DueDomain,
  found: FoundStatus & { attempts: number; dueAt: Date },
) {
  return db.run(sql`
    update domain_status
    set attempts = ${found.attempts}, due_at = ${found.dueAt}, checked_at = ${db.now}, routing = ${found.routing},
      addresses = ${found.addresses}, certificate = ${found.certificate}, issuer = ${found.issuer},
      valid_until = ${found.validUntil}, names = ${found.names}
    where shop_id = ${shopId} and host = ${host}`);
}

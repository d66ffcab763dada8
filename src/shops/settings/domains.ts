import type { Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql } from '../../db/sql.ts';
import { alignStatuses } from '../domains/queries.ts';
import type { DomainPolicy } from '../shop/domain-policy.ts';
import { problemLine, SettingsProblem, type Problem } from './problem.ts';
import type { Settings } from './settings.ts';

/** By default, a domain is used only after its proof. */
export const PROOF_NEEDED: DomainPolicy = { isOfService: () => false, needsProof: true };

/**
 * Writes the domains that a shop has named. Domains in use stay in use; new ones are used after their proof, or at
 * once where the policy needs none. A host of the service, and one that another shop uses, is refused.
 */
export async function replaceDomains(
  tx: Transaction,
  current: Settings,
  { domains }: Settings,
  policy: DomainPolicy,
): Promise<void> {
  const { shopId } = current;
  const added = domains.filter((host) => !current.domains.includes(host));
  const ofService = added.find(policy.isOfService);
  if (ofService !== undefined) throw refusal(domainOfService(ofService, domains.indexOf(ofService)));
  await refuseDomainsOfOthers(tx, shopId, added);
  const isInUse = (host: string) => !policy.needsProof || current.domainsInUse.includes(host);
  await writeDomains(tx, shopId, domains, domains.filter(isInUse));
}

export function domainOfService(host: string, index: number): Problem {
  return {
    path: ['domains', index],
    text: `is ${host}, where this service itself is, expected a host of the shop's own`,
    rule: { name: 'domainOfService', host },
  };
}

/**
 * Writes which domains a shop has named, in order, and which of them it uses. The primary key refuses a host that
 * another shop uses, even when two shops ask for it at once.
 */
export async function writeDomains(
  tx: Transaction,
  shopId: string,
  domains: readonly string[],
  inUse: readonly string[],
): Promise<void> {
  await tx.run(sql`delete from shop_domain where shop_id = ${shopId} and host <> all (${inUse}::text[])`);
  const written = await tx.run(sql`
    insert into shop_domain (host, shop_id, position, added_at)
    select host, ${shopId}, place - 1, ${tx.now}
    from unnest(${inUse}::text[]) with ordinality as given (host, place)
    on conflict (host) do update set position = excluded.position, added_at = excluded.added_at
    where shop_domain.shop_id = excluded.shop_id`);
  if (written < inUse.length) await refuseDomainsOfOthers(tx, shopId, inUse);
  await tx.run(sql`delete from pending_domain where shop_id = ${shopId}`);
  const pending = domains.flatMap((host, position) =>
    inUse.includes(host) ? [] : [{ host, position, added_at: tx.now }],
  );
  if (pending.length > 0) await tx.run(insertPending(shopId, pending));
  await alignStatuses(tx, shopId, domains);
}

const insertPending = insertInto('pending_domain', {
  host: 'text',
  position: 'integer',
  added_at: 'timestamptz',
});

export async function refuseDomainsOfOthers(
  tx: Transaction,
  shopId: string,
  hosts: readonly string[],
): Promise<void> {
  const taken = await tx.one<{ host: string }>(sql`
    select host from shop_domain where host = any (${hosts}::text[]) and shop_id <> ${shopId} limit 1`);
  if (!taken) return;
  throw refusal({
    path: ['domains'],
    text: `${taken.host} belongs to another shop of this installation; take it away there first`,
    rule: { name: 'domainOfOther', host: taken.host },
  });
}

const refusal = (problem: Problem) => new SettingsProblem([problemLine(problem)], [problem]);

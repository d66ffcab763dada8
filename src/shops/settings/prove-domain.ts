import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { recordEvents } from '../../platform/events/log.ts';
import type { DomainProof } from '../shop/domain-challenge.ts';
import { moveSettingsVersion } from '../shop/queries.ts';
import { writeDomains } from './domains.ts';
import { selectSettings } from './settings.ts';
import { lockShop } from './writes.ts';

/**
 * Lets a shop use a domain that it has named, and records the reason. Throws a SettingsProblem when another shop uses
 * it. false: the shop has not named it.
 */
export async function useDomain(
  tx: Transaction,
  shopId: string,
  host: string,
  proof: DomainProof | 'command',
): Promise<boolean> {
  const settings = (await lockShop(tx, shopId)) ? await selectSettings(tx, shopId) : undefined;
  if (!settings?.domains.includes(host)) return false;
  const { domains, domainsInUse } = settings;
  const inUse = domains.filter((domain) => domain === host || domainsInUse.includes(domain));
  await writeDomains(tx, shopId, domains, inUse);
  await tx.run(sql`
    update shop_domain set proved_at = ${tx.now}, proof = ${proof} where host = ${host} and shop_id = ${shopId}`);
  await moveSettingsVersion(tx, shopId);
  recordEvents(tx, shopId, [{ type: 'SETTINGS_CHANGED', resourceId: null, data: { changed: ['domains'] } }]);
  return true;
}

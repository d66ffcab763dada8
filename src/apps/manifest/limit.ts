import type { Transaction } from '../../db/database.ts';
import { asksForMore, withoutMore } from './manifest.ts';
import {
  deleteManifest,
  deleteOtherWebhooks,
  findAgreedAndOffered,
  updateApp,
  updateOfferedAgain,
  type ManifestRow,
} from './queries.ts';

/**
 * A backup that replaces its shop brings back earlier manifests. Of each, only what the merchant still agrees to today is
 * in force; what was agreed to since waits for consent again, as the page of the app says.
 */
export async function limitManifests(
  tx: Transaction,
  shopId: string,
  today: readonly Pick<ManifestRow, 'appId' | 'agreed' | 'offered'>[],
): Promise<void> {
  for (const { appId, agreed: earlier } of await findAgreedAndOffered(tx, shopId)) {
    const current = today.find((one) => one.appId === appId);
    if (!current) {
      await deleteManifest(tx, shopId, appId);
      continue;
    }
    const agreed = earlier && current.agreed && withoutMore(earlier, current.agreed);
    const asked = current.offered ?? current.agreed;
    const offered = asked && (!agreed || asksForMore(agreed, asked)) ? asked : null;
    await updateOfferedAgain(tx, shopId, { appId, agreed, offered });
    if (!agreed) continue;
    await updateApp(tx, shopId, appId, agreed);
    const kept = agreed.webhooks.map(({ eventType, url }) => `${eventType} ${url}`);
    await deleteOtherWebhooks(tx, shopId, appId, kept);
  }
}

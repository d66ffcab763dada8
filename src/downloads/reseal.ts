import type { SealingKeys } from '../apps/apps.ts';
import type { Transaction } from '../db/database.ts';
import { findSealedKeys, updateSealedKey } from './key-queries.ts';
import { licenceKeyHash, sealKey, unsealKey } from './licence-key.ts';

const AT_ONCE = 500;

/**
 * Seals the licence keys of a restored shop with the key of this installation. Returns how many of them neither key
 * opens: they stay, because their customers have them, but nobody can read them here.
 */
export async function resealLicenceKeys(
  tx: Transaction,
  shopId: string,
  { own, former }: SealingKeys,
): Promise<number> {
  let lost = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await findSealedKeys(tx, shopId, after, AT_ONCE);
    for (const { keyId, sealed } of rows) {
      if (unsealKey(own, sealed) !== undefined) continue;
      const text = former && unsealKey(former, sealed);
      if (text === undefined) lost++;
      else
        await updateSealedKey(tx, shopId, {
          keyId,
          sealed: sealKey(own, text),
          hash: licenceKeyHash(own, shopId, text),
        });
    }
    if (rows.length < AT_ONCE) return lost;
    after = rows.at(-1)!.keyId;
  }
}

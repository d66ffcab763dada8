import type { Transaction } from '../../db/database.ts';
import { seal, unsealIfPossible } from '../../platform/sealing.ts';
import type { SealingKeys } from '../apps.ts';
import { ManifestProblem, manifestAddress, parseManifest } from './manifest.ts';
import { deleteManifest, findStoredManifests, updateSecrets } from './queries.ts';

/** What merchants type into the secret fields of apps is sealed for this alone. */
export const APP_SETTINGS = 'kontor settings of apps';

/**
 * A backup may come from anywhere, so its manifests are checked like those of apps: one that is not valid is deleted,
 * and its app stays without pages. The secrets of the others are sealed with the key of this installation; what no key
 * opens is typed again.
 */
export async function restoreManifests(
  tx: Transaction,
  shopId: string,
  { own, former }: SealingKeys,
): Promise<void> {
  for (const { appId, address, agreed, offered, secretsSealed } of await findStoredManifests(tx, shopId)) {
    if (![agreed, offered].every((stored) => stored === null || isValid(stored, address))) {
      await deleteManifest(tx, shopId, appId);
      continue;
    }
    if (!secretsSealed || unsealIfPossible(own, secretsSealed, APP_SETTINGS) !== undefined) continue;
    const text = former && unsealIfPossible(former, secretsSealed, APP_SETTINGS);
    await updateSecrets(tx, shopId, appId, text === undefined ? null : seal(own, text, APP_SETTINGS));
  }
}

/** Whether it is what reading a manifest at this address stores. */
function isValid(stored: unknown, address: string): boolean {
  const whole = { calls: [], ...(stored as object) };
  const text = JSON.stringify(whole, (_key, value: unknown) => value ?? undefined);
  try {
    const file = { ...(JSON.parse(text) as object), manifest: 1 };
    const read = parseManifest(JSON.stringify(file), manifestAddress(address));
    return JSON.stringify(sorted(read)) === JSON.stringify(sorted(whole));
  } catch (error) {
    if (error instanceof ManifestProblem) return false;
    throw error;
  }
}

/** JSONB has an order of keys of its own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

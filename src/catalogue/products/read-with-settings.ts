import type { Queries } from '../../db/database.ts';
import { cachedSettings, shopSettings, type Settings } from '../../shops/settings/settings.ts';

/**
 * Reads with the cached settings, and once more with fresh ones when the result shows that they are stale: one round
 * trip for almost every call.
 */
export async function readWithSettings<Found extends { settingsVersion: number }>(
  db: Queries,
  shopId: string,
  read: (settings: Settings) => Promise<Found>,
): Promise<{ settings: Settings; found: Found }> {
  let settings = cachedSettings(db, shopId) ?? (await shopSettings(db, shopId));
  for (let tries = 1; ; tries++) {
    const found = await read(settings);
    // If the settings change with every try, the last result is returned.
    if (found.settingsVersion === settings.version || tries === 3) return { settings, found };
    settings = await shopSettings(db, shopId);
  }
}

import type { Queries } from '../../db/database.ts';
import { cachedSettings, shopSettings, type Settings } from '../../shops/settings/settings.ts';

/**
 * Reads with the cached settings, and once more with fresh ones when what was read says that they are out of date: one
 * round trip for almost every call.
 */
export async function readWithSettings<Found extends { settingsVersion: number }>(
  db: Queries,
  shopId: string,
  read: (settings: Settings) => Promise<Found>,
): Promise<{ settings: Settings; found: Found }> {
  let settings = cachedSettings(db, shopId) ?? (await shopSettings(db, shopId));
  for (let tries = 1; ; tries++) {
    const found = await read(settings);
    // Settings that change with every try are answered as of the last one.
    if (found.settingsVersion === settings.version || tries === 3) return { settings, found };
    settings = await shopSettings(db, shopId);
  }
}

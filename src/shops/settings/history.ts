import { isDeepStrictEqual } from 'node:util';
import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql } from '../../db/sql.ts';
import { newId, timeOfId } from '../../kernel/ids.ts';
import type { DomainPolicy } from '../shop/domain-policy.ts';
import { settingsAsFile } from './conversion.ts';
import { applySettings, type AppliedSettings } from './file.ts';
import type { SettingsFormat } from './format.ts';
import type { SettingsFile } from './schema.ts';
import { selectSettings } from './settings.ts';
import { lockShop } from './writes.ts';

/** The settings after a change. Sections that have tables of their own, such as coupon campaigns, are not in it. */
export interface SettingsVersion {
  versionId: string;
  at: Date;
  /** null: the state existed before a recorded change, and its author was not recorded. */
  author: string | null;
  changes: readonly string[];
}

const MAX_VERSIONS = 100;

/** Applies a file as `applySettings` does, and records the resulting settings and who changed them. */
export async function changeSettings(
  tx: Transaction,
  shopId: string,
  file: SettingsFile,
  format: SettingsFormat,
  author: string,
  domainPolicy: DomainPolicy,
): Promise<AppliedSettings> {
  // Not through the cache: this transaction may be rolled back.
  await lockShop(tx, shopId);
  const before = await selectSettings(tx, shopId);
  const applied = await applySettings(tx, shopId, file, format, undefined, domainPolicy);
  if (applied.changes.length === 0) return applied;
  const found = settingsAsFile(before!);
  const isFoundNew = !isDeepStrictEqual(await findLastFile(tx, shopId), found);
  await tx.run(
    insert(shopId, [
      // The state before the change is recorded as well where it has another origin, so that it can be restored.
      ...(isFoundNew ? [rowOf(new Date(tx.now.getTime() - 1), null, [], found)] : []),
      rowOf(tx.now, author, applied.changes, settingsAsFile((await selectSettings(tx, shopId))!)),
    ]),
  );
  await deleteOldVersions(tx, shopId);
  return applied;
}

const insert = insertInto('settings_version', {
  version_id: 'uuid',
  author: 'text',
  changes: 'jsonb',
  file: 'json',
});

function rowOf(at: Date, author: string | null, changes: readonly string[], file: SettingsFile) {
  return { version_id: newId(at), author, changes, file };
}

/** The ids of newer versions are greater, so the hundredth from the end is the first that stays. */
function deleteOldVersions(tx: Transaction, shopId: string) {
  return tx.run(sql`
    delete from settings_version where shop_id = ${shopId} and version_id in (
      select version_id from settings_version where shop_id = ${shopId}
      order by version_id desc offset ${MAX_VERSIONS})`);
}

/** Newest first. */
export async function findSettingsVersions(
  db: Queries,
  shopId: string,
  limit = MAX_VERSIONS,
): Promise<SettingsVersion[]> {
  const rows = await db.many<Omit<SettingsVersion, 'at'>>(sql`
    select upper(version_id::text) as "versionId", author, changes from settings_version
    where shop_id = ${shopId} order by version_id desc limit ${limit}`);
  return rows.map((row) => ({ ...row, at: timeOfId(row.versionId) }));
}

/** With the settings of that time; undefined: the version does not exist, or no longer. */
export async function findSettingsVersion(
  db: Queries,
  shopId: string,
  versionId: string,
): Promise<(SettingsVersion & { file: SettingsFile }) | undefined> {
  const row = await db.one<Omit<SettingsVersion, 'at'> & { file: SettingsFile }>(sql`
    select upper(version_id::text) as "versionId", author, changes, file from settings_version
    where shop_id = ${shopId} and version_id = ${versionId}`);
  return row && { ...row, at: timeOfId(row.versionId) };
}

async function findLastFile(db: Queries, shopId: string): Promise<SettingsFile | undefined> {
  const row = await db.one<{ file: SettingsFile }>(sql`
    select file from settings_version where shop_id = ${shopId} order by version_id desc limit 1`);
  return row?.file;
}

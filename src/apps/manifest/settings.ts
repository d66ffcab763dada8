import { Type } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { seal, unsealIfPossible } from '../../platform/sealing.ts';
import { findManifest, findSettingValues, updateSettingValues } from './queries.ts';
import { APP_SETTINGS } from './restore.ts';
import type { SettingField } from './schema.ts';

/** What the merchant has typed into the fields of an app; a tick is a boolean. */
export type SettingValues = Readonly<Record<string, string | boolean>>;

export const MAX_SETTING_LENGTH = 1_000;

/** The values of the fields that the app has now; those of fields that it no longer has are not shown. */
export async function settingValues(
  db: Queries,
  shopId: string,
  appId: string,
  fields: readonly SettingField[],
  key: Buffer,
): Promise<SettingValues> {
  const row = await findSettingValues(db, shopId, appId);
  if (!row) return {};
  const sealed = row.secretsSealed && unsealIfPossible(key, row.secretsSealed, APP_SETTINGS);
  const secrets = sealed ? (JSON.parse(sealed) as Readonly<Record<string, unknown>>) : {};
  const entries = fields.flatMap(({ name, kind }): [string, string | boolean][] => {
    const stored = kind === 'secret' ? secrets : row.settings;
    const value = Object.hasOwn(stored, name) ? stored[name] : undefined;
    return typeof value === (kind === 'tick' ? 'boolean' : 'string')
      ? [[name, value as string | boolean]]
      : [];
  });
  return Object.fromEntries(entries);
}

/** Stores the values of all fields; those that are secret are sealed. */
export async function saveSettingValues(
  tx: Transaction,
  shopId: string,
  appId: string,
  fields: readonly SettingField[],
  values: SettingValues,
  key: Buffer,
): Promise<void> {
  const isSecret = new Set(fields.filter(({ kind }) => kind === 'secret').map(({ name }) => name));
  const entries = Object.entries(values);
  const open = Object.fromEntries(entries.filter(([name]) => !isSecret.has(name)));
  const secrets = entries.filter(([name]) => isSecret.has(name));
  const sealed =
    secrets.length === 0 ? null : seal(key, JSON.stringify(Object.fromEntries(secrets)), APP_SETTINGS);
  await updateSettingValues(tx, shopId, appId, open, sealed);
}

const getAppSettings = operation({
  under: 'manage',
  method: 'GET',
  path: '/app/settings',
  name: 'getAppSettings',
  summary: 'Get settings of the app',
  description:
    'What the merchant has entered into the fields that the manifest of the calling app declares, secret ones too. ' +
    'Fields without a value are left out; an app without a manifest has none.',
  tag: 'app-settings',
  labels: [],
  access: 'any token',
  answer: Type.Object(
    {
      settings: Type.Record(Type.String(), Type.Unknown(), {
        description: 'The values by the names of the fields: texts, and booleans of ticks.',
        examples: [{ apiKey: 'sk-4711', format: 'a6', isTest: true }],
      }),
    },
    { title: 'app settings' },
  ),
});

export function appSettings(api: Operations, { loadKey }: { loadKey: () => Promise<Buffer> }): void {
  api.read(getAppSettings, async ({ db, shopId, caller, header }) => {
    header('cache-control', 'no-store');
    const { appId } = caller.app!;
    const manifest = await findManifest(db, shopId, appId);
    const fields = manifest?.agreed?.settings ?? [];
    if (fields.length === 0) return { settings: {} };
    return { settings: await settingValues(db, shopId, appId, fields, await loadKey()) };
  });
}

import type { Transaction } from '../../db/database.ts';
import type { AppliedSettings, SettingsFile } from '../../shops/settings/file.ts';
import { changeSettings, findSettingsVersions } from '../../shops/settings/history.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { forbidden } from '../../http/errors.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { Notice } from '../../http/page-kit.ts';

/** Applies a file, or sections of one, as `kontor shop apply` does. Throws a SettingsProblem when it is refused. */
export function saveSettings(
  visit: ShopVisit,
  file: SettingsFile,
  format: SettingsFormat,
): Promise<AppliedSettings> {
  return visit.db.transaction((tx) => applySettingsWithin(tx, visit, file, format), {
    appId: visit.user.userId,
  });
}

/** The changes that applying a file would make. It is applied and rolled back, so that every check has run. */
export async function settingsPreview(
  visit: ShopVisit,
  file: SettingsFile,
  format: SettingsFormat,
): Promise<readonly string[]> {
  try {
    return await visit.db.transaction(async (tx) => {
      const { changes } = await change(tx, visit, file, format);
      throw new TakenBack(changes);
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.changes;
    throw error;
  }
}

class TakenBack extends Error {
  override name = 'TakenBack';
  readonly changes: readonly string[];

  constructor(changes: readonly string[]) {
    super('taken back');
    this.changes = changes;
  }
}

async function change(
  tx: Transaction,
  visit: ShopVisit,
  file: SettingsFile,
  format: SettingsFormat,
): Promise<AppliedSettings> {
  const { shopId, user, domainPolicy } = visit;
  const applied = await changeSettings(tx, shopId, file, format, user.email, domainPolicy);
  requireNoOwnerSettings(visit, applied);
  return applied;
}

/** Where the money goes, where the shop is, and scripts in it: people of the host change none of them. */
const OWNER_SECTIONS: ReadonlySet<string> = new Set(['paymentMethods', 'invoicing', 'domains', 'appScripts']);

function requireNoOwnerSettings({ user, messages }: ShopVisit, { sections }: AppliedSettings): void {
  if (user.support && [...sections].some((section) => OWNER_SECTIONS.has(section))) {
    throw forbidden(messages.support.notAllowed);
  }
}

/** The same as a part of a transaction. */
export async function applySettingsWithin(
  tx: Transaction,
  visit: ShopVisit,
  file: SettingsFile,
  format: SettingsFormat,
): Promise<AppliedSettings> {
  const applied = await change(tx, visit, file, format);
  if (applied.changes.length > 0) {
    await recordAction(tx, visit, '/settings', { sections: [...applied.sections].join() });
  }
  return applied;
}

/** The notice of the next page, with a button that restores the previous settings. */
export async function savedNotice(visit: ShopVisit, { changes }: AppliedSettings): Promise<Notice> {
  const messages = visit.messages.settings;
  if (changes.length === 0) return { text: messages.nothingChanged };
  const [newest, before] = await findSettingsVersions(visit.db, visit.shopId, 2);
  return {
    text: messages.changesSaved({ count: changes.length }),
    ...(newest &&
      before && {
        undo: {
          action: adminPath(visit, `/settings/history/${before.versionId}`),
          fields: { newest: newest.versionId },
        },
      }),
  };
}

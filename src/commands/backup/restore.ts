import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import {
  RestoreProblem,
  restoreShop as restore,
  type Restored,
  type RestoreOptions,
} from '../../imports/backup/restore.ts';
import type { CheckedBackup } from '../../platform/backup/manifest.ts';
import { recordCommand, similarShop } from '../command.ts';
import { CommandProblem } from '../problem.ts';

/** Restores a shop from a backup, in one transaction. A refusal says what to do on the command line. */
export async function restoreShopFile(
  db: Database,
  config: Config,
  backup: CheckedBackup,
  options: RestoreOptions,
): Promise<Restored> {
  try {
    const shopId = options.as ?? backup.manifest.shopId;
    return await restore(db, config, backup, {
      ...options,
      finish: (tx) => recordCommand(tx, shopId, 'shop restore'),
    });
  } catch (error) {
    throw commandProblem(error);
  }
}

/** The words of the command line for a shop that is not restored; any other failure stays what it is. */
export function commandProblem(error: unknown): unknown {
  if (!(error instanceof RestoreProblem)) return error;
  const { shopId = '', similar = '', problem = '', folder = '' } = error.values;
  const words: Record<RestoreProblem['reason'], string> = {
    ID_TAKEN: `There is a shop ${shopId} already. Delete it first (npx kontor shop delete ${shopId}), or restore under another id: --as ID`,
    ID_SIMILAR: `${similarShop(shopId, similar)} Restore under another: --as ID`,
    ID_MALFORMED: error.message,
    NEWER_VERSION: error.message,
    DOMAIN_IMPOSSIBLE: `The backup has a domain that no shop can have (${problem}). Restore it under another id, without domains: --as ID`,
    DOMAIN_TAKEN: `Another shop has a domain of ${shopId}. Take it out of the settings of that shop (npx kontor shop apply), or restore under another id, without domains: --as ID`,
    FILES_IN_THE_WAY: `There are media files of a shop ${shopId}, which this database does not have (${shopId}/${folder}). Move them away, or restore under another id: --as ID`,
  };
  return new CommandProblem(words[error.reason], { cause: error });
}

export function shopExists(shopId: string): unknown {
  return commandProblem(new RestoreProblem('ID_TAKEN', '', { shopId }));
}

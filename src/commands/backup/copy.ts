import {
  copyShopToSandbox as copy,
  CopyProblem,
  type Copied,
  type CopyOptions,
} from '../../admin/sandbox/copy-shop.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { MAX_SANDBOXES } from '../../shops/sandbox/queries.ts';
import { noSuchShop, recordCommand } from '../command.ts';
import { CommandProblem } from '../problem.ts';
import { commandProblem } from './restore.ts';

/** Copies a shop under another id. A refusal says what to do on the command line. */
export async function copyShop(
  db: Database,
  config: Config,
  options: Omit<CopyOptions, 'finish'>,
): Promise<Copied> {
  const { from, to, withCustomers } = options;
  try {
    return await copy(db, config, {
      ...options,
      finish: async (tx) => {
        await recordCommand(tx, from, withCustomers ? 'shop copy --with-customers' : 'shop copy');
        await recordCommand(tx, to, 'shop copy');
      },
    });
  } catch (error) {
    throw error instanceof CopyProblem ? explained(error, from) : commandProblem(error);
  }
}

function explained({ reason, shopId }: CopyProblem, from: string): Error {
  if (reason === 'NO_SUCH_SHOP') return noSuchShop(shopId);
  return new CommandProblem(
    reason === 'IS_SANDBOX'
      ? `${from} is a sandbox of ${shopId}: add --sandbox to copy it.`
      : `${shopId} has ${MAX_SANDBOXES} sandboxes already. Delete one first: npx kontor shop delete ID`,
  );
}

import type { Config } from '../config.ts';
import { moveShop } from '../db/distribute.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { causeOfCommand, recordHostEvent } from '../host/log.ts';
import { suspendShop } from '../host/shops.ts';
import { deleteShop, findContents, findShops } from '../shops/shop/queries.ts';
import { requireConsent } from './ask.ts';
import { counted, noSuchShop, print, printTable, withDatabase, withShop, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';

/** Modules that few of them need are loaded on demand: a short command spends most of its time loading. */
export const handlers = {
  'shop create': async ({ config, arguments: [shopId], options }) => {
    const { createDemo, createFromAnswers } = await import('./shop-create.ts');
    await (options['demo'] === true
      ? createDemo(config, shopId!)
      : createFromAnswers(config, shopId!, options));
  },
  'shop open': async ({ config, arguments: [shopId], options }) => {
    const { openFromCommand } = await import('./shop-open.ts');
    await openFromCommand(config, shopId!, options['force'] === true);
  },
  'shop close': ({ config, arguments: [shopId] }) => close(config, shopId!),
  'shop list': ({ config }) =>
    withDatabase(config, async (db) => {
      const rows = await findShops(db, 100_000);
      if (rows.length === 0) {
        print('No shops yet. Create one: npx kontor shop create ID');
        return;
      }
      printTable(
        ['ID', 'NAME', 'STATE', 'CREATED'],
        rows.map(({ shopId, name, isOpen, isSuspended, deletionAt, sandboxOf, createdAt }) => [
          shopId,
          name,
          (deletionAt ? 'to be deleted' : isSuspended ? 'closed' : isOpen ? 'open' : 'not open yet') +
            (sandboxOf === null ? '' : `, sandbox of ${sandboxOf}`),
          createdAt.toISOString(),
        ]),
      );
    }),
  'shop delete': ({ config, arguments: [shopId], options }) =>
    withShop(config, shopId!, async (db) => {
      const { name, products, orders, customers } = (await findContents(db, shopId!))!;
      await requireConsent(
        options['yes'] === true,
        `This deletes the shop ${shopId} (${name}) for good, with ${counted(products, 'product')}, ${counted(orders, 'order')} and ${counted(customers, 'customer')}.`,
        shopId!,
      );
      const isDeleted = await db.transaction(async (tx) => {
        const deleted = await deleteShop(tx, shopId!);
        if (deleted) await recordHostEvent(tx, shopId!, 'SHOP_DELETED', null);
        return deleted;
      });
      if (!isDeleted) throw noSuchShop(shopId!);
      await removeImages(config, shopId!);
      print(`Shop ${shopId} deleted.`);
    }),
  'shop move': ({ config, arguments: [shopId], options }) =>
    withShop(config, shopId!, async (db) => {
      const target = String(options['to']);
      const source = await moveShop(db, shopId!, target);
      print(
        source === target
          ? `Shop ${shopId} is on ${target} already.`
          : `Shop ${shopId} moved from ${source} to ${target}.`,
      );
    }),
  'shop apply': async ({ config, arguments: [shopId, path], options }) => {
    const { applyFile } = await import('./shop-settings.ts');
    await applyFile(config, shopId!, path!, {
      isDryRun: options['dry-run'] === true,
      legalFolder: options['legal'] as string | undefined,
      pageFolder: options['pages'] as string | undefined,
    });
  },
  'shop export-settings': async ({ config, arguments: [shopId], options }) => {
    const { printSettings } = await import('./shop-settings.ts');
    await printSettings(config, shopId!, options['pages'] as string | undefined);
  },
} satisfies Handlers;

/** After the rows: no page names a missing file. */
async function removeImages(config: Config, shopId: string): Promise<void> {
  try {
    await openMediaStorage(config).removeShop(shopId);
  } catch (error) {
    const place = config.MEDIA_URL?.split('?', 1)[0] ?? `${config.KONTOR_DATA}/media`;
    throw new CommandProblem(
      `Shop ${shopId} is deleted, but its images are not (${(error as Error).message}). Remove what is below ${place}/${shopId} by hand.`,
      { cause: error },
    );
  }
}

function close(config: Config, shopId: string): Promise<void> {
  return withShop(config, shopId, async (db) => {
    await db.transaction(async (tx) => {
      await suspendShop(tx, shopId, causeOfCommand('shop close'));
    });
    print(`Shop ${shopId} is closed. Open it with: npx kontor shop open ${shopId}`);
  });
}

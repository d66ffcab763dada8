import { findShop } from '../../shops/shop/queries.ts';
import { installationKey, keyFromFile } from '../../platform/sealing.ts';
import { noSuchShop, print, recordCommand, withDatabase, withShop, type Handlers } from '../command.ts';
import { CommandProblem, UsageProblem } from '../problem.ts';
import { duration, startProgress, type Progress } from '../progress.ts';
import { checkBackup, type BackupManifest } from '../../platform/backup/manifest.ts';

export const handlers = {
  'shop backup': ({ config, arguments: [shopId, file] }) =>
    withShop(config, shopId!, async (db) => {
      const began = performance.now();
      const { backupShop } = await import('./backup.ts');
      let progress: Progress | undefined;
      const { manifest, files, missingFiles, bytes } = await backupShop(db, config, {
        shopId: shopId!,
        file: file!,
        onStart: (entries) => (progress = startProgress('rows and files', entries)),
        onProgress: (entries) => progress?.advance(entries),
      });
      progress?.end();
      print(`Shop ${shopId} is in ${file}: ${contents(manifest, files)}, ${size(bytes)}, ${since(began)}.`);
      if (missingFiles > 0) print(`Removed while the backup was made: ${counted(missingFiles, 'file')}.`);
    }),
  'shop copy': ({ config, arguments: [from, to], options }) =>
    withShop(config, from!, async (db) => {
      const began = performance.now();
      const { copyShop } = await import('./copy.ts');
      const isSandbox = options['sandbox'] === true;
      let progress: Progress | undefined;
      const { manifest, files } = await copyShop(db, config, {
        from: from!,
        to: to!,
        isSandbox,
        withCustomers: options['with-customers'] === true,
        onStart: (entries) => (progress = startProgress('rows and files', entries)),
        onProgress: (entries) => progress?.advance(entries),
      });
      progress?.end();
      const what = isSandbox ? `a sandbox of ${from}` : `a copy of ${from}`;
      print(`Shop ${to} is ${what}: ${contents(manifest, files)}, ${since(began)}.`);
      print(
        `Domains, tokens, apps, webhooks and the keys of payment providers stay with ${from}. Next: npx kontor token create ${to} --scopes all`,
      );
    }),
  'shop export': ({ config, arguments: [shopId, folder], options }) =>
    withShop(config, shopId!, async (db) => {
      if (options['open'] !== true)
        throw new UsageProblem(
          'Say --open: an export in open formats can be read elsewhere, but not restored.',
        );
      const began = performance.now();
      const { FolderNotEmpty, writeOpenExport } = await import('../../platform/backup/open-export.ts');
      // It discloses the data of all customers, which the merchant should see.
      await db.transaction((tx) => recordCommand(tx, shopId!, 'shop export'));
      const progress = startProgress('rows and files', 0);
      const done = await db
        .transaction(
          (tx) =>
            writeOpenExport(tx, config, {
              shopId: shopId!,
              folder: folder!,
              onProgress: (entries) => progress.advance(entries),
            }),
          { isolation: 'repeatable read' },
        )
        .catch((error: unknown) => {
          throw error instanceof FolderNotEmpty ? new CommandProblem(error.message) : error;
        });
      progress.end();
      if (!done) throw noSuchShop(shopId!);
      const rows = done.tables.reduce((sum, table) => sum + table.rows, 0);
      const parts = [
        `${rows} rows of ${done.tables.length} tables`,
        `${done.documents} documents`,
        `${done.pictures} picture files`,
      ];
      print(`Shop ${shopId} is in ${folder}: ${parts.join(', ')}, ${since(began)}.`);
    }),
  'shop restore': async ({ config, arguments: [file], options }) => {
    const began = performance.now();
    const { restoreShopFile: restoreShop, shopExists } = await import('./restore.ts');
    const { printPendingDomains, proveDomains } = await import('../domains.ts');
    const backup = await checkBackup(file!);
    const former =
      options['source-key'] === undefined ? undefined : await readKey(String(options['source-key']));
    const as = options['as'] === undefined ? undefined : String(options['as']);
    await withDatabase(config, async (db) => {
      const wanted = as ?? backup.manifest.shopId;
      if (await findShop(db, wanted)) throw shopExists(wanted);
      const progress = startProgress('rows and files', backup.bytes);
      const { shopId, files, appsWithoutSecret, webhooksWithoutSecret, paymentsWithoutKeys, unreadableKeys } =
        await restoreShop(db, config, backup, {
          as,
          keys: { own: await installationKey(config), former },
          onProgress: progress.advance,
        });
      progress.end();
      print(
        `Shop ${shopId} is restored from ${file}: ${contents(backup.manifest, files)}, ${size(backup.bytes)}, ${since(began)}.`,
      );
      print(
        shopId === backup.manifest.shopId
          ? `Access tokens of the backup are valid again. See: npx kontor token list ${shopId}`
          : `Access tokens, domains, webhooks and the keys of payment providers were left out, because the id is another one. Next: npx kontor token create ${shopId} --scopes all`,
      );
      await proveDomains(db, config, shopId);
      await printPendingDomains(db, config, shopId);
      if (appsWithoutSecret.length > 0) {
        print(
          `Secrets of these apps were left out, because they were sealed with another key (see --source-key): ${appsWithoutSecret.join(', ')}`,
        );
      }
      if (webhooksWithoutSecret > 0) {
        print(
          `Deactivated, because their secrets were sealed with another key: ${counted(webhooksWithoutSecret, 'webhook')}. Each needs a new secret: POST /manage/shops/${shopId}/webhooks/{webhookId}/secret`,
        );
      }
      if (paymentsWithoutKeys > 0) {
        print(
          `The keys of ${counted(paymentsWithoutKeys, 'payment method')} were left out, because they were sealed with another key. Set them again: npx kontor payment set ${shopId} METHOD`,
        );
      }
      if (unreadableKeys > 0) {
        print(
          `Nobody can read ${counted(unreadableKeys, 'licence key')}, because they were sealed with another key (see --source-key).`,
        );
      }
    });
  },
} satisfies Handlers;

/** `12 products, 3 orders, 2 customers, 1 document, 40 files` */
function contents({ tables }: BackupManifest, files: number): string {
  const rowsOf = (name: string) => tables.find((table) => table.name === name)?.rows ?? 0;
  return [
    counted(rowsOf('product'), 'product'),
    counted(rowsOf('customer_order'), 'order'),
    counted(rowsOf('customer'), 'customer'),
    counted(rowsOf('order_document'), 'document'),
    counted(files, 'file'),
  ].join(', ');
}

function counted(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`;
}

function size(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

function since(began: number): string {
  return duration(performance.now() - began);
}

function readKey(file: string): Promise<Buffer> {
  return keyFromFile(file).catch((error: Error) => {
    throw new CommandProblem(`Cannot read ${file}: ${error.message}`, { cause: error });
  });
}

import type { Config } from '../config.ts';
import { moveShop } from '../db/distribute.ts';
import { backupCommands } from './backup/commands.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { deleteShop, findContents, findShops, updateSuspension } from '../shops/shop/queries.ts';
import { requireConsent } from './ask.ts';
import {
  CommandProblem,
  counted,
  noSuchShop,
  print,
  printTable,
  recordCommand,
  withDatabase,
  withShop,
  type Command,
} from './command.ts';

/** What few of them need is loaded by those: a short command takes most of its time to load. */
export const shopCommands: Command[] = [
  {
    name: 'shop create',
    arguments: ['ID'],
    summary: 'Create a shop.',
    details:
      'ID is 1 to 63 letters, digits, - or _, and begins every address of the shop. On a terminal you are asked for what\n' +
      'you do not say; elsewhere, and with --yes, it is the default. The shop can sell at once: it has the taxes of its\n' +
      'country, a way to deliver and a way to pay, drafts of its legal texts, and a logo drawn from its name.',
    example: 'shop create MyShop --name "Tea & Time" --country AT --email hello@tea-time.example',
    options: {
      name: { type: 'string', value: 'NAME', summary: 'What customers read (default: the id).' },
      country: {
        type: 'string',
        value: 'CODE',
        summary: 'Where the shop sits and delivers to (default: DE).',
      },
      language: {
        type: 'string',
        value: 'LOCALE',
        summary: 'Such as de or de_AT (default: of the country, else en_GB).',
      },
      currency: { type: 'string', value: 'CODE', summary: 'Such as EUR (default: of the country).' },
      email: { type: 'string', value: 'ADDRESS', summary: 'Where customers write to.' },
      closed: { type: 'boolean', summary: 'Show it to nobody until: npx kontor shop open ID' },
      yes: { type: 'boolean', summary: 'Do not ask.' },
      demo: { type: 'boolean', summary: 'Fill it with the data of the demo shop instead.' },
    },
    run: async ({ config, arguments: [shopId], options }) => {
      const { createDemo, createFromAnswers } = await import('./shop-create.ts');
      await (options['demo'] === true
        ? createDemo(config, shopId!)
        : createFromAnswers(config, shopId!, options));
    },
  },
  {
    name: 'shop open',
    arguments: ['ID'],
    summary: 'Open a shop that is closed.',
    example: 'shop open MyShop',
    run: ({ config, arguments: [shopId] }) => setOpen(config, shopId!, true),
  },
  {
    name: 'shop close',
    arguments: ['ID'],
    summary: 'Close a shop: only its admin works.',
    details: 'Pages and API refuse everybody, within seconds. Nothing is lost.',
    example: 'shop close MyShop',
    run: ({ config, arguments: [shopId] }) => setOpen(config, shopId!, false),
  },
  {
    name: 'shop list',
    summary: 'List the shops.',
    example: 'shop list',
    run: ({ config }) =>
      withDatabase(config, async (db) => {
        const rows = await findShops(db, 100_000);
        if (rows.length === 0) {
          print('No shops yet. Create one: npx kontor shop create ID');
          return;
        }
        printTable(
          ['ID', 'NAME', 'STATE', 'CREATED'],
          rows.map(({ shopId, name, isOpen, createdAt }) => [
            shopId,
            name,
            isOpen ? 'open' : 'closed',
            createdAt.toISOString(),
          ]),
        );
      }),
  },
  {
    name: 'shop delete',
    arguments: ['ID'],
    summary: 'Delete a shop and everything in it.',
    details: 'It cannot be undone. Write a backup first: npx kontor shop backup ID FILE',
    example: 'shop delete MyShop',
    options: { yes: { type: 'boolean', summary: 'Do not ask.' } },
    run: ({ config, arguments: [shopId], options }) =>
      withShop(config, shopId!, async (db) => {
        const { name, products, orders, customers } = (await findContents(db, shopId!))!;
        await requireConsent(
          options['yes'] === true,
          `This deletes the shop ${shopId} (${name}) for good, with ${counted(products, 'product')}, ${counted(orders, 'order')} and ${counted(customers, 'customer')}.`,
          shopId!,
        );
        if (!(await db.transaction((tx) => deleteShop(tx, shopId!)))) throw noSuchShop(shopId!);
        await removeImages(config, shopId!);
        print(`Shop ${shopId} deleted.`);
      }),
  },
  {
    name: 'shop move',
    arguments: ['ID'],
    summary: 'Move a shop to another node of the cluster.',
    details:
      'The shop sells meanwhile; its writes wait for a moment at the end. NODE is the host and port of a worker, as\n' +
      'npx kontor db status shows it. A shop that was moved has shards of its own, and can be moved again at once.',
    example: 'shop move MyShop --to db2.internal:5432',
    options: {
      to: { type: 'string', value: 'NODE', summary: 'The node, such as db2.internal:5432.', required: true },
    },
    run: ({ config, arguments: [shopId], options }) =>
      withShop(config, shopId!, async (db) => {
        const target = String(options['to']);
        const source = await moveShop(db, shopId!, target);
        print(
          source === target
            ? `Shop ${shopId} is on ${target} already.`
            : `Shop ${shopId} moved from ${source} to ${target}.`,
        );
      }),
  },
  {
    name: 'shop apply',
    arguments: ['ID', 'FILE.yaml'],
    summary: 'Apply settings from a file; says what changes.',
    details:
      'A section that the file does not name stays as it is; a section that it names is replaced as a whole.\nApplying the same file again changes nothing. Two complete files are in examples/.',
    example: 'shop apply MyShop examples/german-shop.yaml --dry-run',
    options: { 'dry-run': { type: 'boolean', summary: 'Only say what would change.' } },
    run: async ({ config, arguments: [shopId, path], options }) => {
      const { applyFile } = await import('./shop-settings.ts');
      await applyFile(config, shopId!, path!, options['dry-run'] === true);
    },
  },
  {
    name: 'shop export-settings',
    arguments: ['ID'],
    summary: 'Print the settings as a file for shop apply.',
    example: 'shop export-settings MyShop > my-shop.yaml',
    run: async ({ config, arguments: [shopId] }) => {
      const { printSettings } = await import('./shop-settings.ts');
      await printSettings(config, shopId!);
    },
  },
  ...backupCommands,
];

/** After the rows: no page names a file that is not there. */
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

function setOpen(config: Config, shopId: string, isOpen: boolean): Promise<void> {
  return withShop(config, shopId, async (db) => {
    await db.transaction(async (tx) => {
      await updateSuspension(tx, shopId, isOpen ? null : tx.now);
      await recordCommand(tx, shopId, isOpen ? 'shop open' : 'shop close');
    });
    print(
      isOpen
        ? `Shop ${shopId} is open: whoever can reach it can order.`
        : `Shop ${shopId} is closed. Open it with: npx kontor shop open ${shopId}`,
    );
  });
}

import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { moveShop } from '../db/distribute.ts';
import { violatedConstraint } from '../db/failure.ts';
import { backupCommands } from './backup/commands.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { deleteShop, findShops } from '../shops/shop/queries.ts';
import {
  CommandProblem,
  noSuchShop,
  print,
  printTable,
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
      'ID is 1 to 63 letters, digits, - or _, and begins every address of the shop. The new shop sells in Germany,\nin English and in euros; give it your own settings with: npx kontor shop apply ID FILE.yaml',
    options: { demo: { type: 'boolean', summary: 'Fill it with the data of the demo shop.' } },
    run: ({ config, arguments: [shopId], options }) =>
      withDatabase(config, async (db) => {
        if (options['demo']) {
          const token = await insertDemo(db, config, shopId!);
          print(`Shop ${shopId} created with demo data. Access token: ${token}`);
          return;
        }
        await insertPlainShop(db, shopId!);
        print(`Shop ${shopId} created. Next: npx kontor shop apply ${shopId} FILE.yaml`);
      }),
  },
  {
    name: 'shop list',
    summary: 'List the shops.',
    run: ({ config }) =>
      withDatabase(config, async (db) => {
        const rows = await findShops(db, 100_000);
        if (rows.length === 0) {
          print('No shops yet. Create one: npx kontor shop create ID');
          return;
        }
        printTable(
          ['ID', 'NAME', 'CREATED'],
          rows.map(({ shopId, name, createdAt }) => [shopId, name, createdAt.toISOString()]),
        );
      }),
  },
  {
    name: 'shop delete',
    arguments: ['ID'],
    summary: 'Delete a shop and everything in it.',
    run: ({ config, arguments: [shopId] }) =>
      withDatabase(config, async (db) => {
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
    run: async ({ config, arguments: [shopId, path] }) => {
      const { applyFile } = await import('./shop-settings.ts');
      await applyFile(config, shopId!, path!);
    },
  },
  {
    name: 'shop export-settings',
    arguments: ['ID'],
    summary: 'Print the settings as a file for shop apply.',
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

async function insertPlainShop(db: Database, shopId: string): Promise<void> {
  const { insertShop } = await import('../shops/shop/insert-shop.ts');
  const shop = {
    shopId,
    name: shopId,
    email: `shop@${shopId.toLowerCase()}.example`,
    country: 'DE',
    locale: 'en_GB',
    currency: 'EUR',
  };
  await createOrExplain(shopId, () => db.transaction((tx) => insertShop(tx, shop)));
}

/** Returns the access token of the new shop. */
async function insertDemo(db: Database, config: Config, shopId: string): Promise<string> {
  const [{ insertDemoShop }, { insertDemoCarts }, { insertDemoOrders }, { addDemoFiles }] = await Promise.all(
    [
      import('./demo/demo-shop.ts'),
      import('./demo/carts.ts'),
      import('./demo/orders.ts'),
      import('./demo/add-files.ts'),
    ],
  );
  const options = { shopId, knownTokens: false, rateLimit: config.RATE_LIMIT };
  const token = await createOrExplain(shopId, () =>
    db.transaction(async (tx) => {
      const made = await insertDemoShop(tx, options);
      await insertDemoCarts(tx, shopId, options);
      await insertDemoOrders(tx, shopId, options);
      return made;
    }),
  );
  await addDemoFiles(db, config, shopId);
  return token;
}

async function createOrExplain<Result>(shopId: string, create: () => Promise<Result>): Promise<Result> {
  try {
    return await create();
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'shop_pkey') throw new CommandProblem(`There is a shop ${shopId} already.`);
    if (constraint === 'shop_id_form') {
      throw new CommandProblem(
        `${JSON.stringify(shopId)} cannot be the id of a shop: use 1 to 63 letters, digits, - or _.`,
      );
    }
    throw error;
  }
}

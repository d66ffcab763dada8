import { readFile } from 'node:fs/promises';
import type { Transaction } from '../db/database.ts';
import { violatedConstraint } from '../db/failure.ts';
import { insertDemoShop } from '../demo/demo-shop.ts';
import { countShops, deleteShop, findShops, insertShop } from '../shop/queries.ts';
import { applySettings, exportSettings, parseSettingsFile, settingsText } from '../shop/settings-file.ts';
import { CommandProblem, print, printTable, withDatabase, type Command } from './command.ts';

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
          const token = await createOrExplain(shopId!, () =>
            db.transaction((tx) =>
              insertDemoShop(tx, { shopId: shopId!, knownTokens: false, rateLimit: config.RATE_LIMIT }),
            ),
          );
          print(`Shop ${shopId} created with demo data. Access token: ${token}`);
          return;
        }
        await createOrExplain(shopId!, () => db.transaction((tx) => insertPlainShop(tx, shopId!)));
        print(`Shop ${shopId} created. Next: npx kontor shop apply ${shopId} FILE.yaml`);
      }),
  },
  {
    name: 'shop list',
    summary: 'List the shops.',
    run: ({ config }) =>
      withDatabase(config, async (db) => {
        const rows = await findShops(db, 100_000);
        printTable(
          ['ID', 'NAME', 'CREATED'],
          rows.map(({ shopId, name, createdAt }) => [shopId, name, createdAt.toISOString()]),
        );
        if ((await countShops(db)) === 0) print('No shops yet. Create one: npx kontor shop create ID');
      }),
  },
  {
    name: 'shop delete',
    arguments: ['ID'],
    summary: 'Delete a shop and everything in it.',
    run: ({ config, arguments: [shopId] }) =>
      withDatabase(config, async (db) => {
        if (!(await db.transaction((tx) => deleteShop(tx, shopId!)))) throw noSuchShop(shopId!);
        print(`Shop ${shopId} deleted.`);
      }),
  },
  {
    name: 'shop apply',
    arguments: ['ID', 'FILE.yaml'],
    summary: "Set a shop's settings from a file, and say what changes.",
    details:
      'A section that the file does not name stays as it is; a section that it names is replaced as a whole.\nApplying the same file again changes nothing. Two complete files are in examples/.',
    run: ({ config, arguments: [shopId, path] }) =>
      withDatabase(config, async (db) => {
        const file = parseSettingsFile(await readSettings(path!));
        const changes = await db.transaction((tx) => applySettings(tx, shopId!, file));
        for (const change of changes) print(change);
        print(
          changes.length === 0 ? 'Nothing to change.' : `${changes.length} changes applied to ${shopId}.`,
        );
      }),
  },
  {
    name: 'shop export-settings',
    arguments: ['ID'],
    summary: "Print a shop's settings as a file that shop apply takes.",
    run: ({ config, arguments: [shopId] }) =>
      withDatabase(config, async (db) => {
        process.stdout.write(settingsText(await exportSettings(db, shopId!)));
      }),
  },
];

export const noSuchShop = (shopId: string) =>
  new CommandProblem(`There is no shop ${JSON.stringify(shopId)}. See: npx kontor shop list`);

function insertPlainShop(tx: Transaction, shopId: string): Promise<void> {
  return insertShop(tx, {
    shopId,
    name: shopId,
    email: `shop@${shopId.toLowerCase()}.example`,
    country: 'DE',
    locale: 'en_GB',
    currency: 'EUR',
  });
}

async function createOrExplain<Result>(shopId: string, create: () => Promise<Result>): Promise<Result> {
  try {
    return await create();
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'shop_pkey') throw new CommandProblem(`There is a shop ${shopId} already.`);
    if (constraint === 'shop_id_form') {
      throw new CommandProblem(
        `${JSON.stringify(shopId)} can not be the id of a shop: use 1 to 63 letters, digits, - or _.`,
      );
    }
    throw error;
  }
}

async function readSettings(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandProblem(`Can not read ${path}: ${(error as Error).message}`);
  }
}

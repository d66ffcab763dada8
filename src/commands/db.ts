import { distribute, readCluster, type Cluster } from '../db/distribute.ts';
import { migrate, migrationStatus } from '../db/migrate.ts';
import { print, printTable, UsageProblem, withBareDatabase, withDatabase, type Command } from './command.ts';
import { startProgress, type Progress } from './progress.ts';

/** What Citus takes by default: enough for 32 machines. */
const SHARDS = 32;

export const dbCommands: Command[] = [
  {
    name: 'db migrate',
    summary: 'Bring the schema up to date (every start does).',
    example: 'db migrate',
    run: ({ config }) =>
      withBareDatabase(config, async (db) => {
        await migrate(db, print);
        print('The schema is up to date.');
      }),
  },
  {
    name: 'db status',
    summary: 'Show the migrations, and where shops live.',
    example: 'db status',
    run: ({ config }) =>
      withBareDatabase(config, async (db) => {
        const rows = await migrationStatus(db);
        printTable(
          ['MIGRATION', 'APPLIED'],
          rows.map(({ name, appliedAt }) => [
            name,
            appliedAt?.toISOString() ?? 'no, run: npx kontor db migrate',
          ]),
        );
        const cluster = await readCluster(db);
        if (cluster) printCluster(cluster);
      }),
  },
  {
    name: 'db distribute',
    summary: 'Distribute the tables over a Citus cluster.',
    details:
      'DATABASE_URL is the coordinator of the cluster. Every table of shops is distributed by shop, with its rows, and\n' +
      'all rows of one shop are on one node. Stop the service before: the tables are locked until it is done. It is done\n' +
      'as a whole or not at all, and may be called again. See docs/operations/citus.md.',
    example: 'db distribute --shards 64',
    options: {
      shards: {
        type: 'string',
        value: 'N',
        summary: `Pieces of each table, and so the most nodes it can have (${SHARDS}).`,
      },
    },
    run: ({ config, options }) => {
      const shards = Number(options['shards'] ?? SHARDS);
      if (!Number.isInteger(shards) || shards < 1 || shards > 1_024) {
        throw new UsageProblem('--shards is a number from 1 to 1024. See: npx kontor db distribute --help');
      }
      return withDatabase(config, async (db) => {
        let progress: Progress | undefined;
        const { distributed, references, foreignKeys } = await distribute(db, {
          shards,
          onStart: (steps) => (progress = startProgress('steps', steps)),
          onStep: () => progress?.advance(1),
        });
        progress?.end();
        if (distributed.length + references.length === 0) {
          print('Everything is distributed already. See: npx kontor db status');
          return;
        }
        print(`Distributed by shop: ${distributed.join(', ')}.`);
        if (references.length > 0) print(`Copied to every node: ${references.join(', ')}.`);
        print(`${foreignKeys} foreign keys dropped and added again.`);
        print('Next: npx kontor db status');
      });
    },
  },
];

function printCluster({ nodes, tables }: Cluster): void {
  print('');
  printTable(
    ['NODE', 'SHARDS', 'SHOPS'],
    nodes.map(({ name, shards, shops }) => [
      name,
      String(shards),
      shops === null ? 'does not answer' : String(shops),
    ]),
  );
  const named = (placement: string) =>
    tables.filter((table) => table.placement === placement).map(({ name }) => name);
  print('');
  print(`${named('distributed').length} tables are distributed by shop.`);
  print(`On every node: ${named('reference').join(', ') || 'none'}.`);
  print(`On the coordinator only: ${named('local').join(', ')}.`);
}

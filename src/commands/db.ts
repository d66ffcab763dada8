import { distribute, readCluster, type Cluster } from '../db/distribute.ts';
import { migrate, migrationStatus } from '../db/migrate.ts';
import { print, printTable, withBareDatabase, withDatabase, type Handlers } from './command.ts';
import { UsageProblem } from './problem.ts';
import { startProgress, type Progress } from './progress.ts';

/** The default of Citus: enough for 32 machines. The help of the command says so too. */
const SHARDS = 32;

export const handlers = {
  'db migrate': ({ config }) =>
    withBareDatabase(config, async (db) => {
      await migrate(db, print);
      print('The schema is up to date.');
    }),
  'db status': ({ config }) =>
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
  'db distribute': ({ config, options }) => {
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
} satisfies Handlers;

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

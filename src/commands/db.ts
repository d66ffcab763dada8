import { migrate, migrationStatus } from '../db/migrate.ts';
import { print, printTable, withBareDatabase, type Command } from './command.ts';

export const dbCommands: Command[] = [
  {
    name: 'db migrate',
    summary: 'Bring the schema up to date (every start does).',
    run: ({ config }) =>
      withBareDatabase(config, async (db) => {
        await migrate(db, print);
        print('The schema is up to date.');
      }),
  },
  {
    name: 'db status',
    summary: 'Show which migrations are applied.',
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
      }),
  },
];

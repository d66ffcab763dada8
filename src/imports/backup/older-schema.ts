import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { readMigrations, type Migration } from '../../db/migrate.ts';
import { catalogueSql, sql } from '../../db/sql.ts';
import { findShopTables, quoted } from '../../platform/backup/tables.ts';

/**
 * Rows of an older schema are brought up to date by the migrations themselves, as in an installation that is updated:
 * a temporary schema gets the tables as they were then, the rows are inserted there, the later migrations run, and the
 * resulting rows move into the real tables. All of it is in the transaction of the restore, so it is never visible
 * elsewhere.
 */
export async function openOlderSchema(
  tx: Transaction,
  lastMigration: string,
): Promise<{ moveRows: () => Promise<void> }> {
  const current = await tx.one<{ name: string }>(sql`select current_schema() as name`);
  const [real, older] = [quoted(current!.name), quoted(`restore_${randomBytes(6).toString('hex')}`)];
  const migrations = await readMigrations();
  // On a cluster the schema stays on the coordinator: Citus refuses to create one on all nodes in a transaction that
  // has read all shops. Without Citus the setting has no effect.
  await execute(tx, 'set local citus.enable_ddl_propagation = off');
  await execute(tx, `create schema ${older}`);
  // Tables are found in the first of these, extension functions in the second.
  await execute(tx, `set local search_path = ${older}, ${real}`);
  const isEarlier = ({ name }: Migration) => name <= lastMigration;
  await apply(tx, migrations.filter(isEarlier));

  return {
    async moveRows() {
      await apply(
        tx,
        migrations.filter((migration) => !isEarlier(migration)),
      );
      await execute(tx, `set local search_path = ${real}`);
      for (const { name, columns } of await findShopTables(tx)) {
        const names = ['shop_id', ...columns.map((column) => quoted(column.name))].join(', ');
        const table = quoted(name);
        await execute(tx, `insert into ${table} (${names}) select ${names} from ${older}.${table}`);
      }
      await execute(tx, `drop schema ${older} cascade`);
    },
  };
}

async function apply(tx: Transaction, migrations: readonly Migration[]): Promise<void> {
  for (const { statements } of migrations) {
    for (const statement of statements) await execute(tx, statement);
  }
}

async function execute(tx: Transaction, statement: string): Promise<void> {
  await tx.run(catalogueSql([statement]));
}

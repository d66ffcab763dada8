import { createHash } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { catalogueSql, sql } from '../../db/sql.ts';
import { findShopTables, quoted } from './tables.ts';

/**
 * What the rows of a shop are like at this moment: two equal marks mean that a backup would be the same. Every row
 * names the transaction that wrote it, and later transactions have higher numbers: as long as neither the number of
 * the rows of a table nor the sum of these has changed, no row was added, changed or removed. No value is read.
 */
export async function markOfShop(tx: Transaction, shopId: string): Promise<string> {
  const applied = await tx.one<{ name: string }>(sql`select name from migration order by name desc limit 1`);
  const tables = await findShopTables(tx);
  const begin = (name: string) =>
    `select ${literal(name)} as name, count(*) as rows, coalesce(sum(xmin::text::bigint), 0)::text as written
      from ${quoted(name)} where shop_id = `;
  const strings = tables.map(({ name }, index) => `${index === 0 ? '' : ' union all '}${begin(name)}`);
  const rows = await tx.many(
    catalogueSql(
      [...strings, ''],
      tables.map(() => shopId),
    ),
  );
  const hash = createHash('sha256').update(applied!.name);
  return hash.update(JSON.stringify(rows)).digest('hex');
}

/** Names of tables are our own, and none has an apostrophe. */
const literal = (name: string) => `'${name}'`;

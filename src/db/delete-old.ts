import type { Queries } from './database.ts';
import { Sql } from './sql.ts';

type KeyType = 'uuid' | 'text' | 'bytea' | 'date';

/**
 * The deletion of rows of all shops whose time is over, oldest first: a function that deletes at most `limit` rows, and
 * returns how many. `key` are the columns of the primary key beside `shop_id`, with their types. A DELETE has no limit,
 * so the rows are found first.
 */
export function deleteOld(
  table: string,
  time: string,
  key: Readonly<Record<string, KeyType>>,
): (db: Queries, before: Date | string, limit: number) => Promise<number> {
  const types = Object.entries<KeyType>({ shop_id: 'text', ...key });
  const columns = types.map(([column]) => column);
  const selected = types.map(([column, type]) => (type === 'bytea' ? column : `${column}::text`));
  const isSame = columns.map((column) => `${table}.${column} = old.${column}`).join(' and ');
  const find = [
    `select ${selected.join(', ')} from ${table} where ${time} < `,
    ` order by ${time} limit `,
    '',
  ];
  const remove = [
    `delete from ${table} using unnest(`,
    ...types.slice(0, -1).map(([, type]) => `::${type}[], `),
    `::${types.at(-1)![1]}[]) as old (${columns.join(', ')}) where ${isSame}`,
  ];
  return async (db, before, limit) => {
    const old = await db.many<Record<string, unknown>>(new Sql(find, [before, limit]));
    if (old.length === 0) return 0;
    const keys = columns.map((column) => old.map((row) => row[column]));
    await db.run(new Sql(remove, keys));
    return old.length;
  };
}

import { Sql } from './sql.ts';

type ColumnType =
  | 'uuid'
  | 'text'
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'bytea'
  | 'timestamptz'
  | 'boolean'
  | 'json'
  | 'jsonb';

/**
 * The insert of a table: a function that makes the statement for rows of one shop. `columns` are the written columns
 * beside `shop_id`, with their types.
 *
 * It has two texts. A single row is sent as VALUES, which Citus passes to the shard as it is: a third to a half of the
 * cost of planning a select for each shard. Several rows are sent as JSON, so the text does not depend on their
 * number; joining the shop tells Citus that all of them belong to one shard.
 */
export function insertInto<Column extends string>(
  table: string,
  columns: Readonly<Record<Column, ColumnType>>,
): (shopId: string, rows: readonly Readonly<Record<Column, unknown>>[]) => Sql {
  const types = Object.entries<ColumnType>(columns) as [Column, ColumnType][];
  const names = types.map(([name]) => name);
  const target = `insert into ${table} (shop_id, ${names.join(', ')})`;
  const ofOne = [`${target} values (`, ...names.map(() => ', '), ')'];
  const ofMany = [
    `${target} select shop.shop_id, ${names.map((name) => `given.${name}`).join(', ')} from shop cross join json_to_recordset(`,
    `) as given (${types.map((column) => column.join(' ')).join(', ')}) where shop.shop_id = `,
    '',
  ];
  return (shopId, rows) => {
    const [row] = rows;
    if (!row || rows.length > 1) return new Sql(ofMany, [JSON.stringify(rows), shopId]);
    return new Sql(ofOne, [shopId, ...types.map(([name, type]) => toParameter(row[name], type))]);
  };
}

/** An array is JSON only if its column is: otherwise pg would send it as an array of PostgreSQL. */
function toParameter(value: unknown, type: ColumnType): unknown {
  const isJson = type === 'json' || type === 'jsonb';
  return isJson && value !== null ? JSON.stringify(value) : value;
}

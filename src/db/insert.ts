import { Sql } from './sql.ts';

type ColumnType =
  | 'uuid'
  | 'uuid[]'
  | 'text'
  | 'text[]'
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'bytea'
  | 'date'
  | 'timestamptz'
  | 'boolean'
  | 'json'
  | 'jsonb';

/** A row that exists already gets the new values. */
interface Conflict<Column> {
  /** The unique key that finds it, beside `shop_id`. */
  key: readonly Column[];
  /** Columns that keep their values. If these are all others, the row stays as it is. */
  keep?: readonly Column[];
}

/**
 * The insert of a table: a function that makes the statement for rows of one shop. `columns` are the written columns
 * beside `shop_id`, with their types. They are named as the properties of the rows: `taxClassId` is `tax_class_id` in
 * the table. Without a `conflict`, a row that exists already is an error.
 *
 * It has two texts. A single row is sent as VALUES, which Citus passes to the shard as it is: a third to a half of the
 * cost of planning a select for each shard. Several rows are sent as JSON, so the text does not depend on their
 * number; joining the shop tells Citus that all of them belong to one shard.
 */
export function insertInto<Column extends string>(
  table: string,
  columns: Readonly<Record<Column, ColumnType>>,
  conflict?: Conflict<NoInfer<Column>>,
): (shopId: string, rows: readonly Readonly<Record<Column, unknown>>[]) => Sql {
  const types = Object.entries<ColumnType>(columns) as [Column, ColumnType][];
  const names = types.map(([name]) => name);
  const target = `insert into ${table} (shop_id, ${names.map(toColumn).join(', ')})`;
  const ending = conflict ? conflictClause(names, conflict) : '';
  const ofOne = [`${target} values (`, ...names.map(() => ', '), `)${ending}`];
  const ofMany = [
    `${target} select shop.shop_id, ${names.map((name) => `given."${name}"`).join(', ')} from shop cross join json_to_recordset(`,
    `) as given (${types.map(([name, type]) => `"${name}" ${type}`).join(', ')}) where shop.shop_id = `,
    ending,
  ];
  return (shopId, rows) => {
    const [row] = rows;
    if (!row || rows.length > 1) return new Sql(ofMany, [JSON.stringify(rows), shopId]);
    return new Sql(ofOne, [shopId, ...types.map(([name, type]) => toParameter(row[name], type))]);
  };
}

function conflictClause(names: readonly string[], { key, keep = [] }: Conflict<string>): string {
  const found = ` on conflict (${['shop_id', ...key.map(toColumn)].join(', ')})`;
  const replaced = names.filter((name) => !key.includes(name) && !keep.includes(name)).map(toColumn);
  if (replaced.length === 0) return `${found} do nothing`;
  return `${found} do update set ${replaced.map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

function toColumn(property: string): string {
  return property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An array is JSON only if its column is: otherwise pg would send it as an array of PostgreSQL. */
function toParameter(value: unknown, type: ColumnType): unknown {
  const isJson = type === 'json' || type === 'jsonb';
  return isJson && value !== null ? JSON.stringify(value) : value;
}

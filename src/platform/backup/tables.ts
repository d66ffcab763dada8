import pg from 'pg';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * Tables with rows of a shop that a backup leaves out, and why. All others are included: they are read from the
 * database's own catalogue, so a new table can't be forgotten.
 */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  account_session:
    'Shoppers sign in again: a browser that was signed out since the backup must not be signed in by a restore.',
  app_call_log: 'Calls of apps are recorded by the installation that made them.',
  app_use: 'Calls are counted by the installation that answered them.',
  assistant_call: 'Calls are noted by the installation that answered them.',
  assistant_key:
    'A key is sealed with the key of the installation, and is made anew in a restored shop, so that two shops do not sign alike.',
  assistant_plan: 'What an assistant proposes can be confirmed for 15 minutes, where it was proposed.',
  authorisation_code: 'A code that installs an app is valid for ten minutes.',
  bulk_edit: 'Many products are changed, and changed back, by the installation in which it was asked for.',
  bulk_edit_item:
    'Many products are changed, and changed back, by the installation in which it was asked for.',
  cart_day_run: 'Carts are counted by each installation by itself.',
  consent_code: 'A code of a consent is valid for five minutes.',
  customer_total: 'Totals are counted from the orders, in every installation by itself.',
  customer_total_run: 'Totals are counted from the orders, in every installation by itself.',
  document_delivery: 'Documents are sent by the installation that finalised them, and nobody gets one twice.',
  dkim_key: 'The key of a signature belongs to a record at a domain, and is made anew in a restored shop.',
  domain_status: 'Where domains lead is found out by the installation that they lead to.',
  email_problem: 'Which addresses get no emails is found out by the installation that sends them.',
  email_relay:
    'The password of a mail server is entered again in a restored shop, so that two installations do not send by it.',
  host_link: 'A link that signs in is valid for minutes, and only where it was made.',
  idempotent_answer:
    'First answers are kept for a day, for clients that repeat a request to this installation.',
  import_picture: 'Pictures wait for an import of the installation that they were sent to.',
  job: 'Waiting emails are sent by the installation that queued them, and nobody gets one twice.',
  mailing_recipient:
    'Mailings are sent by the installation that collected their recipients, and nobody gets one twice.',
  mailing_run:
    'Mailings are sent by the installation that collected their recipients, and nobody gets one twice.',
  missed_address: 'Visits are counted by the installation that answered them.',
  product_import:
    'A file is imported by the installation that it was sent to; what came of it is in the products.',
  refresh_token:
    'A person connects their assistant again: a token that was used since the backup must not come back by a restore.',
  report_day: 'Reports are counted from the orders, in every installation by itself.',
  report_month: 'Reports are counted from the orders, in every installation by itself.',
  report_month_state: 'Reports are counted from the orders, in every installation by itself.',
  report_run: 'Reports are counted from the orders, in every installation by itself.',
  report_state: 'Reports are counted from the orders, in every installation by itself.',
  sandbox_copy: 'A sandbox is made by the installation in which it was asked for.',
  sandbox_email: 'The last emails of a sandbox are for those who try something out in it.',
  shop_day: 'What a shop uses is counted by the installation that it is in, for the bills of its host.',
  shop_move: 'A shop is moved by the installation that was asked to; what came of it is in the shop.',
  shop_move_line: 'A shop is moved by the installation that was asked to; what came of it is in the shop.',
  shop_move_part: 'Files wait for a move by the installation that they were sent to.',
  sign_in_request:
    'A link or code that signs in is valid for 15 minutes, and is made with the key of the installation.',
  saved_view: 'Views belong to the people of this installation, as their roles do.',
  shop_user:
    'Who may work in a shop is decided by the installation that it is in: a backup must not let anybody in who was removed since.',
  support_grant:
    'Support access is granted by an owner in this installation: neither a restored shop nor a copy carries it.',
  support_visit: 'A session of support ends with its grant; the audit log names who was in.',
  transport_account:
    'The key of an access point is entered again in a restored shop, so that two installations do not send the same.',
  mail_day: 'Emails per recipient are counted for two days, under a hash that holds the id of the shop.',
};

export interface TableColumn {
  name: string;
  type: string;
}

/** A table with rows of a shop. */
export interface ShopTable {
  name: string;
  /** The stored columns: without generated ones, and without shop_id, which is the same in all rows. */
  columns: TableColumn[];
  /** The primary key, without shop_id. */
  key: string[];
  foreignKeys: ForeignKey[];
}

interface ForeignKey {
  table: string;
  /** Without shop_id, which is in every foreign key; `target` are the referenced columns. */
  columns: string[];
  target: string[];
}

/** The tables of a backup, in the order in which their rows can be inserted. */
export function findShopTables(db: Queries): Promise<ShopTable[]> {
  return findTablesOfShops(db, Object.keys(LEFT_OUT));
}

/** All tables with rows of shops, in the order in which their rows can be inserted. */
export async function findTablesOfShops(db: Queries, leftOut: readonly string[] = []): Promise<ShopTable[]> {
  const tables = await db.many<ShopTable>(sql`
    select shop_table.relname as name,
      (
        select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
        from pg_attribute
        where attrelid = shop_table.oid and attnum > 0 and not attisdropped and attgenerated = ''
          and attname <> 'shop_id'
      ) as columns,
      (
        select coalesce(json_agg(attname order by place) filter (where attname <> 'shop_id'), '[]')
        from pg_index cross join unnest(indkey) with ordinality as part (number, place)
        join pg_attribute on attrelid = indrelid and attnum = part.number
        where indrelid = shop_table.oid and indisprimary
      ) as key,
      (
        select coalesce(json_agg(json_build_object(
          'table', target.relname,
          'columns', (
            select coalesce(json_agg(attname order by place) filter (where attname <> 'shop_id'), '[]')
            from unnest(conkey) with ordinality as part (number, place)
            join pg_attribute on attrelid = conrelid and attnum = part.number
          ),
          'target', (
            select coalesce(json_agg(attname order by place) filter (where attname <> 'shop_id'), '[]')
            from unnest(confkey) with ordinality as part (number, place)
            join pg_attribute on attrelid = confrelid and attnum = part.number
          )
        ) order by conname), '[]')
        from pg_constraint join pg_class target on target.oid = confrelid
        where conrelid = shop_table.oid and contype = 'f'
      ) as "foreignKeys"
    from pg_class shop_table join pg_namespace on pg_namespace.oid = shop_table.relnamespace
    where nspname = current_schema() and relkind in ('r', 'p') and shop_table.relname <> all (${leftOut}::text[])
      and exists (
        select from pg_attribute
        where attrelid = shop_table.oid and attname = 'shop_id' and not attisdropped)
    order by shop_table.relname`);
  return insertionOrder(tables);
}

/** Sorts tables after those that their foreign keys refer to. The shop itself is the first. */
export function insertionOrder(tables: readonly ShopTable[]): ShopTable[] {
  const ordered: ShopTable[] = [];
  let left = tables.toSorted((one, other) => Number(other.name === 'shop') - Number(one.name === 'shop'));
  while (left.length > 0) {
    const missing = new Set(left.map(({ name }) => name));
    const ready = left.filter(({ name, foreignKeys }) =>
      foreignKeys.every(({ table }) => table === name || !missing.has(table)),
    );
    if (ready.length === 0) throw new Error(`These tables refer to each other: ${[...missing].join(', ')}`);
    ordered.push(...ready);
    left = left.filter((table) => !ready.includes(table));
  }
  return ordered;
}

/** The column of a table that refers to another row of the same table, and the column it refers to; undefined: none. */
export function parentOf({ name, foreignKeys }: ShopTable): { column: string; target: string } | undefined {
  const own = foreignKeys.filter(({ table }) => table === name);
  if (own.length === 0) return undefined;
  const [{ columns, target }] = own as [ForeignKey];
  if (own.length > 1 || columns.length !== 1) {
    throw new Error(`Rows of ${name} refer to each other in a way that a backup can't put into an order`);
  }
  return { column: columns[0]!, target: target[0]! };
}

/** The name of a table or a column in a statement. */
export const quoted = (name: string): string => pg.escapeIdentifier(name);

import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';

/**
 * The audit log: every write that used a right which the merchant has given to an app, every token that was issued and
 * every person that was exported, with what it was about and never with what was sent. A shopper's changes of a cart
 * need no such right and are not in it. An entry is written in the statement or transaction of its cause, so that
 * there is neither one without the other.
 */
export interface Entry {
  shopId: string;
  entryId: string;
  at: Date;
  /** null: the command line. */
  appId: string | null;
  method: string;
  /** `/rs/shops/:shopId/products/:productId` */
  route: string;
  /** The ids of the path, and that of what was created. */
  object: Record<string, string>;
}

/** A part of a larger statement, which writes the entry on a condition. */
export function insertEntry({ shopId, entryId, at, appId, method, route, object }: Entry, when: Sql): Sql {
  return sql`
    insert into audit_entry (shop_id, entry_id, at, app_id, app_name, method, route, object)
    select ${shopId}, ${entryId}::uuid, ${at}::timestamptz, ${appId}::uuid,
      (select name from app where app.shop_id = ${shopId} and app.app_id = ${appId}), ${method}, ${route},
      ${JSON.stringify(object)}::jsonb
    where ${when}`;
}

export async function recordEntry(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(insertEntry(entry, sql`true`));
}

/** The change and its entry as one statement; it returns the changed rows, and without one there is no entry. */
export function changeWithEntry(change: Sql, entry: Entry): Sql {
  return sql`
    with change as (${change} returning true), entry as (${insertEntry(entry, sql`exists (select from change)`)})
    select from change`;
}

/** A part of a larger statement, which writes the entries that `entries` selects as JSON in a column `entry`. */
export function insertEntries(shopId: string, entries: Sql): Sql {
  return sql`
    insert into audit_entry (shop_id, entry_id, at, app_id, app_name, method, route, object)
    select ${shopId}, said."entryId", said.at, said."appId", app.name, said.method, said.route, said.object
    from (${entries}) as chosen
    cross join json_to_record(chosen.entry) as said ("entryId" uuid, at timestamptz, "appId" uuid, method text,
      route text, object jsonb)
    left join app on app.shop_id = ${shopId} and app.app_id = said."appId"`;
}

import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';

/**
 * The audit log: every write that used a right which the merchant has given to an app, every token that was issued and
 * every person that was exported, with what it was about and never with what was sent. A shopper's changes of a cart need no such right and are not in it. An entry is written
 * together with what it tells of, so that there is neither one without the other.
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
  /** The ids that stood in its place, and that of what was made. */
  object: Record<string, string>;
}

/** As a part of a larger statement, on a condition. */
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

/** For operations whose whole write is one `run`: an entry goes with it, if it changes anything. */
export function recording<Source extends Queries>(db: Source, entry: Entry): Source {
  return Object.assign(Object.create(db) as Source, {
    entry,
    run: (change: Sql) =>
      db.run(sql`
        with change as (${change} returning true), entry as (${insertEntry(entry, sql`exists (select from change)`)})
        select from change`),
  });
}

/** The entry that goes with what is written through it; for those who write in another way. */
export function entryOf(db: Queries): Entry | undefined {
  return (db as { entry?: Entry }).entry;
}

/** As a part of a larger statement: those that `entries` selects, each as JSON in a column `entry`. */
export function insertEntries(shopId: string, entries: Sql): Sql {
  return sql`
    insert into audit_entry (shop_id, entry_id, at, app_id, app_name, method, route, object)
    select ${shopId}, said."entryId", said.at, said."appId", app.name, said.method, said.route, said.object
    from (${entries}) as chosen
    cross join json_to_record(chosen.entry) as said ("entryId" uuid, at timestamptz, "appId" uuid, method text,
      route text, object jsonb)
    left join app on app.shop_id = ${shopId} and app.app_id = said."appId"`;
}

import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export interface ScriptTagRow {
  scriptTagId: string;
  appId: string;
  scriptUrl: string;
  necessary: boolean;
  createdAt: Date;
  updatedAt: Date;
}

const columns = sql`
  script_tag_id as "scriptTagId", app_id as "appId", script_url as "scriptUrl", necessary,
  created_at as "createdAt", updated_at as "updatedAt"`;

/** Oldest first; the tags of all apps when no app is named. */
export function findScriptTags(db: Queries, shopId: string, appId: string | undefined) {
  const ofApp = appId === undefined ? sql`` : sql`and app_id = ${appId}`;
  return db.many<ScriptTagRow>(sql`
    select ${columns} from script_tag where shop_id = ${shopId} ${ofApp}
    order by created_at, script_tag_id`);
}

export function lockScriptTag(tx: Transaction, shopId: string, scriptTagId: string) {
  return tx.one<ScriptTagRow>(sql`
    select ${columns} from script_tag where shop_id = ${shopId} and script_tag_id = ${scriptTagId} for update`);
}

export async function insertScriptTag(
  tx: Transaction,
  shopId: string,
  tag: { scriptTagId: string; appId: string; scriptUrl: string; necessary: boolean },
): Promise<ScriptTagRow> {
  const row = await tx.one<ScriptTagRow>(sql`
    insert into script_tag (shop_id, script_tag_id, app_id, script_url, necessary, created_at, updated_at)
    values (${shopId}, ${tag.scriptTagId}, ${tag.appId}, ${tag.scriptUrl}, ${tag.necessary}, ${tx.now}, ${tx.now})
    returning ${columns}`);
  return row!;
}

export function deleteScriptTagRow(tx: Transaction, shopId: string, scriptTagId: string) {
  return tx.run(sql`delete from script_tag where shop_id = ${shopId} and script_tag_id = ${scriptTagId}`);
}

import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { CellProblem } from './row-problem.ts';

/*
 * Pictures sent by a merchant, to be named in product files. They are stored in the database, because the process that
 * imports the file may run on another machine.
 */

const MAX_PICTURES = 2_000;
const MAX_BYTES = 256 * 1_048_576;
const KEPT = 7 * 86_400_000;

export interface SentPictures {
  count: number;
  bytes: number;
}

/** The pictures that are waiting. */
export async function countSentPictures(db: Queries, shopId: string): Promise<SentPictures> {
  const row = await db.one<SentPictures>(sql`
    select count(*) as count, coalesce(sum(octet_length(content)), 0)::bigint as bytes
    from import_picture where shop_id = ${shopId}`);
  return row!;
}

export function hasRoom({ count, bytes }: SentPictures): boolean {
  return count <= MAX_PICTURES && bytes <= MAX_BYTES;
}

/** Replaces an earlier one of the same name. */
export async function saveSentPicture(tx: Transaction, shopId: string, name: string, bytes: Buffer) {
  await tx.run(sql`
    insert into import_picture (shop_id, name, content, created_at)
    values (${shopId}, ${sentName(name)}, ${bytes}, ${tx.now})
    on conflict (shop_id, name) do update set content = excluded.content, created_at = excluded.created_at`);
}

/** Throws a CellProblem when none has that name. */
export async function readSentPicture(db: Queries, shopId: string, place: string): Promise<Buffer> {
  const row = await db.one<{ content: Buffer }>(sql`
    select content from import_picture where shop_id = ${shopId} and name = ${sentName(place)}`);
  if (!row) throw new CellProblem('pictureMissing', 'names a picture that was not sent');
  return row.content;
}

export function deleteSentPictures(tx: Transaction, shopId: string) {
  return tx.run(sql`delete from import_picture where shop_id = ${shopId}`);
}

/** Archives and tables come from different programs, which differ in folders, capitals and accents. */
export function sentName(place: string): string {
  return place
    .slice(Math.max(place.lastIndexOf('/'), place.lastIndexOf('\\')) + 1)
    .normalize('NFC')
    .toLowerCase();
}

export const sentPictureCleanup: CleanupStep = {
  name: 'pictures sent for imports',
  run: async (db, limit) => {
    const old = await db.many<{ shopId: string; name: string }>(sql`
      select shop_id as "shopId", name from import_picture
      where created_at < ${new Date(db.now.getTime() - KEPT)} limit ${limit}`);
    for (const { shopId, name } of old) {
      await db.run(sql`delete from import_picture where shop_id = ${shopId} and name = ${name}`);
    }
    return old.length;
  },
};

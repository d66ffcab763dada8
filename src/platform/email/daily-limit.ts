import { dayOf } from '../../http/dates.ts';
import type { Queries } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import { secretHash, timeOfId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../cleanup.ts';

const DAY = 86_400_000;

/**
 * Counts an email against the day on which it was queued; false: its recipient has reached the limit. An email that was
 * counted before stays allowed, so a retry neither counts twice nor is refused.
 */
export async function countEmail(
  db: Queries,
  shopId: string,
  { id, to }: { id: string; to: string },
  perDay: number,
): Promise<boolean> {
  const counted = await db.run(sql`
    insert into mail_day (shop_id, recipient_hash, day, mail_ids)
    select shop_id, ${secretHash(`${shopId}/${to.toLowerCase()}`)}, ${dayOf(timeOfId(id))}::date, array[${id}::uuid]
    from shop where shop_id = ${shopId}
    on conflict (shop_id, recipient_hash, day) do update
    set mail_ids = case when mail_day.mail_ids @> excluded.mail_ids then mail_day.mail_ids
      else mail_day.mail_ids || excluded.mail_ids end
    where mail_day.mail_ids @> excluded.mail_ids or cardinality(mail_day.mail_ids) < ${perDay}`);
  return counted === 1;
}

const deleteCounts = deleteOld('mail_day', 'day', { recipient_hash: 'bytea', day: 'date' });

/** Deletes counts that are no longer read: an email is retried for about a day. */
export const emailCountCleanup: CleanupStep = {
  name: 'mail days',
  run: (db, limit) => deleteCounts(db, dayOf(new Date(db.now.getTime() - 2 * DAY)), limit),
};

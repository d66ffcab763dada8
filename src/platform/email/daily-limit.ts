import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { secretHash, timeOfId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../cleanup.ts';
import type { QueuedEmail } from './queue.ts';

const DAY = 86_400_000;

/** An email to count. */
type CountedEmail = Pick<QueuedEmail, 'to'> & { id: string };

/**
 * Counts emails against the days on which they were queued, and returns the ids of those within the limit of their
 * recipient. An email that was counted before stays allowed, so a retry neither counts twice nor is refused.
 */
export async function countEmails(
  db: Queries,
  shopId: string,
  emails: readonly CountedEmail[],
  perDay: number,
): Promise<Set<string>> {
  const allowed = new Set<string>();
  const left = emails.map(({ id, to }) => ({
    id,
    recipient: secretHash(`${shopId}/${to.toLowerCase()}`).toString('hex'),
    day: dayOf(timeOfId(id)),
  }));
  while (left.length > 0) {
    // A statement changes a row only once, so of several emails to one recipient the later ones wait for the first.
    const rows = new Map(left.toReversed().map((row) => [keyOf(row), row]));
    for (const row of await countOnce(db, shopId, [...rows.values()], perDay)) {
      allowed.add(rows.get(keyOf(row))!.id);
    }
    for (const row of rows.values()) left.splice(left.indexOf(row), 1);
  }
  return allowed;
}

interface Recipient {
  /** The hash of the address, in hexadecimal digits. */
  recipient: string;
  day: string;
}

const keyOf = ({ recipient, day }: Recipient) => `${recipient} ${day}`;

/** Returns the recipients whose email is within the limit. Locks in key order, so two cannot deadlock. */
function countOnce(
  db: Queries,
  shopId: string,
  rows: readonly (Recipient & { id: string })[],
  perDay: number,
) {
  return db.many<Recipient>(sql`
    insert into mail_day (shop_id, recipient_hash, day, mail_ids)
    select shop.shop_id, decode(given.recipient, 'hex'), given.day, array[given.id]
    from shop cross join json_to_recordset(${JSON.stringify(rows)}) as given (id uuid, recipient text, day date)
    where shop.shop_id = ${shopId} order by given.recipient, given.day
    on conflict (shop_id, recipient_hash, day) do update
    set mail_ids = case when mail_day.mail_ids @> excluded.mail_ids then mail_day.mail_ids
      else mail_day.mail_ids || excluded.mail_ids end
    where mail_day.mail_ids @> excluded.mail_ids or cardinality(mail_day.mail_ids) < ${perDay}
    returning encode(recipient_hash, 'hex') as recipient, day::text`);
}

/** Deletes counts that are no longer read: an email is retried for about a day. */
export const emailCountCleanup: CleanupStep = {
  name: 'mail days',
  run: async (db, limit) => {
    const old = await db.many<{ shopId: string; recipient: Buffer; day: string }>(sql`
      select shop_id as "shopId", recipient_hash as recipient, day::text from mail_day
      where day < ${dayOf(new Date(db.now.getTime() - 2 * DAY))} order by day limit ${limit}`);
    await db.run(sql`
      delete from mail_day
      using unnest(${old.map(({ shopId }) => shopId)}::text[], ${old.map(({ recipient }) => recipient)}::bytea[],
        ${old.map(({ day }) => day)}::date[]) as old (shop_id, recipient_hash, day)
      where mail_day.shop_id = old.shop_id and mail_day.recipient_hash = old.recipient_hash
        and mail_day.day = old.day`);
    return old.length;
  },
};

const dayOf = (moment: Date) => moment.toISOString().slice(0, 10);

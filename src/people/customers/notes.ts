import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { Refusal } from '../../http/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';
import { lockCustomer } from './queries.ts';

export const MAX_NOTE_LENGTH = 2_000;
const MAX_NOTES = 200;

export interface CustomerNote {
  noteId: string;
  createdAt: Date;
  /** The email address of the person who wrote it. */
  author: string;
  note: string;
}

/** Newest first. */
export function findNotes(db: Queries, shopId: string, customerId: string) {
  return db.many<CustomerNote>(sql`
    select upper(note_id::text) as "noteId", created_at as "createdAt", author, note from customer_note
    where shop_id = ${shopId} and customer_id = ${customerId} order by note_id desc limit ${MAX_NOTES}`);
}

/** undefined: there is no such customer. */
export async function addNote(
  tx: Transaction,
  shopId: string,
  customerId: string,
  { author, note }: Pick<CustomerNote, 'author' | 'note'>,
): Promise<string | undefined> {
  // Locked, so that two people who write at the same moment are counted.
  if (!(await lockCustomer(tx, shopId, customerId))) return undefined;
  const count = await tx.one<{ notes: number }>(sql`
    select count(*) as notes from customer_note where shop_id = ${shopId} and customer_id = ${customerId}`);
  if (count!.notes >= MAX_NOTES) throw new Refusal('TOO_MANY_NOTES', { limit: MAX_NOTES });
  const noteId = newId(tx.now);
  await tx.run(sql`
    insert into customer_note (shop_id, customer_id, note_id, created_at, author, note)
    values (${shopId}, ${customerId}, ${noteId}, ${tx.now}, ${author}, ${note})`);
  return noteId;
}

/** 0: there is no such note. */
export function deleteNote(tx: Transaction, shopId: string, customerId: string, noteId: string) {
  return tx.run(sql`
    delete from customer_note
    where shop_id = ${shopId} and customer_id = ${customerId} and note_id = ${noteId}`);
}

/** What people of the shop wrote about a customer: notes and tags. */
export const customerPersonalData: PersonalData = {
  sections: {
    notes: section('Notes that people of the shop wrote, oldest first.', findNotesOf),
    tags: section('Tags that people of the shop gave.', findTagsOf),
  },
  counts: { notesDeleted: 'Notes of the shop.', tagsDeleted: 'Tags of the shop.' },
  erase: async (tx, shopId, { customerId }) => ({
    counts: {
      notesDeleted: await tx.run(
        sql`delete from customer_note where shop_id = ${shopId} and customer_id = ${customerId}`,
      ),
      tagsDeleted: await tx.run(
        sql`delete from customer_tag where shop_id = ${shopId} and customer_id = ${customerId}`,
      ),
    },
  }),
};

function findNotesOf(db: Queries, shopId: string, { customerId }: Person) {
  return db.many<object>(sql`
    select note, created_at as since, author from customer_note
    where shop_id = ${shopId} and customer_id = ${customerId} order by note_id`);
}

function findTagsOf(db: Queries, shopId: string, { customerId }: Person) {
  return db.many<object>(sql`
    select tag from customer_tag where shop_id = ${shopId} and customer_id = ${customerId} order by tag_key`);
}

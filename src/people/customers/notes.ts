import { Type } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { toSeconds } from '../../http/dates.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Timestamp } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';
import { lockCustomer } from './queries.ts';

const MAX_NOTE_LENGTH = 2_000;
const MAX_NOTES = 200;

const MAX_AUTHOR_LENGTH = 254;

const NewNote = Type.Object(
  {
    note: Type.String({
      minLength: 1,
      maxLength: MAX_NOTE_LENGTH,
      pattern: '\\S',
      description: 'Plain text, which the customer does not see.',
      examples: ['Prefers to be called in the morning.'],
    }),
  },
  { title: 'customer note (request)' },
);

const Note = Type.Object(
  {
    noteId: Id,
    creationDate: Timestamp,
    author: Type.String({
      description: 'The email address of the person, or the name of the app, that wrote it.',
      examples: ['ada@shop.example'],
    }),
    note: Type.String({
      description: 'Plain text, which the customer does not see.',
      examples: ['Prefers to be called in the morning.'],
    }),
  },
  { title: 'customer note' },
);

const shared = { under: 'manage', tag: 'customers', labels: [] } as const;
const params = Type.Object({ customerId: Id });
const noteParams = Type.Object({ customerId: Id, noteId: Id });

export const listCustomerNotes = operation({
  ...shared,
  method: 'GET',
  path: '/customers/:customerId/notes',
  name: 'listCustomerNotes',
  summary: 'List customer notes',
  description: `What people of the shop wrote about a customer, newest first, at most ${MAX_NOTES}.`,
  access: 'customers_read',
  params,
  answer: Type.Object(
    { items: Type.Array(Note, { description: 'All of them.' }) },
    { title: 'customer notes' },
  ),
});

export const createCustomerNote = operation({
  ...shared,
  method: 'POST',
  path: '/customers/:customerId/notes',
  name: 'createCustomerNote',
  summary: 'Create customer note',
  description:
    'The caller is its author. It is part of the export of the customer, and goes with the erasure.',
  access: 'customers_write',
  params,
  body: NewNote,
  status: 201,
  answer: Note,
});

export const updateCustomerNote = operation({
  ...shared,
  method: 'PUT',
  path: '/customers/:customerId/notes/:noteId',
  name: 'updateCustomerNote',
  summary: 'Update customer note',
  description: 'Replaces the text. The author and the day stay; the audit log names who changed it.',
  access: 'customers_write',
  params: noteParams,
  body: NewNote,
  answer: Note,
});

export const deleteCustomerNote = operation({
  ...shared,
  method: 'DELETE',
  path: '/customers/:customerId/notes/:noteId',
  name: 'deleteCustomerNote',
  summary: 'Delete customer note',
  access: 'customers_write',
  params: noteParams,
  status: 204,
});

export function customerNotes(api: Operations): void {
  api.read(listCustomerNotes, async ({ db, shopId, params: { customerId } }) => {
    if (!(await findCustomerId(db, shopId, customerId))) throw notFound();
    return { items: (await findNotes(db, shopId, customerId)).map(toAnswer) };
  });

  api.write(createCustomerNote, async ({ tx, shopId, params: { customerId }, body, caller, created }) => {
    // Locked, so that two people who write at the same moment are counted.
    if (!(await lockCustomer(tx, shopId, customerId))) throw notFound();
    if ((await countNotes(tx, shopId, customerId)) >= MAX_NOTES) {
      throw new Refusal('TOO_MANY_NOTES', { limit: MAX_NOTES });
    }
    const author = (caller.app?.name ?? '').slice(0, MAX_AUTHOR_LENGTH);
    const note = { noteId: newId(tx.now), createdAt: tx.now, author, note: body.note.trim() };
    await insertNote(tx, shopId, customerId, note);
    created({ noteId: note.noteId });
    return toAnswer(note);
  });

  api.write(updateCustomerNote, async ({ tx, shopId, params, body }) => {
    const note = await updateNote(tx, shopId, params, body.note.trim());
    if (!note) throw notFound();
    return toAnswer(note);
  });

  api.write(deleteCustomerNote, async ({ tx, shopId, params }) => {
    if ((await deleteNote(tx, shopId, params)) === 0) throw notFound();
  });
}

export interface CustomerNote {
  noteId: string;
  createdAt: Date;
  /** The email address of the person, or the name of the app, that wrote it. */
  author: string;
  note: string;
}

const toAnswer = ({ noteId, createdAt, author, note }: CustomerNote) => ({
  noteId,
  creationDate: toSeconds(createdAt),
  author,
  note,
});

const columns = sql`upper(note_id::text) as "noteId", created_at as "createdAt", author, note`;

/** Newest first. */
export function findNotes(db: Queries, shopId: string, customerId: string) {
  return db.many<CustomerNote>(sql`
    select ${columns} from customer_note
    where shop_id = ${shopId} and customer_id = ${customerId} order by note_id desc limit ${MAX_NOTES}`);
}

function findCustomerId(db: Queries, shopId: string, customerId: string) {
  return db.one(sql`select from customer where shop_id = ${shopId} and customer_id = ${customerId}`);
}

async function countNotes(tx: Transaction, shopId: string, customerId: string): Promise<number> {
  const row = await tx.one<{ notes: number }>(sql`
    select count(*) as notes from customer_note where shop_id = ${shopId} and customer_id = ${customerId}`);
  return row!.notes;
}

function insertNote(
  tx: Transaction,
  shopId: string,
  customerId: string,
  { noteId, createdAt, author, note }: CustomerNote,
) {
  return tx.run(sql`
    insert into customer_note (shop_id, customer_id, note_id, created_at, author, note)
    values (${shopId}, ${customerId}, ${noteId}, ${createdAt}, ${author}, ${note})`);
}

interface NoteKey {
  customerId: string;
  noteId: string;
}

function updateNote(tx: Transaction, shopId: string, { customerId, noteId }: NoteKey, note: string) {
  return tx.one<CustomerNote>(sql`
    update customer_note set note = ${note}
    where shop_id = ${shopId} and customer_id = ${customerId} and note_id = ${noteId}
    returning ${columns}`);
}

function deleteNote(tx: Transaction, shopId: string, { customerId, noteId }: NoteKey) {
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

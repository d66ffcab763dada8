import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { isWaiting } from '../list.ts';
import type { BankCredit } from './credit.ts';
import type { PayableOrder } from './match.ts';

export interface BankEntry {
  entryId: string;
  bookedOn: string;
  amount: number;
  currency: string;
  payer: string | null;
  text: string | null;
  reference: string | null;
}

const insertEntries = insertInto(
  'bank_entry',
  {
    entryId: 'uuid',
    key: 'text',
    bookedOn: 'date',
    amount: 'bigint',
    currency: 'text',
    payer: 'text',
    text: 'text',
    reference: 'text',
    createdAt: 'timestamptz',
  },
  {
    key: ['key'],
    keep: ['entryId', 'bookedOn', 'amount', 'currency', 'payer', 'text', 'reference', 'createdAt'],
  },
);

/** Stores credits; one that is known already stays as it is. Returns how many are new. */
export function saveCredits(
  tx: Transaction,
  shopId: string,
  credits: readonly (BankCredit & { key: string })[],
): Promise<number> {
  const rows = credits.map(({ key, bookedOn, amount, currency, payer, text, reference }) => ({
    entryId: newId(tx.now),
    key,
    bookedOn,
    amount,
    currency,
    payer: payer === '' ? null : payer,
    text: text === '' ? null : text,
    reference: reference === '' ? null : reference,
    createdAt: tx.now,
  }));
  return tx.run(insertEntries(shopId, rows));
}

const entryColumns = sql`upper(entry_id::text) as "entryId", booked_on::text as "bookedOn", amount, currency, payer, text,
  reference`;

/** Oldest first. */
export function findOpenEntries(db: Queries, shopId: string, limit: number) {
  return db.many<BankEntry>(sql`
    select ${entryColumns} from bank_entry where shop_id = ${shopId} and state = 'open'
    order by booked_on, entry_id limit ${limit}`);
}

/** The number of open entries, at most `limit`. */
export async function countOpenEntries(db: Queries, shopId: string, limit: number): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from (
      select from bank_entry where shop_id = ${shopId} and state = 'open' limit ${limit}
    ) counted`);
  return row!.count;
}

const payableColumns = sql`upper(order_id::text) as "orderId", order_number as "orderNumber", currency,
  grand_total - paid_amount as payable,
  coalesce(billing_address ->> 'company', concat_ws(' ', billing_address ->> 'firstName', billing_address ->> 'lastName'))
    as customer`;

/** The orders with these numbers that are not paid yet. */
export function findPayableOrders(db: Queries, shopId: string, orderNumbers: readonly string[]) {
  return db.many<PayableOrder>(sql`
    select ${payableColumns} from customer_order
    where shop_id = ${shopId} and order_number = any (${orderNumbers}::text[]) and grand_total > paid_amount
      and cancelled_at is null and rejected_at is null`);
}

/** The orders that wait for their payment and have one of these sums left to pay. */
export function findOrdersToPay(db: Queries, shopId: string, amounts: readonly number[], limit: number) {
  return db.many<PayableOrder>(sql`
    select ${payableColumns} from customer_order
    where shop_id = ${shopId} and payment_wait in ('open', 'failed') and ${isWaiting}
      and grand_total - paid_amount = any (${amounts}::bigint[])
    order by created_at, order_id limit ${limit}`);
}

/** Locks an open entry until the transaction ends. */
export function lockOpenEntry(tx: Transaction, shopId: string, entryId: string) {
  return tx.one<BankEntry>(sql`
    select ${entryColumns} from bank_entry
    where shop_id = ${shopId} and entry_id = ${entryId} and state = 'open' for no key update`);
}

export function markRecorded(tx: Transaction, shopId: string, entryId: string, orderId: string) {
  return tx.run(sql`
    update bank_entry set state = 'recorded', order_id = ${orderId}
    where shop_id = ${shopId} and entry_id = ${entryId}`);
}

/** Returns the number of ignored entries: one, or none if it is not open. */
export function markIgnored(tx: Transaction, shopId: string, entryId: string) {
  return tx.run(sql`
    update bank_entry set state = 'ignored'
    where shop_id = ${shopId} and entry_id = ${entryId} and state = 'open'`);
}

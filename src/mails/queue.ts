import type { Transaction } from '../db/database.ts';
import { newId } from '../ids.ts';
import { queueJobs } from '../jobs/queue.ts';
import type { Mail, OrderPlaced } from './templates.ts';

type OrderMail = Extract<Mail, { template: 'order' }>;

/** A mail as it waits. An order gets its number after everything else, so that is looked up when the mail is sent. */
export type NewMail =
  | Exclude<Mail, OrderMail>
  | (Omit<OrderMail, 'facts'> & { facts: Omit<OrderPlaced, 'orderNumber'> });

export type QueuedMail = NewMail & { shopId: string };

/** Sends these mails if, and only if, the transaction is committed. */
export function queueMails(tx: Transaction, shopId: string, mails: readonly NewMail[]): Promise<void> {
  return queueJobs(
    tx,
    'mail',
    mails.map((mail) => ({ id: newId(tx.now), content: { ...mail, shopId } satisfies QueuedMail })),
  );
}

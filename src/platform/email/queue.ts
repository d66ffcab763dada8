import type { Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { queueJobs } from '../jobs/queue.ts';
import type { Mail } from './templates.ts';

export type QueuedMail = Mail & { shopId: string };

/** Sends these mails if, and only if, the transaction is committed. */
export function queueMails(tx: Transaction, shopId: string, mails: readonly Mail[]): Promise<void> {
  return queueJobs(
    tx,
    'mail',
    mails.map((mail) => ({ id: newId(tx.now), content: { ...mail, shopId } satisfies QueuedMail })),
  );
}

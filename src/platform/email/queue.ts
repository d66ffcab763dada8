import type { Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { discardWaitingJob, queueJobOnce, queueJobs } from '../jobs/queue.ts';
import type { EmailKind, EmailMessages } from './kind.ts';

/** The queue keeps its first name, because installations have jobs in it. */
export const EMAIL_QUEUE = 'mail';

export interface Email<Facts extends object = object> {
  to: string;
  locale: string;
  facts: Facts;
}

/**
 * An email as it waits in the queue: facts, and no words yet. Its keys must not change, because an installation is
 * upgraded while emails wait.
 */
export interface QueuedEmail<Facts extends object = object> extends Email<Facts> {
  shopId: string;
  /** The name of its kind. */
  template: string;
}

/** Sends these emails if, and only if, the transaction is committed. */
export function queueEmails<Facts extends object, Words extends EmailMessages>(
  tx: Transaction,
  shopId: string,
  { name: template }: EmailKind<Facts, Words>,
  emails: readonly Email<Facts>[],
): Promise<void> {
  return queueJobs(
    tx,
    shopId,
    EMAIL_QUEUE,
    emails.map((email) => ({
      id: newId(tx.now),
      content: { ...email, template, shopId } satisfies QueuedEmail,
    })),
  );
}

/** Sends an email at a later time, unless it is discarded before. */
export function queueEmailLater<Facts extends object, Words extends EmailMessages>(
  tx: Transaction,
  shopId: string,
  { name: template }: EmailKind<Facts, Words>,
  email: Email<Facts>,
  { id, sendAt }: { id: string; sendAt: Date },
): Promise<void> {
  const content = { ...email, template, shopId } satisfies QueuedEmail;
  return queueJobOnce(tx, shopId, EMAIL_QUEUE, { id, content }, sendAt);
}

/** Discards an email that waits for its time. false: it was sent, or is being sent. */
export const discardEmail = (tx: Transaction, shopId: string, id: string) =>
  discardWaitingJob(tx, shopId, EMAIL_QUEUE, id);

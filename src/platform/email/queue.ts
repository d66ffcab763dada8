import type { Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { queueJobs } from '../jobs/queue.ts';
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

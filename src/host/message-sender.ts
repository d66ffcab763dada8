import type { Database, Transaction } from '../db/database.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { hostMessageEmail } from './message-email.ts';
import { isFor, textOfMessage } from './message-audience.ts';
import {
  findShopsToEmail,
  lockMessageToEmail,
  markEmailed,
  moveEmailed,
  type MessageToEmail,
} from './message-queries.ts';
import type { Staff } from './staff.ts';

/** Shops of one transaction. */
const SHOPS_AT_ONCE = 50;

/** Queues the emails of messages to owners, some shops at a time, until there are none or the signal is given. */
export async function emailDueMessages(
  db: Database,
  staff: Pick<Staff, 'owners'>,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  let isMore = true;
  while (isMore && !signal.aborted) isMore = await db.transaction((tx) => emailNextShops(tx, staff));
}

/** The emails and the place are one transaction: after a crash it goes on where it was. */
async function emailNextShops(tx: Transaction, staff: Pick<Staff, 'owners'>): Promise<boolean> {
  const message = await lockMessageToEmail(tx);
  if (!message) return false;
  const shops = await findShopsToEmail(tx, message.emailedTo, SHOPS_AT_ONCE);
  for (const shop of shops) {
    if (isFor(message, shop)) await emailOwners(tx, staff, message, shop);
  }
  const isLast = shops.length < SHOPS_AT_ONCE || message.endsAt <= tx.now;
  await moveEmailed(tx, message.messageId, isLast ? null : shops.at(-1)!.shopId);
  return true;
}

async function emailOwners(
  tx: Transaction,
  staff: Pick<Staff, 'owners'>,
  { messageId, texts }: MessageToEmail,
  { shopId, locale }: { shopId: string; locale: string },
): Promise<void> {
  const owners = (await staff.owners(tx, shopId)).filter(({ isInvited }) => !isInvited);
  if (owners.length === 0) return;
  const isNew = await markEmailed(
    tx,
    messageId,
    owners.map(({ ownerId }) => ownerId),
  );
  const emails = owners
    .filter(({ ownerId }) => isNew.has(ownerId))
    .map(({ email: to }) => ({ to, locale, facts: { text: textOfMessage(texts, locale) } }));
  await queueEmails(tx, shopId, hostMessageEmail, emails);
}

import type { Database } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { rawEmail } from '../../platform/email/delivery.ts';
import { serverAnswer, relayProblemOf, type RelayProblem } from '../../platform/email/outcome.ts';
import { sendByRelay, type RelayPolicy } from '../../platform/email/relay.ts';
import { loadWay, recordRelaySuccess } from './relay-queries.ts';

/** Somebody waits for the answer. */
const DEADLINE = 15_000;

export interface TestEmail {
  to: string;
  /** Name of the sender. */
  name: string;
  subject: string;
  text: string;
  language: string;
  /** The part after the @ of its Message-ID. */
  host: string;
}

/** Why the mail server of a shop has not taken an email, and what it said. */
export interface RelayRefusal {
  problem: RelayProblem | 'recipient';
  answer: string;
}

/**
 * Sends one email by the mail server of a shop, whatever its state. Taken, it lets those go that have waited for it.
 * undefined: it was taken; null: the shop has no mail server.
 */
export async function testRelay(
  db: Database,
  loadKey: () => Promise<Buffer>,
  shopId: string,
  policy: RelayPolicy,
  { to, name, subject, text, language, host }: TestEmail,
): Promise<RelayRefusal | null | undefined> {
  const { relay } = await loadWay(db, loadKey, shopId);
  if (!relay) return null;
  const email = await rawEmail({
    id: newId(db.serviceNow),
    from: { name, address: relay.sender },
    replyTo: undefined,
    to,
    subject,
    language,
    text,
    html: '',
    attachments: [],
    logo: undefined,
    host,
  });
  try {
    await sendByRelay(relay, policy, email, { deadline: DEADLINE });
  } catch (error) {
    const { command } = error as { command?: string };
    const problem = command === 'RCPT TO' || command === 'DATA' ? 'recipient' : relayProblemOf(error);
    return { problem, answer: serverAnswer(error) };
  }
  await recordRelaySuccess(db, shopId);
  return undefined;
}

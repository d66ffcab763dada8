import type { EmailMessage } from '../../platform/email/delivery.ts';
import type { SandboxEmail } from './queries.ts';

/** An email as a sandbox keeps it: its text has all that its HTML says. The bounds are those of the table. */
export function keptEmail(
  { id, to, subject, text, attachments }: EmailMessage,
  kind: string,
  at: Date,
): SandboxEmail {
  return {
    emailId: id,
    at,
    kind,
    recipient: to,
    subject: subject.slice(0, 1_000),
    body: text.slice(0, 200_000),
    attachments: attachments.slice(0, 20).map(({ name }) => name),
  };
}

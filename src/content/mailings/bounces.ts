import { Type } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import {
  findKnownSubscribers,
  saveBounces,
  unsubscribe,
  unsubscribeAll,
  unsubscribeFromThese,
  type BounceKind,
} from '../../people/newsletters/queries.ts';
import { EMAIL_ADDRESS, MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import { findMailing } from './queries.ts';
import { recordBounces, recordUnsubscribed } from './run-queries.ts';

const MAX_BOUNCES = 500;

const Bounce = Type.Object(
  {
    email: Type.String({
      description: 'The address.',
      examples: ['ada@pelican.example'],
      maxLength: MAX_EMAIL_ADDRESS_LENGTH,
      pattern: EMAIL_ADDRESS,
    }),
    type: Type.Enum(['bounced', 'complained'], {
      description:
        'bounced: emails to it fail for good; a full mailbox is no bounce. complained: the person has marked an email as spam.',
      examples: ['bounced'],
    }),
  },
  { title: 'newsletter bounce' },
);

export const reportNewsletterBounces = operation({
  under: 'manage',
  tag: 'newsletters',
  labels: [],
  method: 'POST',
  path: '/newsletter-bounces',
  name: 'reportNewsletterBounces',
  summary: 'Report newsletter bounces',
  description:
    'What a mail provider has learnt after it took the emails. Mailings are not sent to these addresses any more; who has complained is unsubscribed from all newsletters as well. Addresses that never subscribed are ignored. Repeating a report changes nothing.',
  access: { allOf: ['newsletters_read', 'customers_write'] },
  body: Type.Object(
    {
      items: Type.Array(Bounce, {
        minItems: 1,
        maxItems: MAX_BOUNCES,
        description: `The addresses, at most ${MAX_BOUNCES}.`,
      }),
    },
    { title: 'newsletter bounces' },
  ),
  status: 204,
});

export function newsletterBounces(api: Operations): void {
  api.write(reportNewsletterBounces, async ({ tx, shopId, body: { items } }) => {
    const reported = (kind: BounceKind) => [
      ...new Set(items.filter(({ type }) => type === kind).map(({ email }) => email.toLowerCase())),
    ];
    for (const kind of ['bounced', 'complained'] as const) {
      const emails = await findKnownSubscribers(tx, shopId, reported(kind));
      if (emails.length === 0) continue;
      await recordBounces(tx, shopId, kind, emails);
      await saveBounces(tx, shopId, kind, emails);
      if (kind === 'complained') await unsubscribeAll(tx, shopId, emails);
    }
  });
}

/** Unsubscribes who has used the link of a mailing from the newsletters of that mailing. */
export async function unsubscribeByMailing(
  tx: Transaction,
  shopId: string,
  { mailingId, email }: { mailingId: string; email: string },
): Promise<void> {
  const mailing = await findMailing(tx, shopId, mailingId);
  // The link still has to work after the mailing was deleted.
  if (!mailing) return unsubscribe(tx, shopId, email);
  const had = await unsubscribeFromThese(tx, shopId, mailing.newsletterIds, email);
  if (had) await recordUnsubscribed(tx, shopId, mailingId, email);
}

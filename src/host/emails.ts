import { Type, type Static } from 'typebox';
import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Nullable, Timestamp } from '../http/schemas.ts';
import { EMAIL_QUEUE } from '../platform/email/queue.ts';
import { failHeldJobs, releaseHeldJobs } from '../platform/jobs/queries.ts';
import { updateEmailFreeze } from '../shops/shop/queries.ts';
import { causeOf, recordChange, type Cause } from './log.ts';
import { lockHostedShop } from './queries.ts';
import { OfShop } from './routes.ts';

const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '\\S',
  description: 'Why. The people of the shop read it in their admin.',
  examples: ['Newsletters to bought addresses'],
});

const EmailState = Type.Object(
  {
    frozenAt: Nullable({ ...Timestamp, description: 'Since when no email leaves; null: they are sent.' }),
    reason: Nullable({ ...Reason, description: 'Why they are frozen.' }),
    waiting: Type.Integer({
      description: 'Emails that have to wait, at most 10,000 are counted.',
      examples: [12],
    }),
  },
  { title: 'hosted shop emails' },
);

const shared = { under: 'host', tag: 'host', labels: [], params: OfShop, answer: EmailState } as const;

const getHostShopEmails = operation({
  ...shared,
  method: 'GET',
  path: '/shops/:shopId/emails',
  name: 'getHostShopEmails',
  summary: 'Get state of emails',
  description: 'Whether the emails of a shop are frozen, and how many of them wait.',
  access: { host: 'host_shops_read' },
});

export const freezeHostShopEmails = operation({
  ...shared,
  method: 'POST',
  path: '/shops/:shopId/freeze-emails',
  name: 'freezeHostShopEmails',
  summary: 'Freeze emails',
  description:
    'No email of the shop leaves any more: those about orders wait, and mailings pause. Invitations and forgotten passwords of its people still go. The admin of the shop shows the reason. Frozen again, the new reason counts.',
  access: { host: 'host_shops_write' },
  body: Type.Object({ reason: Reason }, { title: 'email freeze' }),
});

const thawHostShopEmails = operation({
  ...shared,
  method: 'POST',
  path: '/shops/:shopId/thaw-emails',
  name: 'thawHostShopEmails',
  summary: 'Thaw emails',
  description:
    'Emails that have waited for at most three days are sent; older ones are marked as not sent. The people of the shop resume its mailings themselves.',
  access: { host: 'host_shops_write' },
});

/** Stops and lets go the emails of a shop, for the host. */
export function hostEmails(api: Operations): void {
  api.read(getHostShopEmails, ({ db, shopId }) => readEmailState(db, shopId));

  api.write(freezeHostShopEmails, async ({ tx, shopId, body, caller }) => {
    await freezeEmails(tx, shopId, body.reason, causeOf(caller, freezeHostShopEmails));
    return readEmailState(tx, shopId);
  });

  api.write(thawHostShopEmails, async ({ tx, shopId, caller }) => {
    await thawEmails(tx, shopId, causeOf(caller, thawHostShopEmails));
    return readEmailState(tx, shopId);
  });
}

export async function freezeEmails(
  tx: Transaction,
  shopId: string,
  reason: string,
  cause: Cause,
): Promise<void> {
  const shop = await lockHostedShop(tx, shopId);
  if (!shop) throw new Refusal('SHOP_NOT_FOUND');
  if (shop.emailsFrozen === reason) return;
  await updateEmailFreeze(tx, shopId, reason);
  await recordChange(tx, shopId, 'SHOP_EMAILS_FROZEN', cause, { reason });
}

const THAWED_TOO_LATE = 'The emails of the shop were frozen for more than three days';

export async function thawEmails(tx: Transaction, shopId: string, cause: Cause): Promise<void> {
  const shop = await lockHostedShop(tx, shopId);
  if (!shop) throw new Refusal('SHOP_NOT_FOUND');
  if (shop.emailsFrozen === null) return;
  await updateEmailFreeze(tx, shopId, null);
  await failHeldJobs(tx, shopId, EMAIL_QUEUE, { error: THAWED_TOO_LATE, except: [] });
  await releaseHeldJobs(tx, shopId);
  await recordChange(tx, shopId, 'SHOP_EMAILS_THAWED', cause);
}

const MAX_COUNTED = 10_000;

export async function readEmailState(db: Queries, shopId: string): Promise<Static<typeof EmailState>> {
  const row = await db.one<{ frozenAt: Date | null; reason: string | null; waiting: number }>(sql`
    select emails_frozen_at as "frozenAt", emails_frozen_reason as reason, (
      select count(*) from (
        select from job
        where queue in ('mail', 'mailing') and job.shop_id = ${shopId} and run_at is not null and held_at is not null
        limit ${MAX_COUNTED}
      ) as held
    ) as waiting
    from shop where shop.shop_id = ${shopId}`);
  if (!row) throw new Refusal('SHOP_NOT_FOUND');
  return { frozenAt: row.frozenAt?.toISOString() ?? null, reason: row.reason, waiting: row.waiting };
}

import type { Database, Transaction } from '../db/database.ts';
import { deleteOld } from '../db/delete-old.ts';
import { sql, type Sql } from '../db/sql.ts';
import { findConsenting } from '../people/newsletters/queries.ts';
import { forEachShop, type CleanupStep } from '../platform/cleanup.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { reviewInvitation } from './invitation-email.ts';
import { findObjecting } from './queries.ts';

const DAY = 86_400_000;

/**
 * Milliseconds after which an invitation that is due is no longer sent: a shop that begins to invite does not write to
 * everybody who has ever ordered.
 */
const TOO_LATE = 3 * DAY;

/**
 * Invites customers to review what was sent to them some days ago. Each order is looked at once: the row that says so
 * is written with the email, or without one where its customer may not be written to.
 */
export const reviewInvitations: CleanupStep = {
  name: 'review invitations',
  every: 10 * 60_000,
  run: async (db, limit) => {
    const due = await findDue(db, sql`true`, limit);
    const ordersOf = new Map<string, string[]>();
    for (const { shopId, orderId } of due) ordersOf.set(shopId, [...(ordersOf.get(shopId) ?? []), orderId]);
    const shops = [...ordersOf].map(([shopId, orderIds]) => ({ shopId, orderIds }));
    await forEachShop(db, shops, async (ofShop, { shopId, orderIds }) =>
      ofShop.transaction((tx) => invite(tx, shopId, orderIds)),
    );
    return due.length;
  },
  runForShop: async (db, shopId, limit) => {
    const due = await findDue(db, sql`shop.shop_id = ${shopId}`, limit);
    const orderIds = due.map(({ orderId }) => orderId);
    if (orderIds.length > 0) await db.transaction((tx) => invite(tx, shopId, orderIds));
    return due.length;
  },
};

function findDue(db: Database, shops: Sql, limit: number) {
  const days = sql`make_interval(days => coalesce((shop.settings -> 'reviews' ->> 'invitationDays')::integer, 14))`;
  return db.many<{ shopId: string; orderId: string }>(sql`
    select distinct shop.shop_id as "shopId", upper(shipment.order_id::text) as "orderId"
    from shop
    join order_shipment shipment on shipment.shop_id = shop.shop_id
      and shipment.at > ${new Date(db.now.getTime() - TOO_LATE)}::timestamptz - ${days}
      and shipment.at <= ${db.now}::timestamptz - ${days}
    where ${shops} and shop.settings -> 'reviews' ->> 'open' = 'true'
      and shop.settings -> 'reviews' ->> 'invite' in ('subscribers', 'customers')
      and not exists (
        select from review_invitation decided
        where decided.shop_id = shop.shop_id and decided.order_id = shipment.order_id)
    limit ${limit}`);
}

interface InvitedOrder {
  orderId: string;
  orderNumber: string;
  email: string | null;
  locale: string;
}

async function invite(tx: Transaction, shopId: string, orderIds: readonly string[]): Promise<void> {
  const settings = await shopSettings(tx, shopId);
  // Of two processes, the one that writes the row invites.
  const claimed = await tx.many<{ orderId: string }>(sql`
    insert into review_invitation (shop_id, order_id, decided_at)
    select shop.shop_id, order_id, ${tx.now}::timestamptz
    from shop cross join unnest(${orderIds}::uuid[]) as order_id
    where shop.shop_id = ${shopId}
    on conflict (shop_id, order_id) do nothing
    returning upper(order_id::text) as "orderId"`);
  const orders = await tx.many<InvitedOrder>(sql`
    select upper(order_id::text) as "orderId", order_number as "orderNumber",
      billing_address ->> 'emailAddress' as email, locale
    from customer_order
    where shop_id = ${shopId} and order_id = any (${claimed.map(({ orderId }) => orderId)}::uuid[])
      and cancelled_at is null and erased_at is null
    order by order_id`);
  const emails = orders.flatMap(({ email }) => email?.toLowerCase() ?? []);
  const consenting =
    settings.reviews.invite === 'subscribers'
      ? await findConsenting(
          tx,
          shopId,
          settings.newsletterCampaigns.map(({ campaignId }) => campaignId),
          emails,
        )
      : new Set(emails);
  const objecting = await findObjecting(tx, shopId, emails);
  const invited = orders.flatMap(({ email, locale, orderId, orderNumber }) => {
    const address = email?.toLowerCase();
    return address !== undefined && consenting.has(address) && !objecting.has(address)
      ? [{ to: email!, locale, facts: { orderId, orderNumber, products: [] } }]
      : [];
  });
  await queueEmails(tx, shopId, reviewInvitation, invited);
}

/** Long after the order can be due again. */
const KEPT_FOR = 365 * DAY;

const deleteInvitations = deleteOld('review_invitation', 'decided_at', { order_id: 'uuid' });
const deleteReports = deleteOld('review_report', 'closed_at', { report_id: 'uuid' });

export const reviewCleanup: CleanupStep = {
  name: 'reviews',
  run: async (db, limit) => {
    const before = new Date(db.serviceNow.getTime() - KEPT_FOR);
    const deleted = await Promise.all([
      deleteInvitations(db, before, limit),
      deleteReports(db, before, limit),
    ]);
    return Math.max(...deleted);
  },
};

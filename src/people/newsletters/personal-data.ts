import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';

/** Newsletter subscriptions, and requests for them that are not confirmed. */
export const newsletterPersonalData: PersonalData = {
  sections: {
    newsletterSubscriptions: section('Newsletters, subscribed or not.', findSubscriptionsOf),
    newsletterRequests: section(
      'Newsletters that were asked for and are not confirmed.',
      findNewsletterRequestsOf,
    ),
    newsletterBounces: section(
      'Addresses that mailings are not sent to: their server refuses them, or the person has complained.',
      findBouncesOf,
    ),
  },
  counts: { subscriptionsDeleted: 'Newsletter subscriptions.' },
  erase: async (tx, shopId, { emails }) => {
    await tx.run(sql`delete from newsletter_request where shop_id = ${shopId} and email = any (${emails})`);
    await tx.run(sql`delete from newsletter_bounce where shop_id = ${shopId} and email = any (${emails})`);
    const subscriptionsDeleted = await tx.run(
      sql`delete from newsletter_subscriber where shop_id = ${shopId} and email = any (${emails})`,
    );
    return { counts: { subscriptionsDeleted } };
  },
};

function findSubscriptionsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select campaign.identifier as newsletter, email, subscriber.name, subscriber.locale, subscribed, created_at as since
    from newsletter_subscriber subscriber
    join newsletter_campaign campaign on campaign.shop_id = subscriber.shop_id
      and campaign.campaign_id = subscriber.campaign_id
    where subscriber.shop_id = ${shopId} and email = any (${emails}) order by created_at, identifier`);
}

function findNewsletterRequestsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select campaign.identifier as newsletter, email, request.name, request.locale, created_at as since
    from newsletter_request request
    join newsletter_campaign campaign on campaign.shop_id = request.shop_id
      and campaign.campaign_id = request.campaign_id
    where request.shop_id = ${shopId} and email = any (${emails}) order by created_at, identifier`);
}

function findBouncesOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select email, kind, created_at as since from newsletter_bounce
    where shop_id = ${shopId} and email = any (${emails}) order by email`);
}

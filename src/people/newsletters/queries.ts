import type { Queries, Transaction } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';

export interface CampaignRow {
  campaignId: string;
  language: string;
  identifier: string;
  name: string;
  description: string | null;
  numberOfSubscribers: number;
  subject: string | null;
}

export async function countNewsletterCampaigns(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from newsletter_campaign where shop_id = ${shopId}`,
  );
  return row!.count;
}

export function findNewsletterCampaigns(db: Queries, shopId: string, limit: number, offset: number) {
  return db.many<CampaignRow>(sql`
    select campaign_id as "campaignId", language, identifier, name, description, subject, (
        select count(*) from newsletter_subscriber as subscriber
        where subscriber.shop_id = ${shopId} and subscriber.campaign_id = campaign.campaign_id
          and subscriber.subscribed
      ) as "numberOfSubscribers"
    from newsletter_campaign as campaign where shop_id = ${shopId}
    order by position, identifier limit ${limit} offset ${offset}`);
}

/** All subscribers listed, including those who unsubscribed; undefined: there is no such campaign. */
export async function countSubscribers(
  db: Queries,
  shopId: string,
  campaignId: string,
): Promise<number | undefined> {
  const row = await db.one<{ count: number }>(sql`
    select (
        select count(*) from newsletter_subscriber as subscriber
        where subscriber.shop_id = ${shopId} and subscriber.campaign_id = campaign.campaign_id
      ) as count
    from newsletter_campaign as campaign where shop_id = ${shopId} and campaign_id = ${campaignId}`);
  return row?.count;
}

export interface SubscriberRow {
  email: string;
  name: string;
  subscribed: boolean;
}

export function findSubscribers(
  db: Queries,
  shopId: string,
  campaignId: string,
  limit: number,
  offset: number,
) {
  return db.many<SubscriberRow>(sql`
    select email, name, subscribed from newsletter_subscriber
    where shop_id = ${shopId} and campaign_id = ${campaignId}
    order by created_at, email limit ${limit} offset ${offset}`);
}

/** Milliseconds for which the link in the email is valid. */
const NEWSLETTER_REQUEST_LIFETIME = 7 * 86_400_000;

const DAY = 86_400_000;

/** Limits the emails to an address, so that typing it often cannot flood a mailbox. */
const EMAILS_PER_DAY = 3;

/** Whether this address may get one more email. The rows of one email have the same time, and no two emails do. */
export async function mayReceiveSubscriptionEmail(
  tx: Transaction,
  shopId: string,
  email: string,
): Promise<boolean> {
  const row = await tx.one<{ count: number; isNow: boolean }>(sql`
    select count(distinct created_at) as count, coalesce(bool_or(created_at = ${tx.now}), false) as "isNow"
    from newsletter_request
    where shop_id = ${shopId} and email = lower(${email}) and created_at > ${new Date(tx.now.getTime() - DAY)}`);
  return row!.count < EMAILS_PER_DAY && !row!.isNow;
}

export function insertRequests(
  tx: Transaction,
  shopId: string,
  { email, name, locale }: { email: string; name: string; locale: string },
  requests: readonly { tokenHash: Buffer; campaignId: string }[],
) {
  return tx.run(sql`
    insert into newsletter_request (shop_id, token_hash, campaign_id, email, name, locale, created_at)
    select shop.shop_id, token_hash, campaign_id, lower(${email}), ${name}, ${locale}, ${tx.now}::timestamptz
    from shop cross join unnest(${requests.map(({ tokenHash }) => tokenHash)}::bytea[],
      ${requests.map(({ campaignId }) => campaignId)}::uuid[]) as given (token_hash, campaign_id)
    where shop.shop_id = ${shopId}`);
}

/** Selects requests that can still be confirmed. */
const openRequests = (db: Queries, shopId: string, tokenHashes: readonly Buffer[]) => sql`
  shop_id = ${shopId} and token_hash = any (${tokenHashes}::bytea[])
    and created_at > ${new Date(db.now.getTime() - NEWSLETTER_REQUEST_LIFETIME)}`;

export function findRequests(db: Queries, shopId: string, tokenHashes: readonly Buffer[]) {
  return db.many<{ campaignId: string; email: string }>(sql`
    select upper(campaign_id::text) as "campaignId", email from newsletter_request
    where ${openRequests(db, shopId, tokenHashes)}`);
}

/**
 * Subscribes those who requested it, including those who had unsubscribed before. The email with the link has arrived, so
 * an address that had bounced is written to again. A link works once; nothing is returned when it was not valid.
 */
export async function confirmRequests(
  tx: Transaction,
  shopId: string,
  tokenHashes: readonly Buffer[],
): Promise<{ email: string }[]> {
  const confirmed = await tx.many<{
    campaignId: string;
    email: string;
    name: string;
    locale: string | null;
  }>(sql`
    delete from newsletter_request where ${openRequests(tx, shopId, tokenHashes)}
    returning campaign_id as "campaignId", email, name, locale`);
  if (confirmed.length === 0) return [];
  const emails = confirmed.map(({ email }) => email);
  await tx.run(
    sql`delete from newsletter_bounce where shop_id = ${shopId} and email = any (${emails}::text[])`,
  );
  return tx.many<{ email: string }>(sql`
    insert into newsletter_subscriber (shop_id, campaign_id, email, name, locale, subscribed, created_at)
    select shop.shop_id, "campaignId", email, name, locale, true, ${tx.now}::timestamptz
    from shop cross join jsonb_to_recordset(${JSON.stringify(confirmed)})
      as confirmed ("campaignId" uuid, email text, name text, locale text)
    where shop.shop_id = ${shopId}
    on conflict (shop_id, campaign_id, email) do update set subscribed = excluded.subscribed,
      locale = coalesce(excluded.locale, newsletter_subscriber.locale),
      name = coalesce(nullif(excluded.name, ''), newsletter_subscriber.name)
    returning email`);
}

/** Unsubscribes from all newsletters of the shop, and deletes requests that are not confirmed. */
export async function unsubscribe(tx: Transaction, shopId: string, email: string): Promise<void> {
  await tx.run(sql`delete from newsletter_request where shop_id = ${shopId} and email = lower(${email})`);
  await tx.run(sql`
    update newsletter_subscriber set subscribed = false
    where shop_id = ${shopId} and email = lower(${email}) and subscribed`);
}

/** Unsubscribes these addresses, in lower case, from all newsletters of the shop. */
export async function unsubscribeAll(
  tx: Transaction,
  shopId: string,
  emails: readonly string[],
): Promise<void> {
  await tx.run(sql`
    delete from newsletter_request where shop_id = ${shopId} and email = any (${emails}::text[])`);
  await tx.run(sql`
    update newsletter_subscriber set subscribed = false
    where shop_id = ${shopId} and email = any (${emails}::text[]) and subscribed`);
}

/** Unsubscribes these addresses from one newsletter, and returns how many had it. */
export function unsubscribeFrom(
  tx: Transaction,
  shopId: string,
  campaignId: string,
  emails: readonly string[],
) {
  return tx.run(sql`
    update newsletter_subscriber set subscribed = false
    where shop_id = ${shopId} and campaign_id = ${campaignId} and email = any (${emails}::text[]) and subscribed`);
}

/** A current subscriber of one of several newsletters. */
export interface Addressee {
  email: string;
  locale: string | null;
  /** Of the newsletter. */
  language: string;
}

/**
 * Current subscribers of these newsletters after an address, in the order of the addresses, those excepted whose address
 * mailings are not sent to. One person may be there once for each newsletter.
 */
export function findAddressees(
  db: Queries,
  shopId: string,
  campaignIds: readonly string[],
  { after, limit }: { after: string; limit: number },
) {
  return db.many<Addressee>(sql`
    select email, locale, campaign.language
    from newsletter_campaign campaign cross join lateral (
      select email, locale from newsletter_subscriber subscriber
      where subscriber.shop_id = ${shopId} and subscriber.campaign_id = campaign.campaign_id
        and subscriber.email > ${after} and subscriber.subscribed
        and not exists (
          select from newsletter_bounce
          where newsletter_bounce.shop_id = ${shopId} and newsletter_bounce.email = subscriber.email)
      order by subscriber.email limit ${limit}
    ) as found
    where campaign.shop_id = ${shopId} and campaign.campaign_id = any (${campaignIds}::uuid[])
    order by email, campaign.position limit ${limit}`);
}

/** Unsubscribes an address from these newsletters; false: it had none of them. */
export async function unsubscribeFromThese(
  tx: Transaction,
  shopId: string,
  campaignIds: readonly string[],
  email: string,
): Promise<boolean> {
  const unsubscribed = await tx.run(sql`
    update newsletter_subscriber set subscribed = false
    where shop_id = ${shopId} and campaign_id = any (${campaignIds}::uuid[]) and email = ${email} and subscribed`);
  return unsubscribed > 0;
}

export type BounceKind = 'bounced' | 'complained';

/** Those of the addresses, in lower case, that have confirmed a newsletter at some time. */
export async function findKnownSubscribers(
  db: Queries,
  shopId: string,
  emails: readonly string[],
): Promise<string[]> {
  const rows = await db.many<{ email: string }>(sql`
    select distinct given.email from newsletter_campaign campaign cross join unnest(${emails}::text[]) as given (email)
    where campaign.shop_id = ${shopId} and exists (
      select from newsletter_subscriber subscriber
      where subscriber.shop_id = ${shopId} and subscriber.campaign_id = campaign.campaign_id
        and subscriber.email = given.email)
    order by given.email`);
  return rows.map(({ email }) => email);
}

/** Addresses that mailings are not sent to from now on, in lower case. One that has complained stays one. */
export function saveBounces(tx: Transaction, shopId: string, kind: BounceKind, emails: readonly string[]) {
  return tx.run(sql`
    insert into newsletter_bounce (shop_id, email, kind, created_at)
    select shop.shop_id, given.email, ${kind}, ${tx.now}::timestamptz
    from shop cross join unnest(${emails}::text[]) as given (email)
    where shop.shop_id = ${shopId}
    order by given.email
    on conflict (shop_id, email) do update set kind = excluded.kind
    where newsletter_bounce.kind = 'bounced'`);
}

/** The addresses among these that have confirmed a newsletter of the shop and still get it. */
export async function findConsenting(
  db: Queries,
  shopId: string,
  campaignIds: readonly string[],
  emails: readonly string[],
): Promise<Set<string>> {
  const rows = await db.many<{ email: string }>(sql`
    select distinct email from newsletter_subscriber
    where shop_id = ${shopId} and campaign_id = any (${campaignIds}::uuid[]) and email = any (${emails}::text[])
      and subscribed`);
  return new Set(rows.map(({ email }) => email));
}

/** The campaigns whose newsletter this address gets. */
export async function findSubscribedIds(db: Queries, shopId: string, email: string): Promise<Set<string>> {
  const rows = await db.many<{ campaignId: string }>(sql`
    select upper(campaign_id::text) as "campaignId" from newsletter_subscriber
    where shop_id = ${shopId} and email = ${email} and subscribed`);
  return new Set(rows.map(({ campaignId }) => campaignId));
}

/** Subscribes a confirmed address to exactly these newsletters. `locale`: the language of the person, if it is known. */
export async function setSubscriptions(
  tx: Transaction,
  shopId: string,
  email: string,
  campaignIds: readonly string[],
  locale: string | null = null,
): Promise<void> {
  await tx.run(sql`
    update newsletter_subscriber set subscribed = false
    where shop_id = ${shopId} and email = ${email} and subscribed and campaign_id <> all (${campaignIds}::uuid[])`);
  await tx.run(sql`
    delete from newsletter_request
    where shop_id = ${shopId} and email = ${email} and campaign_id <> all (${campaignIds}::uuid[])`);
  await tx.run(sql`
    insert into newsletter_subscriber (shop_id, campaign_id, email, name, locale, subscribed, created_at)
    select shop_id, campaign_id, ${email}, '', ${locale}, true, ${tx.now}::timestamptz from newsletter_campaign
    where shop_id = ${shopId} and campaign_id = any (${campaignIds}::uuid[])
    on conflict (shop_id, campaign_id, email) do update set subscribed = excluded.subscribed,
      locale = coalesce(excluded.locale, newsletter_subscriber.locale)`);
}

const deleteRequests = deleteOld('newsletter_request', 'created_at', { token_hash: 'bytea' });

/** Deletes requests that were not confirmed in time. */
export const requestCleanup: CleanupStep = {
  name: 'newsletter requests',
  run: (db, limit) => deleteRequests(db, new Date(db.now.getTime() - NEWSLETTER_REQUEST_LIFETIME), limit),
};

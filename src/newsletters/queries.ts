import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';

export interface CampaignRow {
  campaignId: string;
  language: string;
  identifier: string;
  name: string;
  description: string | null;
  numberOfSubscribers: number;
  subject: string | null;
}

export async function countCampaigns(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(
    sql`select count(*) as count from newsletter_campaign where shop_id = ${shopId}`,
  );
  return row!.count;
}

export function findCampaigns(db: Queries, shopId: string, limit: number, offset: number) {
  return db.many<CampaignRow>(sql`
    select campaign_id as "campaignId", language, identifier, name, description, subject, (
        select count(*) from newsletter_subscriber as subscriber
        where subscriber.shop_id = campaign.shop_id and subscriber.campaign_id = campaign.campaign_id
          and subscriber.subscribed
      ) as "numberOfSubscribers"
    from newsletter_campaign as campaign where shop_id = ${shopId}
    order by position, identifier limit ${limit} offset ${offset}`);
}

/** All that are listed, also those who unsubscribed; undefined: there is no such campaign. */
export async function countSubscribers(
  db: Queries,
  shopId: string,
  campaignId: string,
): Promise<number | undefined> {
  const row = await db.one<{ count: number }>(sql`
    select (
        select count(*) from newsletter_subscriber as subscriber
        where subscriber.shop_id = campaign.shop_id and subscriber.campaign_id = campaign.campaign_id
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

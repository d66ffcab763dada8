import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export interface ListedSubscriber {
  email: string;
  name: string;
  subscribed: boolean;
  createdAt: Date;
}

const columns = sql`email, name, subscribed, created_at as "createdAt"`;

/** A text is a prefix of all texts from itself to this one, in the order of bytes. */
const endOf = (prefix: string) => `${prefix}\u{10FFFF}`;

/** Newest first; with a text, those whose address starts with it, sorted by address. */
export function findListedSubscribers(
  db: Queries,
  shopId: string,
  campaignId: string,
  { text, limit, offset }: { text: string; limit: number; offset: number },
) {
  if (text === '') {
    return db.many<ListedSubscriber>(sql`
      select ${columns} from newsletter_subscriber where shop_id = ${shopId} and campaign_id = ${campaignId}
      order by created_at desc, email desc limit ${limit} offset ${offset}`);
  }
  return db.many<ListedSubscriber>(sql`
    select ${columns} from newsletter_subscriber
    where shop_id = ${shopId} and campaign_id = ${campaignId} and email ~>=~ ${text} and email ~<~ ${endOf(text)}
    order by email using ~<~ limit ${limit} offset ${offset}`);
}

/** Active subscribers after an address: the next part of a file. */
export function findSubscribersAfter(
  db: Queries,
  shopId: string,
  campaignId: string,
  { after, limit }: { after: string; limit: number },
) {
  return db.many<ListedSubscriber>(sql`
    select ${columns} from newsletter_subscriber
    where shop_id = ${shopId} and campaign_id = ${campaignId} and email > ${after} and subscribed
    order by email limit ${limit}`);
}

import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import type { ShopVisit } from '../visit.ts';
import { thingOf } from './thing-links.ts';

/** The names of things by id, such as `ORD261115/1001` and `Paring Knife (KN-110)`. */
export type ThingNames = ReadonlyMap<string, string>;

interface NamedThing {
  id: string;
  number: string | null;
  /** In the languages of the shop. */
  name: Localised | null;
  /** A name that is the same in all languages. */
  person: string | null;
}

/**
 * Finds what the orders, products, categories, customers, campaigns, gift cards, pages, redirects and apps of entries are called now, each
 * kind in one statement. The log keeps ids alone, so the name of an erased person is in none of them; what was deleted has no name.
 */
export async function findThingNames(
  visit: ShopVisit,
  objects: readonly Readonly<Record<string, string>>[],
): Promise<ThingNames> {
  const { db, shopId, locale, settings } = visit;
  const ids = new Map<string, string[]>();
  for (const object of objects) {
    const [kind, id] = thingOf(object) ?? [];
    if (kind === undefined || !isId(id!)) continue;
    if (kind === 'customerId' && !visit.may('customers_read')) continue;
    ids.set(kind, [...(ids.get(kind) ?? []), id!]);
  }
  const found = await Promise.all(
    Object.entries(FINDERS).map(([kind, find]) => {
      const ofKind = ids.get(kind);
      return ofKind ? find(db, shopId, ofKind) : Promise.resolve([]);
    }),
  );
  return new Map(
    found.flat().map(({ id, number, name, person }) => {
      const text = (name && textIn(name, locale, settings.defaultLocale)) || person;
      return [id, text ? (number === null ? text : `${text} (${number})`) : (number ?? '')];
    }),
  );
}

type Find = (db: Queries, shopId: string, ids: readonly string[]) => Promise<NamedThing[]>;

const findCampaigns: Find = (db, shopId, ids) =>
  db.many<NamedThing>(sql`
    select upper(campaign_id::text) as id, null::text as number, name, identifier as person from coupon_campaign
    where shop_id = ${shopId} and campaign_id = any (${ids}::uuid[])`);

/** By the names of ids in the log. */
const FINDERS: Readonly<Record<string, Find>> = {
  orderId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(order_id::text) as id, order_number as number, null::jsonb as name, null::text as person
      from customer_order where shop_id = ${shopId} and order_id = any (${ids}::uuid[])`),
  // A variation has the name of its product.
  productId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(product.product_id::text) as id, product.product_number as number,
        coalesce(product.facts -> 'name', master.facts -> 'name') as name, null::text as person
      from product left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
      where product.shop_id = ${shopId} and product.product_id = any (${ids}::uuid[])`),
  categoryId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(category_id::text) as id, null::text as number, name, alias as person
      from category where shop_id = ${shopId} and category_id = any (${ids}::uuid[])`),
  customerId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(customer_id::text) as id, customer_number as number, null::jsonb as name,
        nullif(coalesce(
          nullif(trim(concat_ws(' ', billing_address ->> 'firstName', billing_address ->> 'lastName')), ''),
          billing_address ->> 'company'), '') as person
      from customer where shop_id = ${shopId} and customer_id = any (${ids}::uuid[])`),
  couponCampaignId: findCampaigns,
  campaignId: findCampaigns,
  giftCardId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(gift_card_id::text) as id, null::text as number, null::jsonb as name,
        '•••• ' || last_characters as person
      from gift_card where shop_id = ${shopId} and gift_card_id = any (${ids}::uuid[])`),
  pageId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(page_id::text) as id, null::text as number, jsonb_object_agg(locale, coalesce(title, '')) as name,
        max(slug) as person
      from page_text where shop_id = ${shopId} and page_id = any (${ids}::uuid[]) group by page_id`),
  redirectId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(redirect_id::text) as id, null::text as number, null::jsonb as name, source as person
      from redirect where shop_id = ${shopId} and redirect_id = any (${ids}::uuid[])`),
  appId: (db, shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(app_id::text) as id, null::text as number, null::jsonb as name, name as person
      from app where shop_id = ${shopId} and app_id = any (${ids}::uuid[])`),
  // Users belong to no shop; the log of a shop names only those who were its members.
  userId: (db, _shopId, ids) =>
    db.many<NamedThing>(sql`
      select upper(user_id::text) as id, null::text as number, null::jsonb as name, email as person
      from admin_user where user_id = any (${ids}::uuid[])`),
};

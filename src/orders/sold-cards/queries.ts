import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** A gift card that an order has sold. */
export interface SoldCard {
  giftCardId: string;
  lineItemId: string;
  /** In minor units of the order's currency. */
  value: number;
  sendAt: Date | null;
  sentAt: Date | null;
  revokedAt: Date | null;
}

export function insertSoldCard(
  tx: Transaction,
  shopId: string,
  orderId: string,
  { giftCardId, lineItemId, value, sendAt }: Pick<SoldCard, 'giftCardId' | 'lineItemId' | 'value' | 'sendAt'>,
) {
  return tx.run(sql`
    insert into sold_gift_card (shop_id, gift_card_id, order_id, line_item_id, value, send_at)
    values (${shopId}, ${giftCardId}, ${orderId}, ${lineItemId}, ${value}, ${sendAt})`);
}

/** In the order in which they were issued. */
export function findSoldCards(db: Queries, shopId: string, orderId: string) {
  return db.many<SoldCard>(sql`
    select upper(gift_card_id::text) as "giftCardId", upper(line_item_id::text) as "lineItemId", value,
      send_at as "sendAt", sent_at as "sentAt", revoked_at as "revokedAt"
    from sold_gift_card where shop_id = ${shopId} and order_id = ${orderId} order by gift_card_id`);
}

export interface DueCard {
  shopId: string;
  giftCardId: string;
}

/** Cards of all shops that are to be sent now. */
export function findDueCards(db: Queries, now: Date, limit: number) {
  return db.many<DueCard>(sql`
    select shop_id as "shopId", upper(gift_card_id::text) as "giftCardId" from sold_gift_card
    where send_at <= ${now} order by send_at, shop_id, gift_card_id limit ${limit}`);
}

/** The same of one shop, by its own clock. */
export function findDueCardsOf(db: Queries, shopId: string, now: Date, limit: number) {
  return db.many<DueCard>(sql`
    select shop_id as "shopId", upper(gift_card_id::text) as "giftCardId" from sold_gift_card
    where shop_id = ${shopId} and send_at <= ${now} order by send_at, gift_card_id limit ${limit}`);
}

/** Of a card that this transaction has locked. */
export function findSoldCard(tx: Transaction, shopId: string, giftCardId: string) {
  return tx.one<{ orderId: string; lineItemId: string; sendAt: Date | null }>(sql`
    select upper(order_id::text) as "orderId", upper(line_item_id::text) as "lineItemId", send_at as "sendAt"
    from sold_gift_card where shop_id = ${shopId} and gift_card_id = ${giftCardId}`);
}

/** `sentAt`: null: there was nobody to send it to. */
export function updateSent(tx: Transaction, shopId: string, giftCardId: string, sentAt: Date | null) {
  return tx.run(sql`
    update sold_gift_card set send_at = null, sent_at = coalesce(${sentAt}::timestamptz, sent_at)
    where shop_id = ${shopId} and gift_card_id = ${giftCardId}`);
}

export function updateRevoked(tx: Transaction, shopId: string, giftCardIds: readonly string[]) {
  return tx.run(sql`
    update sold_gift_card set send_at = null, revoked_at = ${tx.now}::timestamptz
    where shop_id = ${shopId} and gift_card_id = any (${giftCardIds}::uuid[])`);
}

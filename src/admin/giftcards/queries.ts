import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { GiftCard } from '../../giftcards/card.ts';
import type { ShownState } from './state.ts';

export type ListedCard = Omit<GiftCard, 'customerId' | 'note'> & {
  /** It belongs to a customer, not to the holder of its code. */
  isCredit: boolean;
};

export interface ListFilter {
  /** The end of the code, in upper case; null: any. */
  lastCharacters: string | null;
  /** null: all. */
  state: ShownState | null;
  /** `2026-11-15`, by which a card has expired or not. */
  today: string;
  /** Only cards that were issued before this one; null: from the newest on. */
  before: string | null;
}

/** Newest first. */
export function findListedCards(
  db: Queries,
  shopId: string,
  { lastCharacters, state, today, before }: ListFilter,
  limit: number,
) {
  return db.many<ListedCard>(sql`
    select upper(gift_card_id::text) as "giftCardId", last_characters as "lastCharacters", currency, balance,
      created_at as "createdAt", expires_on::text as "expiresOn", blocked_at as "blockedAt",
      customer_id is not null as "isCredit"
    from gift_card
    where shop_id = ${shopId}
      and gift_card_id < coalesce(${before}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
      and (${lastCharacters}::text is null or last_characters = ${lastCharacters}::text)
      and (${state}::text is null or ${state}::text = case
        when expires_on < ${today}::date then 'expired' when blocked_at is not null then 'blocked'
        when balance = 0 then 'usedUp' else 'valid' end)
    order by gift_card_id desc limit ${limit}`);
}

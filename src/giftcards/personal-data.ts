import { sql } from '../db/sql.ts';
import { toDecimal } from '../kernel/money.ts';
import { section, type PersonalData } from '../platform/personal-data.ts';

interface ExportedCard {
  lastCharacters: string;
  currency: string;
  balance: number;
  since: Date;
  expiresOn: string | null;
  note: string | null;
}

/** The store credit of a customer. The shop still owes it after an erasure, to the holder of its code. */
export const giftCardPersonalData: PersonalData = {
  sections: {
    storeCredit: section('Store credit, oldest first.', async (db, shopId, { customerId }) => {
      const cards = await db.many<ExportedCard>(sql`
        select last_characters as "lastCharacters", currency, balance, created_at as since,
          expires_on::text as "expiresOn", note
        from gift_card where shop_id = ${shopId} and customer_id = ${customerId} order by gift_card_id`);
      return cards.map((card) => ({ ...card, balance: toDecimal(card.balance, card.currency) }));
    }),
  },
  counts: {
    storeCreditKept: 'Gift cards that were store credit, and now belong to the holder of their code.',
  },
  erase: async (tx, shopId, { customerId }) => ({
    counts: {
      storeCreditKept: await tx.run(sql`
        update gift_card set customer_id = null, note = null
        where shop_id = ${shopId} and customer_id = ${customerId}`),
    },
  }),
};

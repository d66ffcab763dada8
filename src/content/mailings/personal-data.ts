import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';

/** Mailings that a person was sent in the last weeks, or is to be sent. */
export const mailingPersonalData: PersonalData = {
  sections: {
    mailings: section(
      'Mailings of the last weeks that were sent to the person, or are to be.',
      findMailingsOf,
    ),
  },
  counts: { mailingRecipientsDeleted: 'Records of mailings to the person.' },
  erase: async (tx, shopId, { emails }) => {
    const mailingRecipientsDeleted = await tx.run(sql`
      delete from mailing_recipient where shop_id = ${shopId} and email = any (${emails})`);
    return { counts: { mailingRecipientsDeleted } };
  },
};

function findMailingsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select upper(recipient.mailing_id::text) as mailing, (
        select min(subject) from mailing_text
        where mailing_text.shop_id = ${shopId} and mailing_text.mailing_id = recipient.mailing_id
      ) as subject, recipient.email, recipient.state, recipient.unsubscribed, recipient.complained,
      recipient.changed_at as since
    from mailing_recipient recipient
    where recipient.shop_id = ${shopId} and recipient.email = any (${emails})
    order by recipient.changed_at, recipient.mailing_id`);
}

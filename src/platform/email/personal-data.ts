import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { JOB_STATE } from '../jobs/queries.ts';
import { section, type Person, type PersonalData } from '../personal-data.ts';
import { EMAIL_QUEUE } from './queue.ts';

/** Emails in the queue: waiting ones, and those that could not be sent; and what servers said of an address. */
export const emailPersonalData: PersonalData = {
  sections: { mails: section('Emails that wait, or that could not be sent.', findEmailsOf) },
  counts: { mailsDeleted: 'Emails that were waiting, or could not be sent.' },
  erase: async (tx, shopId, person) => ({
    counts: { mailsDeleted: await deleteEmailsOf(tx, shopId, person) },
  }),
};

/** Selects emails to one of the addresses, or about the customer or one of the orders. */
const emailsOf = (shopId: string, { customerId, emails }: Person) => sql`
  shop_id = ${shopId} and queue = ${EMAIL_QUEUE} and (
    lower(content ->> 'to') = any (${emails}) or content -> 'facts' ->> 'customerId' = ${customerId}
    or content -> 'facts' ->> 'orderId' in (
      select upper(order_id::text) from customer_order
      where shop_id = ${shopId} and customer_id = ${customerId}))`;

function findEmailsOf(db: Queries, shopId: string, person: Person) {
  return db.many<object>(sql`
    select content ->> 'to' as to, content ->> 'template' as template, content ->> 'locale' as locale,
      content -> 'facts' as facts, ${JOB_STATE} as state, created_at as since
    from job where ${emailsOf(shopId, person)}
    union all
    select email, template, null, json_build_object('answer', answer)::jsonb, kind, at
    from email_problem where shop_id = ${shopId} and email = any (${person.emails}::text[])
    order by since`);
}

async function deleteEmailsOf(tx: Transaction, shopId: string, person: Person): Promise<number> {
  const deleted = await tx.run(sql`delete from job where ${emailsOf(shopId, person)}`);
  const forgotten = await tx.run(sql`
    delete from email_problem where shop_id = ${shopId} and email = any (${person.emails}::text[])`);
  return deleted + forgotten;
}

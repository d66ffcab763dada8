import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { section, type Person, type PersonalData } from '../personal-data.ts';
import { EMAIL_QUEUE } from './queue.ts';

/** Emails in the queue: those that wait, and those that could not be sent. */
export const emailPersonalData: PersonalData = {
  sections: { mails: section('Emails that wait, or that could not be sent.', findEmailsOf) },
  counts: { mailsDeleted: 'Emails that were waiting, or could not be sent.' },
  erase: async (tx, shopId, person) => ({
    counts: { mailsDeleted: await deleteEmailsOf(tx, shopId, person) },
  }),
};

/** Selects emails to one of the addresses, or about one of the orders. */
const emailsOf = (shopId: string, { customerId, emails }: Person) => sql`
  name = ${EMAIL_QUEUE} and data ->> 'shopId' = ${shopId} and (
    lower(data ->> 'to') = any (${emails})
    or data -> 'facts' ->> 'orderId' in (
      select upper(order_id::text) from customer_order
      where shop_id = ${shopId} and customer_id = ${customerId}))`;

function findEmailsOf(db: Queries, shopId: string, person: Person) {
  return db.many<object>(sql`
    select data ->> 'to' as to, data ->> 'template' as template, data ->> 'locale' as locale,
      data -> 'facts' as facts, state, created_on as since
    from (
      select name, data, state::text, created_on, id from pgboss.job
      union all select name, data, state::text, created_on, id from pgboss.archive
    ) job
    where ${emailsOf(shopId, person)} order by created_on, id`);
}

async function deleteEmailsOf(tx: Transaction, shopId: string, person: Person): Promise<number> {
  const waiting = await tx.run(sql`delete from pgboss.job where ${emailsOf(shopId, person)}`);
  return waiting + (await tx.run(sql`delete from pgboss.archive where ${emailsOf(shopId, person)}`));
}

import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { batchedSection, type Person, type PersonalData } from '../../platform/personal-data.ts';
import { entryColumns, firstIdSince, type EntryRow } from './queries.ts';
import { toEntry } from './render.ts';

const BATCH = 1_000;

/** Audit log entries name things only by id, so an erasure leaves them. */
export const auditPersonalData: PersonalData = {
  sections: {
    auditEntries: batchedSection(
      'Who has changed the customer or an order, and when; oldest first.',
      findEntriesAbout,
      async () => toEntry,
    ),
  },
};

/** Oldest first, after the last entry read. None is older than the customer. */
function findEntriesAbout(
  db: Queries,
  shopId: string,
  { customerId, createdAt }: Person,
  last: EntryRow | undefined,
) {
  return db.many<EntryRow>(sql`
    select ${entryColumns} from audit_entry
    where shop_id = ${shopId} and entry_id > ${last?.entryId ?? firstIdSince(createdAt.getTime())}::uuid and (
      object ->> 'customerId' = ${customerId} or object ->> 'orderId' in (
        select upper(order_id::text) from customer_order
        where shop_id = ${shopId} and customer_id = ${customerId}))
    order by entry_id limit ${BATCH}`);
}

import { sql } from '../../db/sql.ts';
import { section, type PersonalData } from '../../platform/personal-data.ts';

/** What a customer has written to be let into the shop. */
export const accessPersonalData: PersonalData = {
  sections: {
    accessRequests: section('Requests for access to the shop.', (db, shopId, { customerId }) =>
      db.many<object>(sql`
        select email, company, vat_id as "vatId", text, state, asked_at as "askedOn", decided_at as "decidedOn"
        from access_request where shop_id = ${shopId} and customer_id = ${customerId}`),
    ),
  },
  counts: { accessRequestsDeleted: 'Requests for access to the shop.' },
  erase: async (tx, shopId, { customerId }) => ({
    counts: {
      accessRequestsDeleted: await tx.run(sql`
        delete from access_request where shop_id = ${shopId} and customer_id = ${customerId}`),
    },
  }),
};

import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

export const ACCESS_STATES = ['waiting', 'approved', 'declined'] as const;
export type AccessState = (typeof ACCESS_STATES)[number];

/** As in the checks of the table. */
export const MAX_COMPANY_LENGTH = 100;
export const MAX_VAT_ID_LENGTH = 30;
export const MAX_ACCESS_TEXT_LENGTH = 1_000;

export interface AccessRequest {
  customerId: string;
  email: string;
  locale: string;
  company: string;
  vatId: string;
  text: string;
  state: AccessState;
  askedAt: Date;
  decidedAt: Date | null;
}

const columns = sql`
  upper(customer_id::text) as "customerId", email, locale, company, vat_id as "vatId", text, state,
  asked_at as "askedAt", decided_at as "decidedAt"`;

/** In this state, the oldest first. */
export function findAccessRequests(
  db: Queries,
  shopId: string,
  state: AccessState,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<AccessRequest>(sql`
    select ${columns} from access_request
    where shop_id = ${shopId} and state = ${state}
    order by asked_at, customer_id limit ${limit} offset ${offset}`);
}

export async function countAccessRequests(db: Queries, shopId: string, state: AccessState): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from access_request where shop_id = ${shopId} and state = ${state}`);
  return row!.count;
}

export function findAccessRequest(db: Queries, shopId: string, customerId: string) {
  return db.one<AccessRequest>(sql`
    select ${columns} from access_request where shop_id = ${shopId} and customer_id = ${customerId}`);
}

/** Replaces the former request of the customer, unless that still waits or was approved; 0: it stays. */
export function saveAccessRequest(
  tx: Transaction,
  shopId: string,
  request: Pick<AccessRequest, 'customerId' | 'email' | 'locale' | 'company' | 'vatId' | 'text'>,
) {
  return tx.run(sql`
    insert into access_request (shop_id, customer_id, email, locale, company, vat_id, text, state, asked_at)
    values (${shopId}, ${request.customerId}, ${request.email}, ${request.locale}, ${request.company},
      ${request.vatId}, ${request.text}, 'waiting', ${tx.now})
    on conflict (shop_id, customer_id) do update
    set email = excluded.email, locale = excluded.locale, company = excluded.company, vat_id = excluded.vat_id,
      text = excluded.text, state = excluded.state, asked_at = excluded.asked_at, decided_at = null
    where access_request.state = 'declined'`);
}

/** undefined: it does not wait any more, or never existed. */
export function decideAccessRequest(
  tx: Transaction,
  shopId: string,
  customerId: string,
  state: 'approved' | 'declined',
) {
  return tx.one<AccessRequest>(sql`
    update access_request set state = ${state}, decided_at = ${tx.now}
    where shop_id = ${shopId} and customer_id = ${customerId} and state = 'waiting'
    returning ${columns}`);
}

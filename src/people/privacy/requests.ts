import type { Queries } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import type { CallingApp } from '../../http/callers.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';

/** Claims about an erasure can be brought for three years after the end of its year (§ 195, § 199 BGB). */
const KEPT_FOR = 4 * 366 * 86_400_000;
const MAX_DONE_BY_LENGTH = 254;
/** Of one person in an export. */
const MAX_EXPORTED = 1_000;

export type PrivacyRequestKind = 'export' | 'erasure';

/** Who carries out a request: customers in their account, people and apps of the shop by name, or a command. */
export type RequestSource =
  | { source: 'customer' | 'command'; doneBy: null }
  | { source: 'staff'; doneBy: string };

export const BY_CUSTOMER: RequestSource = { source: 'customer', doneBy: null };
export const BY_COMMAND: RequestSource = { source: 'command', doneBy: null };

export function byCaller(app: Pick<CallingApp, 'name'> | undefined): RequestSource {
  return { source: 'staff', doneBy: (app?.name ?? '').slice(0, MAX_DONE_BY_LENGTH) };
}

export interface PrivacyRequest {
  requestId: string;
  kind: PrivacyRequestKind;
  source: RequestSource['source'];
  doneBy: string | null;
  customerId: string;
  customerNumber: string;
  createdAt: Date;
}

export function insertPrivacyRequest(
  db: Queries,
  shopId: string,
  kind: PrivacyRequestKind,
  { customerId, customerNumber }: Pick<PrivacyRequest, 'customerId' | 'customerNumber'>,
  { source, doneBy }: RequestSource,
) {
  return db.run(sql`
    insert into privacy_request (shop_id, request_id, kind, source, done_by, customer_id, customer_number, created_at)
    values (${shopId}, ${newId(db.now)}, ${kind}, ${source}, ${doneBy}, ${customerId}, ${customerNumber}, ${db.now})`);
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Newest first; `after` is the last one of a page. */
export function findPrivacyRequests(db: Queries, shopId: string, after: string | undefined, limit: number) {
  return db.many<PrivacyRequest>(sql`
    select upper(request_id::text) as "requestId", kind, source, done_by as "doneBy",
      upper(customer_id::text) as "customerId", customer_number as "customerNumber", created_at as "createdAt"
    from privacy_request where shop_id = ${shopId} and request_id < ${after ?? LAST_ID}
    order by request_id desc limit ${limit}`);
}

/** The records name a person by id and number alone, so an erasure leaves them. */
export const privacyRequestPersonalData: PersonalData = {
  sections: {
    privacyRequests: section(
      'Copies and erasures of the data that were asked for, oldest first.',
      findRequestsOf,
    ),
  },
};

function findRequestsOf(db: Queries, shopId: string, { customerId }: Person) {
  return db.many<object>(sql`
    select kind, source, done_by as "doneBy", created_at as "requestedOn" from privacy_request
    where shop_id = ${shopId} and customer_id = ${customerId} order by request_id limit ${MAX_EXPORTED}`);
}

const deleteRequests = deleteOld('privacy_request', 'created_at', { request_id: 'uuid' });

export const privacyRequestCleanup: CleanupStep = {
  name: 'privacy requests',
  run: (db, limit) => deleteRequests(db, new Date(db.now.getTime() - KEPT_FOR), limit),
};

import type { Queries, Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import { sql } from '../db/sql.ts';
import type { RecordKind } from './records.ts';

export interface StoredRecord {
  sourceId: string;
  targetId: string;
  /** As hexadecimal digits. */
  sourceHash: string;
  targetHash: string | null;
  importedAt: Date;
}

/** Things imported before, by the ids of the source. */
export async function findRecords(
  db: Queries,
  shopId: string,
  { source, kind, sourceIds }: { source: string; kind: RecordKind; sourceIds: readonly string[] },
): Promise<Map<string, StoredRecord>> {
  const rows = await db.many<StoredRecord>(sql`
    select source_id as "sourceId", upper(target_id::text) as "targetId", encode(source_hash, 'hex') as "sourceHash",
      encode(target_hash, 'hex') as "targetHash", imported_at as "importedAt"
    from import_record
    where shop_id = ${shopId} and source = ${source} and kind = ${kind} and source_id = any (${sourceIds}::text[])`);
  return new Map(rows.map((row) => [row.sourceId, row]));
}

const insertRecords = insertInto(
  'import_record',
  {
    source: 'text',
    kind: 'text',
    sourceId: 'text',
    targetId: 'uuid',
    sourceHash: 'bytea',
    targetHash: 'bytea',
    importedAt: 'timestamptz',
  },
  { key: ['source', 'kind', 'sourceId'] },
);

export function saveRecords(
  tx: Transaction,
  shopId: string,
  { source, kind, records }: { source: string; kind: RecordKind; records: readonly StoredRecord[] },
) {
  const bytes = (hash: string | null) => (hash === null ? null : `\\x${hash}`);
  return tx.run(
    insertRecords(
      shopId,
      records.map((record) => ({
        ...record,
        source,
        kind,
        sourceHash: bytes(record.sourceHash),
        targetHash: bytes(record.targetHash),
      })),
    ),
  );
}

export interface MatchedProduct {
  productId: string;
  productNumber: string;
  /** null: not since it was made. */
  changedAt: Date | null;
}

/** Products by id or number. */
export function matchProducts(
  db: Queries,
  shopId: string,
  { ids, numbers }: { ids: readonly string[]; numbers: readonly string[] },
) {
  return db.many<MatchedProduct>(sql`
    select upper(product_id::text) as "productId", product_number as "productNumber",
      attributes_changed_at as "changedAt"
    from product where shop_id = ${shopId}
      and (product_id = any (${ids}::uuid[]) or product_number = any (${numbers}::text[]))`);
}

export interface MatchedCustomer {
  customerId: string;
  email: string | null;
  billingAddress: unknown;
}

/** Customers by id or email address. */
export function matchCustomers(
  db: Queries,
  shopId: string,
  { ids, emails }: { ids: readonly string[]; emails: readonly string[] },
) {
  return db.many<MatchedCustomer>(sql`
    select upper(customer_id::text) as "customerId", email_key as email, billing_address as "billingAddress"
    from customer where shop_id = ${shopId}
      and (customer_id = any (${ids}::uuid[]) or email_key = any (${emails}::text[]))
    order by created_at, customer_id`);
}

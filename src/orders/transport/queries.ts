import type { Queries, Transaction } from '../../db/database.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import { seal, unseal } from '../../platform/sealing.ts';
import type { TransportAccount, TransportName } from './provider.ts';

/** The sealing key of accounts is derived from that of the installation. */
const ACCOUNTS = 'kontor transport accounts';

export const DELIVERY_STATES = ['waiting', 'stored', 'sending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The way of a document into the network. */
export interface DocumentTransport {
  documentId: string;
  provider: TransportName;
  state: DeliveryState;
  /** The provider's id of the document; null: it does not have it yet. */
  reference: string | null;
  /** Tries and questions without news. */
  attempts: number;
  error: string | null;
  updatedAt: Date;
}

const deliveryColumns = sql`
  upper(document_id::text) as "documentId", provider, state, reference, attempts, error, updated_at as "updatedAt"`;

export function findDelivery(db: Queries, shopId: string, documentId: string) {
  return db.one<DocumentTransport>(sql`
    select ${deliveryColumns} from document_delivery where shop_id = ${shopId} and document_id = ${documentId}`);
}

export function findDocumentTransports(db: Queries, shopId: string, documentIds: readonly string[]) {
  return db.many<DocumentTransport>(sql`
    select ${deliveryColumns} from document_delivery
    where shop_id = ${shopId} and document_id = any (${documentIds}::uuid[])`);
}

/** Sends a document, or sends it again after it has failed. Another one stays as it is. */
export function requestDelivery(
  tx: Transaction,
  shopId: string,
  documentId: string,
  provider: TransportName,
) {
  return tx.run(sql`
    insert into document_delivery (shop_id, document_id, provider, state, attempts, due_at, updated_at)
    values (${shopId}, ${documentId}, ${provider}, 'waiting', 0, ${tx.now}, ${tx.now})
    on conflict (shop_id, document_id) do update
    set provider = excluded.provider, state = 'waiting', attempts = 0, due_at = excluded.due_at, error = null,
      updated_at = excluded.updated_at
    where document_delivery.state = 'failed'`);
}

export interface DueDelivery {
  shopId: string;
  documentId: string;
}

export function findDueDeliveries(db: Queries, { afterShop, limit }: { afterShop: string; limit: number }) {
  return db.many<DueDelivery>(sql`
    select shop_id as "shopId", upper(document_id::text) as "documentId" from document_delivery
    where shop_id > ${afterShop} and due_at <= ${db.now} order by shop_id, due_at limit ${limit}`);
}

/** Of two processes one gets it: the other finds the new `due_at`. undefined: another one has it. */
export function takeDelivery(db: Queries, { shopId, documentId }: DueDelivery) {
  return db.one<DocumentTransport>(sql`
    update document_delivery set due_at = ${leaseEnd(db.now)}
    where shop_id = ${shopId} and document_id = ${documentId} and due_at <= ${db.now}
    returning ${deliveryColumns}`);
}

/** `dueAt` is null when it has ended. */
export function updateDelivery(
  db: Queries,
  { shopId, documentId }: DueDelivery,
  next: Pick<DocumentTransport, 'state' | 'reference' | 'attempts' | 'error'> & { dueAt: Date | null },
) {
  return db.run(sql`
    update document_delivery
    set state = ${next.state}, reference = ${next.reference}, attempts = ${next.attempts}, error = ${next.error},
      due_at = ${next.dueAt}, updated_at = ${db.now}
    where shop_id = ${shopId} and document_id = ${documentId}`);
}

/** The provider that the shop has an account of; undefined: documents go by email, as those of a sandbox do. */
export async function findTransport(db: Queries, shopId: string): Promise<TransportName | undefined> {
  const row = await db.one<{ provider: TransportName }>(sql`
    select provider from transport_account
    where shop_id = ${shopId} and exists (select from shop where shop_id = ${shopId} and sandbox_of is null)`);
  return row?.provider;
}

export async function loadTransportAccount(
  db: Queries,
  key: Buffer,
  shopId: string,
): Promise<TransportAccount | undefined> {
  const row = await db.one<{ sealed: Buffer }>(sql`
    select fields_sealed as sealed from transport_account where shop_id = ${shopId}`);
  return row && (JSON.parse(unseal(key, row.sealed, ACCOUNTS)) as TransportAccount);
}

export function saveTransportAccount(
  tx: Transaction,
  key: Buffer,
  shopId: string,
  { provider, account }: { provider: TransportName; account: TransportAccount },
) {
  return tx.run(sql`
    insert into transport_account (shop_id, provider, fields_sealed, updated_at)
    values (${shopId}, ${provider}, ${seal(key, JSON.stringify(account), ACCOUNTS)}, ${tx.now})
    on conflict (shop_id) do update
    set provider = excluded.provider, fields_sealed = excluded.fields_sealed, updated_at = excluded.updated_at`);
}

export function deleteTransportAccount(tx: Transaction, shopId: string) {
  return tx.run(sql`delete from transport_account where shop_id = ${shopId}`);
}

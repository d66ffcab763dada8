import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { DocumentKind } from '../../orders/documents/facts.ts';
import { documentColumns, type DocumentRow } from '../../orders/documents/queries.ts';
import { managedColumns, orderColumnsWith, ordersWithCustomers } from '../../orders/queries.ts';
import type { ListedManagedOrder } from '../../orders/list.ts';
import type { Content } from '../../pricing/content.ts';

/** Days in UTC; both are included. */
export interface AccountingPeriod {
  from: Date;
  /** The first moment after the period. */
  end: Date;
}

/** The last row of the part that was read before. */
export interface After {
  at: Date;
  id: string;
}

export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** An order with its tax rates, and the numbers of its invoices. */
export type AccountedOrder = Omit<ListedManagedOrder, 'content' | 'isPartlyReturned'> & {
  content: Omit<Content, 'lines' | 'coupon' | 'offers'>;
  /** Oldest first; the date as JSON has it. */
  invoices: { number: number; issuedAt: string }[];
};

const WITHOUT: readonly (keyof Content)[] = ['lines', 'coupon', 'offers'];

/**
 * The orders of a period, oldest first, after the last one that was read. An order that was cancelled or rejected before
 * it had an invoice is none for the books.
 */
export function findAccountedOrders(
  db: Queries,
  shopId: string,
  { end }: Pick<AccountingPeriod, 'end'>,
  { after, limit }: { after: After; limit: number },
) {
  const columns = orderColumnsWith(sql`customer_order.content - ${WITHOUT}::text[] as content`);
  return db.many<AccountedOrder>(sql`
    select ${columns}, ${managedColumns}, coalesce((
        select json_agg(json_build_object('number', number, 'issuedAt', issued_at) order by number)
        from order_document
        where order_document.shop_id = ${shopId} and order_document.order_id = customer_order.order_id
          and kind = 'Invoice'
      ), '[]') as invoices
    from ${ordersWithCustomers}
    where customer_order.shop_id = ${shopId}
      and (customer_order.created_at, customer_order.order_id) > (${after.at}, ${after.id}::uuid)
      and customer_order.created_at < ${end}
      and (rejected_at is null and cancelled_at is null or exists (
        select from order_document
        where order_document.shop_id = ${shopId} and order_document.order_id = customer_order.order_id
          and kind = 'Invoice'
      ))
    order by customer_order.created_at, customer_order.order_id limit ${limit}`);
}

/** A credit note with the payment of its order. */
export type AccountedCreditNote = Pick<
  DocumentRow,
  'documentId' | 'number' | 'issuedAt' | 'address' | 'terms'
> & {
  content: Omit<Content, 'lines' | 'coupon' | 'offers'>;
  payment: Content['payment'];
};

/** The credit notes that were issued in a period, oldest first, after the last one that was read. */
export function findCreditNotes(
  db: Queries,
  shopId: string,
  { end }: Pick<AccountingPeriod, 'end'>,
  { after, limit }: { after: After; limit: number },
) {
  return db.many<AccountedCreditNote>(sql`
    select upper(document_id::text) as "documentId", number, issued_at as "issuedAt", address::text, terms,
      order_document.content - ${WITHOUT}::text[] as content, customer_order.content -> 'payment' as payment
    from order_document join customer_order on customer_order.shop_id = ${shopId}
      and customer_order.order_id = order_document.order_id
    where order_document.shop_id = ${shopId} and kind = 'CreditNote'
      and (issued_at, document_id) > (${after.at}, ${after.id}::uuid) and issued_at < ${end}
    order by issued_at, document_id limit ${limit}`);
}

/** The number of documents of a period, at most `limit`. */
export async function countPeriodDocuments(
  db: Queries,
  shopId: string,
  { from, end }: AccountingPeriod,
  limit: number,
): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from (
      select from order_document
      where shop_id = ${shopId} and issued_at >= ${from} and issued_at < ${end} limit ${limit}
    ) counted`);
  return row!.count;
}

export type PeriodDocument = DocumentRow & { kind: DocumentKind; pdf: Buffer | null; xml: Buffer | null };

/** The documents of a period with their files, oldest first, after the last one that was read. */
export function findPeriodDocuments(
  db: Queries,
  shopId: string,
  { end }: Pick<AccountingPeriod, 'end'>,
  { after, limit }: { after: After; limit: number },
) {
  return db.many<PeriodDocument>(sql`
    select ${documentColumns}, pdf, xml from order_document
    where shop_id = ${shopId} and (issued_at, document_id) > (${after.at}, ${after.id}::uuid)
      and issued_at < ${end}
    order by issued_at, document_id limit ${limit}`);
}

import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { TaxPeriod } from '../tax-reports/queries.ts';
import type { BookedDocument, BookedPayment } from './bookings.ts';

/** The last row of the part that was read before. */
interface Part {
  after: { at: Date; id: string };
  limit: number;
}

/** The documents that were issued in a period, oldest first, after the last one that was read. */
export function findBookedDocuments(
  db: Queries,
  shopId: string,
  { end }: Pick<TaxPeriod, 'end'>,
  { after, limit }: Part,
) {
  return db.many<BookedDocument>(sql`
    select upper(document_id::text) as "documentId", document.kind, document.number, issued_at as "issuedAt",
      document.address, terms ->> 'customerNumber' as "customerNumber", terms ->> 'orderNumber' as "orderNumber",
      terms ->> 'deliveryCountry' as "deliveryCountry", terms #>> '{seller,country}' as "sellerCountry",
      terms #>> '{seller,vatId}' as "sellerVatId",
      (terms #>> '{invoice,number}')::bigint as "invoiceNumber", terms ->> 'dueOn' as "dueOn",
      coalesce(customer_order.buyer #>> '{vatCheck,vatNumber}', document.address ->> 'vatId') as "vatNumber",
      jsonb_build_object('currency', document.content -> 'currency', 'taxType', document.content -> 'taxType',
        'taxes', document.content -> 'taxes') as content
    from order_document document
    join customer_order on customer_order.shop_id = ${shopId} and customer_order.order_id = document.order_id
    where document.shop_id = ${shopId} and (issued_at, document_id) > (${after.at}, ${after.id}::uuid)
      and issued_at < ${end}
    order by issued_at, document_id limit ${limit}`);
}

/** The payments and refunds that were made in a period, oldest first, after the last one that was read. */
export function findBookedPayments(
  db: Queries,
  shopId: string,
  { end }: Pick<TaxPeriod, 'end'>,
  { after, limit }: Part,
) {
  return db.many<BookedPayment>(sql`
    select upper(payment_id::text) as "paymentId", at, payment.kind, amount, customer_order.currency,
      payment.attempt_id is not null or exists (
        select from payment_attempt
        where payment_attempt.shop_id = ${shopId} and payment_attempt.attempt_id = payment.payment_id
          and payment_attempt.order_id = payment.order_id
      ) as "isByProvider",
      payment.gift_card_id is not null as "isByGiftCard",
      customer_order.order_number as "orderNumber", customer.customer_number as "customerNumber",
      customer_order.billing_address as "billingAddress",
      coalesce(customer_order.buyer #>> '{vatCheck,vatNumber}', customer_order.billing_address ->> 'vatId')
        as "vatNumber",
      (
        select min(number) from order_document
        where order_document.shop_id = ${shopId} and order_document.order_id = payment.order_id
          and order_document.kind = 'Invoice'
      ) as "invoiceNumber"
    from order_payment payment
    join customer_order on customer_order.shop_id = ${shopId} and customer_order.order_id = payment.order_id
    join customer on customer.shop_id = ${shopId} and customer.customer_id = customer_order.customer_id
    where payment.shop_id = ${shopId} and (at, payment_id) > (${after.at}, ${after.id}::uuid) and at < ${end}
      and payment.state = 'done'
    order by at, payment_id limit ${limit}`);
}

/** The number of payments of a period, at most `limit`. */
export async function countPayments(
  db: Queries,
  shopId: string,
  { from, end }: TaxPeriod,
  limit: number,
): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from (
      select from order_payment where shop_id = ${shopId} and at >= ${from} and at < ${end} limit ${limit}
    ) counted`);
  return row!.count;
}

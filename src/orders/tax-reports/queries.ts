import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { SupplySum } from './supplies.ts';

/** From the first moment of a day until the first moment after the last one. Days are in UTC. */
export interface TaxPeriod {
  from: Date;
  end: Date;
}

/** A part of a content at one rate; amounts are gross where its tax type is GROSS, else net. */
const taxParts = sql`as part (rate integer, treatment text, amount bigint, tax bigint)`;

/** The VAT number matters only where no tax was charged. */
const mayNeedVatNumber = sql`(part.treatment in ('intraCommunity', 'reverseCharge')
  or part.treatment is null and part.rate = 0)`;

/**
 * Whether a part has lines of these tax classes only. Delivery goes with the lines, so a part that has goods as well is one
 * of goods.
 */
const isServicePart = (content: Sql, serviceClassIds: readonly string[]) => sql`
  (${serviceClassIds.length > 0}::boolean and exists (
    select from jsonb_array_elements(${content} -> 'lines') line
    where (line #>> '{taxClass,rate}')::integer = part.rate
  ) and not exists (
    select from jsonb_array_elements(${content} -> 'lines') line
    where (line #>> '{taxClass,rate}')::integer = part.rate
      and line #>> '{taxClass,taxClassId}' <> all (${serviceClassIds}::text[])
  ))`;

/**
 * The invoices and credit notes that were issued in a period, summed by what decides their tax. The sums are few, so
 * they cost the documents of the period and no memory.
 */
export function sumDocuments(
  db: Queries,
  shopId: string,
  { from, end }: TaxPeriod,
  { serviceClassIds }: { serviceClassIds: readonly string[] },
) {
  return db.many<SupplySum>(sql`
    select document.content ->> 'currency' as currency, terms ->> 'deliveryCountry' as country,
      terms #>> '{seller,country}' as "sellerCountry", part.treatment, part.rate,
      ${isServicePart(sql`document.content`, serviceClassIds)} as "isService",
      case when ${mayNeedVatNumber}
        then coalesce(customer_order.buyer #>> '{vatCheck,vatNumber}', address ->> 'vatId') end as "vatNumber",
      case kind when 'CreditNote' then to_char((terms #>> '{invoice,issuedOn}')::date, 'YYYY"-Q"Q') end
        as "creditedQuarter",
      sum(case kind when 'Invoice' then 1 else -1 end
        * (part.amount - case document.content ->> 'taxType' when 'GROSS' then part.tax else 0 end))::bigint as net,
      sum(case kind when 'Invoice' then 1 else -1 end * part.tax)::bigint as tax
    from order_document document
    join customer_order on customer_order.shop_id = ${shopId} and customer_order.order_id = document.order_id
    cross join lateral jsonb_to_recordset(document.content -> 'taxes') ${taxParts}
    where document.shop_id = ${shopId} and issued_at >= ${from} and issued_at < ${end}
    group by 1, 2, 3, 4, 5, 6, 7, 8`);
}

/** The orders that were placed in a period, without cancelled and rejected ones, summed in the same way. */
export function sumOrders(
  db: Queries,
  shopId: string,
  { from, end }: TaxPeriod,
  { sellerCountry, serviceClassIds }: { sellerCountry: string; serviceClassIds: readonly string[] },
) {
  return db.many<SupplySum>(sql`
    select currency, coalesce(coalesce(shipping_address, billing_address) ->> 'country', ${sellerCountry}) as country,
      ${sellerCountry}::text as "sellerCountry", part.treatment, part.rate,
      ${isServicePart(sql`content`, serviceClassIds)} as "isService",
      case when ${mayNeedVatNumber}
        then coalesce(buyer #>> '{vatCheck,vatNumber}', billing_address ->> 'vatId') end as "vatNumber",
      null::text as "creditedQuarter",
      sum(part.amount - case content ->> 'taxType' when 'GROSS' then part.tax else 0 end)::bigint as net,
      sum(part.tax)::bigint as tax
    from customer_order cross join lateral jsonb_to_recordset(content -> 'taxes') ${taxParts}
    where shop_id = ${shopId} and created_at >= ${from} and created_at < ${end}
      and rejected_at is null and cancelled_at is null
    group by 1, 2, 3, 4, 5, 6, 7`);
}

/** Whether the shop issues its invoices here, and not with another program. */
export async function hasInvoices(db: Queries, shopId: string): Promise<boolean> {
  const row = await db.one<{ found: boolean }>(sql`
    select exists (select from order_document where shop_id = ${shopId} and kind = 'Invoice') as found`);
  return row!.found;
}

export interface Uninvoiced {
  currency: string;
  orders: number;
  gross: number;
}

/** The orders of a period that have no invoice over all of their items yet, by currency. */
export function sumUninvoiced(db: Queries, shopId: string, { from, end }: TaxPeriod) {
  return db.many<Uninvoiced>(sql`
    select currency, count(*) as orders, sum(grand_total)::bigint as gross from customer_order
    where shop_id = ${shopId} and created_at >= ${from} and created_at < ${end}
      and rejected_at is null and cancelled_at is null and invoiced_at is null and grand_total > 0
    group by currency order by currency`);
}

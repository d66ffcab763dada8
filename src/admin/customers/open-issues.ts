import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { EMAIL_QUEUE } from '../../platform/email/queue.ts';
import { chip, dayText, type ChipKind } from '../components/format.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

type IssueKind = 'unpaid' | 'paymentFailed' | 'toRefund' | 'return' | 'withdrawal';

interface OrderIssue {
  kind: IssueKind;
  orderId: string;
  orderNumber: string;
  at: Date;
  currency: string;
  /** The amount owed, in minor units; null: it is not about money. */
  amount: number | null;
}

interface EmailIssue {
  to: string;
  at: Date;
}

/** The limits of the orders that are read, newest first, and of the issues that are shown. */
const MAX_ORDERS = 500;
const MAX_SHOWN = 20;
/** Failed emails of the shop that are compared. */
const MAX_EMAILS = 500;

/** Orders that wait for money, and returns that wait for the merchant, newest first. */
function findOrderIssues(db: Queries, shopId: string, customerId: string) {
  return db.many<OrderIssue>(sql`
    with newest as materialized (
      select order_id, order_number, created_at, currency, grand_total, paid_amount, refunded_amount, payment_wait,
        cancelled_at is not null or rejected_at is not null as is_ended,
        closed_at is not null or archived_at is not null as is_closed
      from customer_order where shop_id = ${shopId} and customer_id = ${customerId}
      order by created_at desc limit ${MAX_ORDERS}
    )
    select kind, upper(order_id::text) as "orderId", order_number as "orderNumber", at, currency,
      amount::bigint as amount
    from (
      select case when payment_wait = 'failed' then 'paymentFailed' else 'unpaid' end as kind, order_id, order_number,
        created_at as at, currency, grand_total - paid_amount as amount
      from newest where not is_ended and not is_closed and grand_total > paid_amount
      union all
      select 'toRefund', order_id, order_number, created_at, currency, paid_amount - refunded_amount
      from newest where is_ended and paid_amount > refunded_amount
      union all
      select case when origin = 'withdrawal' then 'withdrawal' else 'return' end, newest.order_id, order_number,
        order_return.at, currency, null
      from newest cross join lateral (
        select origin, at from order_return
        where shop_id = ${shopId} and order_id = newest.order_id and state in ('requested', 'approved', 'withdrawn')
        offset 0
      ) order_return
    ) issue
    order by at desc limit ${MAX_SHOWN}`);
}

/** Emails to the addresses of this customer that could not be sent. */
function findEmailIssues(db: Queries, shopId: string, emails: readonly string[]) {
  return db.many<EmailIssue>(sql`
    with failed as materialized (
      select content ->> 'to' as "to", failed_at from job
      where shop_id = ${shopId} and queue = ${EMAIL_QUEUE} and failed_at is not null limit ${MAX_EMAILS}
    )
    select "to", failed_at as at from failed where lower("to") = any (${emails}::text[])
    order by failed_at desc limit ${MAX_SHOWN}`);
}

const KINDS: Readonly<Record<IssueKind, ChipKind>> = {
  unpaid: 'warning',
  paymentFailed: 'bad',
  toRefund: 'warning',
  return: 'warning',
  withdrawal: 'bad',
};

/** The open issues of a customer, at the top of the page; nothing when there are none. */
export async function issueCard(
  visit: ShopVisit,
  customerId: string,
  emails: readonly (string | null)[],
): Promise<Markup | false> {
  const { db, shopId, language, locale, messages } = visit;
  const words = messages.customers;
  const addresses = emails.flatMap((email) => (email === null ? [] : [email.toLowerCase()]));
  const [orders, mails] = await Promise.all([
    visit.may('orders_read') ? findOrderIssues(db, shopId, customerId) : [],
    addresses.length === 0 ? [] : findEmailIssues(db, shopId, addresses),
  ]);
  if (orders.length + mails.length === 0) return false;
  return html`<section class="card issues" aria-labelledby="issues">
    <h2 id="issues">${words.issues}</h2>
    <ul class="things">
      ${orders.map(
        ({ kind, orderId, orderNumber, at, currency, amount }) =>
          html`<li>
            <span
              >${chip(words.issueKinds[kind], KINDS[kind])}
              <a href="${adminPath(visit, `/orders/${orderId}`)}">${orderNumber}</a>
              <span class="quiet">${dayText(at, language)}</span></span
            >
            <span>${amount !== null && moneyText(amount, currency, locale)}</span>
          </li>`,
      )}
      ${mails.map(
        ({ to, at }) =>
          html`<li>
            <span
              >${chip(words.undelivered, 'bad')}
              ${
                visit.may('settings_read')
                  ? html`<a href="${adminPath(visit, '/settings/emails')}">${to}</a>`
                  : to
              } <span class="quiet">${dayText(at, language)}</span></span
            >
            <span></span>
          </li>`,
      )}
    </ul>
  </section>`;
}

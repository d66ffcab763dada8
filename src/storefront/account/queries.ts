import { LIFETIME } from '../../carts/cart.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { isWaiting } from '../../orders/list.ts';
import { secretHash } from '../../kernel/ids.ts';
import type { Address } from '../../shops/countries/address.ts';
import { isPartlyReturned } from '../../orders/queries.ts';
import { isOpenSession } from '../../people/accounts/queries.ts';
import type { SignedInAccount } from './signed-in-account.ts';
import { wishlistHash } from '../wishlist/queries.ts';

/** undefined: the session was ended or has expired. A visitor who is not signed in costs no statement. */
export async function findSignedInAccount(
  db: Queries,
  shopId: string,
  token: string | undefined,
): Promise<SignedInAccount | undefined> {
  if (token === undefined) return undefined;
  return db.one<SignedInAccount>(sql`
    select upper(account.account_id::text) as "accountId", account.email, account.locale,
      upper(account_session.session_id::text) as "sessionId", account_session.seen_at as "seenAt", account_session.created_at as "signedInAt",
      upper(account.cart_id::text) as "cartId", (
        select coalesce(sum(case when quantity % 1 = 0 then quantity else 1 end), 0)::bigint
        from cart cross join jsonb_to_recordset(cart.lines) as line (quantity numeric)
        where cart.shop_id = ${shopId} and cart.cart_id = account.cart_id
          and cart.changed_at > ${new Date(db.now.getTime() - LIFETIME)}
      ) as "cartCount", (
        select count(*) from wish
        join product on product.shop_id = wish.shop_id and product.product_id = wish.product_id
        where wish.shop_id = ${shopId} and wish.visitor_hash = ${wishlistHash(sql`account.account_id`)}
          and product.visible
      ) as "wishlistCount", (
        select json_build_object('customerId', upper(customer_id::text),
          'customerGroupId', upper(customer_group_id::text),
          'isBusiness', coalesce(vat_check ->> 'result' = 'valid', false))
        from customer where customer.shop_id = ${shopId} and customer.email_key = account.email
        order by customer.created_at, customer_id limit 1
      ) as customer
    from account_session
    join account on account.shop_id = account_session.shop_id
      and account.account_id = account_session.account_id
    where account_session.shop_id = ${shopId} and account_session.token_hash = ${secretHash(token)}
      and ${isOpenSession(db)}`);
}

/** An order as the list of an account shows it. */
export interface AccountOrder {
  orderId: string;
  orderNumber: string;
  createdAt: Date;
  grandTotal: number;
  currency: string;
  status: AccountOrderStatus;
}

export type AccountOrderStatus =
  | 'placed'
  | 'paymentFailed'
  | 'awaitingPayment'
  | 'paid'
  | 'inProcess'
  | 'partlySent'
  | 'sent'
  | 'delivered'
  | 'returned'
  | 'partlyReturned'
  | 'rejected'
  | 'cancelled';

/** Merchants may have several customers with one address. */
const MAX_CUSTOMERS = 50;

/**
 * Orders that were placed with a confirmed address, by guests too, and all orders of customers who have it now. A
 * customer who had the address before and has changed it keeps the orders placed since then.
 */
const ordersOf = (shopId: string, email: string) => sql`
  from customer_order
  join customer on customer.shop_id = customer_order.shop_id
    and customer.customer_id = customer_order.customer_id
  where customer_order.shop_id = ${shopId} and customer_order.erased_at is null
    and customer_order.customer_id in (
      select customer_id from customer
      where customer.shop_id = ${shopId} and (email_key = ${email} or ordered_as = ${email}) limit ${MAX_CUSTOMERS})
    and (customer.email_key = ${email} or lower(customer_order.billing_address ->> 'emailAddress') = ${email})`;

/** Newest first. */
export function findAccountOrders(
  db: Queries,
  shopId: string,
  email: string,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<AccountOrder>(sql`
    select upper(customer_order.order_id::text) as "orderId", order_number as "orderNumber",
      customer_order.created_at as "createdAt", grand_total as "grandTotal", customer_order.currency,
      case
        when cancelled_at is not null then 'cancelled'
        when rejected_at is not null then 'rejected'
        when ${isPartlyReturned(shopId)} then 'partlyReturned'
        when returned_at is not null then 'returned'
        when delivered_at is not null then 'delivered'
        when dispatched_at is not null then 'sent'
        when partially_dispatched_at is not null then 'partlySent'
        when ${isWaiting} then case payment_wait when 'failed' then 'paymentFailed' else 'awaitingPayment' end
        when paid_at is not null then 'paid'
        when in_process_at is not null then 'inProcess'
        else 'placed'
      end as status
    ${ordersOf(shopId, email)}
    order by customer_order.created_at desc, customer_order.order_id desc limit ${limit} offset ${offset}`);
}

export async function countAccountOrders(db: Queries, shopId: string, email: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`select count(*) as count ${ordersOf(shopId, email)}`);
  return row!.count;
}

/** The shipping and payment of the last order. */
export interface LastOrder {
  billingAddress: Address;
  shippingAddress: Address | null;
  shippingMethodId: string | null;
  paymentMethodId: string | null;
}

export function findLastOrderOf(db: Queries, shopId: string, email: string) {
  return db.one<LastOrder>(sql`
    select customer_order.billing_address as "billingAddress", shipping_address as "shippingAddress",
      content -> 'shipping' ->> 'shippingMethodId' as "shippingMethodId",
      content -> 'payment' -> 'method' ->> 'paymentMethodId' as "paymentMethodId"
    ${ordersOf(shopId, email)}
    order by customer_order.created_at desc, customer_order.order_id desc limit 1`);
}

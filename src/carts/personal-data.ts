import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { toDecimal } from '../kernel/money.ts';
import { section, type Person, type PersonalData } from '../platform/personal-data.ts';
import { dropCachedCart } from './cart-cache.ts';
import type { StoredCart } from './cart.ts';

/** Open carts. */
export const cartPersonalData: PersonalData = {
  sections: {
    carts: section('Open carts.', async (db, shopId, person) =>
      (await findCartsOf(db, shopId, person)).map(toExport),
    ),
  },
  counts: { cartsDeleted: 'Open carts.' },
  erase: async (tx, shopId, person, { afterCommit }) => {
    const deleted = await tx.many<{ cartId: string }>(sql`
      delete from cart where ${cartsOf(shopId, person)} returning upper(cart_id::text) as "cartId"`);
    const cartIds = deleted.map(({ cartId }) => cartId);
    afterCommit(() => {
      for (const cartId of cartIds) dropCachedCart(tx, shopId, cartId);
    });
    return { counts: { cartsDeleted: cartIds.length }, cartIds };
  },
};

/** Selects carts that were created for the customer, name one of the email addresses, or belong to an account. */
const cartsOf = (shopId: string, { customerId, emails }: Person) => sql`
  shop_id = ${shopId} and (
    customer_id = ${customerId} or lower(billing_address ->> 'emailAddress') = any (${emails})
    or lower(shipping_address ->> 'emailAddress') = any (${emails})
    or lower(assistant_notes -> 'buyer' ->> 'email') = any (${emails})
    or cart_id in (select account.cart_id from account where account.shop_id = ${shopId} and email = any (${emails})))`;

type ExportedCart = Pick<
  StoredCart,
  | 'cartId'
  | 'locale'
  | 'currency'
  | 'lines'
  | 'billingAddress'
  | 'shippingAddress'
  | 'buyer'
  | 'assistantNotes'
  | 'paymentTransactionId'
> & { creationDate: Date; changedOn: Date; couponCode: string | null };

function findCartsOf(db: Queries, shopId: string, person: Person) {
  return db.many<ExportedCart>(sql`
    select upper(cart_id::text) as "cartId", created_at as "creationDate", changed_at as "changedOn", locale,
      currency, lines, coupon_code_key as "couponCode", billing_address as "billingAddress",
      shipping_address as "shippingAddress", buyer, assistant_notes as "assistantNotes", payment_transaction_id as "paymentTransactionId"
    from cart where ${cartsOf(shopId, person)} order by created_at, cart_id`);
}

/** Amounts leave the program as decimals. */
function toExport(cart: ExportedCart) {
  const lines = cart.lines.map(({ price, ...line }) => ({
    ...line,
    ...(price !== undefined && { price: toDecimal(price, cart.currency) }),
  }));
  return { ...cart, lines };
}

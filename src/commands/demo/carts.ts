import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newCartToken } from '../../http/cart-token.ts';
import type { DemoCartToken } from '../../http/demo-tokens.ts';
import { newId, secretHash } from '../../kernel/ids.ts';

const DAY = 86_400_000;

/** One cart that somebody has just begun, one that got as far as a coupon that does not count, one forgotten. */
const carts: {
  token: DemoCartToken;
  age: number;
  goods?: { productNumber: string; quantity: string };
  coupon?: string;
  address?: Record<string, string>;
}[] = [
  { token: 'demo-cart-a', age: 0, goods: { productNumber: 'CB-101', quantity: '2' } },
  {
    token: 'demo-cart-b',
    age: 1,
    goods: { productNumber: 'AP-100', quantity: '1' },
    coupon: 'SUMMER20',
    address: {
      firstName: 'Jonas',
      lastName: 'Wittmoor',
      street: 'Deichstraße 17',
      zipCode: '20459',
      city: 'Hamburg',
      country: 'DE',
      emailAddress: 'jonas.w@mail.example',
    },
  },
  { token: 'demo-cart-c', age: 29 },
];

export interface DemoCart {
  cartId: string;
  token: string;
}

/** The carts of a demo shop, the newest first; their tokens can be remembered where only this machine can call. */
export async function insertDemoCarts(
  tx: Transaction,
  shopId: string,
  { knownTokens }: { knownTokens: boolean },
): Promise<DemoCart[]> {
  const made: DemoCart[] = [];
  for (const { token: known, age, goods, coupon, address } of carts) {
    const { token, hash } = knownTokens ? { token: known, hash: secretHash(known) } : newCartToken();
    const createdAt = new Date(tx.now.getTime() - age * DAY);
    const cartId = newId(createdAt);
    const blank = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, null]));
    await tx.run(sql`
      insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
        coupon_line_item_id, coupon_code_key, billing_address, lines, product_ids)
      select ${shopId}, ${cartId}, ${hash}, ${createdAt}, ${createdAt}, 1, 'EUR', 'en_GB', 'GROSS',
        ${coupon ? newId(createdAt) : null}, ${coupon ?? null},
        ${address ? JSON.stringify({ ...blank, ...address }) : null}::json,
        coalesce((
          select jsonb_agg(jsonb_build_object('lineItemId', ${newId(createdAt)}::text,
            'productId', upper(product_id::text), 'quantity', ${goods?.quantity ?? null}::text))
          from product where shop_id = ${shopId} and product_number = ${goods?.productNumber ?? null}
        ), '[]'),
        array(
          select product_id from product
          where shop_id = ${shopId} and product_number = ${goods?.productNumber ?? null}
        )`);
    made.push({ cartId, token });
  }
  return made;
}

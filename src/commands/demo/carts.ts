import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newCartToken } from '../../http/cart-token.ts';
import { secretHash } from '../../kernel/ids.ts';
import { readOrders } from './demo-data.ts';
import { demoIds } from './demo-ids.ts';

const DAY = 86_400_000;

export interface DemoCart {
  cartId: string;
  token: string;
}

/** Inserts the carts of a demo shop, the newest first. Their tokens are known ones where only this machine can call. */
export async function insertDemoCarts(
  tx: Transaction,
  shopId: string,
  { knownTokens }: { knownTokens: boolean },
): Promise<DemoCart[]> {
  const made: DemoCart[] = [];
  const ids = demoIds(shopId, tx.now);
  const { carts } = await readOrders();
  for (const { token: known, age, line, coupon, address } of carts) {
    const { token, hash } = knownTokens ? { token: known, hash: secretHash(known) } : newCartToken();
    const createdAt = new Date(tx.now.getTime() - age * DAY);
    const cartId = ids('cart', known, { at: createdAt });
    const blank = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, null]));
    await tx.run(sql`
      insert into cart (shop_id, cart_id, token_hash, created_at, changed_at, version, currency, locale, tax_type,
        coupon_line_item_id, coupon_code_key, billing_address, lines, product_ids)
      select ${shopId}, ${cartId}, ${hash}, ${createdAt}, ${createdAt}, 1, 'EUR', 'en_GB', 'GROSS',
        ${coupon ? ids('coupon of a cart', known, { at: createdAt }) : null}, ${coupon ?? null},
        ${address ? JSON.stringify({ ...blank, ...address }) : null}::json,
        coalesce((
          select jsonb_agg(jsonb_build_object('lineItemId', ${ids('line of a cart', known, { at: createdAt })}::text,
            'productId', upper(product_id::text), 'quantity', ${line?.quantity ?? null}::text))
          from product where shop_id = ${shopId} and product_number = ${line?.product ?? null}
        ), '[]'),
        array(
          select product_id from product
          where shop_id = ${shopId} and product_number = ${line?.product ?? null}
        )`);
    made.push({ cartId, token });
  }
  return made;
}

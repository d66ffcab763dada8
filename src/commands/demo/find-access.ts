import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { DEMO_TOKENS, type DemoCartToken, type DemoToken } from '../../http/demo-tokens.ts';
import { secretHash } from '../../kernel/ids.ts';
import type { DemoCredentials } from '../../main.ts';

/** The access data printed by a first start, if it still exists. */
export async function findDemoAccess(db: Queries): Promise<DemoCredentials | undefined> {
  const [token, cartToken] = ['demo-all', 'demo-cart-a'] satisfies [DemoToken, DemoCartToken];
  const known = await db.one(sql`
    select from token where shop_id = ${'DemoShop'} and token_hash = ${secretHash(token)}`);
  if (!known) return undefined;
  const cart = await db.one<{ cartId: string }>(sql`
    select upper(cart_id::text) as "cartId" from cart
    where shop_id = ${'DemoShop'} and token_hash = ${secretHash(cartToken)} and not exists (
      select from customer_order placed where placed.shop_id = ${'DemoShop'} and placed.cart_id = cart.cart_id)`);
  return { token, cart: cart && { ...cart, token: cartToken } };
}

/** Whether the demo shop of a first start still exists with the well-known tokens. */
export async function hasDemoTokens(db: Queries): Promise<boolean> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from token
    where shop_id = ${'DemoShop'} and token_hash = any(${DEMO_TOKENS.map(secretHash)}::bytea[])`);
  return row!.count > 0;
}

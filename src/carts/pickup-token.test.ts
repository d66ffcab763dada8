import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY, done, givenCart, givenProduct, givenSmallShop, NOW, type GivenCart } from '../../test/carts.ts';
import { startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newCartToken } from '../http/cart-token.ts';
import { newId } from '../kernel/ids.ts';
import { isPickupToken, pickupToken } from './pickup-token.ts';

const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
const decoded = (token: string) => Buffer.from(token, 'base64').toString('latin1');
const encoded = (text: string) => Buffer.from(text, 'latin1').toString('base64');

describe('the token for the storefront', () => {
  const cart = { cartId: newId(NOW), tokenHash: newCartToken().hash };
  const token = pickupToken(cart, later(DAY));
  const end = new Date('2026-11-17T00:00:00Z');

  test('is base64 of a signature and the second at which the day of its end is over', () => {
    expect(decoded(token)).toMatch(/^[0-9a-f]{64}_\d{10}$/);
    expect(decoded(token).split('_')[1]).toBe(String(end.getTime() / 1000));
    expect(pickupToken(cart, later(DAY + 3_600_000))).toBe(token);
    expect(pickupToken(cart, later(2 * DAY))).not.toBe(token);
  });

  test('opens its cart until then', () => {
    expect(isPickupToken(token, cart, NOW)).toBe(true);
    expect(isPickupToken(token, cart, new Date(end.getTime() - 1))).toBe(true);
    expect(isPickupToken(token, cart, end)).toBe(false);
  });

  test('opens no other cart', () => {
    expect(isPickupToken(token, { ...cart, cartId: newId(NOW) }, NOW)).toBe(false);
    expect(isPickupToken(token, { ...cart, tokenHash: newCartToken().hash }, NOW)).toBe(false);
  });

  test('can not be made longer, or made up', () => {
    const [signature, seconds] = decoded(token).split('_') as [string, string];
    const forged = [
      '',
      'x',
      token.slice(4),
      encoded(signature),
      encoded(`${signature}_`),
      encoded(`${signature}_${Number(seconds) + 1}`),
      encoded(`${signature}_${seconds}0`),
      encoded(`${signature}_99999999999`),
      encoded(`${signature}_-1`),
      encoded(`${signature}_1e10`),
      encoded(`${signature.replaceAll(/./g, '0')}_${seconds}`),
      encoded(`${signature.toUpperCase()}_${seconds}`),
      encoded(`${signature}_${seconds}\n`),
      'ä'.repeat(100),
    ];
    for (const text of forged) expect([text, isPickupToken(text, cart, NOW)]).toEqual([text, false]);
  });
});

describe('in a cart', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  const hashOf = async ({ id }: GivenCart) => {
    const row = await service.db.one<{ hash: Buffer }>(sql`
      select token_hash as hash from cart where cart_id = ${id}`);
    return { cartId: id, tokenHash: row!.hash };
  };

  test('is good until the day is over on which the cart ends, and stands in both addresses', async () => {
    service.setClock(NOW);
    const shop = await givenSmallShop(service);
    const cart = await givenCart(shop);
    const { pickupToken: token, checkoutUrl, registerSessionUrl } = cart.body;
    const facts = await hashOf(cart);
    expect(isPickupToken(token, facts, new Date('2026-12-15T23:59:59Z'))).toBe(true);
    expect(isPickupToken(token, facts, new Date('2026-12-16T00:00:00Z'))).toBe(false);
    const storefront = `http://localhost:80/shop/${shop.shopId}`;
    const query = `?cart=${cart.id}&PickupToken=${encodeURIComponent(token)}`;
    expect([checkoutUrl, registerSessionUrl]).toEqual([
      `${storefront}/checkout${query}`,
      `${storefront}/cart${query}`,
    ]);
    expect((await done(cart, 'GET')).pickupToken).toBe(token);

    service.setClock(later(DAY));
    const line = { productId: await givenProduct(shop), quantity: 1 };
    const changed = await done(cart, 'POST', '/line-items', line);
    expect(isPickupToken(changed.pickupToken, facts, later(31 * DAY - 1))).toBe(true);
    expect((await done(cart, 'GET')).pickupToken).toBe(changed.pickupToken);
  });

  test('is not the cart token', async () => {
    service.setClock(NOW);
    const cart = await givenCart(await givenSmallShop(service));
    expect(isPickupToken(cart.token, await hashOf(cart), NOW)).toBe(false);
    expect(decoded(cart.body.pickupToken)).not.toContain(cart.token);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  DAY,
  done,
  givenCart,
  givenDemoShop,
  givenFullCart,
  NOW,
  type Shop,
} from '../../../test/carts.ts';
import { givenOtherShop } from '../../../test/demo.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { insertDemoCarts, type DemoCart } from '../../commands/demo/carts.ts';

let service: Service;
let shop: Shop;
/** A, B and C. */
let demoCarts: DemoCart[];

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenDemoShop(service);
  await givenOtherShop(service);
  demoCarts = await service.db.transaction((tx) => insertDemoCarts(tx, 'DemoShop', { knownTokens: true }));
});
afterAll(() => service.close());

const pathOf = (url: string) => new URL(url).pathname + new URL(url).search;

async function demoCart(index: number): Promise<{ registerSessionUrl: string; checkoutUrl: string }> {
  const { cartId, token } = demoCarts[index]!;
  return (await service.call('GET', `/DemoShop/carts/${cartId}`, { cartToken: token })).body;
}

describe('the carts of the demo shop, taken over by their links', () => {
  test('A: two bags of beans', async () => {
    const cart = await demoCart(0);
    const visitor = givenVisitor(service, 'DemoShop');
    const answer = await visitor.get(pathOf(cart.registerSessionUrl));
    expect([answer.status, answer.headers.location, answer.text]).toEqual([303, '/shop/DemoShop/cart', '']);
    expect(mainOf(await visitor.get('/cart'))).toContain(
      'Subtotal €19.80 Delivery: Standard delivery €7.62 Total €27.42 ' +
        'Includes 7% VAT €1.30 Includes 19% VAT €1.22',
    );
  });

  test('B: a kettle, an address, and a coupon that does not count', async () => {
    const cart = await demoCart(1);
    const visitor = givenVisitor(service, 'DemoShop');
    expect((await visitor.get(pathOf(cart.checkoutUrl))).headers.location).toBe('/shop/DemoShop/checkout');
    expect((await visitor.get('/checkout')).text).toContain('value="Deichstraße 17"');
    const page = mainOf(await visitor.get('/cart'));
    expect(page).toContain(
      'Subtotal €49.90 Recycling fee: Beacon Kettle 1.7 l €0.50 Delivery: Standard delivery €8.61 ' +
        'Total €59.01 Includes 19% VAT €9.42',
    );
    expect(page).toContain('Your coupon does not apply at the moment: your subtotal is too low for it.');
  });

  test('C: empty', async () => {
    const cart = await demoCart(2);
    const visitor = givenVisitor(service, 'DemoShop');
    await visitor.get(pathOf(cart.registerSessionUrl));
    expect(mainOf(await visitor.get('/cart'))).toContain('Your cart is empty.');
  });
});

test('language and currency are those of the cart, and nothing is written', async () => {
  const { body } = await givenCart(shop, { 'AP-100': 1 }, { locale: 'de_DE', currency: 'GBP' });
  const visitor = givenVisitor(service, 'DemoShop');
  await changesNothing(service, async () => {
    const answer = await visitor.get(pathOf(body.checkoutUrl));
    expect(answer.headers.location).toBe('/shop/DemoShop/checkout?locale=de_DE');
    expect(visitor.session()).toEqual({
      cart: { id: body.cartId, count: 1 },
      currency: 'GBP',
      notice: 'Dieser Warenkorb wurde für Sie vorbereitet.',
    });
    expect(mainOf(await visitor.get('/cart?locale=de_DE'))).toContain('Warenwert 42,42 £');
  });
});

test('it takes the place of another cart, which is said', async () => {
  const visitor = givenVisitor(service, 'DemoShop');
  await visitor.submit('/cart/add', { productId: shop.ids['BK-110']!, quantity: '1' });
  const { body } = await givenCart(shop, { 'AP-100': 1 });
  await visitor.get(pathOf(body.registerSessionUrl));
  const page = mainOf(await visitor.get('/cart'));
  expect(page).toContain('It replaces the cart you had here before.');
  expect(page).toContain('Beacon Kettle 1.7 l');
  expect(page).not.toContain('Cookbook');
  // The same link again takes nothing away.
  await visitor.get(pathOf(body.registerSessionUrl));
  expect(visitor.session()['notice']).toBe('This cart was prepared for you.');
});

describe('links that open nothing', () => {
  const linkOf = (cartId: string, token: string, shopId = 'DemoShop', page = 'cart') =>
    `/shop/${shopId}/${page}?cart=${cartId}&PickupToken=${encodeURIComponent(token)}`;

  test('forged, of another cart, or of another shop', async () => {
    const mine = await givenCart(shop, { 'AP-100': 1 });
    const other = await givenCart(shop, { 'BK-110': 1 });
    const token: string = mine.body.pickupToken;
    const far = String(Math.floor(NOW.getTime() / 1000) + 90 * 86_400);
    const longer = Buffer.from(Buffer.from(token, 'base64').toString().replace(/\d+$/, far)).toString(
      'base64',
    );
    const wrong = [
      linkOf(other.id, token),
      linkOf(mine.id, longer),
      linkOf(mine.id, ''),
      linkOf(mine.id, 'x'),
      linkOf(mine.id, `${token.slice(0, 20)}B${token.slice(21)}`),
      linkOf('nothing', token),
      linkOf(other.id, token, 'DemoShop', 'checkout'),
    ];
    for (const link of wrong) {
      const visitor = givenVisitor(service, 'DemoShop');
      const page = await visitor.get(link);
      expect([link, page.status]).toEqual([link, 403]);
      expect(mainOf(page)).toContain('The link to this cart is incomplete or has been changed.');
      expect(page.headers['referrer-policy']).toBe('same-origin');
      expect(visitor.session()).toEqual({});
    }
    const elsewhere = givenVisitor(service, 'OtherShop');
    expect((await elsewhere.get(linkOf(mine.id, token, 'OtherShop'))).status).toBe(410);
    expect(elsewhere.session()).toEqual({});
  });

  test('the visitor keeps the cart of before', async () => {
    const mine = await givenCart(shop, { 'AP-100': 1 });
    const visitor = givenVisitor(service, 'DemoShop');
    await visitor.submit('/cart/add', { productId: shop.ids['BK-110']!, quantity: '1' });
    const before = visitor.session();
    await visitor.get(linkOf(mine.id, 'x'));
    expect(visitor.session()).toEqual(before);
  });

  test('ordered: only who has its token learns that', async () => {
    const cart = await givenFullCart(shop, { 'AP-100': 1 });
    const token: string = cart.body.pickupToken;
    await done(cart, 'POST', '/order');
    const visitor = givenVisitor(service, 'DemoShop');
    const page = await visitor.get(linkOf(cart.id, token, 'DemoShop', 'checkout'));
    expect([page.status, mainOf(page).includes('have already been ordered')]).toEqual([410, true]);
    const guess = await visitor.get(linkOf(cart.id, 'x'));
    expect([guess.status, mainOf(guess).includes('have already been ordered')]).toEqual([410, false]);
    expect(visitor.session()).toEqual({});
  });

  test('expired', async () => {
    const cart = await givenCart(shop, { 'AP-100': 1 });
    const token: string = cart.body.pickupToken;
    service.setClock(new Date(NOW.getTime() + 20 * DAY));
    // It lives on, but the link of then has its end.
    await done(cart, 'PUT', `/line-items/${cart.body.lineItemContainer.productLineItems[0].lineItemId}`, {
      quantity: 2,
    });
    service.setClock(new Date(NOW.getTime() + 32 * DAY));
    try {
      const visitor = givenVisitor(service, 'DemoShop');
      const page = await visitor.get(`${linkOf(cart.id, token)}&locale=fr_FR`);
      expect(page.status).toBe(410);
      expect(mainOf(page)).toContain('Le lien vers ce panier a expiré.');
      expect(visitor.session()).toEqual({});
    } finally {
      service.setClock(NOW);
    }
  });

  test('ended', async () => {
    const cart = await givenCart(shop, { 'AP-100': 1 });
    service.setClock(new Date(NOW.getTime() + 30 * DAY + 1000));
    try {
      const page = await givenVisitor(service, 'DemoShop').get(linkOf(cart.id, cart.body.pickupToken));
      expect(page.status).toBe(410);
      expect(mainOf(page)).toContain('The link to this cart has expired.');
    } finally {
      service.setClock(NOW);
    }
  });
});

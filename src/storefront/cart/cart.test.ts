import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  givenDemoShop,
  givenProduct,
  givenSmallShop,
  NOW,
  paymentId,
  queuedEmails,
} from '../../../test/carts.ts';
import { givenOtherShop } from '../../../test/demo.ts';
import { startService, type Service } from '../../../test/service.ts';
import { loadAppScripts } from '../../../test/storefront.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import type { Shop } from '../../../test/carts.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenDemoShop(service);
  await loadAppScripts(service);
});
afterAll(() => service.close());

const add = (visitor: Visitor, productId: string, quantity: string, locale = '') =>
  visitor.submit(`/cart/add${locale}`, { productId, quantity });

/** The names and the values of the sums. */
function sumsOf(text: string): string[] {
  const [, sums = ''] = /<dl class="summary">([\s\S]*?)<\/dl>/.exec(text) ?? [];
  return [...sums.matchAll(/<dt[^>]*>([\s\S]*?)<\/dt>\s*<dd[^>]*>([\s\S]*?)<\/dd>/g)].map(
    ([, name, price]) => `${name} = ${price}`,
  );
}

const lineIdOf = (text: string) => /\/cart\/lines\/([^/"?]+)"/.exec(text)![1]!;

describe('adding to the cart', () => {
  test('an empty cart says so', async () => {
    const page = await givenVisitor(service, 'DemoShop').get('/cart');
    expect(page.status).toBe(200);
    expect(mainOf(page)).toBe('Your cart Your cart is empty. Continue shopping');
  });

  test('the first product makes the cart, the next ones go into it', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    const page = await add(visitor, shop.ids['CB-101']!, '2');
    expect(page.place).toBe('/shop/DemoShop/cart');
    expect(mainOf(page)).toContain('Tidewater Espresso Beans is in your cart.');
    expect(mainOf(page)).toContain('Weight: 250 g, Roast: Medium Item no. CB-101 €9.90 each');
    expect(sumsOf(page.text)).toEqual([
      'Subtotal = €19.80',
      'Delivery: Standard delivery = €7.62',
      'Total = €27.42',
      'Includes 7% VAT = €1.30',
      'Includes 19% VAT = €1.22',
    ]);
    expect(mainOf(page)).toContain('Spend €80.20 more and get €10.00 off.');
    const before = visitor.session()['cart'];
    await add(visitor, shop.ids['RO-100']!, '7,5');
    expect(visitor.session()['cart']).toEqual({ ...(before as object), count: 3 });
    expect(sumsOf((await visitor.get('/cart')).text)[0]).toBe('Subtotal = €37.80');
  });

  test('promotions have their names, and what the next ones need', async () => {
    const small = await givenSmallShop(service, {
      shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 }],
      basketDiscounts: [{ from: 1, percent: 10 }],
      promotions: [
        { key: 'three', name: '3 for 2', effect: 'buyGet', buy: 2, get: 1 },
        {
          key: 'free',
          name: 'Free delivery',
          effect: 'percent',
          percent: 100,
          on: 'delivery',
          minimumAmount: 25,
        },
      ],
    });
    const mug = await givenProduct(small, { price: 1000 });
    const visitor = givenVisitor(service, small.shopId);
    const two = await add(visitor, mug, '2');
    expect(mainOf(two)).toContain('Add 1 more item for: 3 for 2 Add €5.00 more for: Free delivery');
    const three = await add(visitor, mug, '1');
    expect(sumsOf(three.text)).toEqual([
      'Subtotal = €30.00',
      '3 for 2 = -€10.00',
      'Discount = -€2.00',
      'Delivery: Parcel (Free delivery) = €0.00',
      'Total = €18.00',
      expect.any(String),
    ]);
    expect(mainOf(three)).not.toContain('more for:');
  });

  test('with deposits, fees and a discount on everything, in German', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    const german = '?locale=de_DE';
    await add(visitor, shop.ids['AP-100']!, '2', german);
    const page = await add(visitor, shop.ids['DR-100']!, '6', german);
    expect(page.place).toBe('/shop/DemoShop/cart?locale=de_DE');
    // 7.00 + 1.19 per kg of 2 x 1.35 + 6 x 0.38
    expect(sumsOf(page.text)).toEqual([
      'Warenwert = 108,50 €',
      'Rabatt = -10,00 €',
      'Pfand: Slipway Cola 0,33 l = 1,50 €',
      'Recyclingbeitrag: Beacon Wasserkocher 1,7 l = 1,00 €',
      'Versand: Standardversand = 12,93 €',
      'Gesamtsumme = 113,93 €',
      'Enthaltene MwSt. 19\u00a0% = 18,19 €',
    ]);
    expect(mainOf(page)).toContain('Noch 141,50 €, und Sie erhalten 10 % Rabatt.');
  });

  test('what the order unit or the stock does not allow is corrected, and said', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    expect(mainOf(await add(visitor, shop.ids['DR-100']!, '7'))).toContain(
      'Slipway Cola 0.33 l: the quantity was changed to 12 pieces',
    );
    expect(mainOf(await add(visitor, shop.ids['AP-120']!, '9'))).toContain(
      'Beacon Burr Grinder: the quantity was changed to 3 pieces',
    );
    expect(visitor.session()['cart']).toMatchObject({ count: 15 });
  });

  test.each([
    ['sold out', 'CB-104', '1', 'This product is sold out at the moment.'],
    ['not for sale', 'ZZ-110', '1', 'This product cannot be ordered at the moment.'],
    ['one that has variations', 'CB-100', '1', 'This product cannot be ordered at the moment.'],
    ['invisible', 'ZZ-100', '1', 'This product cannot be ordered at the moment.'],
    ['unknown', '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', '1', 'This product cannot be ordered at the moment.'],
    ['no id', 'kettle', '1', 'This product cannot be ordered at the moment.'],
    ['no quantity', 'AP-100', 'many', 'Please enter a quantity above 0, such as 2.'],
    ['nothing', 'AP-100', '0', 'Please enter a quantity above 0, such as 2.'],
    ['less than nothing', 'AP-100', '-1', 'Please enter a quantity above 0, such as 2.'],
    ['too many', 'AP-100', '9999999', 'Please enter a quantity above 0, such as 2.'],
  ])('%s: back to where it was, and nothing changed', async (_name, product, quantity, notice) => {
    const visitor = givenVisitor(service, 'DemoShop');
    const productId = shop.ids[product] ?? product;
    await changesNothing(service, async () => {
      const answer = await visitor.post('/cart/add', { productId, quantity }, {}, '/Products/AP-100');
      expect([answer.status, answer.headers.location]).toEqual([303, '/shop/DemoShop/Products/AP-100']);
    });
    expect(visitor.session()).toEqual({ notice });
  });

  test('a cart that is gone is replaced by a new one', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!, '1');
    const { id } = visitor.session()['cart'] as { id: string };
    await service.db.run(sql`delete from cart where shop_id = 'DemoShop' and cart_id = ${id}`);
    await add(visitor, shop.ids['BK-110']!, '1');
    const next = visitor.session()['cart'] as { id: string; count: number };
    expect(next.count).toBe(1);
    expect(next.id).not.toBe(id);
  });

  test('prices in the currency that the visitor has chosen', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await visitor.post('/currency', { currency: 'GBP' });
    const page = await add(visitor, shop.ids['AP-100']!, '1');
    expect(sumsOf(page.text)[0]).toBe('Subtotal = £42.42');
  });

  test('the cart speaks the language of the page that was last used', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['BK-110']!, '1');
    const page = await add(visitor, shop.ids['AP-100']!, '1', '?locale=de_DE');
    expect(mainOf(page)).toContain('Beacon Wasserkocher 1,7 l liegt in Ihrem Warenkorb.');
  });

  test('a form of another site is refused', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await changesNothing(service, async () => {
      const answer = await visitor.post(
        '/cart/add',
        { productId: shop.ids['AP-100']!, quantity: '1' },
        { origin: 'https://elsewhere.example' },
      );
      expect(answer.status).toBe(403);
    });
  });
});

describe('changing the cart', () => {
  test('quantities, and taking out', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    const page = await add(visitor, shop.ids['LA-110']!, '2');
    const line = `/cart/lines/${lineIdOf(page.text)}`;
    // From 10 on they cost 5.90.
    expect(sumsOf((await visitor.submit(line, { quantity: '10' })).text)[0]).toBe('Subtotal = €59.00');
    expect(visitor.session()['cart']).toMatchObject({ count: 10 });
    expect(mainOf(await visitor.submit(line, { quantity: '301' }))).toContain(
      'Dock Light LED Bulb: the quantity was changed to 300 pieces',
    );
    await visitor.submit(line, { quantity: '2' });
    expect(mainOf(await visitor.submit(`${line}/remove`, {}))).toBe(
      'Your cart Your cart is empty. Continue shopping',
    );
    // A second click does no harm.
    expect((await visitor.submit(`${line}/remove`, {})).place).toBe('/shop/DemoShop/cart');
    expect((await visitor.submit(line, { quantity: '3' })).place).toBe('/shop/DemoShop/cart');
  });

  test('0 takes out', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    const page = await add(visitor, shop.ids['LA-110']!, '2');
    await visitor.submit(`/cart/lines/${lineIdOf(page.text)}`, { quantity: '0' });
    expect(visitor.session()['cart']).toMatchObject({ count: 0 });
  });

  test('what is no quantity is refused at its field', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    const page = await add(visitor, shop.ids['LA-110']!, '2');
    const path = `/cart/lines/${lineIdOf(page.text)}?locale=de_DE`;
    await changesNothing(service, async () => {
      for (const quantity of ['', 'x', '-2', '2e3', '0.0000001']) {
        const refused = await visitor.post(path, { quantity });
        expect(refused.status).toBe(400);
        expect(refused.text).toContain('aria-invalid="true" aria-describedby="quantity-0-error"');
        expect(mainOf(refused)).toContain('Bitte geben Sie eine Menge über 0 ein, zum Beispiel 2.');
      }
    });
  });

  test('the events of what happened are told once', async () => {
    const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
    await visitor.post('/consent', { consent: 'all' });
    const eventsOf = (text: string) =>
      (
        JSON.parse(/id="page.events">([\s\S]*?)<\/script>/.exec(text)![1]!) as {
          name: string;
          detail: Record<string, unknown>;
        }[]
      ).map(({ name, detail }) => [name, detail['quantity'], detail['quantityDelta']]);
    const page = await add(visitor, shop.ids['LA-110']!, '2');
    expect(eventsOf(page.text)).toEqual([
      ['cart:view', undefined, undefined],
      ['cart:add', 2, undefined],
    ]);
    expect(eventsOf((await visitor.get('/cart')).text)).toEqual([['cart:view', undefined, undefined]]);
    const path = `/cart/lines/${lineIdOf(page.text)}`;
    expect(eventsOf((await visitor.submit(path, { quantity: '5' })).text)).toEqual([
      ['cart:view', undefined, undefined],
      ['cart:setQuantity', 5, 3],
      ['cart:update', undefined, undefined],
    ]);
  });

  test('what has run out in the meantime is marked, and nobody gets to the checkout with it', async () => {
    const small = await givenSmallShop(service);
    const productId = await givenProduct(small, { stock: 5 });
    const visitor = givenVisitor(service, small.shopId);
    await add(visitor, productId, '4');
    await service.db.run(sql`
      update product set stock = 3 where shop_id = ${small.shopId} and product_id = ${productId}`);
    const page = await visitor.get('/cart');
    expect(mainOf(page)).toContain('Only 3 pieces left. Please change the quantity.');
    expect(page.text).not.toContain('/checkout"');
    const sent = await visitor.get('/checkout');
    expect(sent.headers.location).toBe(`/shop/${small.shopId}/cart`);
  });

  test('below the minimum it says what is missing instead of leading to the checkout', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    const page = await add(visitor, shop.ids['RO-100']!, '2', '?locale=fr_FR');
    expect(mainOf(page)).toContain('Le minimum de commande est de 5,00 €. Il vous manque 0,20 €.');
    expect(page.text).not.toContain('/checkout?locale=fr_FR"');
    expect((await visitor.get('/checkout')).headers.location).toBe('/shop/DemoShop/cart?locale=fr_FR');
  });

  test('the minimum counts up to the sum that the shop names', async () => {
    const small = await givenSmallShop(service, {
      minimumCart: { code: 'SumPayment', amount: 20 },
      paymentMethods: [{ key: 'cash', name: 'Cash', price: 1.5 }],
    });
    const visitor = givenVisitor(service, small.shopId);
    const page = await add(visitor, await givenProduct(small, { price: 1000 }), '1');
    expect(mainOf(page)).toContain('The minimum order is €20.00. You need €8.50 more.');
  });

  test('goods that can not be delivered together', async () => {
    const small = await givenSmallShop(service, {
      shippingMethods: [
        { key: 'a', name: 'A', kind: 'flat', price: 1 },
        { key: 'b', name: 'B', kind: 'flat', price: 2 },
      ],
    });
    const methods = await service.db.many<{ id: string }>(sql`
      select upper(shipping_method_id::text) as id from shipping_method
      where shop_id = ${small.shopId} order by position`);
    const visitor = givenVisitor(service, small.shopId);
    for (const { id } of methods) {
      await add(visitor, await givenProduct(small, { facts: { shippingMethodIds: [id] } }), '1');
    }
    expect(mainOf(await visitor.get('/cart'))).toContain('These products cannot be delivered together.');
    expect((await visitor.get('/checkout')).headers.location).toBe(`/shop/${small.shopId}/cart`);
  });
});

describe('coupons', () => {
  const REASONS: [code: string, en: string, de: string, fr: string][] = [
    [
      'SUMMER20',
      'your subtotal is too low for it.',
      'Der Warenwert reicht dafür nicht aus.',
      'le montant des articles est insuffisant.',
    ],
    ['RECALLED', 'it has been withdrawn.', 'Er wurde zurückgezogen.', 'il a été annulé.'],
    ['ONESHOT', 'it has been used up.', 'Er wurde bereits eingelöst.', 'il a déjà été utilisé.'],
    [
      'OLDNEWS',
      'it is not valid now, or does not reduce the price of this cart.',
      'Er ist zurzeit nicht gültig oder bringt für diesen Warenkorb keinen Rabatt.',
      'il n’est pas valable actuellement ou n’apporte rien à ce panier.',
    ],
    [
      'PREPAY2',
      'it is for another payment method.',
      'Er gilt für eine andere Zahlungsart.',
      'il est réservé à un autre mode de paiement.',
    ],
    [
      'COLLECT3',
      'it is for another delivery method.',
      'Er gilt für eine andere Versandart.',
      'il est réservé à un autre mode de livraison.',
    ],
    [
      'SHARP10',
      'it is for other products.',
      'Er gilt für andere Artikel.',
      'il est réservé à d’autres articles.',
    ],
  ];

  test('one that counts', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!, '2');
    const page = await visitor.submit('/cart/coupon', { code: ' summer20 ' });
    expect(sumsOf(page.text).slice(0, 2)).toEqual(['Subtotal = €99.80', 'Coupon SUMMER20 = -€20.00']);
    expect(sumsOf((await visitor.submit('/cart/coupon/remove', {})).text)[1]).not.toContain('Coupon');
  });

  test.each(REASONS)('%s says in three languages why it does not count', async (code, en, de, fr) => {
    if (code === 'PREPAY2') {
      const invoice = await paymentId(shop, 'invoice');
      await service.db.run(sql`
        update coupon_campaign set payment_method_ids = array[${invoice}::uuid]
        where shop_id = 'DemoShop' and identifier = 'advance_only'`);
    }
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!, '1');
    const page = await visitor.submit('/cart/coupon', { code });
    expect(mainOf(page)).toContain(`Your coupon does not apply at the moment: ${en} Remove coupon ${code}`);
    expect(mainOf(await visitor.get('/cart?locale=de_DE'))).toContain(
      `Ihr Gutschein gilt zurzeit nicht: ${de} Gutschein ${code} entfernen`,
    );
    expect(mainOf(await visitor.get('/cart?locale=fr_FR'))).toContain(`pour le moment : ${fr} Retirer`);
    expect(sumsOf(page.text).join()).not.toContain('Coupon');
  });

  test('one that nobody knows is refused at its field, with what was typed', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!, '1');
    await changesNothing(service, async () => {
      const page = await visitor.post('/cart/coupon', { code: '<b>NOPE' });
      expect(page.status).toBe(400);
      expect(page.text).toContain('value="&lt;b&gt;NOPE"');
      expect(page.text).toContain('aria-invalid="true" aria-describedby="code-error"');
      expect(mainOf(page)).toContain('There is no coupon with this code.');
      const empty = await visitor.post('/cart/coupon', { code: ' ' });
      expect([empty.status, mainOf(empty).includes('Please enter a code.')]).toEqual([400, true]);
      expect((await visitor.post('/cart/coupon', { code: 'x'.repeat(1000) })).status).toBe(400);
      expect((await visitor.post('/cart/coupon', { code: 'x'.repeat(3000) })).status).toBe(413);
    });
  });

  test('without a cart there is nothing to redeem it for', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    expect((await visitor.submit('/cart/coupon', { code: 'AUTUMN15' })).place).toBe('/shop/DemoShop/cart');
  });
});

describe('whose cart it is', () => {
  test('another shop knows nothing of it, and a cookie that was changed is none', async () => {
    await givenOtherShop(service);
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!, '1');
    const cookie = visitor.cookie()!;
    const other = givenVisitor(service, 'OtherShop');
    other.useCookie(cookie);
    expect(mainOf(await other.get('/cart'))).toContain('Your cart is empty.');

    const [, signature] = cookie.split('.');
    const forged = Buffer.from(JSON.stringify(visitor.session())).toString('base64url');
    const thief = givenVisitor(service, 'DemoShop');
    for (const value of [`${forged}x.${signature}`, `${forged}.`, 'x', `${forged}.${signature!.slice(1)}A`]) {
      thief.useCookie(value);
      expect(mainOf(await thief.get('/cart'))).toContain('Your cart is empty.');
    }
    expect(await queuedEmails(service)).toEqual([]);
  });
});

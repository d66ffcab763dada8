import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changeSettings,
  changesNothing,
  givenCart,
  givenDemoShop,
  givenProduct,
  givenSmallShop,
  NOW,
  on,
  paymentId,
  queuedEmails,
  shippingId,
  type GivenCart,
  type Shop,
} from '../../../test/carts.ts';
import { givenOtherShop } from '../../../test/demo.ts';
import { startService, type Service } from '../../../test/service.ts';
import { loadAppScripts } from '../../../test/storefront.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';
import { sql } from '../../db/sql.ts';
import { FORMATS } from './address-formats.ts';

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenDemoShop(service);
  await loadAppScripts(service);
});
afterAll(() => service.close());

const ADA = {
  'billing.emailAddress': 'ada.lindqvist@mail.example',
  'billing.country': 'DE',
  'billing.firstName': 'Ada',
  'billing.lastName': 'Lindqvist',
  'billing.street': 'Kai 7',
  'billing.zipCode': '20457',
  'billing.city': 'Hamburg',
};

const add = (visitor: Visitor, productId: string, quantity = '1') =>
  visitor.submit('/cart/add', { productId, quantity });

/** Where the visitor takes over a cart that an app has made. */
function pickupOf({ body }: GivenCart): string {
  const { pathname, search } = new URL(body.checkoutUrl);
  return pathname + search;
}

/** At the last page before the order. */
async function atReview(visitor: Visitor, at: Shop = shop, address: Record<string, string> = ADA) {
  await visitor.submit('/checkout', address);
  const { possible, paying } = await methodsOf(at);
  return visitor.submit('/checkout/delivery', {
    shippingMethod: possible ?? '',
    paymentMethod: paying ?? '',
  });
}

async function methodsOf({ shopId }: Shop) {
  const [row] = await service.db.many<{ possible: string | null; paying: string | null }>(sql`
    select (select upper(shipping_method_id::text) from shipping_method where shop_id = ${shopId}
        order by position limit 1) as possible,
      (select upper(payment_method_id::text) from payment_method where shop_id = ${shopId}
        order by position limit 1) as paying`);
  return row!;
}

const reviewedIn = (text: string) => /name="reviewed" value="([^"]*)"/.exec(text)![1]!;

const countOrders = async (shopId = 'DemoShop') =>
  (await service.db.one<{ count: number }>(sql`
    select count(*) as count from customer_order where shop_id = ${shopId}`))!.count;

describe('the whole purchase', () => {
  test('in English, by forms alone', async () => {
    const visitor = givenVisitor(service, 'DemoShop', '127.0.0.1', 'demoshop.localhost');
    await visitor.post('/consent', { consent: 'all' });
    await add(visitor, shop.ids['CB-101']!, '2');
    const address = await visitor.get('/checkout');
    expect(mainOf(address)).toMatch(
      /^Address Sign in to fill in your address\. Your order €27\.42 Tidewater Espresso Beans /,
    );
    expect(address.text).toContain('autocomplete="billing postal-code"');

    const delivery = await visitor.submit('/checkout', { ...ADA, 'billing.company': 'Café Pelican' });
    expect(delivery.place).toBe('/checkout/delivery');
    expect(mainOf(delivery)).toContain(
      'How would you like it delivered? Standard delivery Expected delivery: Wed 18 November – Thu 19 November €7.62 ' +
        'Express delivery Expected delivery: Tue 17 November €12.00 Customer pickup free ' +
        'Freight Expected delivery: Thu 19 November – Wed 25 November €49.00 How would you like to pay? Payment in advance free Invoice €1.50 ' +
        'QuickPay free Pay later free Continue',
    );

    const review = await visitor.submit('/checkout/delivery', {
      shippingMethod: await shippingId(shop, 'express'),
      paymentMethod: await paymentId(shop, 'advance'),
    });
    expect(review.place).toBe('/checkout/review');
    expect(mainOf(review)).toBe(
      'Review and order ' +
        'Billing address Café Pelican Ada Lindqvist Kai 7 20457 Hamburg ada.lindqvist@mail.example Change : Billing address ' +
        'Delivery address Same as the billing address Change : Delivery address ' +
        'Delivery Express delivery Expected delivery: Tue 17 November Change : Delivery Payment Payment in advance Change : Payment ' +
        'Your items Tidewater Espresso Beans Weight: 250 g, Roast: Medium ' +
        '70 % arabica, 30 % robusta, roasted every Tuesday Item no. CB-101 €9.90 each 2 pieces €19.80 ' +
        'Legal guarantee of conformity At least 2 years If a product is defective or not as agreed, the seller, ' +
        'Harbour & Hearth GmbH, is liable to you for at least 2 years from delivery. The law of your country may give you more time. ' +
        'You may have it repaired or replaced free of charge. If that does not help, you may ask for a price reduction or your money back. ' +
        'Your rights on the pages of the European Union ' +
        'Summary Subtotal €19.80 Delivery: Express delivery €12.00 Total €31.80 ' +
        'Includes 7% VAT €1.30 Includes 19% VAT €1.92 ' +
        'By ordering, you accept our Terms . You can read about your right of withdrawal here: Withdrawal . ' +
        'How we use your data is explained here: Privacy . Order and pay',
    );

    const before = await countOrders();
    const done = await visitor.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    expect(done.place).toBe('/confirmation');
    expect(await countOrders()).toBe(before + 1);
    const number = /ORD\d{6}\/\d+/.exec(done.text)![0];
    expect(mainOf(done)).toContain(
      `Thank you for your order Your order number is ${number}. ` +
        'We are sending a confirmation to ada.lindqvist@mail.example. Next steps ' +
        `Please transfer €31.80 to this account, with ${number} as the reference. ` +
        'We will ship your order as soon as the payment has arrived. ' +
        'Account holder: Harbour & Hearth GmbH Bank: Harbour Bank IBAN: DE02 1203 0000 0000 2020 51 ' +
        `BIC: BYLADEM1001 Reference: ${number}`,
    );
    expect(eventsOf(done.text)).toMatchObject([
      { name: 'order:completed', detail: { orderNumber: number, grandTotal: '31.8', totalTax: '3.22' } },
    ]);
    // Told once, however often the page is looked at.
    const again = await visitor.get('/confirmation');
    expect([again.status, eventsOf(again.text)]).toEqual([200, []]);
    expect(visitor.session()).toEqual({ consent: 'all', order: expect.any(String) });
    expect((await queuedEmails(service, shop.shopId)).at(-1)).toMatchObject({
      locale: 'en_GB',
      template: 'order',
    });
  });

  test('in German, for another address, and the order and its mail speak German', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!);
    const german = '?locale=de_DE';
    const delivery = await visitor.submit(`/checkout${german}`, {
      ...ADA,
      elsewhere: 'yes',
      'shipping.country': 'AT',
      'shipping.firstName': 'Rosa',
      'shipping.lastName': 'Huber',
      'shipping.street': 'Ring 1',
      'shipping.zipCode': '1010',
      'shipping.city': 'Wien',
    });
    expect(delivery.place).toBe('/shop/DemoShop/checkout/delivery?locale=de_DE');
    const review = await visitor.submit(`/checkout/delivery${german}`, {
      shippingMethod: await shippingId(shop, 'standard'),
      paymentMethod: await paymentId(shop, 'invoice'),
    });
    expect(mainOf(review)).toContain('Lieferadresse Rosa Huber Ring 1 1010 Wien ÖSTERREICH Ändern');
    expect(mainOf(review)).toContain('1.7 l, 2200 W'.replace('.', ','));
    expect(mainOf(review)).toContain('Zahlungspflichtig bestellen');
    expect(mainOf(review)).toContain(
      'Warenwert 49,90 € Recyclingbeitrag: Beacon Wasserkocher 1,7 l 0,50 € Versand: Standardversand 8,61 € ' +
        'Zahlung: Rechnung 1,50 € Gesamtsumme 60,51 €',
    );
    const done = await visitor.submit(`/checkout/order${german}`, { reviewed: reviewedIn(review.text) });
    expect(done.place).toBe('/shop/DemoShop/confirmation?locale=de_DE');
    expect(mainOf(done)).toContain('Vielen Dank für Ihre Bestellung');
    expect(mainOf(done)).toContain('Sie erhalten eine Rechnung.');
    // Nobody allowed it.
    expect(done.text).not.toContain('page.events');
    expect((await queuedEmails(service, shop.shopId)).at(-1)).toMatchObject({
      to: 'ada.lindqvist@mail.example',
      locale: 'de_DE',
      template: 'order',
    });
  });

  test('of goods that nobody ships', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['BK-100']!);
    const delivery = await visitor.submit('/checkout', ADA);
    expect(mainOf(delivery)).toContain('Nothing needs to be shipped.');
    const review = await visitor.submit('/checkout/delivery', {
      paymentMethod: await paymentId(shop, 'paylater'),
    });
    expect(mainOf(review)).not.toContain('Delivery address');
    const done = await visitor.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    expect(mainOf(done)).toContain('Your payment is handled by PayLater PLUS.');
    expect(mainOf(done)).toContain('Subtotal €9.99 Total €9.99 Includes 7% VAT €0.65');
  });

  test('net prices: the tax is added before the total', async () => {
    const net = await givenSmallShop(service, { taxes: { model: 'net' } });
    const visitor = givenVisitor(service, net.shopId);
    await add(visitor, await givenProduct(net, { price: 1000 }));
    expect(mainOf(await visitor.get('/cart'))).toContain(
      'Subtotal €10.00 Total before tax €10.00 Plus 19% VAT €1.90 Total €11.90',
    );
  });
});

function eventsOf(text: string): { name: string; detail: Record<string, unknown> }[] {
  return JSON.parse(/id="page.events">([\s\S]*?)<\/script>/.exec(text)![1]!);
}

describe('the steps', () => {
  test('who jumps ahead is sent to what is missing', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    const placeOf = async (path: string) => (await visitor.get(path)).headers.location;
    for (const path of ['/checkout', '/checkout/delivery', '/checkout/review']) {
      expect(await placeOf(path)).toBe('/shop/DemoShop/cart');
    }
    await add(visitor, shop.ids['AP-100']!);
    expect(await placeOf('/checkout/delivery')).toBe('/shop/DemoShop/checkout');
    expect(await placeOf('/checkout/review')).toBe('/shop/DemoShop/checkout');
    expect((await visitor.post('/checkout/order', {})).headers.location).toBe('/shop/DemoShop/checkout');
    await visitor.submit('/checkout', ADA);
    expect(await placeOf('/checkout/review')).toBe('/shop/DemoShop/checkout/delivery');
    await atReview(visitor);
    expect((await visitor.get('/checkout/review')).status).toBe(200);
    expect((await visitor.get('/checkout')).text).toContain('value="Kai 7"');
    // Other goods, and the chosen way of delivery is none of theirs any more.
    await add(visitor, shop.ids['DR-110']!);
    expect(await placeOf('/checkout/review')).toBe('/shop/DemoShop/checkout/delivery');
  });

  test('methods that are not offered for these goods', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['DR-110']!);
    const delivery = await visitor.submit('/checkout', ADA);
    expect(mainOf(delivery)).not.toContain('Express delivery');
    await changesNothing(service, async () => {
      const express = await shippingId(shop, 'express');
      for (const shippingMethod of [express, '', 'x', '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E']) {
        const page = await visitor.post('/checkout/delivery', { shippingMethod, paymentMethod: '' });
        expect(page.status).toBe(400);
        expect(mainOf(page)).toContain('Please choose a delivery method.');
        expect(mainOf(page)).toContain('Please choose a payment method.');
      }
    });
  });

  test('what an app has agreed on stays', async () => {
    const cart = await givenCart(shop, { 'AP-100': 1 });
    const pickup = pickupOf(cart);
    await on(cart, 'PUT', '/shipping-data', { id: await shippingId(shop, 'express'), priceAmount: 3 });
    await on(cart, 'PUT', '/payment-data', { name: 'Cash on the table', priceAmount: 0.5 });
    const visitor = givenVisitor(service, 'DemoShop');
    await visitor.get(pickup);
    const delivery = await visitor.submit('/checkout', ADA);
    expect(mainOf(delivery)).toContain('Express delivery Expected delivery: Tue 17 November €3.00');
    expect(mainOf(delivery)).toContain('As agreed with the shop €0.50');
    const review = await visitor.submit('/checkout/delivery', {
      shippingMethod: await shippingId(shop, 'express'),
      paymentMethod: 'agreed',
    });
    expect(mainOf(review)).toContain('Delivery: Express delivery €3.00 Payment €0.50 Total €53.90');
  });
});

describe('addresses', () => {
  test('what is missing or wrong is said at its field, and what was typed stays', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!);
    await changesNothing(service, async () => {
      const page = await visitor.post('/checkout?locale=de_DE', {
        ...ADA,
        'billing.emailAddress': 'ada',
        'billing.lastName': ' ',
        'billing.zipCode': '2045',
        'billing.city': '<Ham>',
        'billing.street': 'x'.repeat(256),
      });
      expect(page.status).toBe(400);
      expect(page.text).toContain('value="&lt;Ham&gt;"');
      expect(mainOf(page)).toContain(
        'Bitte prüfen Sie diese Felder: ' +
          'E-Mail-Adresse : Bitte geben Sie eine E-Mail-Adresse ein, zum Beispiel name@example.com. ' +
          'Nachname : Bitte füllen Sie dieses Feld aus. ' +
          'Straße und Hausnummer : Die Eingabe ist zu lang. Bitte kürzen Sie sie. ' +
          'Postleitzahl : Das ist keine gültige Postleitzahl für dieses Land. Sie sollte so aussehen: 20457.',
      );
      expect(page.text).toContain(
        'aria-invalid="true" aria-describedby="billing.zipCode-hint billing.zipCode-error"',
      );
    });
  });

  test('the second address is checked only when it is wanted', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!);
    await changesNothing(service, async () => {
      const page = await visitor.post('/checkout', { ...ADA, elsewhere: 'yes', 'shipping.country': 'AT' });
      expect(page.status).toBe(400);
      expect(mainOf(page)).toContain('First name : Please fill in this field.');
    });
    expect((await visitor.submit('/checkout', { ...ADA, 'shipping.country': 'AT' })).place).toBe(
      '/shop/DemoShop/checkout/delivery',
    );
  });

  test('another country has another form, and nothing is lost on the way', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!);
    const form = { ...ADA, 'billing.format': 'DE' };
    await changesNothing(service, async () => {
      const american = await visitor.post('/checkout', { ...form, 'billing.country': 'US' });
      expect(american.status).toBe(200);
      expect(mainOf(american)).toContain('The form now matches this country: United States.');
      expect(american.text).toContain('<select\nid="billing.state"');
      expect(american.text).toContain('value="Kai 7"');
      const british = await visitor.post('/checkout', {
        ...form,
        'billing.format': 'US',
        'billing.country': 'GB',
        'billing.state': 'OR',
      });
      expect(mainOf(british)).toContain('County');
      const back = await visitor.post('/checkout', {
        ...form,
        'billing.format': 'US',
        'billing.state': 'OR',
      });
      expect(back.text).toContain('<input type="hidden" name="billing.state" value="OR" />');
    });
    // The state of another country is none here.
    await visitor.submit('/checkout', { ...ADA, 'billing.state': 'OR' });
    const { id } = visitor.session()['cart'] as { id: string };
    const row = await service.db.one<{ address: Record<string, unknown> }>(sql`
      select billing_address as address from cart where shop_id = 'DemoShop' and cart_id = ${id}`);
    expect(row!.address['state']).toBeNull();
  });

  test('a country that the shop does not deliver to', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!);
    await changesNothing(service, async () => {
      for (const country of ['JP', 'XX', '', 'constructor']) {
        const page = await visitor.post('/checkout', { ...ADA, 'billing.country': country });
        expect([page.status, page.text.includes('id="billing.country-error"')]).toEqual([400, true]);
      }
    });
  });

  test('a country that the shop does not deliver to, in a cart that an app has made', async () => {
    const cart = await givenCart(shop, { 'AP-100': 1 });
    await on(cart, 'PUT', '/billing-address', { country: 'JP', emailAddress: 'x@mail.example' });
    const visitor = givenVisitor(service, 'DemoShop');
    await visitor.get(pickupOf(cart));
    for (const step of ['/checkout/delivery', '/checkout/review']) {
      expect((await visitor.get(step)).headers.location).toBe('/shop/DemoShop/checkout');
    }
    const page = await visitor.get('/checkout');
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/id="billing.country-error"[^>]*>\s*We do not deliver to this country\./);
  });

  test('a country that the shop has stopped delivering to', async () => {
    const small = await givenSmallShop(service, { countries: { default: 'DE', items: ['DE', 'AT'] } });
    const visitor = givenVisitor(service, small.shopId);
    await add(visitor, await givenProduct(small));
    const review = await atReview(visitor, small);
    await changeSettings(small, { countries: { default: 'AT', items: ['AT'] } });
    const page = await visitor.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    expect(page.place).toBe(`/shop/${small.shopId}/checkout`);
    expect(page.text).toMatch(/id="billing.country-error"[^>]*>\s*We do not deliver to this country\./);
    expect(await countOrders(small.shopId)).toBe(0);
  });

  test('what the shop demands beside it is part of the form', async () => {
    const small = await givenSmallShop(service, {
      mandatoryAddressFields: ['phoneNumber', 'gender', 'birthday', 'state'],
    });
    const visitor = givenVisitor(service, small.shopId);
    await add(visitor, await givenProduct(small));
    const page = await visitor.post('/checkout', {
      ...ADA,
      'billing.gender': 'x',
      'billing.birthday': '1.1.1990',
    });
    expect(page.status).toBe(400);
    expect(mainOf(page)).toContain(
      'Region : Please fill in this field. Date of birth : This does not look right. Please check it. ' +
        'Gender : Please choose one from the list. Phone : Please fill in this field.',
    );
    const next = await visitor.submit('/checkout', {
      ...ADA,
      'billing.state': 'Hamburg',
      'billing.gender': 'FEMALE',
      'billing.birthday': '1990-01-01',
      'billing.phoneNumber': '040 1',
    });
    expect(next.place).toBe(`/shop/${small.shopId}/checkout/delivery`);
  });

  test('what an app knows of the visitor stays', async () => {
    const cart = await givenCart(shop, { 'AP-100': 1 });
    await on(cart, 'PUT', '/billing-address', {
      country: 'DE',
      emailAddress: 'x@mail.example',
      vatId: 'DE123456789',
    });
    const visitor = givenVisitor(service, 'DemoShop');
    await visitor.get(pickupOf(cart));
    await visitor.submit('/checkout', ADA);
    const { body } = await on(cart, 'GET');
    expect(body.billingAddress).toMatchObject({ vatId: 'DE123456789', firstName: 'Ada', city: 'Hamburg' });
    expect(Object.keys(body.billingAddress)).toEqual(ADDRESS_FIELDS);
  });

  describe('every country that is known', () => {
    let world: Shop;
    let visitor: Visitor;
    beforeAll(async () => {
      world = await givenSmallShop(service, {
        countries: { default: 'DE', items: [...Object.keys(FORMATS), 'KE', 'BR'] },
      });
      visitor = givenVisitor(service, world.shopId);
      await add(visitor, await givenProduct(world));
    });

    test.each([...Object.entries(FORMATS), ['KE', undefined] as const, ['BR', undefined] as const])(
      '%s: its form, what it demands, and its postcodes',
      async (country, format) => {
        const fields = { ...ADA, 'billing.country': country };
        const shown = await visitor.post('/checkout', { ...fields, 'billing.format': '??' });
        expect(shown.status).toBe(200);
        const { layout, postcode } = format ?? {};
        for (const field of layout?.rows.flat() ?? ['street', 'city']) {
          expect(shown.text).toContain(`id="billing.${field}"`);
        }
        const state = layout?.states ? Object.keys(layout.states)[0]! : 'Somewhere';
        const good = { ...fields, 'billing.zipCode': postcode?.example ?? 'X', 'billing.state': state };
        expect((await visitor.post('/checkout', good)).status).toBe(303);
        for (const field of layout?.required ?? ['street', 'city']) {
          const refused = await visitor.post('/checkout', { ...good, [`billing.${field}`]: '' });
          expect([refused.status, refused.text.includes(`id="billing.${field}-error"`)]).toEqual([400, true]);
        }
        const odd = await visitor.post('/checkout', { ...good, 'billing.zipCode': 'no postcode' });
        expect(odd.status).toBe(postcode ? 400 : 303);
        if (layout?.states) {
          expect((await visitor.post('/checkout', { ...good, 'billing.state': 'ZZ' })).status).toBe(400);
        }
      },
    );
  });
});

describe('ordering', () => {
  test('twenty clicks at once place one order', async () => {
    const small = await givenSmallShop(service);
    const visitor = givenVisitor(service, small.shopId);
    await add(visitor, await givenProduct(small, { stock: 50 }), '2');
    const review = await atReview(visitor, small);
    const cookie = visitor.cookie();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const tab = givenVisitor(service, small.shopId);
        tab.useCookie(cookie);
        const answer = await tab.post('/checkout/order', { reviewed: reviewedIn(review.text) });
        return [answer.status, answer.headers.location, tab.session()['order']];
      }),
    );
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]!.slice(0, 2)).toEqual([303, `/shop/${small.shopId}/confirmation`]);
    expect(await countOrders(small.shopId)).toBe(1);
    // And a click on the old page, or a reload, once the session knows the order.
    visitor.useCookie(cookie);
    await visitor.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    const again = await visitor.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    expect(again.place).toBe(`/shop/${small.shopId}/confirmation`);
    expect(await countOrders(small.shopId)).toBe(1);
    const stock = await service.db.one<{ stock: number }>(sql`
      select stock::float8 as stock from product where shop_id = ${small.shopId}`);
    expect(stock!.stock).toBe(48);
  });

  test('what was sold to others in the meantime is not ordered, and the cart says so', async () => {
    const small = await givenSmallShop(service);
    const productId = await givenProduct(small, { number: 'LAST', stock: 1 });
    const first = givenVisitor(service, small.shopId);
    const second = givenVisitor(service, small.shopId);
    await add(first, productId);
    await add(second, productId);
    const review = await atReview(first, small);
    await atReview(second, small);
    await first.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    await changesNothing(service, async () => {
      const page = await second.post('/checkout/order', { reviewed: reviewedIn(review.text) });
      expect(page.headers.location).toBe(`/shop/${small.shopId}/cart`);
      expect(mainOf(await second.get('/cart'))).toContain('This product is sold out.');
    });
    expect(await countOrders(small.shopId)).toBe(1);
  });

  test('two at the same moment: one gets the last piece, the other hears why not', async () => {
    const small = await givenSmallShop(service);
    const productId = await givenProduct(small, { stock: 1 });
    const visitors = [givenVisitor(service, small.shopId), givenVisitor(service, small.shopId)];
    const reviews = await Promise.all(
      visitors.map(async (visitor, index) => {
        await add(visitor, productId);
        const address = { ...ADA, 'billing.emailAddress': `someone${index}@mail.example` };
        return reviewedIn((await atReview(visitor, small, address)).text);
      }),
    );
    const answers = await Promise.all(
      visitors.map((visitor, index) => visitor.post('/checkout/order', { reviewed: reviews[index]! })),
    );
    expect(await countOrders(small.shopId)).toBe(1);
    const late = answers.find(({ headers }) => headers.location !== `/shop/${small.shopId}/confirmation`)!;
    expect(late.status).toBeOneOf([303, 409]);
    if (late.status === 409) {
      expect(mainOf(late)).toContain('Your order was not placed.');
      expect(mainOf(late)).toContain('This product is sold out.');
    }
  });

  test('a coupon that was used up in the meantime', async () => {
    const small = await givenSmallShop(service, {
      couponCampaigns: [
        { identifier: 'once', name: 'Once', type: 'fix', amount: 2, usageLimit: 1, codes: ['ONCE'] },
      ],
    });
    const productId = await givenProduct(small);
    const visitor = givenVisitor(service, small.shopId);
    await add(visitor, productId);
    await visitor.submit('/cart/coupon', { code: 'ONCE' });
    const review = await atReview(visitor, small);
    await service.db.run(sql`update coupon set used = 1 where shop_id = ${small.shopId}`);
    await changesNothing(service, async () => {
      const changed = await visitor.post('/checkout/order', { reviewed: reviewedIn(review.text) });
      // Without the coupon it costs more than the page said.
      expect(changed.status).toBe(409);
      expect(mainOf(changed)).toContain('Something has changed in the meantime.');
      const page = await visitor.post('/checkout/order', { reviewed: reviewedIn(changed.text) });
      expect(page.status).toBe(409);
      expect(mainOf(page)).toContain('Your order was not placed.');
      expect(mainOf(page)).toContain('Your coupon does not apply at the moment: it has been used up.');
    });
    const cart = await visitor.submit('/cart/coupon/remove', {});
    expect(mainOf(cart)).not.toContain('coupon does not count');
  });

  test('nobody pays another price than the one beside the button', async () => {
    const small = await givenSmallShop(service);
    const productId = await givenProduct(small);
    const visitor = givenVisitor(service, small.shopId);
    await add(visitor, productId);
    const review = await atReview(visitor, small);
    await service.db.run(sql`
      update product set prices = ${{ EUR: 1100 }}, version = version + 1
      where shop_id = ${small.shopId} and product_id = ${productId}`);
    await changesNothing(service, async () => {
      for (const reviewed of [reviewedIn(review.text), '', '1']) {
        const page = await visitor.post('/checkout/order', { reviewed });
        expect(page.status).toBe(409);
        expect(mainOf(page)).toContain('Something has changed in the meantime.');
        expect(mainOf(page)).toContain('Total €11.00');
      }
    });
  });

  test('below the minimum', async () => {
    const small = await givenSmallShop(service);
    const visitor = givenVisitor(service, small.shopId);
    await add(visitor, await givenProduct(small));
    const review = await atReview(visitor, small);
    await changeSettings(small, { minimumCart: { code: 'SumProduct', amount: 50 } });
    await changesNothing(service, async () => {
      const answer = await visitor.post('/checkout/order', { reviewed: reviewedIn(review.text) });
      expect(answer.headers.location).toBe(`/shop/${small.shopId}/cart`);
      expect(mainOf(await visitor.get('/cart'))).toContain(
        'The minimum order is €50.00. You need €40.00 more.',
      );
    });
  });

  test('nothing is ordered by a form of another site, or without a cart', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!);
    const review = await atReview(visitor);
    await changesNothing(service, async () => {
      const reviewed = reviewedIn(review.text);
      const foreign = await visitor.post(
        '/checkout/order',
        { reviewed },
        { origin: 'https://elsewhere.example' },
      );
      expect(foreign.status).toBe(403);
      const nobody = givenVisitor(service, 'DemoShop');
      expect((await nobody.post('/checkout/order', { reviewed })).headers.location).toBe(
        '/shop/DemoShop/cart',
      );
    });
  });
});

describe('the confirmation', () => {
  test('is there for the session of the order only', async () => {
    await givenOtherShop(service);
    const visitor = givenVisitor(service, 'DemoShop');
    await add(visitor, shop.ids['AP-100']!);
    const review = await atReview(visitor);
    const done = await visitor.submit('/checkout/order', { reviewed: reviewedIn(review.text) });
    expect(done.status).toBe(200);
    expect((await givenVisitor(service, 'DemoShop').get('/confirmation')).status).toBe(404);
    const other = givenVisitor(service, 'OtherShop');
    other.useCookie(visitor.cookie());
    expect((await other.get('/confirmation')).status).toBe(404);
    const [text] = visitor.cookie()!.split('.');
    const forged = givenVisitor(service, 'DemoShop');
    forged.useCookie(`${text}.${'A'.repeat(43)}`);
    expect((await forged.get('/confirmation')).status).toBe(404);
    // Somebody who goes on shopping gets a new cart and keeps the order.
    await add(visitor, shop.ids['BK-110']!);
    expect((await visitor.get('/confirmation')).status).toBe(200);
  });
});

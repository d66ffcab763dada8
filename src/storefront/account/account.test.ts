import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  changeSettings,
  changesNothing,
  givenCart,
  givenDemoShop,
  givenProduct,
  NOW,
  on,
  paymentId,
  shippingId,
  statementsOf,
  type Shop,
} from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { signInAs } from '../../../test/signed-in.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { orderTokens } from '../../orders/order-link.ts';
import { installationKey } from '../../platform/sealing.ts';
import { MAX_WISHLIST_ITEMS } from '../wishlist/queries.ts';

const MINUTE = 60_000;
const ADA = 'ada.lindqvist@mail.example';
const PHONE =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36';

const ADDRESS = {
  'billing.country': 'DE',
  'billing.firstName': 'Ada',
  'billing.lastName': 'Lindqvist',
  'billing.street': 'Kai 7',
  'billing.zipCode': '20457',
  'billing.city': 'Hamburg',
};

let service: Service;
let shop: Shop;
let visitor: Visitor;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ANONYMOUS: '0' });
  service.setClock(NOW);
  shop = await givenDemoShop(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  service.setClock(NOW);
  for (const statement of [
    sql`delete from sign_in_request`,
    sql`delete from account`,
    sql`delete from wish`,
  ]) {
    await service.db.run(statement);
  }
  visitor = givenVisitor(service, 'DemoShop');
});

const browser = () => givenVisitor(service, 'DemoShop');
const add = (to: Visitor, number: string, quantity = 1) =>
  to.submit('/cart/add', { productId: shop.ids[number]!, quantity: String(quantity) });
const wish = (to: Visitor, number: string) => to.submit('/wishlist/add', { productId: shop.ids[number]! });
const countsIn = ({ text }: { text: string }) =>
  [...text.matchAll(/<span class="badge">(\d+)<\/span>/g)].map(([, count]) => Number(count));
const linesIn = ({ text }: { text: string }) =>
  [...text.matchAll(/Item no\. ([A-Z]+-\d+)[^]*?name="quantity"[^>]*value="([\d.]+)"/g)].map(
    ([, number, quantity]) => [number, Number(quantity)],
  );

/** Places an order as a guest, or as whoever is signed in. */
async function order(buyer: Visitor, email: string, number = 'TE-110'): Promise<string> {
  await add(buyer, number);
  await buyer.submit('/checkout', { ...ADDRESS, 'billing.emailAddress': email });
  const review = await buyer.submit('/checkout/delivery', {
    shippingMethod: await shippingId(shop, 'express'),
    paymentMethod: await paymentId(shop, 'invoice'),
  });
  const reviewed = /name="reviewed" value="([^"]*)"/.exec(review.text)![1]!;
  const done = await buyer.submit('/checkout/order', { reviewed });
  return /ORD\d{6}\/\d+/.exec(done.text)![0];
}

const finish = (orderNumber: string) =>
  service.db.run(sql`
    update customer_order set paid_at = ${NOW}, delivered_at = ${NOW}
    where shop_id = 'DemoShop' and order_number = ${orderNumber}`);

describe('orders', () => {
  test('are those of the address, by guests too, with a link to each', async () => {
    const email = 'orders@mail.example';
    const first = await order(browser(), email.toUpperCase());
    service.setClock(new Date(NOW.getTime() + MINUTE));
    const second = await order(browser(), email);
    await order(browser(), 'somebody.else@mail.example');
    await finish(first);
    await signInAs(service, visitor, email);
    const page = await visitor.get('/account');
    expect(page.headers['cache-control']).toBe('no-store');
    expect(mainOf(page)).toContain(
      `Orders Order ${second} 15 Nov 2026 Received 22.45 € Order ${first} 15 Nov 2026 Delivered 22.45 €`,
    );
    // An order that is paid in advance says what it waits for, and why.
    for (const [wait, label] of [
      ['open', 'Waiting for payment'],
      ['failed', 'Payment failed'],
    ] as const) {
      await service.db.run(sql`
        update customer_order set payment_wait = ${wait}
        where shop_id = 'DemoShop' and order_number = any (${[first, second]}::text[])`);
      expect(mainOf(await visitor.get('/account'))).toContain(
        `Order ${second} 15 Nov 2026 ${label} 22.45 € Order ${first} 15 Nov 2026 Delivered 22.45 €`,
      );
    }
    const [, token] = /href="\/shop\/DemoShop\/order\/([\w-]+)"/.exec(page.text)!;
    const orderId = orderTokens(await installationKey(service.config)).orderId('DemoShop', token!);
    const row = await service.db.one(sql`
      select order_number as number from customer_order where shop_id = 'DemoShop' and order_id = ${orderId}`);
    expect(row).toEqual({ number: second });
    const stranger = browser();
    await signInAs(service, stranger, 'nobody@mail.example');
    expect(mainOf(await stranger.get('/account'))).toContain('You have not ordered anything yet.');
  });

  test('stay with the address that they were placed with when the customer gets another one', async () => {
    const [before, after] = ['before@mail.example', 'after@mail.example'];
    const number = await order(browser(), before);
    await service.db.run(sql`
      update customer set billing_address = '{"emailAddress": "after@mail.example"}'
      where shop_id = 'DemoShop' and ordered_as = ${before}`);
    const later = await order(browser(), after);
    const seenBy = async (email: string) => {
      const reader = browser();
      await signInAs(service, reader, email);
      return mainOf(await reader.get('/account'));
    };
    const [former, now] = [await seenBy(before), await seenBy(after)];
    expect([former.includes(number), former.includes(later)]).toEqual([true, false]);
    expect([now.includes(number), now.includes(later)]).toEqual([true, true]);
  });

  test('come in pages of twenty', async () => {
    const email = 'many@mail.example';
    const number = await order(browser(), email);
    await service.db.run(sql`
      insert into customer_order (shop_id, order_id, order_number, cart_id, cart_token_hash, created_at, customer_id,
        locale, currency, tax_model, grand_total, total_before_tax, total_tax, billing_address, content)
      select shop_id, gen_random_uuid(), 'OLD-' || number, gen_random_uuid(), cart_token_hash,
        created_at - number * interval '1 day', customer_id, locale, currency, tax_model, grand_total,
        total_before_tax, total_tax, billing_address, content
      from customer_order, generate_series(1, 24) number
      where shop_id = 'DemoShop' and order_number = ${number}`);
    await signInAs(service, visitor, email);
    const numbers = async (query: string) =>
      [...mainOf(await visitor.get(`/account${query}`)).matchAll(/Order (ORD\d{6}\/\d+|OLD-\d+)/g)].map(
        ([, one]) => one,
      );
    expect(await numbers('')).toHaveLength(20);
    expect(await numbers('?page=2')).toEqual(['OLD-20', 'OLD-21', 'OLD-22', 'OLD-23', 'OLD-24']);
    for (const query of ['?page=0', '?page=-1', '?page=x', '?page=99999999999']) {
      expect((await numbers(query))[0]).toBe(number);
    }
    expect(await numbers('?page=9999')).toEqual([]);
  });
});

describe('the address book', () => {
  const stored = () =>
    service.db.many(sql`
      select address ->> 'street' as street, address ->> 'emailAddress' as email from account_address
      order by created_at, address_id`);
  const idIn = ({ text }: { text: string }) => /addresses\/([0-9A-F-]{36})"/.exec(text)![1]!;

  test('keeps addresses, which can be changed and deleted', async () => {
    await signInAs(service, visitor, ADA);
    expect(mainOf(await visitor.get('/account/addresses'))).toContain('You have not saved an address yet.');
    const saved = await visitor.submit('/account/addresses/new', ADDRESS);
    expect(mainOf(saved)).toContain('The address is saved.');
    expect(mainOf(saved)).toContain('Ada Lindqvist Kai 7 20457 Hamburg');
    expect(await stored()).toEqual([{ street: 'Kai 7', email: ADA }]);

    const id = idIn(saved);
    const form = await visitor.get(`/account/addresses/${id}`);
    expect(form.text).toMatch(/name="billing.street"[^>]*value="Kai 7"/);
    await visitor.submit(`/account/addresses/${id}`, { ...ADDRESS, 'billing.street': 'Kai 8' });
    expect(await stored()).toEqual([{ street: 'Kai 8', email: ADA }]);
    expect(mainOf(await visitor.submit(`/account/addresses/${id}/delete`, {}))).toContain(
      'The address is deleted.',
    );
    expect(await stored()).toEqual([]);
  });

  test('refuses what is not an address, and says where', async () => {
    await signInAs(service, visitor, ADA);
    const answer = await changesNothing(service, () =>
      visitor.post('/account/addresses/new', { ...ADDRESS, 'billing.zipCode': 'x', 'billing.city': '' }),
    );
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('id="billing.zipCode-error"');
    expect(answer.text).toContain('id="billing.city-error"');
    expect(answer.text).toMatch(/name="billing.street"[^>]*value="Kai 7"/);
  });

  test('shows the fields of another country before anything is checked', async () => {
    await signInAs(service, visitor, ADA);
    const answer = await changesNothing(service, () =>
      visitor.post('/account/addresses/new', { ...ADDRESS, 'billing.country': 'FR', 'billing.format': 'DE' }),
    );
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('<option value="FR" selected>');
  });

  test('holds twenty addresses', async () => {
    await signInAs(service, visitor, ADA);
    await Promise.all(Array.from({ length: 22 }, () => visitor.post('/account/addresses/new', ADDRESS)));
    expect(await stored()).toHaveLength(20);
    expect(mainOf(await visitor.submit('/account/addresses/new', ADDRESS))).toContain(
      'You can save up to 20 addresses. Please delete one first.',
    );
  });

  test('is nobody else’s', async () => {
    await signInAs(service, visitor, ADA);
    const id = idIn(await visitor.submit('/account/addresses/new', ADDRESS));
    const stranger = browser();
    await signInAs(service, stranger, 'stranger@mail.example');
    const statuses = await changesNothing(service, async () => [
      (await stranger.get(`/account/addresses/${id}`)).status,
      (await stranger.post(`/account/addresses/${id}`, ADDRESS)).status,
      (await stranger.post(`/account/addresses/${id}/delete`, {})).status,
      (await stranger.get('/account/addresses/nothing')).status,
    ]);
    expect(statuses).toEqual([404, 404, 404, 404]);
  });
});

test('newsletters are those that are chosen, without another email', async () => {
  await signInAs(service, visitor, ADA);
  const page = await visitor.get('/account/newsletters');
  expect(mainOf(page)).toContain(`What would you like us to send to ${ADA}? Tide letter`);
  const german = await visitor.get('/account/newsletters?locale=de_DE');
  const [[first], [second, none]] = [page, german].map(({ text }) =>
    [...text.matchAll(/name="(newsletter-[0-9A-Fa-f-]{36})"/g)].map(([, name]) => name!),
  ) as [[string], [string, undefined]];
  expect(none).toBeUndefined();
  const subscribed = () =>
    service.db.many(sql`
      select identifier, subscribed from newsletter_subscriber
      join newsletter_campaign using (shop_id, campaign_id) where email = ${ADA} order by position`);
  await visitor.submit('/account/newsletters?locale=en_GB', { [first]: 'yes' });
  expect(await subscribed()).toEqual([{ identifier: 'TideLetter_EN', subscribed: true }]);
  const changed = await visitor.submit('/account/newsletters?locale=de_DE', { [second]: 'yes' });
  expect(await subscribed()).toEqual([
    { identifier: 'TideLetter_EN', subscribed: false },
    { identifier: 'TideLetter_DE', subscribed: true },
  ]);
  expect(changed.text.match(/checked/g)).toHaveLength(1);
  expect(mainOf(await visitor.get('/account/newsletters?locale=en_GB'))).toContain(
    'Tide letter What the sea brought in this month Gezeitenbrief',
  );
  await visitor.submit('/account/newsletters', {});
  expect((await subscribed()).filter((row) => (row as { subscribed: boolean }).subscribed)).toEqual([]);
});

describe('devices', () => {
  test('are listed with what they are and when they were seen, and can be signed out', async () => {
    const phone = browser();
    await signInAs(service, visitor, ADA);
    await signInAs(service, phone, ADA, { 'user-agent': PHONE });
    service.setClock(new Date(NOW.getTime() + 3 * 86_400_000));
    await visitor.get('/account');
    service.setClock(new Date(NOW.getTime() + 3 * 86_400_000 + 1));
    await phone.get('/account');
    const page = await visitor.get('/account/devices');
    expect(mainOf(page)).toContain(
      'Chrome on Android Signed in on 15 Nov 2026, last seen on 18 Nov 2026 Sign out Unknown browser this browser',
    );
    const id = /devices\/([0-9A-F-]{36})\/end/.exec(page.text)![1]!;
    // Another account cannot end it.
    const stranger = browser();
    await signInAs(service, stranger, 'stranger@mail.example');
    await changesNothing(service, () => stranger.post(`/account/devices/${id}/end`, {}));
    expect((await phone.get('/account')).status).toBe(200);

    await visitor.submit(`/account/devices/${id}/end`, {});
    expect((await phone.get('/account')).status).toBe(303);
    expect((await visitor.get('/account')).status).toBe(200);
  });

  test('that are signed out elsewhere have nothing of the account left', async () => {
    const phone = browser();
    await signInAs(service, phone, ADA);
    await add(phone, 'TE-110', 2);
    await wish(phone, 'TE-100');
    await order(phone, ADA, 'TE-110');
    await add(phone, 'TE-110', 2);
    expect((await phone.get('/confirmation')).status).toBe(200);
    expect(countsIn(await phone.get(''))).toEqual([1, 2]);
    await signInAs(service, visitor, ADA);
    await visitor.submit('/account/devices/end-others', {});
    expect(countsIn(await phone.get(''))).toEqual([]);
    expect(mainOf(await phone.get('/cart'))).toContain('empty');
    expect(mainOf(await phone.get('/wishlist'))).toContain('There is nothing on your wish list yet.');
    expect((await phone.get('/confirmation')).status).toBe(404);
    expect((await phone.get('/checkout')).headers.location).toBe('/shop/DemoShop/cart');
    expect(countsIn(await visitor.get(''))).toEqual([1, 2]);
  });

  test('are at most twenty', async () => {
    await signInAs(service, visitor, ADA);
    for (let time = 0; time < 20; time++) {
      service.setClock(new Date(NOW.getTime() + time + 1));
      await signInAs(service, browser(), ADA);
    }
    expect((await visitor.get('/account')).status).toBe(303);
    expect(await service.db.one(sql`select count(*) as count from account_session`)).toEqual({ count: 20 });
  });

  test('a page of the account notes the visit every ten minutes, and nothing else', async () => {
    await signInAs(service, visitor, ADA);
    await visitor.get('/account');
    await changesNothing(service, () => visitor.get('/account'));
    service.setClock(new Date(NOW.getTime() + 11 * MINUTE));
    await changesNothing(service, () => visitor.get('/cart'));
    await visitor.get('/account');
    expect(await service.db.one(sql`select seen_at as seen from account_session`)).toEqual({
      seen: new Date(NOW.getTime() + 11 * MINUTE),
    });
  });

  test('are named in the language of the page', async () => {
    await signInAs(service, visitor, ADA);
    await service.db.run(sql`update account_session set browser = 'Chrome', system = 'Android'`);
    expect(mainOf(await visitor.get('/account/devices?locale=fr_FR'))).toContain('Chrome sur Android');
    await service.db.run(sql`update account_session set browser = null`);
    expect(mainOf(await visitor.get('/account/devices?locale=en_GB'))).toContain('Android this browser');
  });
});

describe('the language', () => {
  const languageOf = async (one: Visitor, path = '') =>
    /<html lang="([\w-]+)">/.exec((await one.get(path)).text)![1];
  const choose = (one: Visitor, locale: string) => one.submit('/language', { locale, page: '/' });

  test('that was chosen is that of the account, on every device without one of its own', async () => {
    const [phone, tablet] = [browser(), browser()];
    await signInAs(service, visitor, ADA);
    await signInAs(service, phone, ADA);
    await choose(tablet, 'fr_FR');
    await choose(visitor, 'de_DE');
    expect(await languageOf(visitor)).toBe('de-DE');
    expect(await languageOf(phone)).toBe('de-DE');
    // What was chosen before signing in counts, and is the account's from then on.
    await signInAs(service, tablet, ADA);
    expect(await languageOf(tablet)).toBe('fr-FR');
    expect(await languageOf(phone)).toBe('fr-FR');
    expect(await languageOf(visitor)).toBe('de-DE');
    expect(await languageOf(browser())).toBe('en-GB');
  });

  test('stays in the browser after signing out', async () => {
    await signInAs(service, visitor, ADA);
    await choose(visitor, 'de_DE');
    await visitor.submit('/account/sign-out', {});
    expect(await languageOf(visitor)).toBe('de-DE');
  });
});

describe('the cart', () => {
  test('is the same on all devices, and so is its count', async () => {
    const phone = browser();
    await signInAs(service, visitor, ADA);
    await signInAs(service, phone, ADA);
    await add(visitor, 'TE-110', 2);
    expect(countsIn(await phone.get(''))).toEqual([2]);
    await add(phone, 'CB-101');
    expect(linesIn(await visitor.get('/cart'))).toEqual([
      ['TE-110', 2],
      ['CB-101', 1],
    ]);
    expect(countsIn(await visitor.get(''))).toEqual([3]);
    // Once it is ordered, no device has it any more.
    await order(phone, ADA, 'TE-110');
    expect(mainOf(await visitor.get('/cart'))).toContain('empty');
    expect(countsIn(await visitor.get(''))).toEqual([]);
    await add(visitor, 'TE-100');
    expect(linesIn(await phone.get('/cart'))).toEqual([['TE-100', 1]]);
  });

  test('of a visitor is added to that of the account, within what there is', async () => {
    const phone = browser();
    await signInAs(service, phone, ADA);
    await add(phone, 'TE-110', 2);
    await add(phone, 'CB-101', 3);
    await service.db.run(
      sql`update product set stock = 4, version = version + 1 where product_number = 'TE-110'`,
    );
    await add(visitor, 'TE-110', 3);
    await add(visitor, 'TE-100');
    await signInAs(service, visitor, ADA);
    const both = [
      ['TE-110', 4],
      ['TE-100', 1],
      ['CB-101', 3],
    ];
    expect(linesIn(await visitor.get('/cart'))).toEqual(both);
    expect(linesIn(await phone.get('/cart'))).toEqual(both);
    // Signing out and in again adds nothing.
    await visitor.submit('/account/sign-out', {});
    expect(countsIn(await visitor.get(''))).toEqual([]);
    await signInAs(service, visitor, ADA);
    expect(linesIn(await visitor.get('/cart'))).toEqual(both);
    await service.db.run(
      sql`update product set stock = 1000, version = version + 1 where product_number = 'TE-110'`,
    );
  });

  test('of a visitor takes over typed texts and agreed prices of the account’s cart', async () => {
    const board = await givenProduct(shop, {
      facts: { customisation: { textLength: 10, headline: 'Your engraving', prices: { EUR: 450 } } },
    });
    const made = await givenCart(shop, { 'TE-110': 2, 'TE-100': 1 });
    await on(made, 'POST', '/line-items', { productId: board, quantity: 1, customText: 'Ada' });
    const [tea, other] = made.body.lineItemContainer.productLineItems as { lineItemId: string }[];
    await on(made, 'PUT', `/line-items/${tea!.lineItemId}/product-price`, { singleItemPrice: 1.5 });
    await on(made, 'PUT', `/line-items/${other!.lineItemId}/product-price`, { singleItemPrice: 0 });
    const { pathname, search } = new URL(made.body.checkoutUrl as string);
    const phone = browser();
    await signInAs(service, phone, ADA);
    await phone.get(pathname + search);
    await add(visitor, 'TE-110');
    await visitor.submit('/cart/add', { productId: board, quantity: '1', customText: 'Bo' });
    await signInAs(service, visitor, ADA);
    const stored = await service.db.one<{ lines: Record<string, unknown>[] }>(sql`
      select lines from cart where lines::text like '%"Bo"%' and lines::text like '%"Ada"%'`);
    for (const line of stored!.lines) delete line['lineItemId'];
    expect(stored!.lines).toEqual([
      { productId: shop.ids['TE-110'], quantity: '3', price: 150 },
      { productId: board, quantity: '1', customText: 'Bo' },
      { productId: shop.ids['TE-100'], quantity: '1', price: 0 },
      { productId: board, quantity: '1', customText: 'Ada' },
    ]);
    expect(mainOf(await visitor.get('/cart'))).toContain('€1.50');
  });

  test('of the account loses what is not sold any more, and the shopper is told', async () => {
    const phone = browser();
    await signInAs(service, phone, ADA);
    await add(phone, 'TE-110', 2);
    await add(visitor, 'CB-101');
    await service.db.run(
      sql`update product set visible = false, version = version + 1 where product_number = 'TE-110'`,
    );
    const page = await signInAs(service, visitor, ADA);
    expect(mainOf(page)).toContain('Some products from your earlier cart can no longer be bought');
    expect(linesIn(await visitor.get('/cart'))).toEqual([['CB-101', 1]]);
    await service.db.run(
      sql`update product set visible = true, version = version + 1 where product_number = 'TE-110'`,
    );
  });

  test('and the wish list are not shown to the visitor who had the cookie before', async () => {
    await add(visitor, 'TE-110');
    await wish(visitor, 'TE-110');
    const former = browser();
    former.useCookie(visitor.cookie());
    await signInAs(service, visitor, ADA);
    await add(visitor, 'CB-101');
    await visitor.submit('/checkout', { ...ADDRESS, 'billing.emailAddress': ADA });
    await wish(visitor, 'CB-101');
    expect(linesIn(await former.get('/cart'))).toEqual([['TE-110', 1]]);
    expect((await former.get('/checkout')).text).not.toContain('Lindqvist');
    expect(mainOf(await former.get('/wishlist'))).toContain('There is nothing on your wish list yet.');
    expect((await former.get('/account')).status).toBe(303);
  });

  test('that an app has made is the account’s from then on', async () => {
    const made = await givenCart(shop, { 'TE-110': 2 });
    const { pathname, search } = new URL(made.body.checkoutUrl as string);
    await signInAs(service, visitor, ADA);
    await visitor.get(pathname + search);
    const phone = browser();
    await signInAs(service, phone, ADA);
    expect(linesIn(await phone.get('/cart'))).toEqual([['TE-110', 2]]);
  });

  test('of one account is not taken to another one', async () => {
    await signInAs(service, visitor, ADA);
    await add(visitor, 'TE-110');
    await wish(visitor, 'TE-110');
    await signInAs(service, visitor, 'other@mail.example');
    expect(countsIn(await visitor.get(''))).toEqual([]);
    await signInAs(service, visitor, ADA);
    expect(countsIn(await visitor.get(''))).toEqual([1, 1]);
  });
});

test('the wish list is joined, each product once, and has room for as many as any other', async () => {
  const phone = browser();
  await signInAs(service, phone, ADA);
  await wish(phone, 'TE-110');
  await wish(visitor, 'TE-110');
  await wish(visitor, 'CB-101');
  await signInAs(service, visitor, ADA);
  expect(countsIn(await visitor.get(''))).toEqual([2]);
  expect(countsIn(await phone.get(''))).toEqual([2]);
  expect(await service.db.one(sql`select count(*) as count from wish`)).toEqual({ count: 2 });

  await service.db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
    select 'DemoShop', gen_random_uuid(), 'W' || number, 'regular', ${NOW}, 1, true, '{}'
    from generate_series(1, ${MAX_WISHLIST_ITEMS + 10}) number`);
  await service.db.run(sql`
    insert into wish (shop_id, visitor_hash, product_id, created_at)
    select 'DemoShop', visitor_hash, product.product_id, ${NOW}
    from (select distinct visitor_hash from wish) one, product
    where product.shop_id = 'DemoShop' and product_number like 'W%'
    order by product_number limit ${MAX_WISHLIST_ITEMS - 3}`);
  const third = browser();
  await wish(third, 'TE-100');
  await wish(third, 'KN-110');
  await signInAs(service, third, ADA);
  expect(await service.db.one(sql`select count(*) as count from wish`)).toEqual({
    count: MAX_WISHLIST_ITEMS,
  });
  await service.db.run(sql`delete from product where product_number like 'W%'`);
});

describe('the checkout', () => {
  const EMAIL = 'checkout@mail.example';
  const valueOf = ({ text }: { text: string }, name: string) =>
    new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(text)?.[1];

  test('offers to sign in, and comes back from it', async () => {
    await add(visitor, 'TE-110');
    const page = await visitor.get('/checkout');
    expect(page.text).toContain('href="/shop/DemoShop/account/sign-in?target=%2Fcheckout"');
    expect((await visitor.get('/account/sign-in?target=/checkout')).text).toContain(
      '<input type="hidden" name="target" value="/checkout" />',
    );
    expect((await visitor.get('/account/sign-in?target=https://evil.example')).text).not.toContain('evil');
    await visitor.post('/account/sign-in', { email: EMAIL, target: '//evil.example' });
    expect(visitor.session()['signIn']).not.toHaveProperty('target');
    await visitor.post('/account/sign-in', { email: EMAIL, target: '/checkout' });
    expect(visitor.session()['signIn']).toMatchObject({ target: '/checkout', email: EMAIL });
  });

  test('is filled in from the address book, by choice, and from the last order', async () => {
    await order(browser(), EMAIL);
    await signInAs(service, visitor, EMAIL);
    await add(visitor, 'TE-110');
    const fromOrder = await visitor.get('/checkout');
    expect([valueOf(fromOrder, 'billing.street'), valueOf(fromOrder, 'billing.emailAddress')]).toEqual([
      'Kai 7',
      EMAIL,
    ]);
    await visitor.submit('/account/addresses/new', { ...ADDRESS, 'billing.street': 'Berg 1' });
    service.setClock(new Date(NOW.getTime() + 1));
    await visitor.submit('/account/addresses/new', { ...ADDRESS, 'billing.street': 'Berg 2' });
    const page = await visitor.get('/checkout');
    expect(valueOf(page, 'billing.street')).toBe('Berg 2');
    const links = [...page.text.matchAll(/href="\/shop\/DemoShop(\/checkout\?address=[^"]+)"/g)].map(
      ([, href]) => href!,
    );
    expect(links).toHaveLength(2);
    expect(valueOf(await visitor.get(links[1]!), 'billing.street')).toBe('Berg 1');
    // What was typed for this cart stays, and an id that is not in the address book changes nothing.
    await visitor.submit('/checkout', {
      ...ADDRESS,
      'billing.street': 'Tal 3',
      'billing.emailAddress': EMAIL,
    });
    expect(valueOf(await visitor.get('/checkout'), 'billing.street')).toBe('Tal 3');
    expect(valueOf(await visitor.get('/checkout?address=x'), 'billing.street')).toBe('Tal 3');
    expect(valueOf(await visitor.get(links[1]!), 'billing.street')).toBe('Berg 1');
  });

  test('repeats the last order: its address, its delivery and its payment, straight to the review', async () => {
    await order(browser(), EMAIL);
    await signInAs(service, visitor, EMAIL);
    await add(visitor, 'CB-101');
    const page = await visitor.get('/checkout');
    expect(mainOf(page)).toContain(
      'Same as your last order Ada Lindqvist, Kai 7, 20457 Hamburg Express delivery Invoice Review and order',
    );
    const review = await visitor.submit('/checkout/repeat', {});
    expect(review.place).toBe('/shop/DemoShop/checkout/review');
    expect(mainOf(review)).toContain(
      'Delivery Express delivery Expected delivery: Tue 17 November Change : Delivery Payment Invoice',
    );
    expect(mainOf(review)).toContain(`20457 Hamburg ${EMAIL}`);
    const reviewed = /name="reviewed" value="([^"]*)"/.exec(review.text)![1]!;
    expect((await visitor.submit('/checkout/order', { reviewed })).place).toBe('/shop/DemoShop/confirmation');
  });

  test('asks for what is not possible as last time', async () => {
    await order(browser(), EMAIL);
    await signInAs(service, visitor, EMAIL);
    await add(visitor, 'CB-101');
    await changeSettings(shop, { mandatoryAddressFields: ['firstName', 'lastName', 'phoneNumber'] });
    const page = await visitor.submit('/checkout/repeat', {});
    expect([page.place, mainOf(page)]).toEqual([
      '/shop/DemoShop/checkout',
      expect.stringContaining('Some of your previous choices are no longer available. Please choose again.'),
    ]);
    await changeSettings(shop, { mandatoryAddressFields: [] });
    expect((await browser().post('/checkout/repeat', {})).headers.location).toBe('/shop/DemoShop/cart');
    const guest = browser();
    await add(guest, 'CB-101');
    expect((await guest.post('/checkout/repeat', {})).headers.location).toBe('/shop/DemoShop/checkout');
  });
});

describe('one’s data', () => {
  test('can be downloaded', async () => {
    const email = 'export@mail.example';
    const number = await order(browser(), email);
    await signInAs(service, visitor, email);
    await wish(visitor, 'TE-110');
    await visitor.submit('/account/addresses/new', ADDRESS);
    const file = await visitor.submit('/account/export', {});
    expect(file.place).toBe('/shop/DemoShop/account/export.json');
    expect(file.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="DemoShop-data.json"',
      'cache-control': 'private, no-store',
    });
    expect(JSON.parse(file.text)).toMatchObject({
      emailAddresses: [email],
      accounts: [{ email, locale: null, addresses: [{ street: 'Kai 7' }] }],
      accountSessions: [{ browser: null }],
      wishList: [{ productNumber: 'TE-110' }],
      orders: [{ orderNumber: number }],
    });
    expect((await browser().get('/account/export.json')).status).toBe(404);
  });

  test('is deleted after a second question, when no order is open', async () => {
    const email = 'delete@mail.example';
    const number = await order(browser(), email);
    await signInAs(service, visitor, email);
    await visitor.submit('/account/addresses/new', ADDRESS);
    await add(visitor, 'TE-110');
    await wish(visitor, 'TE-110');
    expect((await visitor.get('/account/data')).text).toContain('href="/shop/DemoShop/account/delete"');
    const question = await changesNothing(service, () => visitor.get('/account/delete'));
    expect(mainOf(question)).toContain('Delete your account? We delete your account with its addresses');
    const refused = await changesNothing(service, () => visitor.post('/account/delete', {}));
    expect([refused.status, mainOf(refused)]).toEqual([
      409,
      expect.stringContaining('One of your orders is not finished yet'),
    ]);
    expect((await visitor.get('/account')).status).toBe(200);

    await finish(number);
    const done = await visitor.submit('/account/delete', {});
    expect(mainOf(done)).toContain('Your account is deleted.');
    expect(visitor.accountCookie()).toBeUndefined();
    const left = await service.db.many(sql`
      select (select count(*) from account) as accounts, (select count(*) from account_address) as addresses,
        (select count(*) from account_session) as sessions, (select count(*) from wish) as wishes,
        (select billing_address ->> 'lastName' from customer_order
          where shop_id = 'DemoShop' and order_number = ${number}) as name`);
    expect(left).toEqual([{ accounts: 0, addresses: 0, sessions: 0, wishes: 0, name: null }]);
    expect(countsIn(await visitor.get(''))).toEqual([]);
    // Whoever signs in again begins anew.
    await signInAs(service, visitor, email);
    expect(mainOf(await visitor.get('/account'))).toContain('You have not ordered anything yet.');
  });

  test('of an account whose customer got another address is its own', async () => {
    const email = 'lost@mail.example';
    await signInAs(service, visitor, email);
    await service.db.run(sql`
      update customer set billing_address = '{"emailAddress": "found@mail.example"}' where email_key = ${email}`);
    const file = await visitor.submit('/account/export', {});
    expect(JSON.parse(file.text)).toMatchObject({ emailAddresses: [email], accounts: [{ email }] });
    expect(mainOf(await visitor.submit('/account/delete', {}))).toContain('Your account is deleted.');
    expect(await service.db.many(sql`select email from account`)).toEqual([]);
    expect(
      await service.db.many(
        sql`select email_key as email from customer where email_key like '%ound@mail.example'`,
      ),
    ).toEqual([{ email: 'found@mail.example' }]);
  });
});

test('a visitor who is not signed in costs no statement more than before', async () => {
  await visitor.get('');
  const anonymous = await statementsOf(() => visitor.get(''));
  expect(anonymous.join('\n')).not.toContain('account');
});

describe('the prices of a customer', () => {
  const priceOf = ({ text }: { text: string }) => /<p class="price">\s*([^<]*?)\s*</.exec(text)?.[1];
  const tiersOf = ({ text }: { text: string }) =>
    [...text.matchAll(/<th scope="row">([^<]*)<\/th>\s*<td>([^<]*)<\/td>/g)].map(
      ([, from, price]) => `${from!.replace('\u00a0', ' ')}: ${price}`,
    );
  const sumsOf = ({ text }: { text: string }) =>
    [...text.matchAll(/<dt[^>]*>([^<]*)<\/dt>\s*<dd[^>]*>([^<]*)<\/dd>/g)].map(
      ([, name, price]) => `${name} ${price}`,
    );
  const listed = (number: string, { text }: { text: string }) =>
    priceOf({ text: text.slice(text.indexOf(`/Products/${number}"`)) });

  /** €11.90 with 19 % VAT; cafes pay €9.90, and €8.90 from 10 pieces, where all others pay €10.90. */
  const NUMBER = 'NET-1';
  let productId: string;

  beforeAll(async () => {
    const { id } = (await service.db.one<{ id: string }>(sql`
      select upper(customer_group_id::text) as id from customer_group where shop_id = 'DemoShop' and name = 'Cafes'`))!;
    productId = await givenProduct(shop, {
      number: NUMBER,
      price: 1190,
      taxClass: 'standard',
      facts: {
        bulkPrices: [{ quantity: '10', prices: { EUR: 1090 } }],
        depositPrices: { EUR: 119 },
        groupPrices: [
          {
            customerGroupId: id,
            tiers: [
              { quantity: '1', prices: { EUR: 990 }, discount: 0 },
              { quantity: '10', prices: { EUR: 890 }, discount: 0 },
            ],
          },
        ],
      },
    });
  });
  afterEach(async () => {
    await changeSettings(shop, { netPrices: {} });
    await inGroup(ADA, null);
  });

  const inGroup = (email: string, name: string | null) =>
    service.db.run(sql`
      update customer set customer_group_id = (
        select customer_group_id from customer_group where shop_id = 'DemoShop' and customer_group.name = ${name})
      where shop_id = 'DemoShop' and email_key = ${email}`);

  test('of a group are shown when they are signed in, and nobody else sees them', async () => {
    await signInAs(service, visitor, ADA);
    await inGroup(ADA, 'Cafes');
    const page = await visitor.get(`/Products/${NUMBER}`);
    expect([priceOf(page), tiersOf(page)]).toEqual(['€9.90', ['10 pieces: €8.90']]);
    expect(page.headers['cache-control']).toBe('private, no-cache');
    const wished = await visitor.submit('/wishlist/add', { productId });
    expect(listed(NUMBER, await visitor.get('/wishlist'))).toBe('€9.90');
    expect(wished.status).toBe(200);
    const other = await browser().get(`/Products/${NUMBER}`);
    expect([priceOf(other), tiersOf(other)]).toEqual(['€11.90', ['10 pieces: €10.90']]);
  });

  test('hold in the cart, also in one that was filled before signing in', async () => {
    await signInAs(service, visitor, ADA);
    await inGroup(ADA, 'Cafes');
    const phone = browser();
    await phone.submit('/cart/add', { productId, quantity: '10' });
    expect(sumsOf(await phone.get('/cart'))[0]).toBe('Subtotal €109.00');
    await signInAs(service, phone, ADA);
    expect(sumsOf(await phone.get('/cart'))[0]).toBe('Subtotal €89.00');
    await inGroup(ADA, null);
    expect(sumsOf(await phone.get('/cart'))[0]).toBe('Subtotal €109.00');
  });

  test('are without tax where their group is one of businesses, to the cent of the cart', async () => {
    await changeSettings(shop, { netPrices: { shownTo: 'businesses', groups: ['Cafes'] } });
    await signInAs(service, visitor, ADA);
    expect(priceOf(await visitor.get(`/Products/${NUMBER}`))).toBe('€11.90');
    await inGroup(ADA, 'Cafes');
    const page = await visitor.get(`/Products/${NUMBER}`);
    // 990 / 1.19 = 831.93, 890 / 1.19 = 747.90, 119 / 1.19 = 100
    expect([priceOf(page), tiersOf(page)]).toEqual(['€8.32', ['10 pieces: €7.48']]);
    expect(mainOf(page)).toContain('plus €1.00 deposit, €9.32 in total');
    expect(mainOf(page)).toContain('plus 19% VAT');
    const cart = await visitor.submit('/cart/add', { productId, quantity: '1' });
    expect(mainOf(cart)).toContain('€8.32 each');
    expect(sumsOf(cart)).toEqual([
      'Subtotal €8.32',
      'Deposit: NET-1 €1.00',
      'Delivery: Standard delivery €5.88',
      'Total before tax €15.20',
      'Plus 19% VAT €2.89',
      'Total €18.09',
    ]);
  });

  test('are without tax for a customer with a confirmed VAT number', async () => {
    await changeSettings(shop, { netPrices: { shownTo: 'businesses' } });
    await signInAs(service, visitor, ADA);
    const setCheck = (result: string) =>
      service.db.run(sql`
        update customer set vat_check = ${{ vatNumber: 'FR12345678901', result, checkedAt: NOW }}
        where shop_id = 'DemoShop' and email_key = ${ADA}`);
    await setCheck('unavailable');
    expect(priceOf(await visitor.get(`/Products/${NUMBER}`))).toBe('€11.90');
    await setCheck('valid');
    expect(priceOf(await visitor.get(`/Products/${NUMBER}`))).toBe('€10.00');
    await service.db.run(sql`update customer set vat_check = null where shop_id = 'DemoShop'`);
  });

  test('are without tax for visitors who say that they are a business, only where the shop asks', async () => {
    await visitor.submit('/cart/add', { productId, quantity: '1' });
    await visitor.submit('/net-prices', { prices: 'net' });
    const asBefore = await visitor.get(`/Products/${NUMBER}`);
    expect(priceOf(asBefore)).toBe('€11.90');
    expect(asBefore.text).not.toContain('/net-prices"');

    await changeSettings(shop, { netPrices: { shownTo: 'choice' } });
    const net = await visitor.get(`/Products/${NUMBER}`);
    expect(priceOf(net)).toBe('€10.00');
    expect(net.text).toContain('/net-prices"');
    await visitor.submit('/net-prices', { prices: 'net' });
    const cart = sumsOf(await visitor.get('/cart'));
    expect(cart[0]).toBe('Subtotal €10.00');
    expect(cart.at(-1)).toMatch(/^Total /);
    const total = cart.at(-1);
    await visitor.submit('/net-prices', { prices: 'gross' });
    expect(priceOf(await visitor.get(`/Products/${NUMBER}`))).toBe('€11.90');
    const gross = sumsOf(await visitor.get('/cart'));
    expect(gross[0]).toBe('Subtotal €11.90');
    // The choice changes what is shown, and not what is paid.
    expect(gross).toContain(total);
    expect(priceOf(await browser().get(`/Products/${NUMBER}`))).toBe('€11.90');
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenToken } from '../builders.ts';
import { givenCoupon, givenDemoShop, NO_TOKEN, NOW, reasonOf, type Shop } from '../carts.ts';
import { startService, type Answer, type Service } from '../service.ts';
import { givenVisitor, mainOf } from '../visitor.ts';

/**
 * A coupon is money, and its code can be guessed. Unknown codes are counted by client address, for the API and the
 * pages of the shop together; an app with a token stands for many shoppers, so there they are counted by cart.
 */

let service: Service;
let shop: Shop;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '0' });
  service.setClock(NOW);
  shop = await givenDemoShop(service);
});
afterAll(() => service.close());

interface Guesser {
  cart: { id: string; token: string };
  guess: (code: string) => Promise<Answer>;
}

let guesses = 0;
const wrong = () => `WRONG-${++guesses}`;

async function givenGuesser(address: string, { token = NO_TOKEN, at = service } = {}): Promise<Guesser> {
  const caller = { address, ...(token !== NO_TOKEN && { token }) };
  const made = await at.call('POST', '/DemoShop/carts', {
    ...caller,
    body: { lineItems: [{ productId: shop.ids['TE-100'], quantity: 2 }] },
  });
  expect(made.status).toBe(201);
  const cart = { id: made.body.cartId, token: made.headers['x-epages-cart-token'] as string };
  const guess = (code: string) =>
    at.call('POST', `/DemoShop/carts/${cart.id}/coupon`, {
      ...caller,
      cartToken: cart.token,
      body: { code },
    });
  return { cart, guess };
}

const UNKNOWN = [400, 'There is no coupon with this code'];
const TOO_MANY = [429, 'More than 60 unknown coupon codes in this hour, try again in 1800 s'];

test('whoever guesses gets 60 tries in an hour, with as many carts as he likes, and a right code is none', async () => {
  await givenCoupon(shop, 'RIGHT-1', { name: 'FIX', amount: 5 });
  const [one, two] = [await givenGuesser('192.0.2.1'), await givenGuesser('192.0.2.1')];
  for (let tries = 0; tries < 59; tries++) {
    expect(await reasonOf((tries % 2 ? one : two).guess(wrong()))).toEqual(UNKNOWN);
  }
  for (let uses = 0; uses < 5; uses++) expect((await one.guess('RIGHT-1')).status).toBe(200);
  expect(await reasonOf(one.guess(wrong()))).toEqual(UNKNOWN);
  const refused = await two.guess(wrong());
  expect(await reasonOf(Promise.resolve(refused))).toEqual(TOO_MANY);
  expect(refused.headers['retry-after']).toBe('1800');
  // Then a right code tells nothing either.
  expect(await reasonOf(two.guess('RIGHT-1'))).toEqual(TOO_MANY);
  expect((await (await givenGuesser('192.0.2.2')).guess('RIGHT-1')).status).toBe(200);
});

test('the pages of the shop count with the API', async () => {
  const visitor = givenVisitor(service, 'DemoShop', '192.0.2.3');
  const api = await givenGuesser('192.0.2.3');
  await visitor.submit('/cart/add', { productId: shop.ids['TE-100']!, quantity: '2' });
  for (let tries = 0; tries < 30; tries++) {
    expect((await api.guess(wrong())).status).toBe(400);
    const page = await visitor.post('/cart/coupon', { code: wrong() });
    expect(page.status).toBe(400);
    expect(mainOf(page)).toContain('There is no coupon with this code.');
  }
  const page = await visitor.post('/cart/coupon', { code: wrong() });
  expect(page.status).toBe(429);
  expect(page.headers['retry-after']).toBe('1800');
  expect(mainOf(page)).toContain('Too many attempts');
  expect(await reasonOf(api.guess(wrong()))).toEqual(TOO_MANY);
});

test('many guesses at the same moment get no further, and other processes hear of them', async () => {
  const first = await startService({ RATE_LIMIT: '0' }, service);
  first.setClock(NOW);
  const { guess } = await givenGuesser('192.0.2.4', { at: first });
  const answers = await Promise.all(Array.from({ length: 80 }, () => guess(wrong())));
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(60);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  // What was counted is written each second, and when a process ends.
  await first.close();
  const other = await givenGuesser('192.0.2.4');
  expect((await other.guess(wrong())).status).toBe(429);
});

test('an app speaks for many shoppers from one address: each cart has 20 tries', async () => {
  const token = await givenToken(service, 'DemoShop');
  for (let shopper = 0; shopper < 4; shopper++) {
    const { guess } = await givenGuesser('192.0.2.5', { token });
    for (let tries = 0; tries < 20; tries++) expect((await guess(wrong())).status).toBe(400);
    expect(await reasonOf(guess(wrong()))).toEqual([
      429,
      'More than 20 unknown coupon codes in this hour, try again in 1800 s',
    ]);
  }
  // A token that is none does not help.
  const guesser = await givenGuesser('192.0.2.5', { token: 'made-up' });
  for (let tries = 0; tries < 60; tries++) expect((await guesser.guess(wrong())).status).toBe(400);
  expect((await guesser.guess(wrong())).status).toBe(429);
});

test('the next hour begins anew; RATE_LIMIT_ANONYMOUS=0 counts nothing', async () => {
  const one = await givenGuesser('192.0.2.6');
  for (let tries = 0; tries < 61; tries++) await one.guess(wrong());
  expect((await one.guess(wrong())).status).toBe(429);
  service.setClock(new Date(NOW.getTime() + 3_600_000));
  expect((await one.guess(wrong())).status).toBe(400);
  service.setClock(NOW);
  const open = await startService({ RATE_LIMIT_ANONYMOUS: '0' }, service);
  try {
    open.setClock(NOW);
    const { guess } = await givenGuesser('192.0.2.6', { at: open });
    for (let tries = 0; tries < 70; tries++) expect((await guess(wrong())).status).toBe(400);
  } finally {
    await open.close();
  }
});

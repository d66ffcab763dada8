import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  done,
  givenCart,
  givenDemoShop,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  ID,
  linesOf,
  NO_TOKEN,
  NOW,
  on,
  price,
  problem,
  reasonOf,
  refusal,
  statementsOf,
  totalsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';

let service: Service;
let demo: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  demo = await givenDemoShop(service);
});
afterAll(() => service.close());

const line = (number: string, quantity: unknown = 1) => ({ productId: demo.ids[number], quantity });
const add = (cart: GivenCart, number: string, quantity: unknown = 1) =>
  done(cart, 'POST', '/line-items', line(number, quantity));
const lineIds = ({
  lineItemContainer,
}: {
  lineItemContainer: { productLineItems: { lineItemId: string }[] };
}) => lineItemContainer.productLineItems.map(({ lineItemId }) => lineItemId);
const pathOf = ({ body }: GivenCart, index = 0) => `/line-items/${lineIds(body)[index]}`;

describe('adding', () => {
  test('makes a line, answers 201 with the whole cart, and needs no other token', async () => {
    const cart = await givenCart(demo);
    const { status, body } = await on(cart, 'POST', '/line-items', line('KN-110'), { token: NO_TOKEN });
    expect(status).toBe(201);
    expect(body.status).toBeUndefined();
    expect(lineIds(body)).toEqual([ID]);
    expect(linesOf(body)).toEqual([['KN-110', 1, 24.5, 24.5]]);
    expect(totalsOf(body)).toMatchObject({ subtotal: 24.5, shipping: 7.14, total: 31.64 });
    expect(await done(cart, 'GET')).toEqual(body);
  });

  test('more of a product raises its line, which keeps its id and its place', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1, 'KN-110': 1 });
    const lower = { productId: demo.ids['TE-100']!.toLowerCase(), quantity: '2' };
    const body = await done(cart, 'POST', '/line-items', lower);
    expect(lineIds(body)).toEqual(lineIds(cart.body));
    expect(linesOf(body)).toEqual([
      ['TE-100', 3, 7.2, 21.6],
      ['KN-110', 1, 24.5, 24.5],
    ]);
  });

  test('another product comes last', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const body = await add(cart, 'TE-110');
    expect(linesOf(body).map(([sku]) => sku)).toEqual(['TE-100', 'TE-110']);
    expect(lineIds(body)[0]).toBe(lineIds(cart.body)[0]);
  });

  test.each([
    ['DR-100', 1, 6],
    ['DR-100', 6, 6],
    ['DR-100', 7, 12],
    ['RO-100', 0.5, 2],
    ['RO-100', 2.2, 2.5],
    ['RO-100', '7.50', 7.5],
    ['TE-100', 1.2, 2],
  ])('of %s, who asks for %s gets %s: the least order and whole steps', async (number, asked, got) => {
    const body = await add(await givenCart(demo), number, asked);
    expect(linesOf(body).map(([, quantity]) => quantity)).toEqual([got]);
  });

  test.each([
    ['AP-120', 5, 3],
    ['AP-120', 3, 3],
    ['DR-100', 500, 480],
    ['RO-100', 900.5, 850],
  ])('of %s, who asks for %s gets the %s that are there', async (number, asked, got) => {
    const body = await add(await givenCart(demo), number, asked);
    expect(linesOf(body).map(([, quantity]) => quantity)).toEqual([got]);
  });

  test('what is there is lowered to a whole step', async () => {
    const shop = await givenSmallShop(service);
    const orderUnit = { priceQuantity: 1, unit: 'piece', minimum: 6, interval: 6 } as const;
    const crate = await givenProduct(shop, { stock: 17, facts: { orderUnit } });
    const few = await givenProduct(shop, { number: 'FEW', stock: 5, facts: { orderUnit } });
    const cart = await givenCart(shop, { [crate]: 100 });
    expect(cart.body.lineItemContainer.productLineItems[0].quantity.amount).toBe(12);
    const tooFew = () => on(cart, 'POST', '/line-items', { productId: few, quantity: 6 });
    expect(await refusal(service, tooFew)).toEqual([400, 'FEW (FEW) is out of stock']);
  });

  test('what is in the cart counts as well', async () => {
    const cart = await givenCart(demo, { 'AP-120': 2 });
    expect(linesOf(await add(cart, 'AP-120', 2))).toEqual([['AP-120', 3, 119, 357]]);
  });

  test('of what nobody counts there is always enough', async () => {
    expect(linesOf(await add(await givenCart(demo), 'BK-100', 5000))).toEqual([
      ['BK-100', 5000, 9.99, 49_950],
    ]);
  });

  test('a shop may sell beyond its stock', async () => {
    const shop = await givenSmallShop(service, { sellBeyondStock: true });
    const [none, owed] = [await givenProduct(shop, { stock: 0 }), await givenProduct(shop, { stock: -4 })];
    const { body } = await givenCart(shop, { [none]: 3, [owed]: 5 });
    expect(linesOf(body).map(([, quantity]) => quantity)).toEqual([3, 5]);
  });

  test('what is not for sale is refused, and nothing changes', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const refused: [unknown, number, string][] = [
      [
        line('CB-100'),
        400,
        'CB-100 (Tidewater Espresso Beans) has variations, put one of them into the cart',
      ],
      [line('ZZ-110'), 400, 'ZZ-110 (Sample Spoon) is not for sale'],
      [line('ZZ-100'), 400, 'ZZ-100 (Retired Thermos) is not for sale'],
      [line('TE-120'), 400, 'TE-120 (Ginger Bay Herbal Tea 80 g) is out of stock'],
      [line('DR-120'), 400, 'DR-120 (Harbour Cider 0.5 l) is out of stock'],
      [{ productId: newId(NOW), quantity: 1 }, 404, 'HTTP 404 Not Found'],
      [{ productId: 'TE-100', quantity: 1 }, 404, 'HTTP 404 Not Found'],
    ];
    await changesNothing(service, async () => {
      for (const [body, status, text] of refused) {
        expect(await reasonOf(on(cart, 'POST', '/line-items', body))).toEqual([status, text]);
      }
    });
  });

  test('before and after its time a product is not for sale', async () => {
    const shop = await givenSmallShop(service);
    const facts = [{ forSaleFrom: '2026-11-15T08:30:01Z' }, { forSaleUntil: '2026-11-15T08:30:00Z' }];
    const cart = await givenCart(shop);
    for (const fact of facts) {
      const productId = await givenProduct(shop, { number: `T-${newId(NOW)}`, facts: fact });
      const { status } = await on(cart, 'POST', '/line-items', { productId, quantity: 1 });
      expect(status).toBe(400);
    }
  });

  test('another shop’s product is unknown', async () => {
    const shop = await givenSmallShop(service);
    const productId = await givenProduct(shop);
    const cart = await givenCart(demo);
    expect((await on(cart, 'POST', '/line-items', { productId, quantity: 1 })).status).toBe(404);
  });

  test('bad values are named, and nothing changes', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const refused: [unknown, string][] = [
      [undefined, problem('WRONG_TYPE', 'body')],
      [[line('TE-100')], problem('WRONG_TYPE', 'body')],
      [{}, problem('MISSING', 'productId')],
      [{ quantity: 1 }, problem('MISSING', 'productId')],
      [{ productId: null, quantity: 1 }, problem('WRONG_TYPE', 'productId')],
      [{ productId: demo.ids['TE-100'] }, problem('MISSING', 'quantity')],
      [line('TE-100', null), problem('WRONG_TYPE', 'quantity')],
      [line('TE-100', true), problem('WRONG_TYPE', 'quantity')],
      [line('TE-100', 'many'), problem('WRONG_FORMAT', 'quantity')],
      [line('TE-100', '1,5'), problem('WRONG_FORMAT', 'quantity')],
      [line('TE-100', ''), problem('WRONG_FORMAT', 'quantity')],
      [line('TE-100', 0), problem('OUT_OF_RANGE', 'quantity')],
      [line('TE-100', -1), problem('OUT_OF_RANGE', 'quantity')],
      [line('TE-100', '-1'), problem('OUT_OF_RANGE', 'quantity')],
      [line('TE-100', 1_000_001), problem('OUT_OF_RANGE', 'quantity')],
      [line('TE-100', 1e300), problem('OUT_OF_RANGE', 'quantity')],
    ];
    await changesNothing(service, async () => {
      for (const [body, text] of refused) {
        expect(await reasonOf(on(cart, 'POST', '/line-items', body))).toEqual([400, text]);
      }
    });
  });

  test('a cart has 500 lines at most', async () => {
    const shop = await givenSmallShop(service);
    const rows = Array.from({ length: 502 }, (_, index) => ({ id: newId(NOW), number: `M-${index}` }));
    await service.db.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
      select ${shop.shopId}, id, number, 'regular', ${NOW}, 1, true, '{"EUR": 100}', '{}'
      from jsonb_to_recordset(${JSON.stringify(rows)}) as row (id uuid, number text)`);
    const cart = await givenCart(shop, Object.fromEntries(rows.slice(0, 500).map(({ id }) => [id, 1])));
    expect(totalsOf(cart.body).subtotal).toBe(500);
    const another = { productId: rows[500]!.id, quantity: 1 };
    expect(await refusal(service, () => on(cart, 'POST', '/line-items', another))).toEqual([
      400,
      'A cart has at most 500 lines',
    ]);
    // More of what is there goes in, and so does another one for one that leaves.
    const more = { productId: rows[0]!.id, quantity: 1 };
    const many = await done(cart, 'POST', '/multi-line-items', [another, more]);
    expect(many.status).toBe('PartiallyComplete');
    expect(totalsOf(many).subtotal).toBe(501);
    await done(cart, 'DELETE', pathOf(cart));
    expect(totalsOf(await done(cart, 'POST', '/line-items', another)).subtotal).toBe(500);
  });

  test('what is worth more than can be counted is refused', async () => {
    const cart = await givenCart(demo, { 'BK-100': 1_000_000 });
    await expect(
      reasonOf(on(cart, 'PUT', `${pathOf(cart)}/product-price`, { singleItemPrice: 1e9 })),
    ).resolves.toEqual([400, 'The cart would be worth more than can be ordered at once']);
    expect(linesOf(await done(cart, 'GET'))).toEqual([['BK-100', 1_000_000, 9.99, 9_990_000]]);
  });
});

describe('adding several', () => {
  test('answers 201 and always says whether all went in', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const { status, body } = await on(cart, 'POST', '/multi-line-items', [line('TE-110', 2), line('TE-100')]);
    expect([status, body.status]).toEqual([201, 'Complete']);
    expect(linesOf(body)).toEqual([
      ['TE-100', 2, 7.2, 14.4],
      ['TE-110', 2, 8.95, 17.9],
    ]);
    const keys = Object.keys(body);
    expect(keys.indexOf('status')).toBe(keys.indexOf('registerSessionUrl') + 1);
  });

  test('what can not go in is left out', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const sent = [
      { productId: newId(NOW), quantity: 1 },
      line('CB-100'),
      line('TE-120'),
      line('TE-110', 'x'),
      null,
      [],
      'TE-110',
      {},
      line('KN-110'),
    ];
    const { status, body } = await on(cart, 'POST', '/multi-line-items', sent);
    expect([status, body.status]).toEqual([201, 'PartiallyComplete']);
    expect(linesOf(body)).toEqual([
      ['TE-100', 1, 7.2, 7.2],
      ['KN-110', 1, 24.5, 24.5],
    ]);
    const none = await on(cart, 'POST', '/multi-line-items', [null]);
    expect([none.status, none.body.status]).toEqual([201, 'PartiallyComplete']);
    expect(linesOf(none.body)).toEqual(linesOf(body));
  });

  test('wants a list that is not empty, of 500 entries at most', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const send = (body: unknown) => refusal(service, () => on(cart, 'POST', '/multi-line-items', body));
    expect(await send([])).toEqual([400, problem('LIST_EMPTY', 'body')]);
    expect(await send({})).toEqual([400, problem('WRONG_TYPE', 'body')]);
    expect(await send(undefined)).toEqual([400, problem('WRONG_TYPE', 'body')]);
    const entries = Array.from({ length: 501 }, () => line('TE-100'));
    expect(await send(entries)).toEqual([400, problem('TOO_LONG', 'body')]);
    const most = await done(cart, 'POST', '/multi-line-items', entries.slice(0, 74));
    expect(linesOf(most)).toEqual([['TE-100', 75, 7.2, 540]]);
  });
});

describe('changing the quantity', () => {
  test('is absolute, and keeps the line', async () => {
    const cart = await givenCart(demo, { 'TE-100': 5, 'KN-110': 1 });
    const { status, body } = await on(cart, 'PUT', pathOf(cart), { quantity: 3 });
    expect(status).toBe(200);
    expect(lineIds(body)).toEqual(lineIds(cart.body));
    expect(linesOf(body)).toEqual([
      ['TE-100', 3, 7.2, 21.6],
      ['KN-110', 1, 24.5, 24.5],
    ]);
    expect(totalsOf(await done(cart, 'PUT', pathOf(cart), { quantity: '2' }))).toMatchObject({
      subtotal: 38.9,
    });
  });

  test('knows the line in lower case', async () => {
    const cart = await givenCart(demo, { 'TE-100': 5 });
    const path = pathOf(cart).toLowerCase();
    expect(linesOf(await done(cart, 'PUT', path, { quantity: 1 }))).toEqual([['TE-100', 1, 7.2, 7.2]]);
  });

  test('is corrected like an addition', async () => {
    const cart = await givenCart(demo, { 'DR-100': 6, 'AP-120': 1, 'CB-200': 1 });
    const quantities = async (index: number, quantity: number) =>
      linesOf(await done(cart, 'PUT', pathOf(cart, index), { quantity })).map(([, amount]) => amount);
    expect(await quantities(0, 13)).toEqual([18, 1, 1]);
    expect(await quantities(1, 9)).toEqual([18, 3, 1]);
    const body = await done(cart, 'PUT', pathOf(cart, 2), { quantity: 10 });
    expect(linesOf(body)[2]).toEqual(['CB-200', 10, 10.9, 109]);
  });

  test('0 takes the line away', async () => {
    const cart = await givenCart(demo, { 'TE-100': 5, 'KN-110': 1 });
    expect(linesOf(await done(cart, 'PUT', pathOf(cart), { quantity: 0 }))).toEqual([
      ['KN-110', 1, 24.5, 24.5],
    ]);
    expect(linesOf(await done(cart, 'PUT', pathOf(cart, 1), { quantity: '0' }))).toEqual([]);
  });

  test('bad values and unknown lines are refused, and nothing changes', async () => {
    const cart = await givenCart(demo, { 'TE-100': 5 });
    const other = await givenCart(demo, { 'TE-100': 5 });
    const put = (path: string, body: unknown) => reasonOf(on(cart, 'PUT', path, body));
    await changesNothing(service, async () => {
      expect(await put(pathOf(cart), { quantity: -1 })).toEqual([400, problem('OUT_OF_RANGE', 'quantity')]);
      expect(await put(pathOf(cart), { quantity: 'x' })).toEqual([400, problem('WRONG_FORMAT', 'quantity')]);
      expect(await put(pathOf(cart), { quantity: null })).toEqual([400, problem('WRONG_TYPE', 'quantity')]);
      expect(await put(pathOf(cart), {})).toEqual([400, problem('MISSING', 'quantity')]);
      expect(await put(pathOf(cart), undefined)).toEqual([400, problem('WRONG_TYPE', 'body')]);
      for (const path of [pathOf(other), `/line-items/${newId(NOW)}`, '/line-items/1']) {
        expect(await put(path, { quantity: 1 })).toEqual([404, 'HTTP 404 Not Found']);
      }
    });
  });

  test('when the shelf has become empty, the line stays as it is', async () => {
    const shop = await givenSmallShop(service);
    const productId = await givenProduct(shop, { number: 'LAST', stock: 3 });
    const cart = await givenCart(shop, { [productId]: 2 });
    await service.db.run(sql`update product set stock = 0 where product_id = ${productId}`);
    const more = () => on(cart, 'PUT', pathOf(cart), { quantity: 3 });
    expect(await refusal(service, more)).toEqual([400, 'LAST (LAST) is out of stock']);
    expect(linesOf(await done(cart, 'GET'))).toEqual([['LAST', 2, 10, 20]]);
  });
});

describe('taking a line away', () => {
  test('answers 200 with the cart, computed anew', async () => {
    const cart = await givenCart(demo, { 'TE-100': 5, 'KN-110': 1 });
    const { status, body } = await on(cart, 'DELETE', pathOf(cart));
    expect(status).toBe(200);
    expect(linesOf(body)).toEqual([['KN-110', 1, 24.5, 24.5]]);
    expect(totalsOf(body)).toMatchObject({ subtotal: 24.5, shipping: 7.14, total: 31.64 });
    expect(await done(cart, 'GET')).toEqual(body);
  });

  test('the last one leaves the cart as empty as a new one', async () => {
    const { body: fresh } = await givenCart(demo);
    const cart = await givenCart(demo, { 'AP-110': 1 });
    const body = await done(cart, 'DELETE', pathOf(cart).toLowerCase());
    const { cartId: _id, pickupToken: _token, checkoutUrl: _url, registerSessionUrl: _other, ...rest } = body;
    expect({ ...fresh, ...rest, links: [] }).toEqual({ ...fresh, links: [] });
    expect(body.lineItemContainer.basketDiscount).toEqual({ links: [] });
    expect(body).toMatchObject({ shippingData: null, paymentData: null });
    const self = `http://localhost:80/rs/shops/DemoShop/carts/${cart.id}`;
    expect(body.links).toEqual([
      { rel: 'self', href: self },
      { rel: 'add-coupon', href: `${self}/coupon` },
    ]);
  });

  test('takes a body along without reading it', async () => {
    const cart = await givenCart(demo, { 'TE-100': 5 });
    const { status } = await on(cart, 'DELETE', pathOf(cart), '{"broken', {
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(200);
  });

  test('that is not there is 404', async () => {
    const cart = await givenCart(demo, { 'TE-100': 5 });
    await done(cart, 'DELETE', pathOf(cart));
    expect(await refusal(service, () => on(cart, 'DELETE', pathOf(cart)))).toEqual([
      404,
      'HTTP 404 Not Found',
    ]);
  });
});

describe('the price of a line', () => {
  const priced = (cart: GivenCart, singleItemPrice: unknown, index = 0) =>
    done(cart, 'PUT', `${pathOf(cart, index)}/product-price`, { singleItemPrice });

  test('is set for this line only, and tiers do not change it', async () => {
    const cart = await givenCart(demo, { 'CB-200': 1, 'TE-100': 1 });
    const { status, body } = await on(cart, 'PUT', `${pathOf(cart)}/product-price`, {
      singleItemPrice: 11.5,
    });
    expect(status).toBe(200);
    expect(linesOf(body)).toEqual([
      ['CB-200', 1, 11.5, 11.5],
      ['TE-100', 1, 7.2, 7.2],
    ]);
    expect(body.lineItemContainer.productLineItems[0]).toMatchObject({
      singleItemPrice: price(11.5),
      quantityPrice: price(11.5),
    });
    expect(linesOf(await add(cart, 'CB-200', 9))).toEqual([
      ['CB-200', 10, 11.5, 115],
      ['TE-100', 1, 7.2, 7.2],
    ]);
    expect(linesOf((await givenCart(demo, { 'CB-200': 1 })).body)).toEqual([['CB-200', 1, 12.8, 12.8]]);
    // A new line of the product has its own price again.
    await done(cart, 'DELETE', pathOf(cart));
    expect(linesOf(await add(cart, 'CB-200', 10))[1]).toEqual(['CB-200', 10, 10.9, 109]);
  });

  test('may be nothing, a numeric text, and more than the shop asks', async () => {
    const cart = await givenCart(demo, { 'KN-110': 2 });
    expect(totalsOf(await priced(cart, 0))).toMatchObject({ subtotal: 0, shipping: 7.29, total: 7.29 });
    expect(linesOf(await priced(cart, ' 24.555 '))).toEqual([['KN-110', 2, 24.56, 49.12]]);
    expect(linesOf(await priced(cart, 1000))).toEqual([['KN-110', 2, 1000, 2000]]);
  });

  test('is in the terms and the currency of the cart', async () => {
    const cart = await givenCart(demo, { 'KN-110': 1 }, { currency: 'USD', taxType: 'NET' });
    const body = await priced(cart, 10);
    expect(body.lineItemContainer.productLineItems[0].lineItemPrice).toEqual({
      taxType: 'NET',
      formatted: '10.00 $',
      amount: 10,
      currency: 'USD',
    });
  });

  test('bad values and unknown lines are refused, and nothing changes', async () => {
    const cart = await givenCart(demo, { 'KN-110': 2 });
    const put = (body: unknown, path = pathOf(cart)) =>
      reasonOf(on(cart, 'PUT', `${path}/product-price`, body));
    const field = 'singleItemPrice';
    await changesNothing(service, async () => {
      expect(await put({ singleItemPrice: -0.01 })).toEqual([400, problem('OUT_OF_RANGE', field)]);
      expect(await put({ singleItemPrice: '-5' })).toEqual([400, problem('OUT_OF_RANGE', field)]);
      expect(await put({ singleItemPrice: 'free' })).toEqual([400, problem('WRONG_FORMAT', field)]);
      expect(await put({ singleItemPrice: null })).toEqual([400, problem('WRONG_TYPE', field)]);
      expect(await put({ singleItemPrice: 1e12 })).toEqual([400, problem('OUT_OF_RANGE', field)]);
      expect(await put({})).toEqual([400, problem('MISSING', field)]);
      expect(await put(undefined)).toEqual([400, problem('WRONG_TYPE', 'body')]);
      const unknown = `/line-items/${newId(NOW)}`;
      expect(await put({ singleItemPrice: 1 }, unknown)).toEqual([404, 'HTTP 404 Not Found']);
    });
  });

  test('needs the scope and the cart token', async () => {
    const cart = await givenCart(demo, { 'KN-110': 2 });
    const put = (token: string, cartToken = cart.token) =>
      refusal(service, () =>
        on(
          { ...cart, token: cartToken },
          'PUT',
          `${pathOf(cart)}/product-price`,
          { singleItemPrice: 1 },
          { token },
        ),
      );
    expect(await put(NO_TOKEN)).toEqual([401, 'A token is needed']);
    expect(await put('demo-read')).toEqual([403, 'The token lacks the scope carts_price_write']);
    expect((await put('demo-pricing', 'x'))[0]).toBe(403);
    const answer = await on(
      cart,
      'PUT',
      `${pathOf(cart)}/product-price`,
      { singleItemPrice: 1 },
      {
        token: 'demo-pricing',
      },
    );
    expect(linesOf(answer.body)).toEqual([['KN-110', 2, 1, 2]]);
  });
});

describe('at once', () => {
  test('forty additions to one cart all count', async () => {
    const cart = await givenCart(demo);
    const numbers = ['BK-100', 'BK-120', 'TE-100', 'KN-110'];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => on(cart, 'POST', '/line-items', line(numbers[index % 4]!))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 201));
    const body = await done(cart, 'GET');
    expect(linesOf(body).map(([sku, quantity]) => [sku, quantity])).toEqual(
      expect.arrayContaining(numbers.map((number) => [number, 10])),
    );
    expect(new Set(lineIds(body)).size).toBe(4);
  });

  test('changes of different things do not undo each other', async () => {
    const cart = await givenFullCart(demo, { 'TE-100': 1 });
    const answers = await Promise.all([
      ...Array.from({ length: 9 }, () => on(cart, 'POST', '/line-items', line('TE-100'))),
      on(cart, 'POST', '/coupon', { code: 'AUTUMN15' }),
      on(cart, 'PUT', '/shipping-address', { country: 'FR' }),
      on(cart, 'PUT', '/payment-data', { name: 'Cash', priceAmount: 1 }),
    ]);
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true);
    const body = await done(cart, 'GET');
    expect(linesOf(body)).toEqual([['TE-100', 10, 7.2, 72]]);
    expect(body.shippingAddress.country).toBe('FR');
    expect(totalsOf(body)).toMatchObject({ coupon: -10.8, payment: 1 });
  });
});

describe('an Idempotency-Key', () => {
  const keyed = (cart: GivenCart, key: string, quantity = 1) =>
    on(cart, 'POST', '/line-items', line('TE-100', quantity), { headers: { 'idempotency-key': key } });

  test('has one effect, and the first answer again', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const first = await keyed(cart, 'a');
    const second = await keyed(cart, 'a');
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(linesOf(await done(cart, 'GET'))).toEqual([['TE-100', 2, 7.2, 14.4]]);
    expect(await refusal(service, () => keyed(cart, 'a', 2))).toEqual([
      409,
      'This Idempotency-Key was used for another request',
    ]);
  });

  test('has one effect of many at once', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => keyed(cart, 'b')));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(linesOf(await done(cart, 'GET'))).toEqual([['TE-100', 2, 7.2, 14.4]]);
  });

  test('of a refused call can be used again', async () => {
    const cart = await givenCart(demo);
    const headers = { 'idempotency-key': 'c' };
    expect((await on(cart, 'POST', '/line-items', line('TE-120'), { headers })).status).toBe(400);
    expect((await on(cart, 'POST', '/line-items', line('TE-110'), { headers })).status).toBe(201);
  });
});

test('adding a line takes two statements, whatever is in the cart', async () => {
  for (const quantities of [{}, { 'TE-110': 1, 'KN-110': 2, 'CB-101': 1, 'AP-100': 1, 'DR-100': 6 }]) {
    const cart = await givenCart(demo, quantities);
    const statements = await statementsOf(() => add(cart, 'TE-100'));
    expect(statements).toEqual(expect.arrayContaining([expect.stringContaining('update cart')]));
    // Now and then the caller is looked up anew.
    expect(statements.length).toBeLessThanOrEqual(3);
  }
});

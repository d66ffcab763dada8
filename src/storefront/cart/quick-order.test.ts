import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changeSettings,
  changesNothing,
  givenDemoShop,
  givenProduct,
  NOW,
  type Shop,
} from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { MAX_ORDERED_LINES, typedLines } from './quick-order-lines.ts';

describe('a line of a quick order', () => {
  const meaningsOf = (line: string) =>
    typedLines(line)[0]?.meanings.map(({ productNumber, quantity }) => `${quantity} × ${productNumber}`);

  test.each([
    ['KN-100', ['1 × KN-100']],
    ['  KN-100 2 ', ['1 × KN-100 2', '2 × KN-100']],
    ['KN-100, 2', ['1 × KN-100, 2', '2 × KN-100']],
    ['KN-100,2', ['1 × KN-100,2', '2 × KN-100']],
    ['KN-100 1,5', ['1 × KN-100 1,5', '1,5 × KN-100']],
    ['KN 100 2.5', ['1 × KN 100 2.5', '2.5 × KN 100']],
    ['KN-100;2', ['2 × KN-100']],
    ['"KN-100"\t3\tKettle', ['3 × KN-100']],
    ['KN-100;', ['1 × KN-100']],
    ['KN-100 x', ['1 × KN-100 x']],
    ['2', ['1 × 2']],
    [' ', undefined],
  ])('%j may mean %j', (line, expected) => {
    expect(meaningsOf(line)).toEqual(expected);
  });

  test('names the place of its line; the headings of a table and empty lines are left out', () => {
    const text = 'Item no.;Quantity\r\nKN-100;2\r\n\r\nKN-110;3';
    expect(typedLines(text).map(({ place, text: line }) => [place, line])).toEqual([
      [2, 'KN-100;2'],
      [4, 'KN-110;3'],
    ]);
  });
});

describe('the page', () => {
  let service: Service;
  let shop: Shop;

  beforeAll(async () => {
    service = await startService({ RATE_LIMIT_ANONYMOUS: '0' });
    service.setClock(NOW);
    shop = await givenDemoShop(service);
    await givenProduct(shop, { number: 'QO-1', price: 500 });
    await givenProduct(shop, {
      number: 'QO 2',
      price: 250,
      facts: { orderUnit: { priceQuantity: 1, unit: 'piece', minimum: 5, interval: 5 } },
    });
    await givenProduct(shop, { number: 'QO-3', stock: 0 });
    const hidden = await givenProduct(shop, { number: 'QO-4' });
    await service.db.run(
      sql`update product set visible = false where shop_id = ${shop.shopId} and product_id = ${hidden}`,
    );
  });
  afterAll(() => service.close());

  const givenCustomer = () => givenVisitor(service, shop.shopId);
  const refused = async (visitor: ReturnType<typeof givenCustomer>, lines: string) => {
    const answer = await changesNothing(service, () => visitor.post('/quick-order', { lines }));
    expect(answer.status).toBe(400);
    return answer;
  };

  test('is there where the shop wants it', async () => {
    const visitor = givenCustomer();
    expect((await visitor.get('/quick-order')).status).toBe(404);
    expect((await visitor.post('/quick-order', { lines: 'QO-1' })).status).toBe(404);
    expect((await visitor.get('/cart')).text).not.toContain('/quick-order');
    await changeSettings(shop, { quickOrder: true });
    expect((await visitor.get('/quick-order')).status).toBe(200);
    expect((await visitor.get('/cart')).text).toContain('/quick-order');
  });

  test('puts all lines into a new cart, and adds to one', async () => {
    const visitor = givenCustomer();
    const cart = await visitor.submit('/quick-order', { lines: 'QO-1 2\nQO 2; 10\nqo-1' });
    expect(cart.place).toBe('/shop/DemoShop/cart');
    expect(mainOf(cart)).toContain('Subtotal €40.00');
    expect(cart.text).toContain('2 products are in your cart.');
    expect(visitor.session()).toMatchObject({ cart: { count: 13 } });
    const more = await visitor.submit('/quick-order', { lines: 'QO-1 1' });
    expect(mainOf(more)).toContain('Subtotal €45.00');
    expect(more.text).toContain('1 product is in your cart.');
  });

  test('says that quantities were changed to what can be ordered', async () => {
    const cart = await givenCustomer().submit('/quick-order', { lines: 'QO 2\nQO-1 1' });
    expect(mainOf(cart)).toContain('Subtotal €17.50');
    expect(cart.text).toContain('Some quantities were changed');
  });

  test('adds nothing while a line is wrong, and says which', async () => {
    const visitor = givenCustomer();
    await visitor.submit('/quick-order', { lines: 'QO-1 1' });
    const answer = await refused(visitor, 'QO-1 2\nXX-1 2\nQO-4\nQO-1;<b>');
    const page = mainOf(answer);
    expect(page).toContain('Nothing was added.');
    expect(page).toContain('Line 2, “XX-1 2”: There is no product with this number.');
    expect(page).toContain('Line 3, “QO-4”: There is no product with this number.');
    expect(page).toContain('Line 4, “QO-1;<b>”: Please enter a quantity above 0, such as 2.');
    expect(answer.text).toContain('QO-1 2\nXX-1 2');
    expect(mainOf(await refused(visitor, 'QO-1 2\nQO-3'))).toContain(
      'Line 2, “QO-3”: This product is sold out at the moment.',
    );
    expect(mainOf(await refused(visitor, ' \n '))).toContain('Please enter at least one item number.');
    expect(mainOf(await visitor.get('/cart'))).toContain('Subtotal €5.00');
  });

  test('takes a bounded number of lines', async () => {
    const lines = Array.from({ length: MAX_ORDERED_LINES + 1 }, () => 'QO-1').join('\n');
    const answer = await changesNothing(service, () => givenCustomer().post('/quick-order', { lines }));
    expect(answer.status).toBe(413);
  });
});

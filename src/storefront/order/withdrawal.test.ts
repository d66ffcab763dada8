import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  changeSettings,
  DAY,
  done,
  givenFullCart,
  givenProduct,
  NOW,
  paymentId,
  queuedEmails,
  shippingId,
} from '../../../test/carts.ts';
import {
  givenOrder,
  historyOf,
  miscounts,
  placed,
  refused,
  service,
  SETTINGS,
  startManaging,
  stockOf,
  well,
  type Placed,
} from '../../../test/managed-orders.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import type { ProductFacts } from '../../catalogue/products/facts.ts';
import { orderConfirmation, type OrderConfirmed } from '../../orders/confirmation-email.ts';
import { orderTokens } from '../../orders/order-link.ts';
import { loadContent } from '../../platform/email/worker.ts';
import { installationKey } from '../../platform/sealing.ts';
import type { Content } from '../../pricing/content.ts';

beforeAll(startManaging);
afterAll(() => service.close());

const ADDRESS = 'ada.lindqvist@mail.example';
const PERSON = { name: 'Ada Lindqvist', contact: ADDRESS };

const pathOf = async ({ shop, id }: Placed) =>
  `/order/${orderTokens(await installationKey(service.config)).token(shop.shopId, id)}`;

/** Entries of one moment have no order. */
const byKind = (left: { kind: string }, right: { kind: string }) => left.kind.localeCompare(right.kind);

/** An order of 2 TEA and 3 BOOK, and its customer. */
async function givenCustomer(settings = SETTINGS) {
  const given = await givenOrder(settings);
  const path = await pathOf(given.order);
  const visitor = givenVisitor(service, given.shop.shopId);
  const tea = `quantity-${given.teaLine}`;
  const book = `quantity-${given.bookLine}`;
  const returns = async () => (await well(given.order, 'GET')).management.returns;
  return { ...given, path, visitor, fields: { tea, book }, returns };
}

describe('withdrawing from a contract', () => {
  test('before anything was sent cancels the order, and is acknowledged at once', async () => {
    const { order, path, visitor, shop, tea, fields, returns, teaLine, bookLine } = await givenCustomer();
    const { orderNumber } = order.body;
    const choice = await visitor.get(`${path}/withdraw`);
    expect(mainOf(choice)).toBe(
      `Withdraw from a contract You can withdraw from order ${orderNumber} without giving a reason. ` +
        'From which items, and how many? 2 pieces TEA pieces 3 pieces BOOK pieces Continue Back to the order',
    );
    const confirm = await visitor.post(`${path}/withdraw`, { [fields.tea]: '2', [fields.book]: '3' });
    expect(confirm.status).toBe(200);
    expect(confirm.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(mainOf(confirm)).toBe(
      'Confirm withdrawal I hereby withdraw from the contract for these items: 2 pieces TEA 3 pieces BOOK ' +
        'Your name Contract (order number) Email address for the acknowledgement Confirm withdrawal Back to the order',
    );
    expect(confirm.text).toContain('value="Ada Lindqvist"');
    expect(confirm.text).toContain(`value="${orderNumber}"`);
    // Nothing has happened before the second button.
    expect(await returns()).toEqual([]);
    const done = await visitor.submit(`${path}/withdraw/confirm`, {
      [fields.tea]: '2',
      [fields.book]: '3',
      ...PERSON,
    });
    expect(mainOf(done)).toContain(
      `We have received your withdrawal. The acknowledgement is on its way to ${ADDRESS}.`,
    );
    expect(mainOf(done)).toContain('This order has been cancelled.');
    expect(mainOf(done)).toMatch(
      /15 November 2026 at \d\d:\d\d UTC You have withdrawn from the contract 2 × TEA 3 × BOOK/,
    );
    expect(await queuedEmails(service)).toContainEqual({
      shopId: shop.shopId,
      to: ADDRESS,
      locale: 'en_GB',
      template: 'withdrawalAcknowledgement',
      facts: {
        orderId: order.id,
        orderNumber,
        goods: ['2\u00a0× TEA', '3\u00a0× BOOK'],
        ...PERSON,
        date: expect.stringMatching(/^15 November 2026 at \d\d:\d\d UTC$/),
      },
    });
    expect(await queuedEmails(service)).toContainEqual({
      shopId: shop.shopId,
      to: 'shop@mail.example',
      locale: 'en_GB',
      template: 'returnNotice',
      facts: {
        orderId: expect.stringMatching(/^[0-9A-F-]{36}$/),
        orderNumber,
        goods: ['2\u00a0× TEA', '3\u00a0× BOOK'],
        wish: 'withdrawal',
        reason: null,
      },
    });
    expect(await stockOf(shop, tea)).toBe(10);
    const [withdrawn] = await returns();
    expect(withdrawn).toMatchObject({
      state: 'withdrawn',
      origin: 'withdrawal',
      lines: [],
      unsentLines: [
        { lineItemId: teaLine, quantity: 2, text: '2\u00a0× TEA' },
        { lineItemId: bookLine, quantity: 3, text: '3\u00a0× BOOK' },
      ],
      declaredBy: 'Ada Lindqvist',
      contact: ADDRESS,
    });
    const history = (await historyOf(order)).slice(1);
    expect(history.toSorted(byKind)).toMatchObject([
      { kind: 'cancelled', details: { cause: 'withdrawal' } },
      { kind: 'withdrawn', details: { returnId: withdrawn.returnId } },
    ]);
    const events = await service.db.many(sql`
      select type, data from event where shop_id = ${shop.shopId} and type in ('ORDER_CANCELLED', 'ORDER_WITHDRAWN')
      order by position`);
    expect(events).toEqual([
      { type: 'ORDER_CANCELLED', data: { reason: 'withdrawal' } },
      { type: 'ORDER_WITHDRAWN', data: { returnId: withdrawn.returnId } },
    ]);
    const audit = await service.call('GET', `/manage/shops/${shop.shopId}/audit`, { token: shop.token });
    expect(audit.body.items[0]).toMatchObject({
      app: null,
      method: 'POST',
      route: '/shop/:shopId/order/:token/withdraw/confirm',
      object: { orderId: order.id, returnId: withdrawn.returnId },
    });
    // There is nothing left to withdraw from.
    await changesNothing(service, async () => {
      for (const form of ['/withdraw', '/withdraw/confirm']) {
        const again = await visitor.post(path + form, { [fields.tea]: '1', ...PERSON });
        expect(again.status).toBe(409);
        expect(mainOf(again)).toContain('You can no longer withdraw from this contract here.');
      }
    });
  });

  test('of a part that was not sent takes it out of the order, and the sums follow', async () => {
    const { order, path, visitor, shop, book, fields, returns, bookLine } = await givenCustomer();
    await visitor.submit(`${path}/withdraw/confirm`, { [fields.book]: '1', ...PERSON });
    const after = await well(order, 'GET');
    expect(after.grandTotal).toBe('34.9');
    expect(after.rejectedOn).toBeNull();
    expect(await stockOf(shop, book)).toBe(8);
    expect(await returns()).toMatchObject([
      { lines: [], unsentLines: [{ lineItemId: bookLine, quantity: 1, text: '1\u00a0× BOOK' }] },
    ]);
    // All of the line.
    const last = await visitor.submit(`${path}/withdraw/confirm`, { [fields.book]: '2', ...PERSON });
    expect((await well(order, 'GET')).grandTotal).toBe('24.9');
    expect(mainOf(last)).toContain('2 × BOOK');
    expect(await stockOf(shop, book)).toBe(10);
  });

  test('of what was sent becomes a return that waits for the goods, and can not be rejected', async () => {
    const { order, path, visitor, shop, tea, fields, returns, teaLine } = await givenCustomer();
    await well(order, 'POST', '/payments', { amount: 39.9 });
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: teaLine, quantity: 1 }] });
    await visitor.submit(`${path}/withdraw/confirm`, { [fields.tea]: '2', [fields.book]: '0', ...PERSON });
    const [{ returnId, ...withdrawn }] = await returns();
    expect(withdrawn).toMatchObject({
      state: 'withdrawn',
      lines: [{ lineItemId: teaLine, quantity: 1 }],
      unsentLines: [{ lineItemId: teaLine, quantity: 1, text: '1\u00a0× TEA' }],
    });
    expect(await stockOf(shop, tea)).toBe(9);
    const at = `/returns/${returnId}`;
    for (const state of ['approved', 'rejected'] as const) {
      expect(await refused(order, 'PUT', at, { state })).toEqual([
        409,
        `A return that is withdrawn can not become ${state}`,
      ]);
    }
    expect(await refused(order, 'PUT', at, { state: 'refunded', refund: 20 })).toEqual([
      409,
      'A return that is withdrawn can not become refunded',
    ]);
    await well(order, 'PUT', at, { state: 'received' });
    expect(await stockOf(shop, tea)).toBe(10);
    const refunded = await well(order, 'PUT', at, { state: 'refunded', refund: 20 });
    expect(refunded.management.refundedAmount.amount).toBe(20);
  });

  test('of an order that is invoiced leaves its lines to the merchant', async () => {
    const { order, path, visitor, shop, tea, fields, returns, teaLine } = await givenCustomer();
    await well(order, 'POST', '/invoices', {});
    await visitor.submit(`${path}/withdraw/confirm`, { [fields.tea]: '1', ...PERSON });
    expect((await well(order, 'GET')).grandTotal).toBe('39.9');
    const [{ returnId, ...withdrawn }] = await returns();
    expect(withdrawn).toMatchObject({ lines: [{ lineItemId: teaLine, quantity: 1 }], unsentLines: [] });
    expect(await stockOf(shop, tea)).toBe(8);
    await well(order, 'PUT', `/returns/${returnId}`, { state: 'received' });
    expect(await stockOf(shop, tea)).toBe(9);
  });

  test('does not cover what is sold without the right, which is said before the purchase', async () => {
    const { shop } = await givenOrder();
    const door = await givenProduct(shop, {
      number: 'DOOR',
      price: 5000,
      facts: { withdrawalExcluded: 'madeToMeasure' },
    });
    const said = 'No right of withdrawal: this product is made to your specifications or personalised.';
    const visitor = givenVisitor(service, shop.shopId);
    expect(mainOf(await visitor.get('/Products/DOOR'))).toContain(said);
    const product = await service.call('GET', `/${shop.shopId}/products/${door}`, { token: shop.token });
    expect(product.body.withdrawalExcluded).toBe('madeToMeasure');
    const order = await placed(shop, { [door]: 1 });
    const path = await pathOf(order);
    expect(mainOf(await visitor.get(path))).not.toContain('Withdraw from contract here');
    expect(mainOf(await visitor.get(path))).toContain(said);
    await changesNothing(service, async () => {
      const [line] = order.body.lineItemContainer.productLineItems;
      const form = { [`quantity-${line.lineItemId}`]: '1', ...PERSON };
      expect((await visitor.post(`${path}/withdraw/confirm`, form)).status).toBe(409);
    });
  });

  test('does not cover what was made with a text, unless the merchant takes it back all the same', async () => {
    const { shop } = await givenOrder();
    const customisation = { textLength: 20, headline: 'Engraving' };
    const ring = await givenProduct(shop, { number: 'RING', facts: { customisation } });
    const bowl = await givenProduct(shop, {
      number: 'BOWL',
      facts: { customisation: { ...customisation, isRequired: true } },
    });
    const mug = await givenProduct(shop, {
      number: 'MUG',
      facts: { customisation: { ...customisation, isWithdrawable: true } },
    });
    const visitor = givenVisitor(service, shop.shopId);
    const pages = await Promise.all(
      ['RING', 'BOWL', 'MUG'].map(async (number) => mainOf(await visitor.get(`/Products/${number}`))),
    );
    expect(pages[0]).toContain('No right of withdrawal if you order it with your own text');
    expect(pages[1]).toContain('No right of withdrawal: this product is made to your specifications');
    expect(pages[2]).not.toContain('No right of withdrawal');
    const cart = await givenFullCart(shop, { [ring]: 1 });
    for (const productId of [ring, bowl, mug]) {
      await done(cart, 'POST', '/line-items', { productId, quantity: 1, customText: 'For Anna' });
    }
    const body = await done(cart, 'POST', '/order');
    const path = await pathOf({ shop, id: body.orderId, body });
    const choice = (await visitor.get(`${path}/withdraw`)).text;
    const ids = body.lineItemContainer.productLineItems.map(
      ({ lineItemId }: { lineItemId: string }) => lineItemId,
    );
    expect(ids.map((id: string) => choice.includes(`name="quantity-${id}"`))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    await changesNothing(service, async () => {
      const form = { [`quantity-${ids[1]}`]: '1', ...PERSON };
      expect((await visitor.post(`${path}/withdraw/confirm`, form)).status).toBe(409);
    });
  });

  test('stays possible where only a broken seal ends the right', async () => {
    const { shop } = await givenOrder();
    const razor = await givenProduct(shop, { number: 'RAZOR', facts: { withdrawalExcluded: 'hygiene' } });
    const seat = await givenProduct(shop, { number: 'SEAT', facts: { withdrawalExcluded: 'leisureOnDate' } });
    const order = await placed(shop, { [razor]: 1, [seat]: 1 });
    const visitor = givenVisitor(service, shop.shopId);
    expect(mainOf(await visitor.get('/Products/RAZOR'))).toContain(
      'The right of withdrawal ends when you break the seal: for reasons of health or hygiene',
    );
    const choice = (await visitor.get(`${await pathOf(order)}/withdraw`)).text;
    const names = order.body.lineItemContainer.productLineItems.map(
      ({ sku, lineItemId }: { sku: string; lineItemId: string }) => [
        sku,
        choice.includes(`name="quantity-${lineItemId}"`),
      ],
    );
    expect(Object.fromEntries(names)).toEqual({ RAZOR: true, SEAT: false });
  });

  test('of digital content is lost only with a consent, which is stored and confirmed, and when it begins', async () => {
    const { shop } = await givenOrder();
    const facts: ProductFacts = { withdrawalExcluded: 'digitalContent', name: { en_GB: 'Sea chart' } };
    const chart = await givenProduct(shop, { number: 'CHART', facts });
    const visitor = givenVisitor(service, shop.shopId);
    await visitor.submit('/cart/add', { productId: chart, quantity: '1' });
    await visitor.submit('/checkout', {
      'billing.emailAddress': ADDRESS,
      'billing.country': 'DE',
      'billing.firstName': 'Ada',
      'billing.lastName': 'Lindqvist',
      'billing.street': 'Kai 7',
      'billing.zipCode': '20457',
      'billing.city': 'Hamburg',
    });
    const review = await visitor.submit('/checkout/delivery', {
      shippingMethod: await shippingId(shop, 'parcel'),
      paymentMethod: await paymentId(shop, 'advance'),
    });
    expect(review.place).toMatch(/checkout\/review$/);
    const text =
      'I expressly agree that you begin to supply Sea chart before the withdrawal period ends. I know that I lose my right of withdrawal when you begin.';
    expect(mainOf(review)).toContain(text);
    expect(review.text).toContain('name="consent-digitalContent"');
    // The legal guarantee of goods does not cover it.
    expect(mainOf(review)).not.toContain('Legal guarantee of conformity');
    const reviewed = /name="reviewed" value="([^"]*)"/.exec(review.text)![1]!;
    await changesNothing(service, async () => {
      const refusal = await visitor.post('/checkout/order', { reviewed });
      expect(refusal.status).toBe(400);
      expect(mainOf(refusal)).toContain('Please give your consent, or remove these items from the cart.');
    });
    const done = await visitor.submit('/checkout/order', { reviewed, 'consent-digitalContent': 'yes' });
    expect(done.place).toMatch(/confirmation$/);
    const row = await service.db.one<{ orderId: string; content: Content }>(sql`
      select upper(order_id::text) as "orderId", content from customer_order where shop_id = ${shop.shopId}
      order by created_at desc, order_id desc limit 1`);
    const [line] = row!.content.lines;
    expect(line!.withdrawalConsent).toEqual({ at: expect.stringMatching(/^2026-11-15T/), text });
    const email = await loadContent(service.db, service.config, orderConfirmation, {
      shopId: shop.shopId,
      template: 'order',
      to: ADDRESS,
      locale: 'en_GB',
      facts: { orderId: row!.orderId },
    });
    expect((email!.email.facts as OrderConfirmed).legalSections).toEqual([
      {
        title: 'Your consent',
        texts: [
          expect.stringMatching(/^On 15 November 2026 at \d\d:\d\d UTC you agreed: “I expressly agree/),
        ],
      },
    ]);
    const order = { shop, id: row!.orderId, body: {} };
    const path = await pathOf(order);
    const field = `name="quantity-${line!.lineItemId}"`;
    expect((await visitor.get(`${path}/withdraw`)).text).toContain(field);
    await well(order, 'POST', '/shipments', { lines: [{ lineItemId: line!.lineItemId, quantity: 1 }] });
    expect((await visitor.get(`${path}/withdraw`)).text).not.toContain(field);
    // An order that an app has placed has no consent.
    const other = await placed(shop, { [chart]: 1 });
    const [{ lineItemId }] = other.body.lineItemContainer.productLineItems;
    await well(other, 'POST', '/shipments', { lines: [{ lineItemId, quantity: 1 }] });
    expect((await visitor.get(`${await pathOf(other)}/withdraw`)).text).toContain(`quantity-${lineItemId}`);
  });

  test('needs a name, an email address and something to withdraw from', async () => {
    const { path, visitor, fields } = await givenCustomer();
    await changesNothing(service, async () => {
      for (const [form, fieldsSent, status, text] of [
        ['/withdraw', {}, 400, 'Please enter a quantity'],
        ['/withdraw', { [fields.tea]: '3' }, 400, 'Please enter a quantity'],
        ['/withdraw/confirm', { [fields.tea]: '1', ...PERSON, name: '' }, 400, 'Please enter your name'],
        ['/withdraw/confirm', { [fields.tea]: '1', ...PERSON, contact: 'ada' }, 400, 'Please enter an email'],
        ['/withdraw/confirm', { [fields.tea]: '3', ...PERSON }, 409, 'You can no longer withdraw'],
      ] as const) {
        const answer = await visitor.post(path + form, fieldsSent);
        expect([answer.status, mainOf(answer)]).toEqual([status, expect.stringContaining(text)]);
      }
    });
  });

  test('ends with its period', async () => {
    const { order, path, visitor, shop, fields } = await givenCustomer();
    await well(order, 'POST', '/shipments', {});
    expect(mainOf(await visitor.get(path))).toContain(
      'Withdraw from contract here Possible until 4 December 2026',
    );
    service.setClock(new Date('2026-12-05T12:00:00Z'));
    expect(mainOf(await visitor.get(path))).not.toContain('Withdraw from contract here');
    expect((await visitor.get(`${path}/withdraw`)).status).toBe(409);
    await changesNothing(service, async () => {
      const answer = await visitor.post(`${path}/withdraw/confirm`, { [fields.tea]: '1', ...PERSON });
      expect(answer.status).toBe(409);
    });
    await changeSettings(shop, { withdrawal: { days: 30 } });
    expect(mainOf(await visitor.get(path))).toContain('Withdraw from contract here');
  });

  test('twice at once counts once', async () => {
    const { order, path, visitor, fields, shop, tea } = await givenCustomer();
    const form = { [fields.tea]: '2', ...PERSON };
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post(`${path}/withdraw/confirm`, form)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    expect((await well(order, 'GET')).grandTotal).toBe('19.9');
    expect(await stockOf(shop, tea)).toBe(10);
  });
});

describe('a guest names the order', () => {
  test('and the link comes by email; the answer is the same for a stranger', async () => {
    const { order, shop } = await givenCustomer();
    const { orderNumber } = order.body;
    const ask = (number: string, email: string) =>
      givenVisitor(service, shop.shopId).submit('/withdraw', { number, email });
    const before = (await queuedEmails(service, shop.shopId)).length;
    const answer = await ask(` ${orderNumber} `, 'Ada.Lindqvist@MAIL.example');
    expect(mainOf(answer)).toContain('Please check your inbox');
    const emails = (await queuedEmails(service, shop.shopId)).slice(before);
    expect(emails).toEqual([
      {
        shopId: shop.shopId,
        to: ADDRESS,
        locale: 'en_GB',
        template: 'withdrawalLink',
        facts: { orderId: order.id, orderNumber },
      },
    ]);
    await changesNothing(service, async () => {
      for (const [number, email] of [
        [orderNumber, 'eve@mail.example'],
        ['ORD261115/9999', ADDRESS],
      ] as const) {
        const other = await ask(number, email);
        expect([other.place, other.text]).toEqual([answer.place, answer.text]);
      }
    });
  });

  test('at most three times an hour, whoever asks', async () => {
    const { order, shop } = await givenCustomer();
    const before = (await queuedEmails(service, shop.shopId)).length;
    for (let index = 0; index < 5; index++) {
      const visitor = givenVisitor(service, shop.shopId, `192.0.2.${index}`);
      await visitor.submit('/withdraw', { number: order.body.orderNumber, email: ADDRESS });
    }
    expect((await queuedEmails(service, shop.shopId)).length - before).toBe(3);
  });

  test('from one address not more than twenty times an hour', async () => {
    const { shop } = await givenCustomer();
    const visitor = givenVisitor(service, shop.shopId, '192.0.2.99');
    const statuses: number[] = [];
    for (let index = 0; index < 21; index++) {
      statuses.push((await visitor.post('/withdraw', { number: 'ORD1', email: ADDRESS })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 303), 429]);
  });

  test('in words that can be read, and never from another site', async () => {
    const { shop } = await givenCustomer();
    const visitor = givenVisitor(service, shop.shopId, '192.0.2.100');
    const wrong = await visitor.post('/withdraw', { number: '', email: '<b>' });
    expect([wrong.status, mainOf(wrong)]).toEqual([400, expect.stringContaining('Please enter the number')]);
    expect(wrong.text).toContain('value="&lt;b&gt;"');
    const foreign = await visitor.post('/withdraw', {}, { origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
  });

  test('nowhere in a shop that sells to businesses only', async () => {
    const { shop, order, visitor } = await givenCustomer({ ...SETTINGS, withdrawal: { days: 0 } });
    const path = await pathOf(order);
    const page = await visitor.get(path);
    expect(page.text).not.toContain('/withdraw');
    expect((await visitor.get('/withdraw')).status).toBe(404);
    expect((await visitor.post('/withdraw', { number: order.body.orderNumber, email: ADDRESS })).status).toBe(
      303,
    );
    await changeSettings(shop, { withdrawal: {} });
    expect((await visitor.get(path)).text).toContain('/withdraw');
  });
});

test('forms of a page with a secret address need no origin, because browsers do not name it', async () => {
  const { path, visitor, fields } = await givenCustomer();
  const answer = await visitor.post(`${path}/withdraw`, { [fields.tea]: '1' }, { origin: 'null' });
  expect(answer.status).toBe(200);
});

test('the accessibility statement is a page where there is one', async () => {
  const { shop, visitor } = await givenCustomer();
  expect((await visitor.get('/accessibility')).status).toBe(404);
  expect((await visitor.get('')).text).not.toContain('/accessibility');
  await changeSettings(shop, { accessibility: '<p>We test with a <b>keyboard</b>.</p><script>x</script>' });
  const page = await visitor.get('/accessibility');
  expect(mainOf(page)).toBe('Accessibility We test with a keyboard .');
  expect(page.text).toContain(`/shop/${shop.shopId}/accessibility`);
});

test('what lists and sales are counted from is what the orders say', async () => {
  service.setClock(new Date(NOW.getTime() + 30 * DAY));
  expect(await miscounts()).toEqual([]);
});

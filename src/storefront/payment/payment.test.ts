import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  changesNothing,
  givenDemoShop,
  NOW,
  paymentId,
  queuedEmails,
  type Shop,
} from '../../../test/carts.ts';
import { attemptsOf, buy, BUYER, paymentDeps, workOff } from '../../../test/payments.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor, mainOf, type Visitor } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { releaseUnpaidOrders } from '../../orders/release-unpaid.ts';

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenDemoShop(service);
});
afterAll(() => service.close());

/** Each test is on a day of its own, and leaves nothing that is due. */
let day = NOW;
beforeEach(async () => {
  day = new Date(day.getTime() + 86_400_000);
  service.setClock(day);
  await service.db.run(sql`update payment_attempt set check_at = null`);
  await service.db.run(sql`update customer_order set release_at = null`);
});

const at = (minutes: number) => service.setClock(new Date(day.getTime() + minutes * 60_000));

/** From the page on the way to the provider to the page of the provider. */
async function openDemoPage(visitor: Visitor, payPath: string) {
  const leaving = await visitor.get(payPath);
  const [, address] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(leaving.text)!;
  const { pathname } = new URL(address!);
  return { path: pathname, page: await visitor.get(pathname) };
}

async function answer(visitor: Visitor, payPath: string, choice: string) {
  const { path } = await openDemoPage(visitor, payPath);
  const sent = await visitor.post(path, { answer: choice });
  const { pathname } = new URL(String(sent.headers.location));
  const returned = await visitor.get(pathname);
  expect(returned.status).toBe(303);
  return visitor.get(String(returned.headers.location));
}

const managed = async (orderId: string) =>
  (await service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token: shop.token })).body;

describe('the demo payment', () => {
  test('is a whole payment: the page, the money, the order', async () => {
    const { visitor, payPath, orderId } = await buy(shop, shop.ids['BK-100']!, 'quickpay');
    expect(payPath).toMatch(/^\/shop\/DemoShop\/order\/[\w-]{43}\/pay$/);
    expect(await managed(orderId)).toMatchObject({ paidOn: null, paymentData: { status: null } });
    const { page } = await openDemoPage(visitor, payPath);
    expect(mainOf(page)).toMatch(
      /^Demo payment This page stands in for a bank\. .* €9\.99 for order ORD\d+\/\d+ Pay Refuse the payment/,
    );
    const done = await answer(visitor, payPath, 'yes');
    expect(mainOf(done)).toContain('Next steps Your payment has arrived. Thank you!');
    expect(mainOf(done)).not.toContain('Pay €9.99');
    const [attempt] = await attemptsOf(shop, orderId);
    expect(attempt).toMatchObject({ state: 'paid', captured: 999 });
    expect(await managed(orderId)).toMatchObject({
      paidOn: day.toISOString(),
      management: {
        paidAmount: { amount: 9.99 },
        outstandingAmount: { amount: 0 },
        payments: [{ paymentId: attempt!.attemptId, kind: 'payment', reference: attempt!.attemptId }],
      },
    });
  });

  test('is in the language that was chosen, as the order and its emails are', async () => {
    const visitor = givenVisitor(service, 'DemoShop');
    await visitor.submit('/language', { locale: 'de_DE', page: '/' });
    const { payPath, orderId } = await buy(shop, shop.ids['BK-100']!, 'quickpay', { visitor });
    const { page } = await openDemoPage(visitor, payPath);
    expect(page.text).toContain('<html lang="de-DE">');
    expect(mainOf(await answer(visitor, payPath, 'yes'))).toContain('Ihre Zahlung ist eingegangen');
    expect(await managed(orderId)).toMatchObject({ locale: 'de_DE' });
    const emails = (await queuedEmails(service, 'DemoShop')).filter(
      ({ facts }) => (facts as { orderId?: string }).orderId === orderId,
    );
    expect(emails.find(({ template }) => template === 'order')).toMatchObject({ locale: 'de_DE' });
    // The address itself names it, too: the provider opens it in any browser.
    const leaving = await visitor.get(payPath);
    expect(leaving.status).toBe(303);
    const { redirectTo } = (await service.db.one<{ redirectTo: string }>(sql`
      select redirect_to as "redirectTo" from payment_attempt where order_id = ${orderId}`))!;
    expect(new URL(redirectTo).search).toBe('?locale=de_DE');
  });

  test('that was refused can be tried again', async () => {
    const { visitor, payPath, orderId } = await buy(shop, shop.ids['BK-100']!, 'quickpay');
    const refused = await answer(visitor, payPath, 'no');
    const { orderNumber } = await managed(orderId);
    expect(mainOf(refused)).toMatch(
      new RegExp(
        `^Your payment failed Your order ${orderNumber} is saved, but it is not paid yet\\. ` +
          'The payment did not go through\\. We keep your order for another 60 minutes\\. ' +
          'Try again: pay €9\\.99 Choose another payment method Pay another way',
      ),
    );
    expect(refused.text).toContain('<title>Your payment failed');
    expect(refused.text).not.toContain('Thank you for your order');
    expect(refused.text).toContain('href="#other-methods"');
    expect((await managed(orderId)).management.state).toBe('paymentFailed');
    const ship = { token: shop.token, body: {} };
    const path = `/manage/shops/DemoShop/orders/${orderId}/shipments`;
    expect((await service.call('POST', path, ship)).status).toBe(409);
    at(1);
    const orderPage = await visitor.get(payPath.replace(/\/pay$/, ''));
    expect(mainOf(orderPage)).toContain(
      'Your payment failed. The payment did not go through. We keep your order for another 59 minutes. Try again: pay €9.99',
    );
    const again = await visitor.post(payPath, {});
    expect(again.headers.location).toBe(payPath);
    expect(mainOf(await answer(visitor, payPath, 'yes'))).toContain('Your payment has arrived.');
    expect((await attemptsOf(shop, orderId)).map(({ state }) => state)).toEqual(['failed', 'paid']);
    expect((await managed(orderId)).management.state).toBe('readyToShip');
    // There is nothing left to pay.
    const third = await visitor.post(payPath, {});
    expect(third.headers.location).toBe('/shop/DemoShop/confirmation');
    expect(await attemptsOf(shop, orderId)).toHaveLength(2);
  });

  test('can be tried again from the page of the order, whose forms name no origin', async () => {
    const { visitor, payPath, orderId } = await buy(shop, shop.ids['BK-100']!, 'quickpay');
    await answer(visitor, payPath, 'no');
    at(1);
    const again = await service.app.inject({
      method: 'POST',
      url: payPath,
      headers: { origin: 'null', 'content-type': 'application/x-www-form-urlencoded' },
      payload: '',
    });
    expect([again.statusCode, again.headers.location]).toEqual([303, payPath]);
    expect((await attemptsOf(shop, orderId)).map(({ state }) => state)).toEqual(['failed', 'open']);
  });

  test('that takes a while keeps its goods, and the poll finds the money', async () => {
    const { visitor, payPath, orderId } = await buy(shop, shop.ids['BK-100']!, 'quickpay');
    const waiting = await answer(visitor, payPath, 'later');
    expect(mainOf(waiting)).toContain('Your payment is on its way.');
    expect(mainOf(waiting)).not.toContain('Pay €9.99');
    const deps = paymentDeps(service);
    await workOff(deps);
    expect((await managed(orderId)).paidOn).toBeNull();
    at(2);
    await workOff(deps);
    expect((await managed(orderId)).paidOn).toBe(new Date(day.getTime() + 120_000).toISOString());
  });

  test('that nobody makes ends with the order, whose goods come back', async () => {
    const stock = () =>
      service.call('GET', `/DemoShop/products/${shop.ids['AP-100']}`, { token: shop.token });
    const before = (await stock()).body.stocklevel;
    const { visitor, payPath, orderId } = await buy(shop, shop.ids['AP-100']!, 'quickpay');
    expect((await stock()).body.stocklevel).toBe(before - 1);
    const open = await answer(visitor, payPath, 'nothing');
    expect(mainOf(open)).toContain('Your order has not been paid yet.');
    const deps = paymentDeps(service);
    at(59);
    await workOff(deps);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    // The page is closed first, so that nobody pays for what is cancelled.
    at(61);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(0);
    await workOff(deps);
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'cancelled' }]);
    expect(await releaseUnpaidOrders(service.db, 100)).toBe(1);
    expect((await managed(orderId)).management.cancelledOn).not.toBeNull();
    expect((await stock()).body.stocklevel).toBe(before);
    const [attempt] = await attemptsOf(shop, orderId);
    const path = `/shop/DemoShop/demo-payment/${attempt!.attemptId}`;
    const page = await visitor.get(path);
    expect(mainOf(page)).toContain('This payment is finished. Back to the shop');
    await visitor.post(path, { answer: 'yes' });
    expect((await visitor.post(payPath, {})).headers.location).toBe('/shop/DemoShop/confirmation');
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'cancelled', captured: 0 }]);
  });

  test('is not offered, and its page does not exist, where others can reach the service', async () => {
    const { visitor, payPath } = await buy(shop, shop.ids['BK-100']!, 'quickpay');
    const { path } = await openDemoPage(visitor, payPath);
    const open = await startService({ PUBLIC_URL: 'http://localhost' }, service);
    open.setClock(day);
    const stranger = givenVisitor(open, 'DemoShop');
    expect((await stranger.get(path)).status).toBe(404);
    await changesNothing(open, async () => {
      expect((await stranger.post(path, { answer: 'yes' })).status).toBe(404);
    });
    await stranger.submit('/cart/add', { productId: shop.ids['BK-100']!, quantity: '1' });
    const delivery = await stranger.submit('/checkout', BUYER);
    expect(mainOf(delivery)).toContain('Invoice €1.50 Pay later free');
    const paymentMethod = await paymentId(shop, 'quickpay');
    expect((await stranger.post('/checkout/delivery', { paymentMethod })).status).toBe(400);
    await open.close();
  });
});

describe('another payment method', () => {
  const methodOf = async (orderId: string) => (await managed(orderId)).paymentData.paymentMethod.name;
  const releaseOf = async (orderId: string) =>
    (
      await service.db.one<{ releaseAt: Date | null }>(
        sql`select release_at as "releaseAt" from customer_order where order_id = ${orderId}`,
      )
    )?.releaseAt;
  const orderPath = (payPath: string) => payPath.replace('/shop/DemoShop', '').replace(/\/pay$/, '');
  const payPathOf = async (visitor: Visitor) => {
    const [path] = /\/shop\/DemoShop\/order\/[\w-]{43}/.exec((await visitor.get('/confirmation')).text)!;
    return `${path}/pay`;
  };
  const choose = async (visitor: Visitor, payPath: string, key: string) =>
    visitor.post(`${orderPath(payPath)}/payment-method`, { paymentMethod: await paymentId(shop, key) });

  test('by hand is offered where the total stays, and explained on the page and by email', async () => {
    const { visitor, payPath, orderId } = await buy(shop, shop.ids['BK-100']!, 'quickpay');
    await answer(visitor, payPath, 'no');
    const page = await visitor.get(orderPath(payPath));
    expect(mainOf(page)).toContain(
      'Pay another way The total stays the same. Payment in advance Use this payment method',
    );
    const before = (await queuedEmails(service)).length;
    const chosen = await choose(visitor, payPath, 'advance');
    expect([chosen.status, chosen.headers.location]).toEqual([303, `/shop/DemoShop${orderPath(payPath)}`]);
    const after = await visitor.get(orderPath(payPath));
    expect(after.text).toContain(
      'You are now paying by: Payment in advance. We have emailed you the details.',
    );
    expect(mainOf(after)).toMatch(/Please transfer €9\.99 .*IBAN: DE/);
    expect(mainOf(after)).toContain('Pay another way The total stays the same. QuickPay');
    expect(await methodOf(orderId)).toBe('Payment in advance');
    expect(await releaseOf(orderId)).toBeNull();
    const emails = (await queuedEmails(service)).slice(before);
    expect(emails).toMatchObject([
      { template: 'paymentInstructions', to: 'ada.lindqvist@mail.example', facts: { orderId } },
    ]);
    const { body } = await service.call('GET', `/manage/shops/DemoShop/orders/${orderId}/history`, {
      token: shop.token,
    });
    expect(body.items.find(({ kind }: { kind: string }) => kind === 'payment method changed')).toMatchObject({
      appId: null,
      details: { grandTotal: { from: 9.99, to: 9.99 } },
    });
  });

  test('of a provider leads to its page, and gets the time that it takes', async () => {
    const { visitor, orderId } = await buy(shop, shop.ids['BK-100']!, 'advance');
    const payPath = await payPathOf(visitor);
    at(3 * 24 * 60);
    const chosen = await choose(visitor, payPath, 'quickpay');
    expect(chosen.headers.location).toBe(payPath);
    expect(await releaseOf(orderId)).toEqual(new Date(day.getTime() + (3 * 24 + 1) * 3_600_000));
    // Whoever changes his mind while the page is open pays on one page only.
    const { path } = await openDemoPage(visitor, payPath);
    await choose(visitor, payPath, 'advance');
    const before = (await queuedEmails(service)).length;
    await workOff(paymentDeps(service));
    expect(await attemptsOf(shop, orderId)).toMatchObject([{ state: 'cancelled', captured: 0 }]);
    expect(mainOf(await visitor.get(path))).toContain('This payment is finished.');
    expect((await queuedEmails(service)).length).toBe(before);
    at(3 * 24 * 60 + 1);
    await choose(visitor, payPath, 'quickpay');
    expect(mainOf(await answer(visitor, payPath, 'yes'))).toContain('Your payment has arrived.');
    expect(mainOf(await visitor.get(orderPath(payPath)))).not.toContain('Pay another way');
    await changesNothing(service, async () => {
      expect((await choose(visitor, payPath, 'advance')).status).toBe(303);
    });
  });

  test('is refused that costs more, that an app handles, that is on its way, or of an order under way', async () => {
    const { visitor, payPath, orderId } = await buy(shop, shop.ids['BK-100']!, 'quickpay');
    await changesNothing(service, async () => {
      for (const key of ['invoice', 'paylater', 'quickpay']) {
        const refused = await choose(visitor, payPath, key);
        expect([refused.status, refused.headers.location]).toEqual([
          303,
          `/shop/DemoShop${orderPath(payPath)}`,
        ]);
      }
      await visitor.post(`${orderPath(payPath)}/payment-method`, { paymentMethod: 'x' });
    });
    expect((await visitor.get(orderPath(payPath))).text).toContain(
      'The payment method of this order can no longer be changed here.',
    );
    await answer(visitor, payPath, 'later');
    await changesNothing(service, async () => choose(visitor, payPath, 'advance'));
    expect(await methodOf(orderId)).toBe('QuickPay');
  });

  test('is one that the coupon of the order holds with', async () => {
    const offered = async (coupon: string) => {
      const { visitor } = await buy(shop, shop.ids['AP-100']!, 'advance', { coupon });
      const page = mainOf(await visitor.get(orderPath(await payPathOf(visitor))));
      expect(page).toContain('Coupon');
      return page.includes('Pay another way The total stays the same. QuickPay');
    };
    expect(await offered('AUTUMN15')).toBe(true);
    expect(await offered('PREPAY2')).toBe(false);
  });
});

test('a link that is not valid leads nowhere, and changes nothing', async () => {
  const visitor = givenVisitor(service, 'DemoShop');
  const token = 'A'.repeat(43);
  await changesNothing(service, async () => {
    for (const path of [`/order/${token}/pay`, `/order/${token}/paid`, '/demo-payment/x']) {
      expect((await visitor.get(path)).status).toBe(404);
    }
    expect((await visitor.post(`/order/${token}/pay`, {})).status).toBe(404);
  });
});

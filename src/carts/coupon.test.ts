import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  changesNothing,
  DAY,
  done,
  givenCart,
  givenCoupon,
  givenDemoShop,
  givenProduct,
  givenSmallShop,
  ID,
  NO_TOKEN,
  NOW,
  on,
  paymentId,
  price,
  problem,
  reasonOf,
  refusal,
  shippingId,
  totalsOf,
  type GivenCart,
  type Shop,
} from '../../test/carts.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
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

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const redeem = (cart: GivenCart, code: string) => done(cart, 'POST', '/coupon', { code });
const couponOf = ({ lineItemContainer }: Answer['body']) => lineItemContainer.couponLineItem;
const rels = ({ links }: Answer['body']) => links.map(({ rel }: { rel: string }) => rel);
const inCents = (amount: number) => Math.round(amount * 100);
const sharesOf = ({ lineItemContainer }: Answer['body']): number[] =>
  lineItemContainer.productLineItems.map((line: Answer['body']) => line.lineItemCouponDiscount.amount);

describe('redeeming', () => {
  test('answers 200 with the cart; the link to add becomes the link to remove', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1, 'KN-120': 1 });
    expect(rels(cart.body)).toEqual(['self', 'shipping-method', 'add-coupon']);
    const { status, body } = await on(cart, 'POST', '/coupon', { code: 'AUTUMN15' }, { token: NO_TOKEN });
    expect(status).toBe(200);
    const campaign = await service.db.one<{ id: string }>(sql`
      select upper(campaign_id::text) as id from coupon_campaign where identifier = 'autumn_15'`);
    expect(couponOf(body)).toEqual({
      couponLineItemId: ID,
      couponCampaignId: campaign!.id,
      lineItemPrice: price(-14.09, 'NONE'),
      validationErrors: [],
    });
    expect(totalsOf(body)).toEqual({
      subtotal: 93.9,
      discount: 0,
      coupon: -14.09,
      shipping: 8.13,
      payment: 0,
      total: 87.94,
      beforeTax: 73.9,
      tax: 14.04,
    });
    const self = `http://localhost:80/rs/shops/DemoShop/carts/${cart.id}`;
    expect(body.links).toEqual([
      { rel: 'self', href: self },
      expect.objectContaining({ rel: 'shipping-method' }),
      { rel: 'remove-coupon', href: `${self}/coupon/${couponOf(body).couponLineItemId}` },
    ]);
    expect(await done(cart, 'GET')).toEqual(body);
  });

  test('takes a form as well as JSON, and the code in any case, with blanks around it', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    for (const code of ['AUTUMN15', 'autumn15', '%20Autumn15%20']) {
      const { status, body } = await on(cart, 'POST', '/coupon', `code=${code}`, { headers: FORM });
      expect(status).toBe(200);
      expect(totalsOf(body).coupon).toBe(-9.6);
    }
    expect(totalsOf(await redeem(cart, ' aUtumn15 ')).coupon).toBe(-9.6);
  });

  test('the shares of the lines sum up to the coupon', async () => {
    const quantities = { 'TE-100': 1, 'TE-110': 3, 'KN-101': 1, 'GI-110': 2, 'RO-100': 7.5 };
    const cart = await givenCart(demo, quantities);
    expect(cart.body.lineItemContainer.productLineItems[0].lineItemCouponDiscount).toBeNull();
    const body = await redeem(cart, 'AUTUMN15');
    // 166.05 less the discount of 10.00 is 156.05, of which 15 % are 23.41.
    expect(totalsOf(body)).toMatchObject({ subtotal: 166.05, discount: -10, coupon: -23.41 });
    const shares = sharesOf(body);
    expect(shares.every((share) => share > 0)).toBe(true);
    expect(shares.map(inCents).reduce((sum, share) => sum + share, 0)).toBe(2341);
    expect(body.lineItemContainer.productLineItems[0].lineItemCouponDiscount).toMatchObject({
      taxType: 'GROSS',
    });
  });

  test('of some products takes its share of those only', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1, 'KN-101': 1, 'KN-110': 1 });
    const body = await redeem(cart, 'SHARP10');
    expect(couponOf(body)).toMatchObject({ lineItemPrice: price(-8.85, 'NONE'), validationErrors: [] });
    expect(sharesOf(body)).toEqual([0, 6.4, 2.45]);
  });

  test('never takes off more than the goods are worth; the delivery remains to be paid', async () => {
    await givenCoupon(demo, 'FIFTY', { name: 'FIX', amount: 50 });
    const body = await redeem(await givenCart(demo, { 'GI-120': 1 }), 'FIFTY');
    expect(totalsOf(body)).toEqual({
      subtotal: 12,
      discount: 0,
      coupon: -12,
      shipping: 7.11,
      payment: 0,
      total: 7.11,
      beforeTax: 5.97,
      tax: 1.14,
    });
    expect(sharesOf(body)).toEqual([12]);
  });

  test('one for the delivery takes off that, and nothing from the goods', async () => {
    const body = await redeem(await givenCart(demo, { 'TE-110': 3, 'TE-100': 1 }), 'SHIPFREE');
    expect(couponOf(body)).toMatchObject({ lineItemPrice: price(0, 'NONE'), validationErrors: [] });
    expect(body.shippingData).toMatchObject({ price: price(0), taxes: [{ price: price(0, 'NONE') }] });
    expect(totalsOf(body)).toMatchObject({
      subtotal: 34.05,
      shipping: 0,
      total: 34.05,
      beforeTax: 31.82,
      tax: 2.23,
    });
    expect(sharesOf(body)).toEqual([0, 0]);
  });

  test('an amount and the delivery go together', async () => {
    const body = await redeem(await givenCart(demo, { 'GI-120': 2 }), 'VIPCOMBO');
    expect(couponOf(body)).toMatchObject({ lineItemPrice: price(-5, 'NONE'), validationErrors: [] });
    expect(totalsOf(body)).toMatchObject({ subtotal: 24, coupon: -5, shipping: 0, total: 19 });
  });

  test('is converted into the currency of the cart', async () => {
    const body = await redeem(await givenCart(demo, { 'GI-120': 2 }, { currency: 'USD' }), 'VIPCOMBO');
    expect(couponOf(body).lineItemPrice).toEqual({
      taxType: 'NONE',
      formatted: '-5.50 $',
      amount: -5.5,
      currency: 'USD',
    });
  });

  test('there is one coupon at most: another one takes its place', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const first = couponOf(await redeem(cart, 'AUTUMN15'));
    const body = await redeem(cart, 'VIPCOMBO');
    expect(couponOf(body).couponLineItemId).not.toBe(first.couponLineItemId);
    expect(totalsOf(body)).toMatchObject({ coupon: -5, shipping: 0 });
    const path = `/coupon/${first.couponLineItemId}`;
    expect(await refusal(service, () => on(cart, 'DELETE', path))).toEqual([404, 'HTTP 404 Not Found']);
  });

  test('what is no code of this shop is refused, and nothing changes', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const other = await givenSmallShop(service);
    await givenCoupon(other, 'ELSEWHERE', { name: 'FIX', amount: 5 });
    const send = (body: unknown, headers = {}) => reasonOf(on(cart, 'POST', '/coupon', body, { headers }));
    const unknown = [400, 'There is no coupon with this code'];
    await changesNothing(service, async () => {
      for (const code of ['NOPE', 'ELSEWHERE', ' ', 'AUTUMN15 1', "' or 1=1", 'autumn_15']) {
        expect(await send({ code })).toEqual(unknown);
      }
      expect(await send('code=NOPE', FORM)).toEqual(unknown);
      expect(await send('', FORM)).toEqual([400, problem('WRONG_TYPE', 'body')]);
      expect(await send('coupon=AUTUMN15', FORM)).toEqual([400, problem('MISSING', 'code')]);
      expect(await send('code=', FORM)).toEqual([400, problem('STRING_EMPTY', 'code')]);
      expect(await send('code=AUTUMN15&code=VIPCOMBO', FORM)).toEqual([400, problem('WRONG_TYPE', 'code')]);
      expect(await send(undefined)).toEqual([400, problem('WRONG_TYPE', 'body')]);
      expect(await send({})).toEqual([400, problem('MISSING', 'code')]);
      expect(await send({ code: null })).toEqual([400, problem('WRONG_TYPE', 'code')]);
      expect(await send({ code: 15 })).toEqual([400, problem('WRONG_TYPE', 'code')]);
      expect(await send({ code: 'A'.repeat(101) })).toEqual([400, problem('TOO_LONG', 'code')]);
    });
    expect(couponOf(await done(cart, 'GET'))).toBeNull();
  });

  test('an unknown code leaves the coupon that is there', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const body = await redeem(cart, 'AUTUMN15');
    expect((await on(cart, 'POST', '/coupon', { code: 'NOPE' })).status).toBe(400);
    expect(await done(cart, 'GET')).toEqual(body);
  });
});

describe('taking it away', () => {
  test('answers 200 with the cart as it was, whatever body comes along', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const { couponLineItemId } = couponOf(await redeem(cart, 'AUTUMN15'));
    const { status, body } = await on(cart, 'DELETE', `/coupon/${couponLineItemId}`, 'code=AUTUMN15', {
      headers: FORM,
    });
    expect(status).toBe(200);
    expect(body).toEqual(cart.body);
    expect(rels(body)).toEqual(['self', 'shipping-method', 'add-coupon']);
  });

  test('knows the id in lower case, and no other one', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    const { couponLineItemId } = couponOf(await redeem(cart, 'AUTUMN15'));
    for (const id of [newId(NOW), 'AUTUMN15']) {
      expect(await refusal(service, () => on(cart, 'DELETE', `/coupon/${id}`))).toEqual([
        404,
        'HTTP 404 Not Found',
      ]);
    }
    await done(cart, 'DELETE', `/coupon/${couponLineItemId.toLowerCase()}`);
    const again = () => on(cart, 'DELETE', `/coupon/${couponLineItemId}`);
    expect(await refusal(service, again)).toEqual([404, 'HTTP 404 Not Found']);
  });
});

describe('a coupon that does not count', () => {
  /** Its problems; on the way it is checked that it takes nothing off and changes nothing else. */
  async function problemsOf(cart: GivenCart, code: string): Promise<string[]> {
    const before = await done(cart, 'GET');
    const { status, body } = await on(cart, 'POST', '/coupon', { code });
    expect(status).toBe(200);
    expect(couponOf(body)).toEqual({
      couponLineItemId: ID,
      couponCampaignId: ID,
      lineItemPrice: price(0, 'NONE'),
      validationErrors: expect.any(Array),
    });
    expect(rels(body)).toEqual(
      rels(before).map((rel: string) => (rel === 'add-coupon' ? 'remove-coupon' : rel)),
    );
    expect(totalsOf(body)).toEqual(totalsOf(before));
    expect(sharesOf(body).every((share) => share === 0)).toBe(true);
    return couponOf(body).validationErrors;
  }

  test('says LineItemsSubTotalTooSmall when the goods alone are worth too little', async () => {
    // With the delivery it would be 62.70.
    const cart = await givenCart(demo, { 'TE-110': 6 });
    expect(totalsOf(cart.body)).toMatchObject({ subtotal: 53.7, total: 62.7 });
    expect(await problemsOf(cart, 'SUMMER20')).toEqual(['LineItemsSubTotalTooSmall']);
    expect(await problemsOf(cart, 'summer20b')).toEqual(['LineItemsSubTotalTooSmall']);
  });

  test('counts from the minimum on, before any discount, and again when more goes in', async () => {
    const cart = await givenCart(demo, { 'GI-120': 4 });
    const { couponLineItemId } = couponOf(await redeem(cart, 'SUMMER20'));
    const more = { productId: demo.ids['GI-120'], quantity: 1 };
    const body = await done(cart, 'POST', '/line-items', more);
    expect(couponOf(body)).toMatchObject({
      couponLineItemId,
      lineItemPrice: price(-20, 'NONE'),
      validationErrors: [],
    });
    expect(totalsOf(body)).toMatchObject({ subtotal: 60, coupon: -20 });
    await givenCoupon(demo, 'HUNDRED', { name: 'FIX', amount: 1 }, { minimumOrderValue: 100 });
    const large = await givenCart(demo, { 'GI-110': 4 });
    expect(totalsOf(await redeem(large, 'HUNDRED'))).toMatchObject({
      subtotal: 100,
      discount: -10,
      coupon: -1,
    });
  });

  test('says CouponIsInvalidated of a code that was withdrawn', async () => {
    expect(await problemsOf(await givenCart(demo, { 'KN-101': 1 }), 'RECALLED')).toEqual([
      'CouponIsInvalidated',
    ]);
  });

  test('says ValidCouponCountReached of a code, or a campaign, that is used up', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    expect(await problemsOf(cart, 'ONESHOT')).toEqual(['ValidCouponCountReached']);
    const campaignId = await givenCoupon(demo, 'FEW', { name: 'FIX', amount: 5 }, { campaignUsageLimit: 3 });
    expect(totalsOf(await redeem(cart, 'FEW')).coupon).toBe(-5);
    await service.db.run(sql`update coupon_campaign set used = 3 where campaign_id = ${campaignId}`);
    const body = await done(cart, 'GET');
    expect(couponOf(body)).toMatchObject({ validationErrors: ['ValidCouponCountReached'] });
    expect(totalsOf(body).coupon).toBe(0);
  });

  test('says CouponNotEffective before and after its time', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    expect(await problemsOf(cart, 'OLDNEWS')).toEqual(['CouponNotEffective']);
    const facts = { validFrom: '2026-11-16T00:00:00Z', validTo: '2026-11-18T00:00:00Z' };
    await givenCoupon(demo, 'SOON', { name: 'FIX', amount: 5 }, facts);
    await redeem(cart, 'SOON');
    const at = async (moment: string) => {
      service.setClock(new Date(moment));
      const body = await done(cart, 'GET');
      return [totalsOf(body).coupon, ...couponOf(body).validationErrors];
    };
    expect(await at('2026-11-15T23:59:59.999Z')).toEqual([0, 'CouponNotEffective']);
    expect(await at('2026-11-16T00:00:00Z')).toEqual([-5]);
    expect(await at('2026-11-17T23:59:59.999Z')).toEqual([-5]);
    expect(await at('2026-11-18T00:00:00Z')).toEqual([0, 'CouponNotEffective']);
    service.setClock(NOW);
  });

  test('says CouponNotEffective when there is nothing to take off', async () => {
    const cart = await givenCart(demo, { 'TE-110': 4 });
    await done(cart, 'PUT', '/shipping-data', { id: await shippingId(demo, 'pickup') });
    expect(await problemsOf(cart, 'SHIPFREE')).toEqual(['CouponNotEffective']);
    expect(await problemsOf(await givenCart(demo, { 'BK-100': 4 }), 'SHIPFREE')).toEqual([
      'CouponNotEffective',
    ]);
  });

  test('says PaymentMethodMisMatch with another payment', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    expect(totalsOf(await redeem(cart, 'PREPAY2')).coupon).toBe(-2);
    await done(cart, 'PUT', '/payment-data', { id: await paymentId(demo, 'invoice') });
    expect(await problemsOf(cart, 'PREPAY2')).toEqual(['PaymentMethodMisMatch']);
    await done(cart, 'PUT', '/payment-data', { name: 'Cash' });
    expect(await problemsOf(cart, 'PREPAY2')).toEqual(['PaymentMethodMisMatch']);
    const body = await done(cart, 'PUT', '/payment-data', { id: await paymentId(demo, 'advance') });
    expect(totalsOf(body).coupon).toBe(-2);
  });

  test('says ShippingMethodMisMatch with another delivery', async () => {
    const cart = await givenCart(demo, { 'KN-101': 1 });
    expect(await problemsOf(cart, 'COLLECT3')).toEqual(['ShippingMethodMisMatch']);
    const body = await done(cart, 'PUT', '/shipping-data', { id: await shippingId(demo, 'pickup') });
    expect(totalsOf(body)).toMatchObject({ coupon: -3, shipping: 0, total: 61 });
    expect(couponOf(body).validationErrors).toEqual([]);
  });

  test('says ProductMisMatch without any of its products', async () => {
    const cart = await givenCart(demo, { 'TE-100': 1 });
    expect(await problemsOf(cart, 'SHARP10')).toEqual(['ProductMisMatch']);
    const more = { productId: demo.ids['KN-110'], quantity: 1 };
    expect(totalsOf(await done(cart, 'POST', '/line-items', more)).coupon).toBe(-2.45);
  });

  test('a master stands for its variations', async () => {
    const productIds = [demo.ids['LA-100']];
    await givenCoupon(demo, 'LAMPS', { name: 'PERCENT', amount: 10 }, { productIds });
    expect(totalsOf(await redeem(await givenCart(demo, { 'LA-103': 1 }), 'LAMPS')).coupon).toBe(-8.5);
  });

  test('names all seven reasons in the order of the contract', async () => {
    const shop = await givenSmallShop(service, {
      shippingMethods: [
        { key: 'post', name: 'Post', kind: 'flat', price: 5 },
        { key: 'pickup', name: 'Pickup', kind: 'pickup' },
      ],
      paymentMethods: [
        { key: 'advance', name: 'Advance' },
        { key: 'cash', name: 'Cash' },
      ],
    });
    const [sold, other] = [await givenProduct(shop), await givenProduct(shop)];
    const campaignId = await givenCoupon(
      shop,
      'NEVER',
      { name: 'FIX', amount: 5 },
      {
        minimumOrderValue: 100,
        usageLimit: 1,
        validTo: new Date(NOW.getTime() - DAY).toISOString(),
        productIds: [other],
        shippingMethodIds: [await shippingId(shop, 'pickup')],
        paymentMethodIds: [await paymentId(shop, 'cash')],
      },
    );
    await service.db.run(sql`
      update coupon set used = 1, withdrawn_at = ${NOW} where shop_id = ${shop.shopId} and campaign_id = ${campaignId}`);
    expect(await problemsOf(await givenCart(shop, { [sold]: 1 }), 'NEVER')).toEqual([
      'LineItemsSubTotalTooSmall',
      'CouponIsInvalidated',
      'ValidCouponCountReached',
      'CouponNotEffective',
      'PaymentMethodMisMatch',
      'ShippingMethodMisMatch',
      'ProductMisMatch',
    ]);
  });

  test('in an empty cart has no effect, and begins to count with the goods', async () => {
    const cart = await givenCart(demo);
    const body = await redeem(cart, 'AUTUMN15');
    expect(couponOf(body)).toMatchObject({ validationErrors: ['CouponNotEffective'] });
    expect(totalsOf(body).total).toBe(0);
    const filled = await done(cart, 'POST', '/line-items', { productId: demo.ids['KN-101'], quantity: 1 });
    expect(couponOf(filled)).toMatchObject({ lineItemPrice: price(-9.6, 'NONE'), validationErrors: [] });
  });
});

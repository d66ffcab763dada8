import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADA,
  done,
  givenDemoShop,
  givenFullCart,
  price,
  shippingId,
  type Shop,
} from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import type { Cart } from '../../carts/schema.ts';
import type { Order } from '../../orders/schema.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { cartEvents, orderCompleted, pageEvents, cartForApps } from './events.ts';
import type { Session } from '../session.ts';
import type { Visit } from '../visit.ts';

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  shop = await givenDemoShop(service);
});

afterAll(() => service.close());

const visitWith = async (session: Session) =>
  ({
    db: service.db.ofShop(shop.shopId),
    shopId: shop.shopId,
    settings: await shopSettings(service.db, shop.shopId),
    locale: 'en_GB',
    currency: 'EUR',
    origin: 'http://localhost:80',
    session,
  }) as Visit;

test('what was done with the cart is told with what the API says of it', async () => {
  const given = await givenFullCart(shop, { 'KN-110': 2, 'TE-100': 1 });
  const id = await shippingId(shop, 'express');
  await done(given, 'PUT', '/shipping-data', { id });
  const cart: Cart = await done(given, 'PUT', '/payment-data', { name: 'Invoice' });
  const [knife, tea] = cart.lineItemContainer.productLineItems;
  const visit = await visitWith({
    visitorEvents: [
      { event: 'cart:add', lineItemId: knife!.lineItemId, quantity: 2 },
      { event: 'cart:setQuantity', lineItemId: tea!.lineItemId, quantity: 1, quantityDelta: -2 },
      { event: 'cart:setQuantity', lineItemId: 'GONE', quantity: 0, quantityDelta: -1 },
      { event: 'cart:update' },
      { event: 'wishlist:add', productId: shop.ids['LA-102']! },
      { event: 'shippingMethod:select' },
    ],
  });
  const product = (await service.call('GET', `/DemoShop/products/${shop.ids['KN-110']}`)).body;
  const told = cartForApps(visit, cart);
  expect(await cartEvents(visit, cart)).toEqual([
    { name: 'cart:add', detail: { cart: told, product, quantity: 2 } },
    { name: 'cart:setQuantity', detail: { lineItem: tea, quantity: 1, quantityDelta: -2 } },
    {
      name: 'cart:setQuantity',
      detail: { lineItem: { lineItemId: 'GONE' }, quantity: 0, quantityDelta: -1 },
    },
    { name: 'cart:update', detail: { cart: told } },
    {
      name: 'shippingMethod:select',
      detail: {
        shippingMethod: {
          _id: id,
          name: cart.shippingData!.shippingMethod.name,
          lineItemPrice: cart.shippingData!.price,
        },
      },
    },
  ]);
  expect(pageEvents(visit, { events: [{ name: 'cart:view', detail: {} }] } as never)).toEqual([
    { name: 'cart:view', detail: {} },
    {
      name: 'wishlist:add',
      detail: { locale: 'en_GB', product: { productId: shop.ids['LA-102'], quantity: 1 } },
    },
  ]);
});

test('without consent no app learns who the visitor is, and none ever gets access to the cart', async () => {
  const cart: Cart = await done(await givenFullCart(shop, { 'KN-110': 1 }), 'GET');
  expect(cart.billingAddress).toMatchObject(ADA);
  for (const session of [{}, { consent: 'necessary' }] as const) {
    const told = cartForApps({ session }, cart);
    expect(told).toEqual({
      ...cart,
      billingAddress: null,
      shippingAddress: null,
      pickupToken: null,
      checkoutUrl: null,
      registerSessionUrl: null,
    });
    expect(JSON.stringify(told)).not.toMatch(/Lindqvist|PickupToken/);
  }
  expect(cartForApps({ session: { consent: 'all' } }, cart)).toEqual({
    ...cart,
    pickupToken: null,
    checkoutUrl: null,
    registerSessionUrl: null,
  });
});

test('an order is told as the API shows it, with totals as text', async () => {
  const cart = await givenFullCart(shop, { 'KN-110': 1, 'TE-100': 2 });
  await done(cart, 'POST', '/coupon', { code: 'AUTUMN15' });
  const order: Order = await done(cart, 'POST', '/order');
  const { name, detail } = orderCompleted(order);
  expect(name).toBe('order:completed');
  expect(detail).toEqual({
    orderId: order.orderId,
    orderNumber: order.orderNumber,
    currencyId: 'EUR',
    grandTotal: order.grandTotal,
    totalTax: order.totalTax,
    billingAddress: order.billingAddress,
    shippingAddress: order.shippingAddress,
    couponCampaign: { campaignId: order.lineItemContainer.couponLineItem!.couponCampaignId },
    lineItemContainer: order.lineItemContainer,
    shippingData: order.shippingData,
    paymentData: order.paymentData,
  });
  expect(order.lineItemContainer.lineItemsSubTotal).toEqual(price(38.9));
  expect(order.grandTotal).toMatch(/^\d+\.\d+$/);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { done, givenFullCart, givenProduct, givenSmallShop, NOW, on } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { findOrder } from '../../orders/queries.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { lineRows } from './line-rows.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
});
afterAll(() => service.close());

test.each(['gross', 'net'] as const)(
  'the rows of an order with %s prices add up to its total',
  async (model) => {
    const shop = await givenSmallShop(service, {
      taxes: { model },
      shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 }],
      basketDiscounts: [{ from: 10, percent: 10 }],
    });
    const board = await givenProduct(shop, {
      facts: {
        name: { en_GB: 'Board' },
        depositPrices: { EUR: 25 },
        ecoParticipationPrices: { EUR: 10 },
        customisation: { textLength: 10, headline: 'Your engraving', prices: { EUR: 450 } },
      },
    });
    const cart = await givenFullCart(shop, {});
    await on(cart, 'POST', '/line-items', { productId: board, quantity: 3, customText: 'For Anna' });
    const { orderId } = await done(cart, 'POST', '/order');
    const { content } = (await findOrder(service.db, shop.shopId, orderId))!;
    const rows = lineRows(content, await shopSettings(service.db, shop.shopId));
    expect(rows.map(({ name, quantity, amount, taxRate }) => [name, quantity, amount, taxRate])).toEqual([
      ['Board (Your engraving: For Anna)', '3', 4350, 1900],
      ['Deposit: Board', '', 75, 1900],
      ['Recycling fee: Board', '', 30, 1900],
      ['Discount', '', -435, null],
      ['Delivery: Parcel', '', 490, 1900],
      ...(model === 'net' ? [['VAT 19%', '', 857, null]] : []),
    ]);
    expect(rows.reduce((sum, { amount }) => sum + amount, 0)).toBe(content.grandTotal);
  },
);

import { Type, type Static } from 'typebox';
import { badRequest, invalid } from '../http/errors.ts';
import type { Operations } from '../http/operation.ts';
import { Id } from '../http/schemas.ts';
import { amountOf, MOST_MINOR } from '../catalogue/products/requests.ts';
import { changedCart, type Change } from './change.ts';
import { contentOf } from '../pricing/content.ts';
import { Cart, PaymentUpdate, ShippingUpdate } from './schema.ts';

const facts = {
  method: 'PUT',
  tag: 'carts',
  labels: ['Base', 'Now'],
  action: 'Update cart',
  access: { cartTokenAnd: 'carts_price_write' },
  params: Type.Object({ cartId: Id }),
  answer: Cart,
} as const;

export function paymentAndShipping(api: Operations): void {
  api.change(
    {
      ...facts,
      path: '/carts/:cartId/payment-data',
      name: 'updatePaymentData',
      summary: 'Update payment data',
      description:
        'A payment with a name and a price of its own, which is none of the methods of the shop: paymentMethod becomes null, and the name is for the merchant only. Or, with an id, one of the methods, and what its provider says of the payment.',
      body: PaymentUpdate,
    },
    async (call) => {
      const { name, priceAmount, id } = call.body;
      if (id) return changedCart(call, choosingPayment(id, call.body));
      return changedCart(call, ({ cart }) => {
        if (!name?.trim()) throw invalid(name === undefined ? 'MISSING' : 'STRING_EMPTY', 'name');
        // It may be a discount.
        const paymentPrice = amountOf(priceAmount ?? 0, cart.currency, 'priceAmount', { least: -MOST_MINOR });
        return {
          changed: {
            paymentMethodId: null,
            paymentTransactionId: null,
            paymentStatus: null,
            paymentName: name,
            paymentPrice,
          },
        };
      });
    },
  );

  api.change(
    {
      ...facts,
      path: '/carts/:cartId/shipping-data',
      name: 'updateShippingData',
      summary: 'Update shipping data',
      description:
        'The method must be one that all goods of the cart can be delivered by. When the goods change and it no longer is, the first possible one takes its place.',
      body: ShippingUpdate,
    },
    async (call) => {
      return changedCart(call, choosingShipping(call.body, call.db.now));
    },
  );
}

/** One of the methods of the shop. */
export function choosingPayment(
  id: string,
  { transactionId, status }: Pick<Static<typeof PaymentUpdate>, 'transactionId' | 'status'> = {},
): Change {
  const wanted = id.toUpperCase();
  return ({ settings }) => {
    const isKnown = settings.paymentMethods.some((method) => method.paymentMethodId === wanted);
    if (!isKnown) throw invalid('UNKNOWN_VALUE', 'id');
    return {
      changed: {
        paymentMethodId: wanted,
        paymentTransactionId: transactionId ?? null,
        paymentStatus: status ?? null,
        paymentName: null,
        paymentPrice: null,
      },
    };
  };
}

export function choosingShipping({ id, priceAmount }: Static<typeof ShippingUpdate>, now: Date): Change {
  const wanted = id.toUpperCase();
  return ({ cart, settings }) => {
    const isKnown = settings.shippingMethods.some((method) => method.shippingMethodId === wanted);
    if (!isKnown) throw invalid('UNKNOWN_VALUE', 'id');
    const { isNeeded, possible } = contentOf(cart, settings, now).totals.delivery;
    if (isNeeded && !possible.some((method) => method.shippingMethodId === wanted)) {
      throw badRequest('Not all goods of the cart can be delivered by this shipping method');
    }
    const shippingPrice =
      priceAmount === null || priceAmount === undefined
        ? null
        : amountOf(priceAmount, cart.currency, 'priceAmount');
    return { changed: { shippingMethodId: wanted, shippingPrice } };
  };
}

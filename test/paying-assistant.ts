import { expect } from 'vitest';

/** What an assistant sends that orders and pays with a token of its buyer. */

/** The payment method that a shop lets assistants pay with. */
export const CARD = {
  key: 'card',
  name: 'Card',
  provider: 'stripe',
  additionalData: { business_profile: 'profile_1' },
};

export const BUYER = { first_name: 'Ada', last_name: 'Brennan', email: 'ada@pelican.example' };
const HAMBURG = {
  street_address: 'Speicherweg 4',
  address_locality: 'Hamburg',
  postal_code: '20457',
  address_country: 'DE',
};

/** A request to an address of the shop below `/ucp`. */
export type SendToShop = (
  method: 'POST' | 'PUT',
  path: string,
  body: object,
  // oxlint-disable-next-line typescript/no-explicit-any
) => Promise<{ status: number; body: any }>;

/** A session to which nothing is missing but the payment. */
export async function createReadySession(send: SendToShop, productId: string, quantity = 1) {
  const line_items = [{ item: { id: productId }, quantity }];
  const destinations = [HAMBURG];
  const made = await send('POST', '/checkout-sessions', {
    line_items,
    buyer: BUYER,
    fulfillment: { methods: [{ type: 'shipping', destinations }] },
  });
  expect(made.status).toBe(201);
  const [{ groups }] = made.body.fulfillment.methods;
  const { body } = await send('PUT', `/checkout-sessions/${made.body.id}`, {
    line_items,
    fulfillment: {
      methods: [
        { type: 'shipping', destinations, groups: [{ selected_option_id: groups[0].options[0].id }] },
      ],
    },
  });
  return body;
}

export const totalOf = ({ totals }: { totals: { type: string; amount: number }[] }) =>
  totals.find(({ type }) => type === 'total')!.amount;

/** The body of `complete`. */
export const payment = (token: string, more: object = {}) => ({
  payment: {
    instruments: [
      {
        id: 'i1',
        handler_id: 'card',
        type: 'card',
        credential: { type: 'stripe_payment_token', token },
        ...more,
      },
    ],
  },
});

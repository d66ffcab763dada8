import { Type } from 'typebox';
import { Flag, Key, OrElse, OrNull, Section } from '../fields.ts';

export const Assistants = Section(
  {
    open: Flag(
      'Assistants find the shop and what it offers them at /.well-known/ucp of its own host (Universal Commerce Protocol).',
      false,
    ),
    catalogue: Flag('They may search products and look them up.', true),
    carts: Flag(
      'They may put products into carts of their own, which their buyers then open in the shop.',
      true,
    ),
    checkout: Flag('They may prepare an order, which their buyers then place in the shop.', true),
    orders: Flag(
      'They may see the orders that their buyers have placed, and are told of what happens to them.',
      true,
    ),
    paymentMethod: OrNull(
      Key(
        'The key of a payment method of Stripe, without a price, that assistants may pay with by a shared payment token of their buyer: they then place the order, too. What Stripe wants the shop to publish of itself is in the additionalData of the method. Absent: buyers pay and order in the shop.',
        'card',
      ),
    ),
    pageTools: Flag(
      "The assistant in a visitor's own browser gets tools on the pages of the shop: to search, to fill the cart, to open the checkout (WebMCP).",
      false,
    ),
    signedOnly: Flag('Only requests with the signature of the assistant are answered.', false),
    callsPerHour: OrElse(
      1_000,
      Type.Integer({
        minimum: 10,
        maximum: 100_000,
        default: 1_000,
        description: 'Maximum number of requests of one assistant per hour. Absent: 1000.',
        examples: [1_000],
      }),
    ),
  },
  { description: 'What assistants such as ChatGPT or Gemini may do in the shop by themselves.' },
);

import { Type, type Static } from 'typebox';
import { ShownFields } from '../shops/settings/shown-fields.ts';
import { GiftCardRequest } from '../giftcards/wish.ts';
import { MAX_PARTS } from '../catalogue/products/bundles.ts';
import { CustomTextRequest } from '../catalogue/products/request-fields.ts';
import { PercentInfo } from '../catalogue/products/schema.ts';
import { Price, TAX_TYPES, type TaxType } from '../http/price.ts';
import { Id, Links, Nullable, Timestamp } from '../http/schemas.ts';
import { LineItemContainer, MAX_LINES, PaymentData, ShippingData } from '../orders/line-item-schema.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../pricing/input.ts';
import { Address, AddressRequest } from '../shops/countries/address.ts';
import { MINIMUM_CART_CODES } from '../shops/settings/settings.ts';
import { Decimal, Given } from '../http/request-fields.ts';

/** A cart as answers show it. Keys stand in the order of the wire. */

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const price = (description: string) => ({ ...Price, description });

const PotentialBasketDiscount = Type.Object(
  {
    absolute: Nullable(price('Discount as an amount.')),
    minimumAmount: price('Value of the goods from which it applies.'),
    percent: Nullable({ ...PercentInfo, description: 'Discount in per cent.' }),
  },
  { title: 'potentialBasketDiscount' },
);

export const Cart = Type.Object(
  {
    cartId: Id,
    billingAddress: Nullable({ ...Address, description: 'The billing address; null until it is set.' }),
    shippingAddress: Nullable({
      ...Address,
      description: 'Where the goods go; null: to the billing address.',
    }),
    lineItemContainer: { ...LineItemContainer, description: 'The lines, and their totals.' },
    shippingData: Nullable({
      ...ShippingData,
      description: 'The delivery; null when there is nothing to ship.',
    }),
    paymentData: Nullable({ ...PaymentData, description: 'The payment; null for an empty cart.' }),
    minimumCart: Type.Object(
      {
        status: Type.Boolean({
          description: 'Whether the minimum is reached; false: no order.',
          examples: [true],
        }),
        code: Type.Enum([...MINIMUM_CART_CODES], {
          description: 'The sum that counts.',
          examples: ['SumProduct'],
        }),
        amount: Nullable(price('The minimum; null when there is none.')),
      },
      { title: 'minimumCart', description: 'The least that an order must be worth.' },
    ),
    pickupToken: text(
      'With it the storefront takes over the cart; it expires. Empty unless the caller has shown the token of the cart or made it as an app; then the two addresses hold no token either.',
      'MWE1Zi4uLl8xNzk0NzAwMDAw',
    ),
    creationDate: Timestamp,
    checkoutUrl: text(
      'Where a visitor goes on to the checkout. The visitor gets a copy of a cart that no app has made, and the token of the cart ends.',
      'https://shop.example/shop/DemoShop/checkout',
    ),
    registerSessionUrl: text(
      'Where a visitor takes over the cart, in the same way.',
      'https://shop.example/shop/DemoShop/cart',
    ),
    status: Type.Optional(
      Type.Enum(['Complete', 'PartiallyComplete'], {
        description: 'Whether all lines went in; only where several were sent.',
        examples: ['Complete'],
      }),
    ),
    cartValidation: Type.Object(
      {
        possibleShippingMethods: Type.Array(text('Name of a method.', 'Standard delivery'), {
          description: 'How these goods can be delivered.',
        }),
      },
      { title: 'cartValidation', description: 'The methods available for these goods.' },
    ),
    potentialBasketDiscounts: Type.Array(PotentialBasketDiscount, {
      description: 'Discounts that the shop offers, reached or not.',
    }),
    links: Links,
    fields: ShownFields,
  },
  { title: 'cart' },
);
export type Cart = Static<typeof Cart>;

const QuantityRequest = Decimal('Quantity.', 2);

export const NewLine = Type.Object(
  {
    productId: { ...Id, description: 'The product; of a master one of its variations.' },
    quantity: QuantityRequest,
    customText: CustomTextRequest,
    giftCard: GiftCardRequest,
    choices: Given(
      Type.Array(Id, {
        maxItems: MAX_PARTS,
        description: 'Of a bundle: the variations that the customer has chosen for its parts; absent: none.',
      }),
    ),
  },
  { title: 'line item (create request)' },
);
export type NewLine = Static<typeof NewLine>;

/** One bad entry must not reject the good ones, so each is checked where it is used. */
const NewLines = Type.Array(Type.Unsafe<unknown>({ anyOf: [NewLine, { 'x-undocumented': true }] }), {
  maxItems: MAX_LINES,
  description: 'What goes in.',
  examples: [[{ productId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', quantity: 2 }]],
});

export const ManyNewLines = Type.Unsafe<unknown[]>({ ...NewLines, minItems: 1 });

export const LineUpdate = Type.Object(
  { quantity: { ...QuantityRequest, description: 'New quantity; 0 removes the line.' } },
  { title: 'line item (update request)' },
);

export const LinePrice = Type.Object(
  { singleItemPrice: Decimal('Price of one unit, in the terms of the cart.', 12.5) },
  { title: 'line item price (update request)' },
);

export const NewCart = Type.Object(
  {
    currency: Given(text('One of the shop; absent: its default.', 'EUR')),
    taxType: Type.Optional(
      Type.Unsafe<TaxType | null>({
        type: ['string', 'null'],
        enum: [...TAX_TYPES, null],
        description:
          'How prices are shown, which does not change what is paid; absent: as in the shop. NONE is without any tax and needs the scope carts_price_write.',
        examples: ['GROSS'],
      }),
    ),
    locale: Given(text('Language of the cart; absent or not offered: the default of the shop.', 'en_GB')),
    lineItems: Given(NewLines),
    forceCreate: Given(
      Type.Boolean({ description: 'Make the cart when at least one line can go in.', examples: [false] }),
    ),
    customerId: Given({
      ...Id,
      description: 'The buyer, for the prices of a customer group; needs the scope carts_price_write.',
    }),
    billingAddress: Given({
      ...AddressRequest,
      description:
        'Who pays. Country, emailAddress and the fields that the shop requires must be given, as in Update billing address.',
    }),
  },
  { title: 'cart (create request)' },
);
export type NewCart = Static<typeof NewCart>;

export const CartCouponForm = Type.Object(
  {
    code: Type.String({
      description: 'The code, in any case.',
      minLength: 1,
      maxLength: 100,
      examples: ['SUMMER20'],
    }),
  },
  { title: 'coupon code' },
);

export const PaymentUpdate = Type.Object(
  {
    name: Given(
      Type.String({
        description: 'Name of the payment in the order.',
        maxLength: 255,
        examples: ['Cash'],
      }),
    ),
    priceAmount: Given(Decimal('The price; absent: free of charge.', 1.95)),
    id: Given({
      ...Id,
      description: 'One of the payment methods of the shop, instead of a name and a price.',
    }),
    transactionId: Given(
      Type.String({
        description: 'Id of the payment at the provider of that method; only with an id.',
        minLength: 1,
        maxLength: 255,
        examples: ['QP-4711'],
      }),
    ),
    status: Type.Optional(
      Type.Unsafe<PaymentStatus | null>({
        type: ['string', 'null'],
        enum: [...PAYMENT_STATUSES, null],
        description: 'The state at the provider; only with an id.',
        examples: ['FAILED'],
      }),
    ),
  },
  { title: 'paymentData (update request)' },
);

export const ShippingUpdate = Type.Object(
  {
    id: { ...Id, description: 'One of the shipping methods that the cart names as possible.' },
    priceAmount: Given(Decimal('The price; absent: the price of the method.', 3.95)),
  },
  { title: 'shippingData (update request)' },
);

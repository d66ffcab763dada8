import { Type, type Static } from 'typebox';
import { Address } from '../customers/address.ts';
import { Price, TAX_TYPES, type TaxType } from '../http/price.ts';
import { Id, Links, Nullable, Timestamp } from '../http/schemas.ts';
import { Image } from '../media/schema.ts';
import { Decimal, Given } from '../products/requests.ts';
import { BulkPriceInfo, Percent, Quantity, TaxClassInfo, Weight } from '../products/schema.ts';
import { MINIMUM_CART_CODES } from '../shop/settings.ts';
import { COUPON_PROBLEMS } from './coupon-problems.ts';

/** A cart as answers show it, and the parts that orders share. Keys stand in the order of the wire. */

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const maybe = (description: string, example: string) => Nullable(text(description, example));
const price = (description: string) => ({ ...Price, description });

const TaxInfo = Type.Object(
  { taxClass: { ...TaxClassInfo, description: 'The rate.' }, price: price('The tax; taxType NONE.') },
  { title: 'taxInfo' },
);

const ProductLineItem = Type.Object(
  {
    lineItemId: Id,
    sku: text('Number of the product.', 'AP-100'),
    name: text('Name of the product.', 'Beacon Kettle 1.7 l'),
    productId: { ...Id, description: 'The product; of a master its variation.' },
    quantity: { ...Quantity, description: 'How many.' },
    lineItemPrice: price('Price of the whole line.'),
    singleItemPrice: price('Price of one unit.'),
    lineItemCouponDiscount: Nullable(price("This line's share of the coupon, positive; null without one.")),
    images: Type.Array(Image, { description: 'The main image in its sizes.' }),
    additionalInformation: Type.Object(
      { bulkPriceInfo: Type.Array(BulkPriceInfo, { description: 'Price tiers, ascending.' }) },
      { title: 'additionalInformation', description: 'More about the prices of the product.' },
    ),
    links: Links,
    intervalOrder: text('Step of the quantity.', '1'),
    minOrder: text('Smallest quantity.', '1'),
    orderUnitShort: text('Sign of the unit, or its name.', 'piece(s)'),
    orderUnit: text('Name of the unit.', 'piece(s)'),
    priceQuantity: text('Amount that the price of the product is for.', '1'),
    quantityPrice: price('Price of that amount.'),
    variationString: maybe('What was chosen; of a variation only.', 'Roast: Dark'),
    essentialFeatures: maybe('Main characteristics.', '1.7 l, 2400 W'),
    taxClass: { ...TaxClassInfo, description: 'How the line is taxed, at the country of delivery.' },
    deliveryWeight: Nullable({ ...Weight, description: 'Weight of the whole line.' }),
    energyLabelsString: maybe('Energy class, or the best and the worst.', 'A'),
    energyLabelsMaxEfficiencyString: maybe('Best class of the scale.', 'A+++'),
    energyLabelSourceFile: maybe('Address of the label.', 'https://shop.example/media/label.png'),
    productDataSheetSourceFile: maybe('Address of the data sheet.', 'https://shop.example/media/kettle.pdf'),
    isInWishlist: Type.Boolean({ description: 'On the wish list of the visitor.', examples: [false] }),
  },
  { title: 'productLineItem' },
);

const CouponLineItem = Type.Object(
  {
    couponLineItemId: { ...Id, description: 'By which the coupon is taken away.' },
    couponCampaignId: { ...Id, description: 'The campaign.' },
    lineItemPrice: price('What it takes off, negative; 0 when it does not count. taxType NONE.'),
    validationErrors: Type.Array(
      Type.Enum([...COUPON_PROBLEMS], { description: 'A reason.', examples: ['CouponNotEffective'] }),
      { description: 'Why it does not count; empty when it does.' },
    ),
  },
  { title: 'couponLineItem' },
);

const LineItem = Type.Object(
  { name: text('What it is.', 'Recycling fee: Beacon Kettle 1.7 l'), lineItemPrice: price('The amount.') },
  { title: 'lineItem' },
);

const DepositLineItem = Type.Object(
  {
    name: text('What it is.', 'Deposit: Slipway Cola 0.33 l'),
    lineItemPrice: price('Deposit of the whole line.'),
    lineItemProductGuid: { ...Id, description: 'The line it belongs to.' },
  },
  { title: 'depositLineItem' },
);

export const LineItemContainer = Type.Object(
  {
    grandTotal: price('What is to be paid; taxType GROSS.'),
    totalBeforeTax: price('The same without tax; taxType NET.'),
    totalTax: price('The tax; taxType NONE.'),
    lineItemsSubTotal: price('Sum of the lines.'),
    productLineItems: Type.Array(ProductLineItem, { description: 'The lines.' }),
    couponLineItem: Nullable({ ...CouponLineItem, description: 'The coupon; there is one at most.' }),
    shippingPrice: price('What the delivery costs.'),
    deposits: Type.Array(DepositLineItem, { description: 'Deposits, beside the subtotal.' }),
    ecoParticipations: Type.Array(LineItem, { description: 'Recycling fees, beside the subtotal.' }),
    shippingOptions: Type.Array(LineItem, { description: 'Extras of the delivery.' }),
    basketDiscount: Type.Object(
      {
        name: Type.Optional(text('What it is.', 'cart discount')),
        lineItemPrice: Type.Optional(price('What it takes off, negative.')),
        links: Links,
      },
      { title: 'basketDiscount', description: 'Discount on the whole cart; without a price there is none.' },
    ),
  },
  { title: 'lineItemContainer' },
);
export type LineItemContainer = Static<typeof LineItemContainer>;

export const ShippingData = Type.Object(
  {
    shippingMethod: Type.Object(
      { id: { ...Id, description: 'The shipping method.' }, name: text('Its name.', 'Standard delivery') },
      { title: 'shippingMethodInfo', description: 'How the goods are delivered.' },
    ),
    price: price('What it costs.'),
    taxes: Type.Array(TaxInfo, { description: 'The tax of this price for itself.' }),
  },
  { title: 'shippingData' },
);
export type ShippingData = Static<typeof ShippingData>;

export const PAYMENT_STATUSES = ['CANCELED', 'FAILED'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export const PaymentData = Type.Object(
  {
    paymentMethod: Nullable(
      Type.Object(
        {
          id: { ...Id, description: 'The payment method.' },
          name: text('Its name.', 'Invoice'),
          providerName: maybe('Who handles the payment.', 'QuickPay'),
          additionalData: Nullable(
            Type.Unsafe<Record<string, string>>({
              type: 'object',
              additionalProperties: { type: 'string' },
              description: 'What the provider wants to be shown.',
              examples: [{ InvoiceBankName: 'Harbour Bank' }],
            }),
          ),
        },
        { title: 'paymentMethodInfo', description: 'One of the methods of the shop; null: set by hand.' },
      ),
    ),
    transactionId: maybe('Id at the provider.', 'QP-4711'),
    price: price('What it costs; negative: a discount.'),
    status: maybe('State of the payment.', 'FAILED'),
    taxes: Nullable(
      Type.Array(TaxInfo, { description: 'The tax of this price for itself; null when it costs nothing.' }),
    ),
  },
  { title: 'paymentData' },
);
export type PaymentData = Static<typeof PaymentData>;

const PotentialBasketDiscount = Type.Object(
  {
    absolute: Nullable(price('Discount as an amount.')),
    minimumAmount: price('Value of the goods from which it holds.'),
    percent: Nullable({ ...Percent, description: 'Discount in per cent.' }),
  },
  { title: 'potentialBasketDiscount' },
);

export const Cart = Type.Object(
  {
    cartId: Id,
    billingAddress: Nullable({ ...Address, description: 'Who pays; null until it is set.' }),
    shippingAddress: Nullable({
      ...Address,
      description: 'Where the goods go; null: to the billing address.',
    }),
    lineItemContainer: { ...LineItemContainer, description: 'What is in it, and what that comes to.' },
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
      { title: 'cartValidation', description: 'What is possible with these goods.' },
    ),
    potentialBasketDiscounts: Type.Array(PotentialBasketDiscount, {
      description: 'Discounts that the shop offers, reached or not.',
    }),
    links: Links,
  },
  { title: 'cart' },
);
export type Cart = Static<typeof Cart>;

/** Most lines that a cart has, and that one request brings. */
export const MOST_LINES = 500;

const QuantityRequest = Decimal('How many.', 2);

export const NewLine = Type.Object(
  {
    productId: { ...Id, description: 'The product; of a master one of its variations.' },
    quantity: QuantityRequest,
  },
  { title: 'productLineItem (create request)' },
);
export type NewLine = Static<typeof NewLine>;

/** One bad entry must not lose the good ones, so each is checked where it is used. */
const NewLines = Type.Array(
  Type.Unsafe<unknown>({ anyOf: [NewLine, { description: 'What has another form can not go in.' }] }),
  {
    maxItems: MOST_LINES,
    description: 'What goes in.',
    examples: [[{ productId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', quantity: 2 }]],
  },
);

export const ManyNewLines = Type.Unsafe<unknown[]>({ ...NewLines, minItems: 1 });

export const LineUpdate = Type.Object(
  { quantity: { ...QuantityRequest, description: 'How many from now on; 0 takes the line away.' } },
  { title: 'productLineItem (update request)' },
);

export const LinePrice = Type.Object(
  { singleItemPrice: Decimal('Price of one unit, in the terms of the cart.', 12.5) },
  { title: 'productLineItemPrice (update request)' },
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
      description: 'Who buys, for prices of a customer group; needs the scope carts_price_write.',
    }),
  },
  { title: 'cart (create request)' },
);
export type NewCart = Static<typeof NewCart>;

export const CouponForm = Type.Object(
  {
    code: Type.String({
      description: 'The code, in any case.',
      minLength: 1,
      maxLength: 100,
      examples: ['SUMMER20'],
    }),
  },
  { title: 'coupon form' },
);

export const PaymentUpdate = Type.Object(
  {
    name: Given(
      Type.String({
        description: 'What the payment is called in the order.',
        maxLength: 255,
        examples: ['Cash'],
      }),
    ),
    priceAmount: Given(Decimal('What it costs; absent: nothing.', 1.95)),
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
        description: 'What the provider says of it; only with an id.',
        examples: ['FAILED'],
      }),
    ),
  },
  { title: 'paymentData (update request)' },
);

export const ShippingUpdate = Type.Object(
  {
    id: { ...Id, description: 'One of the shipping methods that the cart names as possible.' },
    priceAmount: Given(Decimal('What it costs; absent: the price of the method.', 3.95)),
  },
  { title: 'shippingData (update request)' },
);

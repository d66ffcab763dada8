import { Type, type Static } from 'typebox';
import { BulkPriceInfo, Quantity, TaxClassInfo, Weight } from '../catalogue/products/schema.ts';
import { ShownFields } from '../shops/settings/shown-fields.ts';
import { Price } from '../http/price.ts';
import { Id, Links, Nullable } from '../http/schemas.ts';
import { Image } from '../platform/media/schema.ts';
import { COUPON_PROBLEMS } from '../pricing/input.ts';

/** The lines, delivery and payment of a cart, an order and a document. Keys stand in the order of the wire. */

/** Maximum lines of a cart, an order and a request. */
export const MAX_LINES = 500;

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
    quantity: { ...Quantity, description: 'Quantity.' },
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
    variationString: maybe('The selected values; only for a variation.', 'Roast: Dark'),
    essentialFeatures: maybe('Main characteristics.', '1.7 l, 2400 W'),
    taxClass: { ...TaxClassInfo, description: 'How the line is taxed, at the country of delivery.' },
    deliveryWeight: Nullable({ ...Weight, description: 'Weight of the whole line.' }),
    energyLabelsString: maybe('Energy class, or the best and the worst.', 'A'),
    energyLabelsMaxEfficiencyString: maybe('Best class of the scale.', 'A+++'),
    energyLabelSourceFile: maybe('Address of the label.', 'https://shop.example/media/label.png'),
    productDataSheetSourceFile: maybe('Address of the data sheet.', 'https://shop.example/media/kettle.pdf'),
    customText: Type.Optional(text('The text that the customer entered for it; absent: none.', 'For Anna')),
    customTextHeadline: Type.Optional(
      text('Headline of the field that it was typed into; absent: the product has none.', 'Your engraving'),
    ),
    giftCard: Type.Optional(
      Type.Object(
        {
          email: Type.Optional(text('Who gets it; absent: the buyer.', 'anna@example.com')),
          name: Type.Optional(text('The name on it.', 'Anna')),
          message: Type.Optional(text('What its buyer has written.', 'Happy birthday!')),
          sendOn: Type.Optional(text('The day on which it is sent; absent: when it is paid.', '2026-12-24')),
        },
        { title: 'gift card recipient', description: 'Only of a product that is a gift card.' },
      ),
    ),
    isInWishlist: Type.Boolean({ description: 'On the wish list of the visitor.', examples: [false] }),
    fields: ShownFields,
  },
  { title: 'productLineItem' },
);

const CouponLineItem = Type.Object(
  {
    couponLineItemId: { ...Id, description: 'By which the coupon is taken away.' },
    couponCampaignId: { ...Id, description: 'The campaign.' },
    lineItemPrice: price('The discount, as a negative amount; 0 when it does not apply. taxType NONE.'),
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
    grandTotal: price('The amount to pay; taxType GROSS.'),
    totalBeforeTax: price('The same without tax; taxType NET.'),
    totalTax: price('The tax; taxType NONE.'),
    lineItemsSubTotal: price('Sum of the lines.'),
    productLineItems: Type.Array(ProductLineItem, { description: 'The lines.' }),
    couponLineItem: Nullable({ ...CouponLineItem, description: 'The coupon; there is one at most.' }),
    shippingPrice: price('The cost of delivery.'),
    deposits: Type.Array(DepositLineItem, { description: 'Deposits, beside the subtotal.' }),
    ecoParticipations: Type.Array(LineItem, { description: 'Recycling fees, beside the subtotal.' }),
    shippingOptions: Type.Array(LineItem, { description: 'Extras of the delivery.' }),
    basketDiscount: Type.Object(
      {
        name: Type.Optional(text('What it is.', 'cart discount')),
        lineItemPrice: Type.Optional(price('The discount, as a negative amount.')),
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
    price: price('The price.'),
    taxes: Type.Array(TaxInfo, { description: 'The tax of this price alone.' }),
  },
  { title: 'shippingData' },
);
export type ShippingData = Static<typeof ShippingData>;

export const PaymentData = Type.Object(
  {
    paymentMethod: Nullable(
      Type.Object(
        {
          id: { ...Id, description: 'The payment method.' },
          name: text('Its name.', 'Invoice'),
          providerName: maybe('The payment provider.', 'QuickPay'),
          additionalData: Nullable(
            Type.Unsafe<Record<string, string>>({
              type: 'object',
              additionalProperties: { type: 'string' },
              description: 'Details that the provider requires to be shown.',
              examples: [{ InvoiceBankName: 'Harbour Bank' }],
            }),
          ),
        },
        { title: 'paymentMethodInfo', description: 'One of the methods of the shop; null: set by hand.' },
      ),
    ),
    transactionId: maybe('Id at the provider.', 'QP-4711'),
    price: price('The price; a negative price is a discount.'),
    status: maybe('State of the payment.', 'FAILED'),
    taxes: Nullable(
      Type.Array(TaxInfo, { description: 'The tax of this price alone; null when it costs nothing.' }),
    ),
  },
  { title: 'paymentData' },
);
export type PaymentData = Static<typeof PaymentData>;

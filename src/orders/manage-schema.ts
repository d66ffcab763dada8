import { Type, type Static } from 'typebox';
import { MAX_LINES } from './line-item-schema.ts';
import { Price } from '../http/price.ts';
import { Id, Nullable } from '../http/schemas.ts';
import { CustomTextRequest } from '../catalogue/products/request-fields.ts';
import { HISTORY_KINDS } from './history.ts';
import { RETURN_ORIGINS, RETURN_STATES } from './manage-queries.ts';
import { ORDER_STATES } from './order-state.ts';
import { BuyerAnswer } from './buyer-schema.ts';
import { Order } from './schema.ts';
import { TAX_TREATMENTS } from '../shops/taxes/treatments.ts';
import { Decimal, Given, Text } from '../http/request-fields.ts';

/** An order as the back office sees it, and the bodies that change one. */

const moment = (description: string) => Type.String({ description, examples: ['2026-11-15T08:30:00.000Z'] });
const text = (description: string, example: string) =>
  Nullable(Type.String({ description, examples: [example] }));

const PartLines = Type.Array(
  Type.Object(
    { lineItemId: Id, quantity: Type.Number({ description: 'Quantity.', examples: [2] }) },
    { title: 'line quantity' },
  ),
  { description: 'The quantities of the lines.' },
);

const returnFields = {
  returnId: Id,
  returnedOn: moment('When it was recorded, asked for or withdrawn.'),
  state: Type.Enum([...RETURN_STATES], {
    description: 'withdrawn: the customer has withdrawn from the contract, which can not be rejected.',
    examples: ['requested'],
  }),
  origin: Type.Enum([...RETURN_ORIGINS], { description: 'The initiator.', examples: ['customer'] }),
  lines: PartLines,
  unsentLines: Type.Array(
    Type.Object(
      {
        lineItemId: Id,
        text: Type.String({
          description: 'In the language of the order.',
          examples: ['2 pieces Harbour Tea'],
        }),
        quantity: Type.Number({ description: 'Quantity.', examples: [2] }),
      },
      { title: 'unsent line' },
    ),
    {
      description:
        'Goods withdrawn before they were shipped: they are no longer in the order, and are not returned.',
    },
  ),
  restocked: Type.Boolean({ description: 'It went back into the stock.', examples: [true] }),
  reason: text("The customer's comment.", 'too small'),
  note: text('Note of the merchant.', 'unopened'),
  declaredBy: text('The person who has withdrawn.', 'Ada Lindqvist'),
  contact: text('Where the acknowledgement of the withdrawal went.', 'ada.lindqvist@mail.example'),
};

export const OrderDeliveryOption = Nullable(
  Type.Object(
    {
      appId: { ...Id, description: 'The app that offered it.' },
      optionId: text(
        "The app's id of the option; null: the app had not answered, and the price is the one that the merchant has agreed to.",
        'postnl_standard',
      ),
      name: Type.String({ description: 'Its name.', examples: ['PostNL Standard'] }),
    },
    {
      title: 'order delivery option',
      description:
        'The delivery of an app that the customer has chosen; null: a shipping method of the shop.',
    },
  ),
);

const Management = Type.Object(
  {
    editing: Nullable(
      Type.Object(
        { appId: Id, since: moment('Since when.') },
        { title: 'order editing', description: 'The app that edits it; null: none.' },
      ),
    ),
    state: Type.Enum([...ORDER_STATES], {
      description:
        'The next step that the order waits for. waitingForPayment and paymentFailed: it must be paid in advance and has not been paid, so it is not ready to ship.',
      examples: ['readyToShip'],
    }),
    cancelledOn: Nullable(moment('Cancelled.')),
    paidAmount: { ...Price, description: 'The amount that was received.' },
    refundedAmount: { ...Price, description: 'The amount that was refunded.' },
    refundableAmount: {
      ...Price,
      description:
        'The refund that returns, cancellations, credit notes and overpayment justify, less the refunds that were made. More than that is goodwill.',
    },
    outstandingAmount: {
      ...Price,
      description:
        'The part of the grand total that is not paid, counting refunds as unpaid; 0 when the order is cancelled.',
    },
    taxes: Type.Array(
      Type.Object(
        {
          rate: Type.Number({ description: 'In percent.', examples: [19] }),
          treatment: Type.Optional(
            Type.Enum([...TAX_TREATMENTS], {
              description: 'Why it is taxed at this rate; absent for orders from before this was stored.',
              examples: ['domestic'],
            }),
          ),
          amount: { ...Price, description: 'The taxed amount, in the tax model of the order.' },
          tax: { ...Price, description: 'The tax in it, or on it.' },
        },
        { title: 'order tax' },
      ),
      { description: 'By rate, ascending, and treatment.' },
    ),
    promotions: Type.Array(
      Type.Object(
        {
          promotionId: Id,
          name: Type.String({
            description: 'Its name, as it was when the order was placed.',
            examples: ['3 for 2 on mugs'],
          }),
          code: Type.Optional(
            Type.String({
              description: 'The code that was typed for it; absent: it applies by itself.',
              examples: ['MUGS'],
            }),
          ),
          amount: {
            ...Price,
            description:
              'What it has taken off the goods, as a negative amount: a part of the basket discount or, with a code, of the coupon.',
          },
          deliveryAmount: {
            ...Price,
            description:
              'What it has taken off the delivery, as a negative amount; the price of the delivery is without it.',
          },
        },
        { title: 'order promotion' },
      ),
      { description: 'The promotions that have made the order cheaper, in the order in which they applied.' },
    ),
    backorders: Type.Optional(
      Type.Array(
        Type.Object(
          {
            lineItemId: { ...Id, description: 'The line, or the part of a bundle.' },
            quantity: Type.Number({
              description: 'How much of it was not in stock when it was ordered.',
              examples: [2],
            }),
            waiting: Type.Number({
              description: 'What of it still waits, and cannot be sent.',
              examples: [2],
            }),
            expectedOn: text('The day that the customer knows; null: none is known.', '2027-03-01'),
            readyOn: text(
              'When the last of it was in stock; null: some of it waits.',
              '2027-02-26T09:30:00.000Z',
            ),
          },
          { title: 'order backorder' },
        ),
        { description: 'What was ordered beyond the stock; absent: nothing was.' },
      ),
    ),
    bundles: Type.Optional(
      Type.Array(
        Type.Object(
          {
            lineItemId: { ...Id, description: 'The line of the bundle.' },
            parts: Type.Array(
              Type.Object(
                {
                  lineItemId: { ...Id, description: 'Shipments, returns and documents name the part by it.' },
                  productId: Id,
                  sku: Type.String({ description: 'Product number.', examples: ['MUG-2'] }),
                  name: Type.String({ description: 'Name.', examples: ['Harbour mug'] }),
                  variationString: text('What was chosen; null: there was no choice.', 'Colour: blue'),
                  quantity: Type.Number({ description: 'In all of these bundles.', examples: [4] }),
                  amount: { ...Price, description: "Its share of the bundle's price, for this quantity." },
                  taxRate: Type.Number({ description: 'Rate of its tax in per cent.', examples: [19] }),
                },
                { title: 'part of an ordered bundle' },
              ),
              { description: 'What the bundle consists of.' },
            ),
          },
          { title: 'ordered bundle' },
        ),
        { description: 'The bundles of the order; absent: it has none.' },
      ),
    ),
    buyer: { ...BuyerAnswer, description: "The buyer's details as a business." },
    deliveryOption: OrderDeliveryOption,
    shipments: Type.Array(
      Type.Object(
        {
          shipmentId: Id,
          shippedOn: moment('When it was shipped.'),
          lines: PartLines,
          carrier: text('The carrier.', 'DHL'),
          trackingCode: text(
            'The tracking code of the carrier; of several parcels that of the first.',
            '00340434161094042557',
          ),
          parcels: Type.Array(
            Type.Object(
              {
                trackingCode: Type.String({
                  description: 'The tracking code of the carrier.',
                  examples: ['00340434161094042557'],
                }),
                trackingUrl: text(
                  "The carrier's page of it; null: it is unknown.",
                  'https://www.dhl.com/global-en/home/tracking.html?tracking-id=00340434161094042557',
                ),
              },
              { title: 'parcel' },
            ),
            { description: 'Its parcels with a tracking code.' },
          ),
        },
        { title: 'shipment' },
      ),
      { description: 'Oldest first.' },
    ),
    returns: Type.Array(
      Type.Object(
        {
          ...returnFields,
          dueAmount: {
            ...Price,
            description:
              'The refund of the return: the share of its items after discounts, and with the last item of the order the cost of delivery and payment, if the shop refunds it. Of one that is approved or withdrawn: what it will be. 0 before.',
          },
          refundedAmount: {
            ...Price,
            description: 'The part of it that was refunded; goodwill does not count.',
          },
          refundableAmount: { ...Price, description: 'The rest of it, as far as it was paid.' },
        },
        { title: 'return' },
      ),
      { description: 'Oldest first.' },
    ),
    payments: Type.Array(
      Type.Object(
        {
          paymentId: Id,
          recordedOn: moment('When it was recorded.'),
          kind: Type.Enum(['payment', 'refund'], { description: 'In or out.', examples: ['payment'] }),
          amount: { ...Price, description: 'How much; positive in both cases.' },
          reference: text("The provider's reference.", 'QP-4711'),
          note: text('Note of the merchant.', 'by bank transfer'),
          returnId: Nullable({ ...Id, description: 'The return that it was refunded for.' }),
          giftCardId: Type.Optional({
            ...Id,
            description: 'The gift card that has paid, or that the refund went to; absent: it was money.',
          }),
          state: Type.Optional(
            Type.Enum(['requested', 'failed'], {
              description:
                'Of a refund through a payment provider that is not done: requested until the provider has made it; one that has failed counts for nothing. Absent: it is done.',
              examples: ['requested'],
            }),
          ),
          goodwill: Type.Optional(
            Type.Object(
              {
                amount: { ...Price, description: 'The part of the refund that is goodwill.' },
                reason: text('Why.', 'arrived late'),
              },
              { title: 'goodwill', description: 'Of a goodwill refund; absent: it is none.' },
            ),
          ),
        },
        { title: 'order payment' },
      ),
      { description: 'Payments and refunds, oldest first.' },
    ),
    paymentAttempts: Type.Optional(
      Type.Array(
        Type.Object(
          {
            attemptId: { ...Id, description: 'The payment that it becomes has the same id.' },
            startedOn: moment('When it began.'),
            provider: Type.String({ description: 'The payment provider.', examples: ['stripe'] }),
            state: Type.Enum(
              ['starting', 'open', 'processing', 'authorized', 'paid', 'failed', 'cancelled'],
              {
                description:
                  'What is known of it: open can still be paid; processing is on its way; authorized is reserved, and waits to be captured.',
                examples: ['paid'],
              },
            ),
            amount: { ...Price, description: 'How much was asked for.' },
            reference: text("The provider's reference.", 'cs_test_a1b2c3'),
            error: text('Why the provider could not be asked, or has refused.', 'Your card was declined.'),
          },
          { title: 'payment attempt' },
        ),
        {
          description: 'Payments through a payment provider that were begun, oldest first. Absent: none was.',
        },
      ),
    ),
  },
  { title: 'order management', description: 'What only the back office sees.' },
);

export const ManagedOrderAnswer = Type.Object(
  { ...Order.properties, management: Management },
  { title: 'managed order' },
);
export type ManagedOrderAnswer = Static<typeof ManagedOrderAnswer>;

export const HistoryEntry = Type.Object(
  {
    eventId: { ...Id, description: 'Of the placing: the id of the order.' },
    date: moment('When it happened.'),
    appId: Nullable({ ...Id, description: 'The app that did it; null: the shop itself.' }),
    appName: text('Its name.', 'Warehouse'),
    kind: Type.Enum(['placed', ...HISTORY_KINDS], {
      description: 'What happened.',
      examples: ['line changed'],
    }),
    details: Type.Object({}, { additionalProperties: true, description: 'The details of the change.' }),
  },
  { title: 'order history entry' },
);

const amount = (description: string, example: number) =>
  Decimal(`${description} In the currency of the order, with no more decimals than it has.`, example);
const note = Given(Text('Note of the merchant.', 'by bank transfer', 1_000));
const reference = Given(Text("The provider's reference.", 'QP-4711', 200));
const unitPrice = Given(
  amount('Price of one unit, in the terms of the order; absent: that of the product.', 12.5),
);

export const AddedLine = Type.Object(
  {
    productId: { ...Id, description: 'The product; of a master one of its variations.' },
    quantity: Decimal('Quantity.', 2),
    price: unitPrice,
    customText: CustomTextRequest,
  },
  { title: 'order line (create request)' },
);

export const ChangedLine = Type.Object(
  {
    quantity: Given(Decimal('New quantity.', 2)),
    price: Given(amount('Price of one unit, in the terms of the order.', 12.5)),
  },
  { title: 'order line (update request)', minProperties: 1 },
);

const newPrice = Given(
  amount('What it costs, in the terms of the order; absent: by its rules of today.', 3.95),
);

export const ChangedShipping = Type.Object(
  { shippingMethodId: { ...Id, description: 'One of the shipping methods of the shop.' }, price: newPrice },
  { title: 'order shipping (update request)' },
);

export const ChangedPayment = Type.Object(
  { paymentMethodId: { ...Id, description: 'One of the payment methods of the shop.' }, price: newPrice },
  { title: 'order payment (update request)' },
);

export const Cancellation = Type.Object(
  {
    reason: Given(Text('Why; it stays in the history, so say nothing of a person.', 'ordered twice', 1_000)),
  },
  { title: 'order cancellation (request)' },
);

export const EmailAgain = Type.Object(
  {
    documentId: Given({
      ...Id,
      description: 'The document that is sent; absent: the confirmation of the order.',
    }),
  },
  { title: 'order email (create request)' },
);

export const MoneyRequest = Type.Object(
  { amount: amount('How much.', 46.33), reference, note },
  { title: 'order payment (create request)' },
);

const goodwill = (description: string) =>
  Given(Type.String({ description, minLength: 1, maxLength: 1_000, examples: ['arrived late'] }));

export const NewRefund = Type.Object(
  {
    ...MoneyRequest.properties,
    returnId: Given({ ...Id, description: 'The return that it is for; absent: the order.' }),
    asStoreCredit: Given(
      Type.Boolean({
        description:
          'Refunds as store credit: a new gift card of the customer, whose code is sent by email. Only where the customer agrees: the law entitles to money. Absent: the part that gift cards have paid goes back to them, and only then money is paid back.',
        examples: [false],
      }),
    ),
    goodwill: goodwill(
      'Why it is a goodwill refund, which returns and cancellations do not justify: the whole amount, or with returnId the part beyond the refund of the return.',
    ),
  },
  { title: 'order refund (create request)' },
);

const PartLinesRequest = Type.Array(
  Type.Object({ lineItemId: Id, quantity: Decimal('Quantity.', 2) }, { title: 'line quantity (request)' }),
  { minItems: 1, maxItems: MAX_LINES, description: 'The quantities of the lines.' },
);

export const MAX_TRACKING_CODE = 200;
/** The parcels of a shipment. */
export const MAX_PARCELS = 20;

export const NewShipment = Type.Object(
  {
    lines: Given({
      ...PartLinesRequest,
      description: 'The shipped lines; absent: everything that has not been shipped yet.',
    }),
    carrier: Given(Text('The carrier.', 'DHL', 200)),
    trackingCode: Given(
      Text(
        'The tracking code of the carrier. Several parcels have theirs in `parcels`; then this is absent, or that of the first.',
        '00340434161094042557',
        MAX_TRACKING_CODE,
      ),
    ),
    parcels: Given(
      Type.Array(
        Type.Object(
          {
            trackingCode: Type.String({
              description: 'The tracking code of the carrier.',
              minLength: 1,
              maxLength: MAX_TRACKING_CODE,
              examples: ['00340434161094042557'],
            }),
            trackingUrl: Given(
              Type.String({
                description:
                  "The carrier's page of it, with https; absent: it follows from the carrier and the tracking code.",
                pattern: '^https://',
                maxLength: 2_000,
                examples: ['https://tracking.example/00340434161094042557'],
              }),
            ),
          },
          { title: 'parcel (request)' },
        ),
        { maxItems: MAX_PARCELS, description: 'Its parcels.' },
      ),
    ),
  },
  { title: 'shipment (create request)' },
);

export const NewReturn = Type.Object(
  {
    lines: { ...PartLinesRequest, description: 'What came back.' },
    restock: Given(
      Type.Boolean({ description: 'Whether it goes back into the stock; absent: yes.', examples: [true] }),
    ),
    refund: Given(amount('What is refunded for it; absent: nothing.', 12.5)),
    goodwill: goodwill('Why more is refunded than the items justify.'),
    note,
  },
  { title: 'return (create request)' },
);

export const ListedReturnAnswer = Type.Object(
  {
    orderId: { ...Id, description: 'The order that it is of.' },
    orderNumber: Type.String({ description: 'Its visible number.', examples: ['ORD261115/1001'] }),
    ...returnFields,
  },
  { title: 'return with order' },
);

export const ReturnUpdate = Type.Object(
  {
    state: Type.Enum(['approved', 'rejected', 'received', 'refunded'], {
      description: 'The next state.',
      examples: ['approved'],
    }),
    restock: Given(
      Type.Boolean({
        description: 'Of received goods: whether they go back into the stock; absent: yes.',
        examples: [true],
      }),
    ),
    refund: Given(amount('What is refunded; needed for refunded, and only there.', 12.5)),
    goodwill: goodwill('Why more is refunded than the return justifies.'),
    note: Given(
      Text(
        'Note of the merchant; the customer reads it when the return is approved or rejected.',
        'unopened',
        1_000,
      ),
    ),
  },
  { title: 'return (update request)' },
);

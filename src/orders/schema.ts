import { Type, type Static } from 'typebox';
import { LineItemContainer, PaymentData, ShippingData } from './line-item-schema.ts';
import { Address } from '../shops/countries/address.ts';
import { ShownFields } from '../shops/settings/shown-fields.ts';
import { Id, Links, Nullable } from '../http/schemas.ts';

/** An order as answers show it. Keys stand in the order of the wire. */

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const moment = (description: string) => Nullable(text(description, '2026-11-15T08:30:00.000Z'));
/** A decimal as text, without trailing zeros. */
const total = (description: string, example: string) =>
  Type.String({
    title: 'decimal text',
    description: `${description} A decimal as text.`,
    examples: [example],
  });

/** The states of an order: each is the time when it was reached, or null. In the order of the wire. */
export const STATES = [
  'viewedOn',
  'rejectedOn',
  'inProcessOn',
  'pendingOn',
  'readyForDispatchOn',
  'partiallyDispatchedOn',
  'dispatchedOn',
  'deliveredOn',
  'partiallyInvoicedOn',
  'invoicedOn',
  'partiallyPaidOn',
  'paidOn',
  'returnedOn',
  'closedOn',
  'archivedOn',
] as const;
export type State = (typeof STATES)[number];

/** The states that filter lists. */
export const STATE_FILTERS = [
  'viewedOn',
  'pendingOn',
  'archivedOn',
  'rejectedOn',
  'closedOn',
  'dispatchedOn',
  'paidOn',
  'returnedOn',
  'deliveredOn',
  'invoicedOn',
] as const satisfies State[];

export const Order = Type.Object(
  {
    orderId: Id,
    orderNumber: text('The visible number.', 'ORD261115/1001'),
    creationDate: text('When it was placed, UTC.', '2026-11-15T08:30:00.000Z'),
    customerId: { ...Id, description: 'The buyer.' },
    customerNumber: text('Number of the customer.', '1027'),
    locale: Nullable(text('Language of the checkout.', 'en_GB')),
    currencyId: text('ISO 4217 code.', 'EUR'),
    taxModel: Type.Enum(['GROSS', 'NET'], {
      description: 'Whether the prices contain tax.',
      examples: ['GROSS'],
    }),
    grandTotal: total('What is to be paid.', '46.33'),
    totalBeforeTax: total('The same without tax.', '40.29'),
    totalTax: total('The tax.', '6.04'),
    customerComment: Nullable(text("The customer's comment.", 'Please ring twice')),
    internalNote: Nullable(text('Note of the merchant.', 'pays on time')),
    billingAddress: { ...Address, description: 'The billing address.' },
    shippingAddress: Nullable({
      ...Address,
      description: 'Where the goods go; null: to the billing address.',
    }),
    shippingData: Nullable({ ...ShippingData, description: 'The delivery; null when nothing is shipped.' }),
    paymentData: Nullable({ ...PaymentData, description: 'The payment; null when nothing was bought.' }),
    viewedOn: moment('Seen by the merchant.'),
    lastUpdatedOnDate: moment('Its content was changed.'),
    rejectedOn: moment('Rejected.'),
    inProcessOn: moment('In process.'),
    pendingOn: moment('Waiting for something.'),
    readyForDispatchOn: moment('Ready to be sent.'),
    partiallyDispatchedOn: moment('A part was sent.'),
    dispatchedOn: moment('Sent.'),
    deliveredOn: moment('Delivered.'),
    partiallyInvoicedOn: moment('A part was invoiced.'),
    invoicedOn: moment('Invoiced.'),
    partiallyPaidOn: moment('A part was paid.'),
    paidOn: moment('Paid.'),
    returnedOn: moment('Sent back.'),
    closedOn: moment('Closed.'),
    archivedOn: moment('Archived.'),
    lineItemContainer: { ...LineItemContainer, description: 'The ordered lines, and their totals.' },
    links: Links,
    fields: ShownFields,
  },
  { title: 'order' },
);
export type Order = Static<typeof Order>;

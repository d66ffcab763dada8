import { Type, type Static } from 'typebox';
import { LineItemContainer, MAX_LINES } from '../line-item-schema.ts';
import { Address } from '../../shops/countries/address.ts';
import { Id, Links } from '../../http/schemas.ts';
import { TRANSPORT_PROVIDERS } from '../transport/provider.ts';
import { DELIVERY_STATES } from '../transport/queries.ts';
import { ELECTRONIC_FORMATS } from './electronic-format.ts';
import { DOCUMENT_KINDS } from './facts.ts';
import { Decimal, Given, Text } from '../../http/request-fields.ts';

/** Characters of the note on one document. */
const MAX_DOCUMENT_NOTE_LENGTH = 2_000;

const moment = (description: string) => Type.String({ description, examples: ['2026-11-15T08:30:00.000Z'] });

/** A document as answers show it. Keys stand in the order of the wire. */
export const OrderDocument = Type.Object(
  {
    orderId: { ...Id, description: 'Its order.' },
    documentType: Type.Enum([...DOCUMENT_KINDS], { description: 'What it is.', examples: ['Invoice'] }),
    documentNumber: Type.String({
      description: 'Its number: without gaps, per shop and kind.',
      examples: ['1001'],
    }),
    issueDate: moment('Its date, UTC.'),
    creationDate: moment('When it was finalised, UTC.'),
    address: { ...Address, description: 'The billing address.' },
    lineItemContainer: { ...LineItemContainer, description: 'Its lines, and what they came to.' },
    documentPdf: Type.Optional(
      Type.String({ description: 'The PDF in base64; with includePdf.', examples: ['JVBERi0xLjcK'] }),
    ),
    links: Links,
  },
  { title: 'orderDocument' },
);
export type OrderDocument = Static<typeof OrderDocument>;

/** The same for requests that create one. */
export const FinalisedDocument = Type.Object(
  { documentId: Id, ...OrderDocument.properties },
  { title: 'final order document' },
);

export const DocumentDelivery = Type.Object(
  {
    provider: Type.Enum([...TRANSPORT_PROVIDERS], {
      description: 'The access point that sends it to the network.',
      examples: ['e-invoice.be'],
    }),
    state: Type.Enum([...DELIVERY_STATES], {
      description:
        'waiting: nothing was done yet; stored: the provider has it and has not sent it; sending: it is on its way.',
      examples: ['delivered'],
    }),
    error: Type.Union([Type.String(), Type.Null()], {
      description: 'The last failure; null: there was none.',
      examples: ['e-invoice.be answered 503'],
    }),
    updatedOn: moment('When it last changed, UTC.'),
  },
  { title: 'document delivery' },
);

export const ElectronicFile = Type.Object(
  {
    documentId: Id,
    format: Type.Enum([...ELECTRONIC_FORMATS], {
      description: 'The format of this file.',
      examples: ['xrechnung-ubl'],
    }),
    fileName: Type.String({ description: 'A name for the file.', examples: ['Rechnung-1001.xml'] }),
    xml: Type.String({
      description: 'The document as XML of EN 16931.',
      examples: ['<?xml version="1.0" encoding="UTF-8"?>'],
    }),
    sha256: Type.String({
      description: 'Checksum of the file in UTF-8, hexadecimal.',
      examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    }),
    delivery: Type.Union([DocumentDelivery, Type.Null()], {
      description: 'Its way through the Peppol network; null: it goes by email only.',
    }),
  },
  { title: 'electronic document' },
);

const finalising = {
  lines: Given(
    Type.Array(
      Type.Object(
        {
          lineItemId: { ...Id, description: 'A line of the order.' },
          quantity: Decimal('How much of it.', 2),
        },
        { title: 'document line (request)' },
      ),
      {
        minItems: 1,
        maxItems: MAX_LINES,
        description: 'The lines it is over; absent: everything that is left.',
      },
    ),
  ),
  issueDate: Given(Text('The date on it, at most a year from today; absent: today.', '2026-11-15', 64)),
  note: Given(Text('Printed on this document alone.', 'As agreed on the phone', MAX_DOCUMENT_NOTE_LENGTH)),
};
const shipping = (description: string) => Given(Type.Boolean({ description, examples: [true] }));

export const NewInvoice = Type.Object(
  {
    ...finalising,
    shipping: shipping(
      'Whether it carries the cost of delivery and payment, which one invoice of an order does; absent: the first.',
    ),
  },
  { title: 'invoice (create request)' },
);

export const NewCreditNote = Type.Object(
  {
    ...finalising,
    shipping: shipping(
      'Whether the cost of delivery and payment is credited as well; absent: when everything else is.',
    ),
    invoiceNumber: Given(
      Text('The invoice that is credited; may be absent when the order has one.', '1001', 32),
    ),
    returnId: Given({
      ...Id,
      description:
        'The return whose items are credited, in place of lines: the refund of the return becomes the amount of the credit note.',
    }),
    refund: Given(
      Type.Boolean({
        description:
          'Whether what it comes to is paid back with it, as far as it was paid and has not been paid back before; absent: no.',
        examples: [false],
      }),
    ),
  },
  { title: 'credit note (create request)' },
);

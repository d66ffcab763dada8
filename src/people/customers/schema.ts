import { ShownFields } from '../../shops/settings/shown-fields.ts';
import { Type, type Static } from 'typebox';
import { Id, Links, Nullable, Timestamp } from '../../http/schemas.ts';
import { Address } from '../../shops/countries/address.ts';

/** Characters of the note about a customer. */
export const MAX_CUSTOMER_NOTE_LENGTH = 10_000;

export const customerNumberOptions = {
  description: 'The visible number, unique in the shop.',
  examples: ['1027'],
};
export const customerNoteOptions = { description: 'Note of the merchant.', examples: ['pays on time'] };

export const Customer = Type.Object(
  {
    customerId: Id,
    customerNumber: Type.String(customerNumberOptions),
    creationDate: Timestamp,
    billingAddress: Nullable({ ...Address, description: 'Where invoices go.' }),
    internalNote: Nullable(Type.String(customerNoteOptions)),
    links: Links,
    fields: ShownFields,
  },
  { title: 'customer' },
);
export type Customer = Static<typeof Customer>;

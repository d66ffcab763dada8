import { Type, type Static } from 'typebox';
import { Id, Links, Nullable, Timestamp } from '../../http/schemas.ts';
import { Address } from '../../shops/countries/address.ts';

/** Characters of the note about a customer. */
export const MAX_CUSTOMER_NOTE_LENGTH = 10_000;

export const number = { description: 'The visible number, unique in the shop.', examples: ['1027'] };
export const note = { description: 'Note of the merchant.', examples: ['pays on time'] };

export const Customer = Type.Object(
  {
    customerId: Id,
    customerNumber: Type.String(number),
    creationDate: Timestamp,
    billingAddress: Nullable({ ...Address, description: 'Where invoices go.' }),
    internalNote: Nullable(Type.String(note)),
    links: Links,
  },
  { title: 'customer' },
);
export type Customer = Static<typeof Customer>;

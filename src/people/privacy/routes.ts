import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { dropCachedCart } from '../../carts/cart-cache.ts';
import { Address } from '../../shops/countries/address.ts';
import { notFound } from '../../http/errors.ts';
import type { Operations } from '../../http/operation.ts';
import { Id, Nullable, Timestamp } from '../../http/schemas.ts';
import { eraseCustomerData } from './erase.ts';
import { personText } from './export.ts';
import { findPerson } from './queries.ts';

const count = (description: string) => Type.Integer({ description, examples: [2] });
const number = Type.String({ description: 'The visible number, unique in the shop.', examples: ['1027'] });
const records = (description: string) =>
  Type.Array(Type.Object({}, { additionalProperties: true }), { description });

/** It is written piece by piece and never by this schema, which is for the reference. */
const PersonExport = Type.Object(
  {
    customerId: Id,
    exportedOn: Timestamp,
    customer: Type.Object(
      {
        customerNumber: number,
        creationDate: Timestamp,
        customerGroup: Nullable(
          Type.String({ description: 'Group with prices of its own.', examples: ['Cafes'] }),
        ),
        billingAddress: Nullable({ ...Address, description: 'Where invoices go.' }),
        internalNote: Nullable(
          Type.String({ description: 'Note of the merchant.', examples: ['pays on time'] }),
        ),
      },
      { description: 'The customer.' },
    ),
    emailAddresses: Type.Array(Type.String(), {
      description: 'By which the rest was found.',
      examples: [['ada@pelican.example']],
    }),
    newsletterSubscriptions: records('Newsletters, subscribed or not.'),
    newsletterRequests: records('Newsletters that were asked for and are not confirmed.'),
    availabilityWatches: records('Products to be told of when they are back.'),
    carts: records('Open carts.'),
    mails: records('Mails that wait, or that could not be sent.'),
    orders: records(
      'Orders as everywhere else, oldest first, and of each its documents (without the files), payments, shipments, returns and history.',
    ),
    auditEntries: records('Who has changed the customer or an order, and when; oldest first.'),
  },
  { title: 'customer (export)' },
);

const Erasure = Type.Object(
  {
    customerId: Id,
    customerNumber: number,
    customer: Type.String({
      description: 'anonymised: orders hold on to the number; deleted: there was no order.',
      examples: ['anonymised'],
    }),
    ordersAnonymised: count('Orders that have lost their addresses, comments and notes.'),
    documentsKept: count('Invoices and credit notes, which stay as they are.'),
    cartsDeleted: count('Open carts.'),
    subscriptionsDeleted: count('Newsletter subscriptions.'),
    watchesDeleted: count('Products that were watched.'),
    mailsDeleted: count('Mails that were waiting, or could not be sent.'),
    note: Type.String({
      description: 'What was not erased, and why.',
      examples: ['Invoices and credit notes stay as they are for as long as the law demands.'],
    }),
  },
  { title: 'customer (erasure)' },
);

export const KEPT =
  'Invoices and credit notes stay as they are, with the address on them, for as long as the law demands that they are kept.';

const facts = { under: 'manage', tag: 'customers', labels: [] } as const;
const params = Type.Object({ customerId: Id });

export function privacy(api: Operations): void {
  api.read(
    {
      ...facts,
      method: 'GET',
      path: '/customers/:customerId/export',
      name: 'exportCustomer',
      summary: 'Export customer',
      description:
        'Everything that is held about a person: the customer, orders with all that belongs to them, and what is known by the mail address. Every export is in the audit log.',
      access: { allOf: ['customers_read', 'orders_read'] },
      isReadAudited: true,
      params,
      answer: PersonExport,
    },
    async ({ db, shopId, params: { customerId }, origin }) => {
      const person = await findPerson(db, shopId, customerId);
      if (!person) throw notFound();
      return Readable.from(personText(db, shopId, person, origin), {
        objectMode: false,
        highWaterMark: 65_536,
      });
    },
  );

  api.write(
    {
      ...facts,
      method: 'POST',
      path: '/customers/:customerId/erase',
      name: 'eraseCustomer',
      summary: 'Erase customer',
      description:
        'Forgets a person. Orders keep their numbers, lines and sums; of their addresses only the country and the ' +
        'beginning of the postcode stay. Who never ordered is deleted. Open carts, subscriptions, watches and waiting ' +
        'mails go. Invoices and credit notes stay as they are, because the law demands it. 409: an order is not ' +
        'finished (closed, rejected, cancelled, or paid and delivered), or is being edited; `force` erases all the same.',
      access: { allOf: ['customers_write', 'orders_write'] },
      params,
      query: Type.Object({
        force: Type.Optional(
          Type.Boolean({ description: 'true: also orders that are not finished.', examples: [false] }),
        ),
      }),
      answer: Erasure,
    },
    async ({ tx, shopId, params: { customerId }, query, caller, afterCommit }) => {
      const erasure = await eraseCustomerData(tx, shopId, customerId, {
        appId: caller.app?.appId ?? null,
        force: query.force ?? false,
      });
      if (!erasure) throw notFound();
      const { cartIds, ...done } = erasure;
      afterCommit(() => {
        for (const cartId of cartIds) dropCachedCart(tx, shopId, cartId);
      });
      return { ...done, cartsDeleted: cartIds.length, note: KEPT };
    },
  );
}

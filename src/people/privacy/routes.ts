import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { Address } from '../../shops/countries/address.ts';
import { notFound } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Nullable, Timestamp } from '../../http/schemas.ts';
import type { PersonalData } from '../../platform/personal-data.ts';
import { eraseCustomerData } from './erase.ts';
import { exportText } from './export.ts';
import { findCustomerRecord } from './queries.ts';
import { byCaller, insertPrivacyRequest } from './requests.ts';

const count = (description: string) => Type.Integer({ description, examples: [2] });
const number = Type.String({ description: 'The visible number, unique in the shop.', examples: ['1027'] });
const records = (description: string) =>
  Type.Array(Type.Object({}, { additionalProperties: true }), { description });

/** Describes an export in the reference. The export itself is streamed, never serialised by this schema. */
const personExport = (sources: readonly PersonalData[]) =>
  Type.Object(
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
          vatCheck: Nullable(
            Type.Object(
              {},
              {
                additionalProperties: true,
                description: 'The last check of the VAT number with the tax authorities.',
              },
            ),
          ),
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
      ...Object.fromEntries(
        sources
          .flatMap(({ sections }) => Object.entries(sections))
          .map(([name, { description }]) => [name, records(description)]),
      ),
    },
    { title: 'customer (export)' },
  );

const erasureAnswer = (sources: readonly PersonalData[]) =>
  Type.Object(
    {
      customerId: Id,
      customerNumber: number,
      customer: Type.String({
        description: 'anonymised: orders hold on to the number; deleted: there was no order.',
        examples: ['anonymised'],
      }),
      ...Object.fromEntries(
        sources
          .flatMap(({ counts = {} }) => Object.entries(counts))
          .map(([name, description]) => [name, count(description)]),
      ),
      note: Type.String({
        description: 'The data that was not erased, with the reasons.',
        examples: ['Invoices and credit notes stay as they are for as long as the law demands.'],
      }),
    },
    { title: 'customer (erasure)' },
  );

const NOTE =
  'Invoices and credit notes stay as they are, with the address on them, for as long as the law demands that they are kept.';

/* The answers below are those of a customer alone; a service adds the parts of its modules. */

const shared = { under: 'manage', tag: 'customers', labels: [] } as const;
const params = Type.Object({ customerId: Id });

export const exportCustomer = operation({
  ...shared,
  method: 'GET',
  path: '/customers/:customerId/export',
  name: 'exportCustomer',
  summary: 'Export customer',
  description:
    'All data of a person: the customer, the orders with everything that belongs to them, and everything stored under the email address. Every export is in the audit log and in the record of privacy requests.',
  access: { allOf: ['customers_read', 'orders_read'] },
  isReadAudited: true,
  params,
  answer: Type.Unsafe<Readable>(personExport([])),
});

export const eraseCustomer = operation({
  ...shared,
  method: 'POST',
  path: '/customers/:customerId/erase',
  name: 'eraseCustomer',
  summary: 'Erase customer',
  description:
    'Erases the data of a person. Orders keep their numbers, lines and sums; of their addresses only the country and the beginning of the postcode stay. A customer without orders is deleted, and so are open carts, subscriptions, watches and queued emails. Invoices and credit notes stay as the law requires. 409: an order is not ' +
    'finished (closed, rejected, cancelled, or paid and delivered), or is being edited; `force` erases anyway.',
  access: { allOf: ['customers_write', 'orders_write'] },
  params,
  query: Type.Object({
    force: Type.Optional(
      Type.Boolean({ description: 'true: also orders that are not finished.', examples: [false] }),
    ),
  }),
  answer: erasureAnswer([]),
});

export function privacyOperations(api: Operations, sources: readonly PersonalData[]): void {
  api.read(
    { ...exportCustomer, answer: Type.Unsafe<Readable>(personExport(sources)) },
    async ({ db, shopId, params: { customerId }, origin, caller }) => {
      const person = await findCustomerRecord(db, shopId, customerId);
      if (!person) throw notFound();
      await insertPrivacyRequest(db, shopId, 'export', person, byCaller(caller.app));
      return Readable.from(exportText(db, sources, { shopId, person, origin }), {
        objectMode: false,
        highWaterMark: 65_536,
      });
    },
  );

  api.write(
    { ...eraseCustomer, answer: erasureAnswer(sources) },
    async ({ tx, shopId, params: { customerId }, query, caller, afterCommit }) => {
      const erasure = await eraseCustomerData(tx, sources, {
        shopId,
        customerId,
        by: byCaller(caller.app),
        appId: caller.app?.appId ?? null,
        force: query.force ?? false,
        afterCommit,
      });
      if (!erasure) throw notFound();
      const { counts, ...customer } = erasure;
      return { ...customer, ...counts, note: NOTE };
    },
  );
}

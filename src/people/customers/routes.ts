import { Type } from 'typebox';
import { IncludeFields } from '../../shops/settings/shown-fields.ts';
import { audienceOf } from '../../fields/access.ts';
import { FieldFilter, requestedValues } from '../../fields/filter.ts';
import { withFields } from '../../fields/values.ts';
import { toSeconds } from '../../http/dates.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { JsonPatch, patchOf } from '../../http/json-patch.ts';
import { readingLocale } from '../../http/locale.ts';
import { operation, type ReadCall } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, LocaleParameter, Nullable, Paged } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { recordEvents, takeTimeOfCommit } from '../../platform/events/log.ts';
import { AddressRequest, toAddress } from '../../shops/countries/address.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import {
  countCustomers,
  findCustomer,
  findCustomers,
  findCustomersWith,
  insertCustomer,
  insertNumberedCustomer,
  lockCustomer,
  updateCustomerRow,
  type CustomerRow,
} from './queries.ts';
import { Customer, customerNoteOptions, customerNumberOptions, MAX_CUSTOMER_NOTE_LENGTH } from './schema.ts';

const CustomerNumber = Type.String({ ...customerNumberOptions, minLength: 1, maxLength: 64 });
const InternalNote = Type.String({ ...customerNoteOptions, maxLength: MAX_CUSTOMER_NOTE_LENGTH });

const NewCustomer = Type.Object(
  {
    customerNumber: Type.Optional(
      Nullable(
        Type.String({
          ...customerNumberOptions,
          description: 'Unique; absent: the next free one.',
          maxLength: 64,
        }),
      ),
    ),
    internalNote: Type.Optional(Nullable(InternalNote)),
    billingAddress: { ...AddressRequest, description: 'Where invoices go; no field is required.' },
  },
  { title: 'customer (create request)' },
);

const patch = patchOf({
  '/customerNumber': { ops: ['add'], value: CustomerNumber },
  '/billingAddress': { ops: ['add', 'remove'], value: AddressRequest },
  '/internalNote': { ops: ['add', 'remove'], value: InternalNote },
});

const { parameters, pageOf } = paging();
const shared = { tag: 'customers', labels: ['Base', 'Now'], keepsKeyOrder: true } as const;
const numberTaken = () => new Refusal('CUSTOMER_NUMBER_TAKEN');

export const listCustomers = operation({
  ...shared,
  method: 'GET',
  path: '/customers',
  name: 'listCustomers',
  summary: 'List customers',
  description: 'Oldest first.',
  access: 'customers_read',
  query: Type.Object({
    locale: LocaleParameter,
    ...parameters,
    field: FieldFilter,
    includeFields: IncludeFields,
  }),
  answer: Paged(Customer, 'customer list'),
});

export const createCustomer = operation({
  ...shared,
  method: 'POST',
  path: '/customers',
  name: 'createCustomer',
  summary: 'Create customer',
  access: 'customers_write',
  body: NewCustomer,
  status: 201,
  answer: Customer,
});

export const getCustomer = operation({
  ...shared,
  method: 'GET',
  path: '/customers/:customerId',
  name: 'getCustomer',
  summary: 'Get customer',
  access: 'customers_read',
  params: Type.Object({ customerId: Id }),
  query: Type.Object({ locale: LocaleParameter, includeFields: IncludeFields }),
  answer: Customer,
});

export const updateCustomer = operation({
  ...shared,
  method: 'PATCH',
  path: '/customers/:customerId',
  name: 'updateCustomer',
  summary: 'Update customer',
  description:
    'Paths: /customerNumber (add), /billingAddress (add, remove), /internalNote (add, remove). All or nothing.',
  access: 'customers_write',
  params: Type.Object({ customerId: Id }),
  body: JsonPatch,
  answer: Customer,
  constraints: { customer_number: numberTaken },
});

export function customerOperations(api: Operations): void {
  api.read(listCustomers, async (call) => {
    const { db, shopId, query, link } = call;
    const page = pageOf(query);
    const { resultsPerPage: limit, offset } = page;
    if (query.field !== undefined) {
      const settings = await shopSettings(db, shopId);
      const wanted = requestedValues(settings, 'customer', audienceOf(call.caller), query.field);
      const found = await findCustomersWith(db, shopId, wanted, { limit, offset });
      const matching = found.rows.map((row) => toCustomer(row, link));
      return paged(page, found.results, await besideFields(call, matching));
    }
    const [results, rows] = await Promise.all([
      countCustomers(db, shopId),
      findCustomers(db, shopId, limit, offset),
    ]);
    const items = rows.map((row) => toCustomer(row, link));
    return paged(page, results, await besideFields(call, items));
  });

  api.write(createCustomer, async ({ tx, shopId, body, link, created }) => {
    const { customerNumber } = body;
    const customer = {
      customerId: newId(tx.now),
      billingAddress: toAddress(body.billingAddress, 'billingAddress'),
      internalNote: body.internalNote ?? null,
    };
    // Placing an order locks the event counter before a customer number, even one that was given by hand.
    await takeTimeOfCommit(tx, shopId);
    const row = customerNumber
      ? await insertCustomer(tx, shopId, { ...customer, customerNumber })
      : await insertNumberedCustomer(tx, shopId, customer);
    if (!row) throw numberTaken();
    created({ customerId: customer.customerId });
    recordEvents(tx, shopId, [{ type: 'CUSTOMER_CREATE', resourceId: customer.customerId }]);
    return toCustomer(row, link);
  });

  api.read(getCustomer, async (call) => {
    const { db, shopId, params, link } = call;
    const row = await findCustomer(db, shopId, params.customerId);
    if (!row) throw notFound();
    const [customer] = await besideFields(call, [toCustomer(row, link)]);
    return customer!;
  });

  api.write(updateCustomer, async ({ tx, shopId, params, body, link }) => {
    const changes = patch(body);
    const row = await lockCustomer(tx, shopId, params.customerId);
    if (!row) throw notFound();
    changes.forEach((change, index) => {
      switch (change.path) {
        case '/customerNumber':
          if (change.op !== 'remove') row.customerNumber = change.value;
          break;
        case '/billingAddress':
          row.billingAddress =
            change.op === 'remove' ? null : toAddress(change.value, `[${index}] ${change.path}`);
          break;
        case '/internalNote':
          row.internalNote = change.op === 'remove' ? null : change.value;
          break;
      }
    });
    await updateCustomerRow(tx, shopId, row);
    return toCustomer(row, link);
  });
}

/** With their custom fields, where they are asked for. */
async function besideFields(
  call: ReadCall<unknown, { locale?: string; includeFields?: boolean }, unknown>,
  customers: Customer[],
): Promise<Customer[]> {
  const { db, shopId, query } = call;
  if (!query.includeFields) return customers;
  const settings = await shopSettings(db, shopId);
  const locale = readingLocale(query.locale, settings);
  return withFields(call, settings, locale, ['customer'], customers, ({ customerId }) => customerId);
}

export function toCustomer(row: CustomerRow, link: (path: string) => string): Customer {
  const customerId = row.customerId.toUpperCase();
  return {
    customerId,
    customerNumber: row.customerNumber,
    creationDate: toSeconds(row.createdAt),
    billingAddress: row.billingAddress,
    internalNote: row.internalNote,
    links: [
      { rel: 'self', href: link(`/customers/${customerId}`) },
      { rel: 'orders', href: link(`/orders?customerId=${customerId}`) },
    ],
  };
}

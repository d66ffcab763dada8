import { Type } from 'typebox';
import { fieldOperations, fieldValues, type FieldedThing } from '../../fields/values.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { findCustomer, lockCustomer } from './queries.ts';

export const customerFieldOperations = fieldOperations({
  noun: 'customer',
  name: 'Customer',
  path: '/customers/:customerId',
  tag: 'customers',
  params: Type.Object({ customerId: Id }),
  read: 'customers_read',
  write: 'customers_write',
});

export function customerFields(api: Operations): void {
  fieldValues(api, customerFieldOperations, {
    find: async ({ db, shopId, params: { customerId } }) =>
      (await findCustomer(db, shopId, customerId)) && toThing(customerId),
    lock: async ({ tx, shopId, params: { customerId } }) =>
      (await lockCustomer(tx, shopId, customerId)) && toThing(customerId),
  });
}

const toThing = (customerId: string): FieldedThing => ({
  resource: 'customer',
  owner: { resourceId: customerId, customerId },
});

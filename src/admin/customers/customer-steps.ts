import { getCustomer } from '../../people/customers/routes.ts';
import type { Customer } from '../../people/customers/schema.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { personName } from './names.ts';

export const listStep = (visit: ShopVisit) => ({
  href: adminPath(visit, '/customers'),
  text: visit.messages.layout.menuEntries.customers,
});

export const customerStep = (visit: ShopVisit, customer: Customer) => ({
  href: adminPath(visit, `/customers/${customer.customerId}`),
  text: titleOf(customer),
});

/** The title of this customer's pages. */
export const titleOf = ({ billingAddress, customerNumber }: Customer) =>
  personName(billingAddress ?? {}) || customerNumber;

export const readCustomer = (visit: ShopVisit, customerId: string) =>
  visit.call(getCustomer, { params: { customerId } });

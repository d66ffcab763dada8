import { Type } from 'typebox';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Nullable } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { updateCustomerGroup } from './queries.ts';

const CustomerGroup = Type.Object(
  {
    customerGroupId: Nullable({
      ...Id,
      description: 'The group whose prices the customer gets; null: none.',
    }),
  },
  { title: 'customer group' },
);

export const setCustomerGroup = operation({
  under: 'manage',
  tag: 'customers',
  labels: [],
  method: 'PUT',
  path: '/customers/:customerId/group',
  name: 'setCustomerGroup',
  summary: 'Set customer group',
  description:
    'The groups are those of the settings. The prices of the group apply to open carts of the customer at once.',
  access: 'customers_write',
  params: Type.Object({ customerId: Id }),
  body: CustomerGroup,
  answer: CustomerGroup,
  constraints: { customer_customer_group: () => new Refusal('CUSTOMER_GROUP_UNKNOWN') },
});

/** Operations of the back office on customers beyond the contract. */
export function managedCustomers(api: Operations): void {
  api.write(setCustomerGroup, async ({ tx, shopId, params: { customerId }, body }) => {
    const customerGroupId = body.customerGroupId?.toUpperCase() ?? null;
    if (customerGroupId !== null && !isId(customerGroupId)) throw invalid('UNKNOWN_VALUE', 'customerGroupId');
    if ((await updateCustomerGroup(tx, shopId, customerId, customerGroupId)) === 0) throw notFound();
    return { customerGroupId };
  });
}

import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { batchedSection, type Person, type PersonalData } from '../platform/personal-data.ts';

/** Custom fields of a customer, of their orders and open carts, those of uninstalled apps too, and what refers to them. */
export const fieldPersonalData: PersonalData = {
  sections: {
    customFields: batchedSection(
      'Custom fields of the customer, of their orders and of their open carts.',
      findValuesOf,
      async () =>
        ({ thing, id, field, locale, value }) => ({
          thing,
          id,
          field,
          ...(locale !== '' && { locale }),
          value,
        }),
    ),
  },
  counts: { customFieldsDeleted: 'Values of custom fields.' },
  erase: async (tx, shopId, { customerId }) => ({
    counts: {
      customFieldsDeleted: await tx.run(sql`
        delete from custom_field_value
        where shop_id = ${shopId} and (
          customer_id = ${customerId} or target_customer_id = ${customerId} or order_id = any (array(
            select order_id from customer_order where shop_id = ${shopId} and customer_id = ${customerId})))`),
    },
  }),
};

interface ValueOfPerson {
  thing: string;
  id: string;
  field: string;
  locale: string;
  value: unknown;
  fieldId: string;
  position: number;
}

const BATCH = 500;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** In the order of the things, after the last one that was read. Each kind of owner is read from its own index. */
function findValuesOf(
  db: Queries,
  shopId: string,
  { customerId, emails }: Person,
  last: ValueOfPerson | undefined,
) {
  return db.many<ValueOfPerson>(sql`
    select case
        when order_id is null then custom_field.resource
        when resource_id = order_id then 'order' else 'orderLine'
      end as thing, upper(resource_id::text) as id,
      custom_field.namespace || '.' || custom_field.key as field, locale, value,
      upper(custom_field_value.field_id::text) as "fieldId", position::integer as position
    from custom_field_value
    join custom_field on custom_field.shop_id = ${shopId} and custom_field.field_id = custom_field_value.field_id
    where custom_field_value.shop_id = ${shopId}
      and (
        custom_field_value.customer_id = ${customerId}
        or order_id = any (array(
          select order_id from customer_order where shop_id = ${shopId} and customer_id = ${customerId}))
        or cart_id = any (array(
          select cart_id from cart
          where shop_id = ${shopId} and (
            customer_id = ${customerId} or lower(billing_address ->> 'emailAddress') = any (${emails})
            or lower(shipping_address ->> 'emailAddress') = any (${emails})
            or cart_id in (
              select account.cart_id from account where account.shop_id = ${shopId} and email = any (${emails}))))))
      and (resource_id, custom_field_value.field_id, locale, position)
        > (${last?.id ?? NO_ID}::uuid, ${last?.fieldId ?? NO_ID}::uuid, ${last?.locale ?? ''}, ${last?.position ?? -1})
    order by resource_id, custom_field_value.field_id, locale, position limit ${BATCH}`);
}

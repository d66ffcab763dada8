import { Type, type Static } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import type { Address } from '../../shops/countries/address.ts';
import { lockCustomer } from './queries.ts';

export const MAX_TAGS = 20;
export const MAX_TAG_LENGTH = 40;
/** Customers that are tagged at once. */
export const MAX_TAGGED = 100;

/** Tags of customers, and of orders. */
export const Tags = (description: string) =>
  Type.Array(
    // A comma separates the tags in files and forms.
    Type.String({
      minLength: 1,
      maxLength: MAX_TAG_LENGTH,
      pattern: '^[^,\\s]([^,\\u0000-\\u001f]*[^,\\s])?$',
      description: 'A word or two, without commas.',
      examples: ['wholesale'],
    }),
    { maxItems: MAX_TAGS, description },
  );

const CustomerTags = Type.Object(
  { tags: Tags('In the order of the alphabet; upper and lower case make no difference.') },
  { title: 'customer tags' },
);

export const TagChange = Type.Object(
  {
    customerIds: Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_TAGGED,
      description: 'The customers.',
    }),
    add: Type.Optional(Tags('Tags that all of them get.')),
    remove: Type.Optional(Tags('Tags that none of them has afterwards.')),
  },
  { title: 'customer tags (change request)' },
);

const shared = { under: 'manage', tag: 'customers', labels: [] } as const;
const params = Type.Object({ customerId: Id });

export const getCustomerTags = operation({
  ...shared,
  method: 'GET',
  path: '/customers/:customerId/tags',
  name: 'getCustomerTags',
  summary: 'Get customer tags',
  description: 'The tags that people of the shop gave the customer, who does not see them.',
  access: 'customers_read',
  params,
  answer: CustomerTags,
});

export const setCustomerTags = operation({
  ...shared,
  method: 'PUT',
  path: '/customers/:customerId/tags',
  name: 'setCustomerTags',
  summary: 'Set customer tags',
  description: `Replaces the tags of a customer, at most ${MAX_TAGS}.`,
  access: 'customers_write',
  params,
  body: CustomerTags,
  answer: CustomerTags,
});

export const changeCustomerTags = operation({
  ...shared,
  method: 'POST',
  path: '/customer-tags',
  name: 'changeCustomerTags',
  summary: 'Change customer tags',
  description: `Adds tags to several customers and removes others, at most ${MAX_TAGGED} customers in a call. All or nothing.`,
  access: 'customers_write',
  body: TagChange,
  status: 200,
  answer: Type.Object(
    {
      changed: Type.Integer({
        description: 'Number of customers whose tags have changed.',
        examples: [12],
      }),
    },
    { title: 'customer tags (change)' },
  ),
});

export function customerTags(api: Operations): void {
  api.read(getCustomerTags, async ({ db, shopId, params: { customerId } }) => {
    const row = await db.one<{ tags: string[] }>(sql`
      select array(${tagsOf(shopId)}) as tags from customer
      where shop_id = ${shopId} and customer_id = ${customerId}`);
    if (!row) throw notFound();
    return row;
  });

  api.write(setCustomerTags, async ({ tx, shopId, params: { customerId }, body }) => {
    if (!(await lockCustomer(tx, shopId, customerId))) throw notFound();
    const tags = distinctTags(body.tags);
    await tx.run(sql`
      delete from customer_tag where shop_id = ${shopId} and customer_id = ${customerId}
        and tag <> all (${tags}::text[])`);
    await insertTags(tx, shopId, [customerId], tags);
    return { tags: sortedTags(tags) };
  });

  api.write(changeCustomerTags, async ({ tx, shopId, body: { customerIds, add = [], remove = [] } }) => ({
    changed: await changeTags(tx, shopId, { customerIds, add, remove }),
  }));
}

export async function changeTags(
  tx: Transaction,
  shopId: string,
  { customerIds, add, remove }: Required<Static<typeof TagChange>>,
): Promise<number> {
  const ids = [...new Set(customerIds.map((id) => id.toUpperCase()))];
  const known = await tx.many<{ customerId: string }>(sql`
    select upper(customer_id::text) as "customerId" from customer
    where shop_id = ${shopId} and customer_id = any (${ids}::uuid[]) order by customer_id for no key update`);
  if (known.length < ids.length) throw notFound('customerIds');
  const added = distinctTags(add);
  const removed = await tx.many<{ customerId: string }>(sql`
    delete from customer_tag
    where shop_id = ${shopId} and customer_id = any (${ids}::uuid[])
      and tag_key in (select lower(tag) from unnest(${remove}::text[]) as tag)
      and tag_key not in (select lower(tag) from unnest(${added}::text[]) as tag)
    returning upper(customer_id::text) as "customerId"`);
  const inserted = await insertTags(tx, shopId, ids, added);
  const full = await tx.one(sql`
    select from customer_tag where shop_id = ${shopId} and customer_id = any (${ids}::uuid[])
    group by customer_id having count(*) > ${MAX_TAGS} limit 1`);
  if (full) throw new Refusal('TOO_MANY_TAGS', { limit: MAX_TAGS });
  return new Set([...removed, ...inserted].map(({ customerId }) => customerId)).size;
}

function insertTags(
  tx: Transaction,
  shopId: string,
  customerIds: readonly string[],
  tags: readonly string[],
) {
  return tx.many<{ customerId: string }>(sql`
    insert into customer_tag (shop_id, customer_id, tag_key, tag)
    select shop.shop_id, customer_id, lower(tag), tag
    from shop cross join unnest(${customerIds}::uuid[]) as customer_id cross join unnest(${tags}::text[]) as tag
    where shop.shop_id = ${shopId}
    on conflict (shop_id, customer_id, tag_key) do nothing
    returning upper(customer_id::text) as "customerId"`);
}

/** The tags of a row of customers, as a subquery. */
export const tagsOf = (shopId: string) => sql`
  select customer_tag.tag from customer_tag
  where customer_tag.shop_id = ${shopId} and customer_tag.customer_id = customer.customer_id
  order by customer_tag.tag_key collate "C"`;

export interface TaggedCustomer {
  customerId: string;
  customerNumber: string;
  billingAddress: Address | null;
  tags: string[];
}

/** These customers with their tags, in no order. */
export function findCustomersWithTags(db: Queries, shopId: string, customerIds: readonly string[]) {
  return db.many<TaggedCustomer>(sql`
    select upper(customer_id::text) as "customerId", customer_number as "customerNumber",
      billing_address as "billingAddress", array(${tagsOf(shopId)}) as tags
    from customer where shop_id = ${shopId} and customer_id = any (${customerIds}::uuid[])`);
}

/** The first spelling of each counts. */
export function distinctTags(tags: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const tag of tags) if (!byKey.has(tag.toLowerCase())) byKey.set(tag.toLowerCase(), tag);
  return [...byKey.values()];
}

export const sortedTags = (tags: readonly string[]) =>
  tags.toSorted((left, right) => (left.toLowerCase() < right.toLowerCase() ? -1 : 1));

/** The tags of the shop, from the index: it skips from each tag to the next one. */
export async function findShopTags(db: Queries, shopId: string, limit: number): Promise<string[]> {
  const rows = await db.many<{ tag: string }>(sql`
    with recursive found as (
      (select tag_key, tag from customer_tag where shop_id = ${shopId} order by tag_key limit 1)
      union all
      select next.tag_key, next.tag from found cross join lateral (
        select tag_key, tag from customer_tag
        where shop_id = ${shopId} and customer_tag.tag_key > found.tag_key order by tag_key limit 1
      ) next
    )
    select tag from found limit ${limit}`);
  return rows.map(({ tag }) => tag);
}

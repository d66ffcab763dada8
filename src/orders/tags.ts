import { Type } from 'typebox';
import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id, Paged, Timestamp } from '../http/schemas.ts';
import { toMilliseconds } from '../http/dates.ts';
import { distinctTags, MAX_TAGS, sortedTags, Tags } from '../people/customers/tags.ts';
import { section, type PersonalData } from '../platform/personal-data.ts';
import { lockOrder } from './change.ts';

const MAX_LISTED_TAGS = 500;

const OrderTags = Type.Object(
  { tags: Tags('In the order of the alphabet; upper and lower case make no difference.') },
  { title: 'order tags' },
);

const TaggedOrder = Type.Object(
  {
    orderId: Id,
    orderNumber: Type.String({ description: 'Its number.', examples: ['1042'] }),
    creationDate: Timestamp,
    tags: Type.Array(Type.String({ description: 'A tag.', examples: ['gift'] }), {
      description: 'All of its tags.',
    }),
  },
  { title: 'tagged order' },
);

const shared = { under: 'manage', tag: 'orders', labels: [] } as const;
const params = Type.Object({ orderId: Id });
const { parameters, pageOf } = paging();

export const getOrderTags = operation({
  ...shared,
  method: 'GET',
  path: '/orders/:orderId/tags',
  name: 'getOrderTags',
  summary: 'Get order tags',
  description:
    'The tags that people of the shop, or its rules, gave the order. The customer does not see them.',
  access: 'orders_read',
  params,
  answer: OrderTags,
});

export const setOrderTags = operation({
  ...shared,
  method: 'PUT',
  path: '/orders/:orderId/tags',
  name: 'setOrderTags',
  summary: 'Set order tags',
  description: `Replaces the tags of an order, at most ${MAX_TAGS}.`,
  access: 'orders_write',
  params,
  body: OrderTags,
  answer: OrderTags,
});

export const listOrderTags = operation({
  ...shared,
  method: 'GET',
  path: '/order-tags',
  name: 'listOrderTags',
  summary: 'List order tags',
  description: `The tags of all orders in the order of the alphabet, at most ${MAX_LISTED_TAGS}.`,
  access: 'orders_read',
  answer: Type.Object(
    {
      tags: Type.Array(Type.String({ description: 'A tag.', examples: ['gift'] }), {
        description: 'Each once.',
      }),
    },
    { title: 'order tag list' },
  ),
});

export const listTaggedOrders = operation({
  ...shared,
  method: 'GET',
  path: '/tagged-orders',
  name: 'listTaggedOrders',
  summary: 'List tagged orders',
  description: 'The orders with a tag, newest first.',
  access: 'orders_read',
  query: Type.Object({
    ...parameters,
    tag: Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'Upper and lower case make no difference.',
      examples: ['gift'],
    }),
  }),
  answer: Paged(TaggedOrder, 'tagged order list'),
});

export function orderTags(api: Operations): void {
  api.read(getOrderTags, async ({ db, shopId, params: { orderId } }) => {
    const row = await db.one<{ tags: string[] }>(sql`
      select array(${tagsOfOrder(shopId)}) as tags from customer_order
      where shop_id = ${shopId} and order_id = ${orderId}`);
    if (!row) throw notFound();
    return row;
  });

  api.write(setOrderTags, async ({ tx, shopId, params: { orderId }, body }) => {
    if (!(await lockOrder(tx, shopId, orderId))) throw notFound();
    const tags = distinctTags(body.tags);
    await tx.run(sql`
      delete from order_tag where shop_id = ${shopId} and order_id = ${orderId}
        and tag <> all (${tags}::text[])`);
    await insertTags(tx, shopId, orderId, tags);
    return { tags: sortedTags(tags) };
  });

  api.read(listOrderTags, async ({ db, shopId }) => ({
    tags: await findOrderTags(db, shopId, MAX_LISTED_TAGS),
  }));

  api.read(listTaggedOrders, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const tag = query.tag.toLowerCase();
    const [results, orders] = await Promise.all([
      countTagged(db, shopId, tag),
      findTagged(db, shopId, tag, page.resultsPerPage, page.offset),
    ]);
    return paged(
      page,
      results,
      orders.map(({ at, ...order }) => ({ ...order, creationDate: toMilliseconds(at) })),
    );
  });
}

/** Adds a tag to an order that is locked; false: it has the tag already. */
export async function tagOrder(
  tx: Transaction,
  shopId: string,
  orderId: string,
  tag: string,
): Promise<boolean> {
  const added = await insertTags(tx, shopId, orderId, [tag]);
  const row = await tx.one<{ count: number }>(sql`
    select count(*) as count from order_tag where shop_id = ${shopId} and order_id = ${orderId}`);
  if (row!.count > MAX_TAGS) throw new Refusal('TOO_MANY_TAGS', { limit: MAX_TAGS });
  return added > 0;
}

function insertTags(tx: Transaction, shopId: string, orderId: string, tags: readonly string[]) {
  return tx.run(sql`
    insert into order_tag (shop_id, order_id, tag_key, tag)
    select shop.shop_id, ${orderId}::uuid, lower(tag), tag
    from shop cross join unnest(${tags}::text[]) as tag
    where shop.shop_id = ${shopId}
    on conflict (shop_id, order_id, tag_key) do nothing`);
}

/** The tags of a row of orders, as a subquery. */
export const tagsOfOrder = (shopId: string) => sql`
  select order_tag.tag from order_tag
  where order_tag.shop_id = ${shopId} and order_tag.order_id = customer_order.order_id
  order by order_tag.tag_key collate "C"`;

/** The tags of these orders. */
export async function findTagsOfOrders(
  db: Queries,
  shopId: string,
  orderIds: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await db.many<{ orderId: string; tags: string[] }>(sql`
    select upper(order_id::text) as "orderId", array_agg(tag order by tag_key collate "C") as tags from order_tag
    where shop_id = ${shopId} and order_id = any (${orderIds}::uuid[]) group by order_id`);
  return new Map(rows.map(({ orderId, tags }) => [orderId, tags]));
}

/** The tags of the shop, from the index: it skips from each tag to the next one. */
export async function findOrderTags(db: Queries, shopId: string, limit: number): Promise<string[]> {
  const rows = await db.many<{ tag: string }>(sql`
    with recursive found as (
      (select tag_key, tag from order_tag where shop_id = ${shopId} order by tag_key limit 1)
      union all
      select next.tag_key, next.tag from found cross join lateral (
        select tag_key, tag from order_tag
        where shop_id = ${shopId} and order_tag.tag_key > found.tag_key order by tag_key limit 1
      ) next
    )
    select tag from found limit ${limit}`);
  return rows.map(({ tag }) => tag);
}

async function countTagged(db: Queries, shopId: string, tagKey: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from order_tag where shop_id = ${shopId} and tag_key = ${tagKey}`);
  return row!.count;
}

/** Ids begin with the moment of the order. */
function findTagged(db: Queries, shopId: string, tagKey: string, limit: number, offset: number) {
  return db.many<{ orderId: string; orderNumber: string; at: Date; tags: string[] }>(sql`
    select upper(customer_order.order_id::text) as "orderId", order_number as "orderNumber", created_at as at,
      array(${tagsOfOrder(shopId)}) as tags
    from (
      select order_id from order_tag where shop_id = ${shopId} and tag_key = ${tagKey}
      order by order_id desc limit ${limit} offset ${offset}
    ) tagged
    join customer_order on customer_order.shop_id = ${shopId} and customer_order.order_id = tagged.order_id
    order by customer_order.order_id desc`);
}

/** The tags that staff or rules gave the orders of a customer. */
export const orderTagPersonalData: PersonalData = {
  sections: {
    orderTags: section('Tags that the shop gave the orders of the customer.', (db, shopId, { customerId }) =>
      db.many<{ orderId: string; tags: string[] }>(sql`
        select upper(order_id::text) as "orderId", array_agg(tag order by tag_key collate "C") as tags from order_tag
        where shop_id = ${shopId} and order_id in (
          select order_id from customer_order where shop_id = ${shopId} and customer_id = ${customerId})
        group by order_id order by order_id`),
    ),
  },
  counts: { orderTagsDeleted: 'Tags of orders.' },
  erase: async (tx, shopId, { customerId }) => ({
    counts: {
      orderTagsDeleted: await tx.run(sql`
        delete from order_tag
        where shop_id = ${shopId} and order_id in (
          select order_id from customer_order where shop_id = ${shopId} and customer_id = ${customerId})`),
    },
  }),
};

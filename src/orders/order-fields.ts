import { Type } from 'typebox';
import { audienceOf } from '../fields/access.ts';
import { fieldOperations, fieldValues, findShownFields, type FieldedThing } from '../fields/values.ts';
import type { ReadCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import type { Content } from '../pricing/content.ts';
import { changeOrder, lockOrder } from './change.ts';
import { type RenderContext, lineIdsOf, linesWithFields } from './render.ts';
import type { LineItemContainer } from './line-item-schema.ts';
import { findOrder } from './queries.ts';

const shared = { tag: 'orders', read: 'orders_read', write: 'orders_write' } as const;

export const orderFieldOperations = fieldOperations({
  ...shared,
  noun: 'order',
  name: 'Order',
  path: '/orders/:orderId',
  params: Type.Object({ orderId: Id }),
});

export const orderLineFieldOperations = fieldOperations({
  ...shared,
  noun: 'order line',
  name: 'OrderLine',
  path: '/orders/:orderId/line-items/:lineItemId',
  params: Type.Object({ orderId: Id, lineItemId: Id }),
});

/** The custom fields of orders and of their lines: what their carts had, and what the shop adds. */
export function orderFields(api: Operations): void {
  fieldValues(api, orderFieldOperations, {
    find: async ({ db, shopId, params: { orderId } }) =>
      (await findOrder(db, shopId, orderId)) && orderThing(orderId),
    lock: async ({ tx, shopId, params: { orderId } }) => {
      const order = await lockOrder(tx, shopId, orderId);
      if (!order) return undefined;
      await changeOrder(tx, shopId, order, {}, { also: ['customFields'] });
      return orderThing(orderId);
    },
  });

  fieldValues(api, orderLineFieldOperations, {
    find: async ({ db, shopId, params }) => {
      const order = await findOrder(db, shopId, params.orderId);
      return order && lineThing(order.content, params);
    },
    lock: async ({ tx, shopId, params }) => {
      const order = await lockOrder(tx, shopId, params.orderId);
      const thing = order && lineThing(order.content, params);
      if (thing) await changeOrder(tx, shopId, order, {}, { also: ['customFields'] });
      return thing;
    },
  });
}

/** An order as answers show it. */
export interface OrderWithFields {
  orderId: string;
  lineItemContainer?: LineItemContainer;
}

/** Orders with their custom fields and those of their lines, where they are asked for. */
export async function ordersWithFields<Item extends OrderWithFields>(
  { db, caller, query }: ReadCall<unknown, { includeFields?: boolean }, unknown>,
  { locale, settings }: RenderContext,
  orders: Item[],
): Promise<Item[]> {
  if (!query.includeFields) return orders;
  const ids = orders.flatMap(({ orderId, lineItemContainer }) => [orderId, ...lineIdsOf(lineItemContainer)]);
  const resources = ['order', 'orderLine'] as const;
  const view = { audience: audienceOf(caller), locale };
  const fieldsOfThing = await findShownFields(db, settings, resources, ids, view);
  return orders.map((order) => ({
    ...order,
    ...(order.lineItemContainer && {
      lineItemContainer: linesWithFields(order.lineItemContainer, fieldsOfThing),
    }),
    fields: fieldsOfThing(order.orderId),
  }));
}

const orderThing = (orderId: string): FieldedThing => ({
  resource: 'order',
  owner: { resourceId: orderId, orderId },
});

function lineThing(
  { lines }: Pick<Content, 'lines'>,
  { orderId, lineItemId }: { orderId: string; lineItemId: string },
): FieldedThing | undefined {
  if (!lines.some((line) => line.lineItemId.toUpperCase() === lineItemId)) return undefined;
  return { resource: 'orderLine', owner: { resourceId: lineItemId, orderId } };
}

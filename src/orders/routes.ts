import { Type, type Static } from 'typebox';
import { type RenderContext, toListedOrder, toOrder } from './render.ts';
import { audienceOf } from '../fields/access.ts';
import { FieldFilter, requestedValues } from '../fields/filter.ts';
import { IncludeFields } from '../shops/settings/shown-fields.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { JsonPatch } from '../http/json-patch.ts';
import { readingLocale, writingLocale } from '../http/locale.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id, LocaleParameter, Paged } from '../http/schemas.ts';
import { isId } from '../kernel/ids.ts';
import { shopSettings, withCachedSettings } from '../shops/settings/settings.ts';
import { changeOrder, lockOrder } from './change.ts';
import { recordHistory } from './history.ts';
import { findOrders, findWholeOrders, type OrderFilter, type OrderPage } from './list.ts';
import { orderPatch, patchedOrder } from './patch.ts';
import { endWaitingOf } from './promises.ts';
import { captureWhenSent } from './payments/capture.ts';
import { ordersWithFields, type OrderWithFields } from './order-fields.ts';
import { findOrder, findOrderVersions } from './queries.ts';
import { Order, STATE_FILTERS, STATES } from './schema.ts';
import { cachedOrder } from './order-cache.ts';
import { momentOf, windowOf } from './window.ts';

const { parameters, pageOf } = paging();
const shared = { tag: 'orders', labels: ['Base', 'Now'], keepsKeyOrder: true } as const;
const moment = (description: string) =>
  Type.Optional(Type.String({ description, examples: ['2026-11-01T00:00:00Z'] }));
const idOf = (description: string) => Type.Optional({ ...Id, description });

const stateFilter = (state: string) =>
  Type.Optional(
    Type.Boolean({ description: `Whether ${state} is set. Absent: set or not.`, examples: [false] }),
  );

const { lineItemContainer, links, fields, ...head } = Order.properties;
const ListedOrder = Type.Object(
  { ...head, lineItemContainer: Type.Optional(lineItemContainer), links, fields },
  { title: 'order summary' },
);

const OrdersQuery = Type.Object({
  locale: LocaleParameter,
  ...parameters,
  ...(Object.fromEntries(STATE_FILTERS.map((state) => [state, stateFilter(state)])) as Record<
    (typeof STATE_FILTERS)[number],
    ReturnType<typeof stateFilter>
  >),
  lastUpdated: Type.Optional(
    Type.Boolean({ description: 'true: those first that were changed last.', examples: [true] }),
  ),
  customerId: idOf('Only orders of this customer.'),
  productId: idOf('Only orders with this product.'),
  updatedFrom: moment('Only orders that were changed since, as lastUpdatedOnDate tells it.'),
  createdBefore: moment('Only orders placed before this moment; at most a year after createdAfter.'),
  createdAfter: moment('Only orders placed after this moment.'),
  currency: Type.Optional(Type.String({ description: 'Only orders in this currency.', examples: ['EUR'] })),
  include: Type.Optional(
    Type.Enum(['lineItems'], {
      description: 'lineItems: each entry with its lineItemContainer.',
      examples: ['lineItems'],
    }),
  ),
  field: FieldFilter,
  includeFields: IncludeFields,
});

export const listOrders = operation({
  ...shared,
  method: 'GET',
  path: '/orders',
  name: 'listOrders',
  summary: 'List orders',
  description: 'Newest first. All filters must hold.',
  access: 'orders_read',
  query: OrdersQuery,
  answer: Paged(ListedOrder, 'order list'),
});

const getOrder = operation({
  ...shared,
  method: 'GET',
  path: '/orders/:orderId',
  name: 'getOrder',
  summary: 'Get order',
  access: 'orders_read',
  params: Type.Object({ orderId: Id }),
  query: Type.Object({ locale: LocaleParameter, includeFields: IncludeFields }),
  answer: Order,
});

export const updateOrder = operation({
  ...shared,
  method: 'PATCH',
  path: '/orders/:orderId',
  name: 'updateOrder',
  summary: 'Update order',
  description:
    'Paths: /orderNumber, /billingAddress, /shippingAddress, /payment (add), /customerComment, /internalNote and all states such as /viewedOn (add, remove). All or nothing. A payment is recorded as made by hand: it costs nothing and its name is not shown. 409: the number is taken, or the order is being edited.',
  access: 'orders_write',
  params: Type.Object({ orderId: Id }),
  query: Type.Object({ locale: LocaleParameter }),
  body: JsonPatch,
  answer: Order,
  constraints: { customer_order_number: () => new Refusal('ORDER_NUMBER_TAKEN') },
});

export function orderOperations(api: Operations): void {
  api.read(listOrders, async (call) => {
    const { db, shopId, query, origin } = call;
    const page = pageOf(query);
    const filter = filterOf(query);
    const sort = {
      by: query.lastUpdated === true ? 'touched' : 'created',
      limit: page.resultsPerPage,
      offset: page.offset,
    } as const;
    const areIds = [filter.customerId, filter.productId].every((id) => id === null || isId(id));
    return withCachedSettings(db, shopId, async (settings, verify) => {
      const context = { locale: readingLocale(query.locale, settings), origin, settings };
      const wanted = requestedValues(settings, 'order', audienceOf(call.caller), query.field);
      // A bad locale is refused regardless of the result.
      if (!areIds) return paged(page, 0, []);
      const answer = async <Row, Item extends OrderWithFields>(
        found: OrderPage<Row>,
        toItem: (order: Row, context: RenderContext) => Item,
      ) => {
        verify(found.settingsVersion);
        const items = found.orders.map((order) => toItem(order, context));
        return paged(page, found.results, await ordersWithFields(call, context, items));
      };
      return query.include === 'lineItems'
        ? answer(await findWholeOrders(db, shopId, { ...filter, wanted }, sort), toOrder)
        : answer(await findOrders(db, shopId, { ...filter, wanted }, sort), toListedOrder);
    });
  });

  api.read(getOrder, async (call) => {
    const { db, shopId, params, query, origin } = call;
    return withCachedSettings(db, shopId, async (settings, verify) => {
      const versions = await findOrderVersions(db, shopId, params.orderId);
      verify(versions?.settingsVersion);
      if (!versions) throw notFound();
      const context = { locale: readingLocale(query.locale, settings), origin, settings };
      if (query.includeFields) {
        const row = await findOrder(db, shopId, params.orderId);
        if (!row) throw notFound();
        const [order] = await ordersWithFields(call, context, [toOrder(row, context)]);
        return order!;
      }
      const order = await cachedOrder(db, params.orderId, versions, context);
      if (!order) throw notFound();
      return order;
    });
  });

  api.write(updateOrder, async ({ tx, shopId, params, query, body, origin, caller }) => {
    const patch = orderPatch(body);
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const order = await lockOrder(tx, shopId, params.orderId);
    if (!order) throw notFound();
    if (order.editingAppId !== null) throw new Refusal('ORDER_EDITED');
    const { changes, moves } = patchedOrder(order, patch, settings);
    // An older program says of an order as a whole that it was sent.
    if (changes.dispatchedOn) await endWaitingOf(tx, shopId, order.orderId);
    const patched = await changeOrder(tx, shopId, order, changes, { moves });
    await captureWhenSent(tx, shopId, order, patched);
    await recordHistory(tx, shopId, order.orderId, {
      appId: caller.app?.appId ?? null,
      kind: 'patched',
      details: { paths: [...new Set(patch.map(({ path }) => path))] },
    });
    return toOrder(patched, { locale, origin, settings });
  });
}

function filterOf(query: Static<typeof OrdersQuery>): OrderFilter {
  const bitsOf = (states: readonly (typeof STATE_FILTERS)[number][]) =>
    states.reduce((bits, state) => bits | (1 << STATES.indexOf(state)), 0);
  return {
    ...windowOf(query),
    states: {
      asked: bitsOf(STATE_FILTERS.filter((state) => query[state] !== undefined)),
      set: bitsOf(STATE_FILTERS.filter((state) => query[state] === true)),
    },
    currency: query.currency?.toUpperCase() ?? null,
    customerId: query.customerId ?? null,
    productId: query.productId ?? null,
    updatedFrom: momentOf(query, 'updatedFrom'),
  };
}

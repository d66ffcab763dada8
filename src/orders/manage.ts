import { Type } from 'typebox';
import { IncludeFields } from '../shops/settings/shown-fields.ts';
import { toMilliseconds } from '../http/dates.ts';
import { notFound } from '../http/errors.ts';
import { readingLocale } from '../http/locale.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id, LocaleParameter, Paged } from '../http/schemas.ts';
import { withCachedSettings } from '../shops/settings/settings.ts';
import { recordCancellation } from './cancel.ts';
import { changeOrder } from './change.ts';
import { findHistory } from './history.ts';
import { ordersWithFields } from './order-fields.ts';
import {
  appIdOf,
  manageOperation,
  managedOrder,
  openOrder,
  record,
  refuseCancelled,
  toManagedOrder,
} from './manage-change.ts';
import { findPlacement } from './manage-queries.ts';
import { Cancellation, HistoryEntry, ManagedOrderAnswer } from './manage-schema.ts';
import { findOrderWithActivity } from './manage-queries.ts';

const { parameters, pageOf } = paging();

export const getManagedOrder = operation({
  ...manageOperation,
  method: 'GET',
  path: '/orders/:orderId',
  name: 'getManagedOrder',
  summary: 'Get managed order',
  description: 'The order with its payments, shipments and returns, and the app that edits it.',
  access: 'orders_read',
  query: Type.Object({ locale: LocaleParameter, includeFields: IncludeFields }),
  answer: ManagedOrderAnswer,
});

export const listOrderHistory = operation({
  under: 'manage',
  tag: 'orders',
  labels: [],
  method: 'GET',
  path: '/orders/:orderId/history',
  name: 'listOrderHistory',
  summary: 'List order history',
  description: 'Who did what to the order, and when. Oldest first: it begins with the placement.',
  access: 'orders_read',
  params: Type.Object({ orderId: Id }),
  query: Type.Object(parameters),
  answer: Paged(HistoryEntry, 'order history'),
});

export const startOrderEditing = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/edit',
  name: 'startOrderEditing',
  summary: 'Start order editing',
  description:
    'Starts the edit mode: only this app may change the order, including its lines and methods. Repeating it changes nothing. 409: another app edits the order, or it is cancelled.',
});

export const endOrderEditing = operation({
  ...manageOperation,
  method: 'DELETE',
  path: '/orders/:orderId/edit',
  name: 'endOrderEditing',
  summary: 'End order editing',
  description:
    'Ends the edit mode and keeps the changes. With force it also ends the edit mode of another app; otherwise that is 409. An order that is not being edited stays as it is.',
  query: Type.Object({
    force: Type.Optional(
      Type.Boolean({ description: 'End what another app has started.', examples: [true] }),
    ),
    locale: LocaleParameter,
  }),
});

export const cancelOrder = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/cancel',
  name: 'cancelOrder',
  summary: 'Cancel order',
  description:
    'Unshipped items go back into stock, the coupon can be used again, and the customer gets an email. Payments through a provider are refunded through it, unless part of the order was sent; other payments stay until they are refunded, and the shop gets an email. 409: the whole order was sent, or it is already cancelled.',
  body: Cancellation,
});

export function managedOrders(api: Operations): void {
  api.read(getManagedOrder, async (call) => {
    const { db, shopId, params, query, origin } = call;
    return withCachedSettings(db, shopId, async (settings, verify) => {
      const order = await findOrderWithActivity(db, shopId, params.orderId);
      verify(order?.settingsVersion);
      if (!order) throw notFound();
      const locale = readingLocale(query.locale, settings);
      const context = { locale, origin, settings };
      const [answer] = await ordersWithFields(call, context, [toManagedOrder(order, order, context)]);
      return answer!;
    });
  });

  api.read(listOrderHistory, async ({ db, shopId, params: { orderId }, query }) => {
    const page = pageOf(query);
    const { resultsPerPage, offset } = page;
    // The placing is the first entry, and not an event.
    const isFirst = offset === 0;
    const [placement, events] = await Promise.all([
      findPlacement(db, shopId, orderId),
      isFirst
        ? findHistory(db, shopId, orderId, resultsPerPage - 1, 0)
        : findHistory(db, shopId, orderId, resultsPerPage, offset - 1),
    ]);
    if (!placement) throw notFound();
    const { at, appId, appName } = placement;
    const entries = [
      ...(isFirst ? [{ eventId: orderId, at, appId, appName, kind: 'placed' as const, details: {} }] : []),
      ...events,
    ];
    return paged(
      page,
      placement.events + 1,
      entries.map(({ at: moment, ...entry }) => ({
        eventId: entry.eventId,
        date: toMilliseconds(moment),
        appId: entry.appId,
        appName: entry.appName,
        kind: entry.kind,
        details: entry.details,
      })),
    );
  });

  api.write(startOrderEditing, async (call) => {
    const { tx, shopId } = call;
    const open = await openOrder(call);
    const { order, settings, appId } = open;
    refuseCancelled(order);
    if (order.editingAppId === appId) return managedOrder(tx, call, order, settings);
    const edited = await changeOrder(tx, shopId, order, { editingAppId: appId, editingSince: tx.now });
    await record(call, open, 'editing started', {});
    return managedOrder(tx, call, edited, settings);
  });

  api.write(endOrderEditing, async (call) => {
    const { tx, shopId, query } = call;
    const open = await openOrder(call, { force: query.force === true });
    const { order, settings } = open;
    if (order.editingAppId === null) return managedOrder(tx, call, order, settings);
    const left = await changeOrder(tx, shopId, order, { editingAppId: null, editingSince: null });
    const isOwn = order.editingAppId === appIdOf(call);
    await record(call, open, 'editing ended', isOwn ? {} : { startedBy: order.editingAppId });
    return managedOrder(tx, call, left, settings);
  });

  api.write(cancelOrder, async (call) => {
    const { tx, shopId, body } = call;
    const open = await openOrder(call);
    refuseCancelled(open.order);
    const cancelled = await recordCancellation(tx, shopId, open, body.reason ?? null);
    return managedOrder(tx, call, cancelled, open.settings);
  });
}

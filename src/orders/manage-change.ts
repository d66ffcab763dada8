import { Type } from 'typebox';
import type { Content } from '../pricing/content.ts';
import { partsOfLine } from '../pricing/shown-lines.ts';
import { type RenderContext, deliveryOption, textOf, toOrder } from './render.ts';
import type { Transaction } from '../db/database.ts';
import type { Caller } from '../http/callers.ts';
import { toMilliseconds } from '../http/dates.ts';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import { writingLocale } from '../http/locale.ts';
import { priceOf } from '../http/price.ts';
import { Id, LocaleParameter } from '../http/schemas.ts';
import { currencyDigits, parseDecimal, toDecimal } from '../kernel/money.ts';
import { queueAvailabilityNotifications } from '../catalogue/products/availability-notifications.ts';
import { recordStockEvents } from '../catalogue/products/product-events.ts';
import { isBackInStock } from '../catalogue/products/orderable.ts';
import { withCachedSettings, type Settings } from '../shops/settings/settings.ts';
import { toBuyer } from './buyer-schema.ts';
import { type OrderChanges, lockOrderForPage, lockOrderWithActivity } from './change.ts';
import { recordHistory, type HistoryKind } from './history.ts';
import { orderState } from './order-state.ts';
import { findOrderActivity, type OrderActivity, type PartLine, type Return } from './manage-queries.ts';
import { ManagedOrderAnswer } from './manage-schema.ts';
import type { ManagedOrder } from './queries.ts';
import { unshippedLines } from './quantities.ts';
import { orderRefunds } from './refund-due.ts';
import { trackedParcels } from './tracking.ts';
import { changeStock } from '../catalogue/products/stock-queries.ts';
import { toBackorder } from './backorders.ts';
import { movePromises, type LineMove } from './promises.ts';
import { amountOf } from '../http/request-fields.ts';

/** Shared by all operations that change an order the way a merchant does. */
export const manageOperation = {
  under: 'manage',
  tag: 'orders',
  labels: [],
  action: 'Update order',
  access: 'orders_write',
  params: Type.Object({ orderId: Id }),
  query: Type.Object({ locale: LocaleParameter }),
  answer: ManagedOrderAnswer,
  keepsKeyOrder: true,
} as const;

/** The request data of these operations. */
export interface OrderCall {
  tx: Transaction;
  shopId: string;
  params: { orderId: string };
  query: { locale?: string };
  caller: Caller;
  origin: string;
}

/** An order that is locked until the transaction ends, and its activity. */
export interface OpenOrder {
  order: ManagedOrder;
  activity: OrderActivity;
  settings: Settings;
  /** The calling app. */
  appId: string;
}

export const appIdOf = ({ caller }: Pick<OrderCall, 'caller'>) => caller.app!.appId.toUpperCase();

/** While an app edits an order, others wait. */
export async function openOrder(call: OrderCall, { force = false } = {}): Promise<OpenOrder> {
  const { tx, shopId, params } = call;
  const { order, activity, settings } = await withCachedSettings(tx, shopId, async (settings, verify) => {
    const locked = await lockOrderWithActivity(tx, shopId, params.orderId);
    verify(locked?.order.settingsVersion);
    if (!locked) throw notFound();
    return { ...locked, settings };
  });
  const appId = appIdOf(call);
  if (order.editingAppId !== null && order.editingAppId !== appId && !force) {
    throw new Refusal('ORDER_EDITED_BY_OTHER');
  }
  return { order, activity, settings, appId };
}

/** Locks an order for a page, which decides by it before it calls an operation in the same transaction. */
export function lockManagedOrder(
  tx: Transaction,
  { shopId, locale, origin }: { shopId: string; locale: string; origin: string },
  orderId: string,
): Promise<ManagedOrderAnswer> {
  return withCachedSettings(tx, shopId, async (settings, verify) => {
    const locked = await lockOrderForPage(tx, shopId, orderId);
    verify(locked?.order.settingsVersion);
    if (!locked) throw notFound();
    return toManagedOrder(locked.order, locked.activity, { locale, origin, settings });
  });
}

export function refuseCancelled({ cancelledAt }: ManagedOrder): void {
  if (cancelledAt) throw new Refusal('ORDER_CANCELLED');
}

/** Lines and methods change only in edit mode, so no one sees them half changed. */
export function requireEditing({ order, appId }: OpenOrder): void {
  refuseCancelled(order);
  if (order.editingAppId !== appId) {
    throw new Refusal('ORDER_NOT_EDITED');
  }
}

/** The order as the back office sees it after a change. `activity`: where the change knows it, it is not read again. */
export async function managedOrder(
  tx: Transaction,
  { shopId, query, origin }: Pick<OrderCall, 'shopId' | 'query' | 'origin'>,
  order: ManagedOrder,
  settings: Settings,
  activity?: OrderActivity,
): Promise<ManagedOrderAnswer> {
  return toManagedOrder(order, activity ?? (await findOrderActivity(tx, shopId, order.orderId)), {
    locale: writingLocale(query.locale, settings),
    origin,
    settings,
  });
}

/** The order as the back office sees it. */
export function toManagedOrder(
  order: ManagedOrder,
  activity: OrderActivity,
  context: RenderContext,
): ManagedOrderAnswer {
  return { ...toOrder(order, context), management: managementOf(order, activity, context) };
}

export function outstandingOf({ content, cancelledAt, paidAmount, refundedAmount }: ManagedOrder): number {
  return cancelledAt ? 0 : Math.max(0, content.grandTotal - paidAmount + refundedAmount);
}

/** The amount that the customer still has to pay: refunds are not asked for again. */
export function payableOf({ content, cancelledAt, paidAmount }: ManagedOrder): number {
  return cancelledAt ? 0 : Math.max(0, content.grandTotal - paidAmount);
}

function managementOf(order: ManagedOrder, activity: OrderActivity, context: RenderContext) {
  const { locale, settings } = context;
  const refunds = orderRefunds({ order, activity, settings });
  const price = (minor: number) => priceOf(minor, order.currency, 'GROSS', locale);
  return {
    editing:
      order.editingAppId === null
        ? null
        : { appId: order.editingAppId, since: toMilliseconds(order.editingSince!) },
    state: orderState(order),
    cancelledOn: order.cancelledAt && toMilliseconds(order.cancelledAt),
    paidAmount: price(order.paidAmount),
    refundedAmount: price(order.refundedAmount),
    refundableAmount: price(refunds.left),
    outstandingAmount: price(outstandingOf(order)),
    taxes: order.content.taxes.map(({ rate, treatment, amount, tax }) => ({
      rate: rate / 100,
      ...(treatment && { treatment }),
      amount: priceOf(amount, order.currency, order.content.taxType, locale),
      tax: priceOf(tax, order.currency, 'NONE', locale),
    })),
    promotions: promotionsOf(order.content, context),
    ...(order.content.bundles && { bundles: bundlesOf(order.content, context) }),
    buyer: toBuyer(order.buyer),
    deliveryOption: deliveryOption(order.content, context),
    ...(activity.backorders.length > 0 && {
      backorders: activity.backorders.map((line) => {
        const { readyOn, ...backorder } = toBackorder(line);
        return { ...backorder, readyOn: readyOn && toMilliseconds(readyOn) };
      }),
    }),
    shipments: activity.shipments.map((shipment) => ({
      shipmentId: shipment.shipmentId,
      shippedOn: moment(shipment.at),
      lines: numbered(shipment.lines),
      carrier: shipment.carrier,
      trackingCode: shipment.trackingCode,
      parcels: trackedParcels(shipment, settings),
    })),
    returns: activity.returns.map((returned) => {
      const { due, refunded, left } = refunds.returns.get(returned.returnId)!;
      return {
        ...toReturn(returned),
        dueAmount: price(due),
        refundedAmount: price(refunded),
        refundableAmount: price(left),
      };
    }),
    payments: activity.payments.map(({ state, goodwillAmount, goodwillReason, ...payment }) => ({
      paymentId: payment.paymentId,
      recordedOn: moment(payment.at),
      kind: payment.kind,
      amount: price(payment.amount),
      reference: payment.reference,
      note: payment.note,
      returnId: payment.returnId,
      ...(payment.giftCardId !== null && { giftCardId: payment.giftCardId }),
      ...(state !== 'done' && { state }),
      ...(goodwillAmount > 0 && { goodwill: { amount: price(goodwillAmount), reason: goodwillReason } }),
    })),
    ...(activity.attempts.length > 0 && {
      paymentAttempts: activity.attempts.map((attempt) => ({
        attemptId: attempt.attemptId,
        startedOn: moment(attempt.at),
        provider: attempt.provider,
        state: attempt.state,
        amount: price(attempt.amount),
        reference: attempt.reference,
        error: attempt.error,
      })),
    }),
  };
}

function bundlesOf(content: Content, context: RenderContext) {
  const price = (minor: number) => priceOf(minor, content.currency, content.taxType, context.locale);
  return (content.bundles ?? []).map(({ lineItemId }) => ({
    lineItemId,
    parts: partsOfLine(content, lineItemId).map((part) => ({
      lineItemId: part.lineItemId,
      productId: part.productId,
      sku: part.productNumber,
      name: textOf(part.name, context),
      variationString: part.variation && textOf(part.variation, context),
      quantity: Number(part.quantity),
      amount: price(part.amount),
      taxRate: part.taxClass.rate / 100,
    })),
  }));
}

function promotionsOf({ promotions = [], coupon, currency, taxType }: Content, context: RenderContext) {
  const price = (minor: number) => priceOf(minor, currency, taxType, context.locale);
  return promotions
    .filter(({ amount, deliveryAmount }) => amount !== 0 || deliveryAmount !== 0)
    .map(({ promotionId, name, amount, deliveryAmount, terms }) => ({
      promotionId,
      name: textOf(name, context),
      ...(terms.isCoupon && coupon?.codeKey && { code: coupon.codeKey }),
      amount: price(amount),
      deliveryAmount: price(deliveryAmount),
    }));
}

/** With numbers, for answers and for the history. */
export const numbered = (lines: readonly PartLine[]) =>
  lines.map(({ lineItemId, quantity }) => ({ lineItemId, quantity: Number(quantity) }));

const moment = (at: string | Date) => toMilliseconds(new Date(at));

export function toReturn({ at, lines, unsentLines, ...fields }: Omit<Return, 'at'> & { at: string | Date }) {
  return {
    returnId: fields.returnId,
    returnedOn: moment(at),
    state: fields.state,
    origin: fields.origin,
    lines: numbered(lines),
    unsentLines: unsentLines.map(({ quantity, ...line }) => ({ ...line, quantity: Number(quantity) })),
    restocked: fields.restocked,
    reason: fields.reason,
    note: fields.note,
    declaredBy: fields.declaredBy,
    contact: fields.contact,
  };
}

export function record(
  { tx, shopId }: Pick<OrderCall, 'tx' | 'shopId'>,
  { order, appId }: Pick<OpenOrder, 'order'> & { appId: string | null },
  kind: HistoryKind,
  details: Record<string, unknown>,
): Promise<void> {
  return recordHistory(tx, shopId, order.orderId, { appId, kind, details });
}

/**
 * Takes from stock or returns to it, and notifies customers who wait for it. What a line gives back (`lineItemId`) ends
 * its waiting first; what it takes beyond the stock is promised, where the product allows it.
 */
export async function moveStock(
  { tx, shopId }: Pick<OrderCall, 'tx' | 'shopId'>,
  { order, settings, activity }: Pick<OpenOrder, 'order' | 'settings' | 'activity'>,
  moves: readonly LineMove[],
  lines: Content['lines'] = order.content.lines,
): Promise<void> {
  const asked = moves.filter(({ quantity }) => quantity !== 0);
  if (asked.length === 0) return;
  const kept = await movePromises(tx, shopId, { order, activity, settings }, asked);
  const real = kept.filter(({ quantity }) => quantity !== 0);
  if (real.length === 0) return;
  const changed = await changeStock(tx, shopId, real);
  const shortIds = changed.flatMap(({ productId, before, after }) =>
    after < before && after < 0 ? [productId] : [],
  );
  if (shortIds.length > 0 && !settings.sellBeyondStock) {
    const numbers = lines.filter(({ productId }) => shortIds.includes(productId));
    const names = new Set(numbers.map(({ productNumber }) => productNumber));
    throw new Refusal('OUT_OF_STOCK', { products: [...names] });
  }
  for (const stock of changed) recordStockEvents(tx, settings, stock, stock.before, stock.after);
  const backIds = changed.flatMap(({ productId, before, after }) =>
    isBackInStock(before, after) ? [productId] : [],
  );
  if (backIds.length > 0) await queueAvailabilityNotifications(tx, shopId, backIds);
}

/** The states that an order reaches through payments and shipments; the time when one was first reached stays. */
export function statesReached(
  { content, paidAmount, refundedAmount, ...states }: ManagedOrder,
  shipments: OrderActivity['shipments'],
  now: Date,
): OrderChanges {
  const isPaid = paidAmount - refundedAmount >= content.grandTotal;
  const isSent = unshippedLines(content, shipments).length === 0;
  return {
    ...(paidAmount > 0 &&
      !states.paidOn &&
      (isPaid ? { paidOn: now } : { partiallyPaidOn: states.partiallyPaidOn ?? now })),
    ...(shipments.length > 0 &&
      !states.dispatchedOn &&
      (isSent ? { dispatchedOn: now } : { partiallyDispatchedOn: states.partiallyDispatchedOn ?? now })),
  };
}

/** An amount in minor units; one with too many decimals for the currency is refused. */
export function exactAmount(
  value: number | string,
  { currency }: Pick<ManagedOrder, 'currency'>,
  field: string,
  bounds: { min?: number } = {},
): number {
  const minor = amountOf(value, currency, field, bounds);
  const { units, scale } = parseDecimal(typeof value === 'string' ? value.trim() : value)!;
  if ((units * 10n ** BigInt(currencyDigits(currency))) % 10n ** BigInt(scale) !== 0n) {
    throw invalid('OUT_OF_RANGE', field);
  }
  return minor;
}

/** For the history: the old and the new value. */
export function moneyChange(from: number, to: number, { currency }: Pick<ManagedOrder, 'currency'>) {
  return { from: toDecimal(from, currency), to: toDecimal(to, currency) };
}

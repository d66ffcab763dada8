import { Type } from 'typebox';
import {
  contentDelivery,
  contentMethod,
  contentOf,
  destinationOf,
  type Content,
  type ContentLine,
} from '../pricing/content.ts';
import { quantityOfPart } from '../pricing/bundles.ts';
import { partsOfLine, shownLines } from '../pricing/shown-lines.ts';
import type { Destination } from '../pricing/delivery.ts';
import { MAX_LINES } from './line-item-schema.ts';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { isId, newId } from '../kernel/ids.ts';
import { customTextProblem, givenText } from '../catalogue/products/custom-text.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { changeOrder } from './change.ts';
import { paymentWaitOf } from './order-state.ts';
import type { HistoryKind } from './history.ts';
import {
  exactAmount,
  manageOperation,
  managedOrder,
  moneyChange,
  moveStock,
  openOrder,
  record,
  requireEditing,
  statesReached,
  type OpenOrder,
  type OrderCall,
} from './manage-change.ts';
import { millionths, quantitiesOf, quantityText } from './quantities.ts';
import { findOffer } from './manage-queries.ts';
import { requestCancel } from './payments/queries.ts';
import {
  AddedLine,
  ChangedLine,
  ChangedPayment,
  ChangedShipping,
  type ManagedOrderAnswer,
} from './manage-schema.ts';
import type { ManagedOrder } from './queries.ts';
import { deliveryPriceToday, paymentPriceToday, revised, type Edits } from './revision.ts';
import { decimalOf, MAX_MINOR } from '../http/request-fields.ts';

const QUANTITY = { min: 0.000_001, max: 1_000_000 };
const lineParams = Type.Object({ orderId: Id, lineItemId: Id });
const IN_EDIT_MODE =
  'The order must be in edit mode of this app, and not invoiced: 409. The totals are computed again from the agreed terms.';

export const addOrderLine = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/line-items',
  name: 'addOrderLine',
  summary: 'Add order line',
  description: `Adds a separate line with the current price and texts, and takes its items from stock. ${IN_EDIT_MODE} 409: there is not enough stock.`,
  body: AddedLine,
  status: 201,
});

export const updateOrderLine = operation({
  ...manageOperation,
  method: 'PUT',
  path: '/orders/:orderId/line-items/:lineItemId',
  name: 'updateOrderLine',
  summary: 'Update order line',
  description: `Changes quantity, price or both; the difference is taken from stock or put back. Without a price, the agreed one stays. ${IN_EDIT_MODE} 409: there is not enough stock, or more was already sent.`,
  params: lineParams,
  body: ChangedLine,
});

export const removeOrderLine = operation({
  ...manageOperation,
  method: 'DELETE',
  path: '/orders/:orderId/line-items/:lineItemId',
  name: 'removeOrderLine',
  summary: 'Remove order line',
  description: `Its items go back into stock. ${IN_EDIT_MODE} 409: it is the last line, or part of it was already sent.`,
  params: lineParams,
});

export const updateOrderShipping = operation({
  ...manageOperation,
  method: 'PUT',
  path: '/orders/:orderId/shipping',
  name: 'updateOrderShipping',
  summary: 'Update order shipping',
  description: `Changes the delivery or its price. ${IN_EDIT_MODE}`,
  body: ChangedShipping,
});

export const updateOrderPayment = operation({
  ...manageOperation,
  method: 'PUT',
  path: '/orders/:orderId/payment',
  name: 'updateOrderPayment',
  summary: 'Update order payment',
  description: `Changes the payment method or its price, which may be a discount. ${IN_EDIT_MODE}`,
  body: ChangedPayment,
});

export function managedLines(api: Operations): void {
  api.write(addOrderLine, async (call) => {
    const open = await openOrder(call);
    requireChangeable(open);
    const added = await lineOfToday(call, open, call.body);
    const { lineItemId, productId, quantity } = added;
    await moveStock(call, open, [{ lineItemId, productId, quantity: -Number(quantity) }], [added]);
    return edited(call, open, { added }, 'line added', ({ lines }) => {
      const { unitPrice } = lines.find((line) => line.lineItemId === lineItemId)!;
      return {
        lineItemId,
        productId,
        quantity: { from: 0, to: Number(quantity) },
        price: moneyChange(0, unitPrice, open.order),
      };
    });
  });

  api.write(updateOrderLine, async (call) => {
    const { params, body } = call;
    const open = await openOrder(call);
    const line = lineOf(open, params.lineItemId);
    requireChangeable(open);
    const quantity = isGiven(body.quantity) ? quantityOf(body.quantity) : undefined;
    const price = isGiven(body.price) ? exactAmount(body.price, open.order, 'price') : undefined;
    if (quantity === undefined && price === undefined) throw invalid('MISSING', 'quantity');
    const { lineItemId, productId } = line;
    const share = Number(quantity ?? line.quantity) / Number(line.quantity);
    const moves = goodsOf(line, open).map((goods) => {
      const wanted = quantity === undefined ? goods.quantity : quantityOfPart(goods.quantity, share);
      refuseBelowShipped(open, goods, millionths(wanted));
      const more = millionths(wanted) - millionths(goods.quantity);
      const { lineItemId, productId } = goods;
      return { lineItemId, productId, quantity: -Number(quantityText(more)) };
    });
    await moveStock(call, open, moves);
    return edited(call, open, { changed: { lineItemId, quantity, price } }, 'line changed', (content) => {
      const after = shownLines(content).find((one) => one.lineItemId === lineItemId)!;
      return {
        lineItemId,
        productId,
        quantity: { from: Number(line.quantity), to: Number(after.quantity) },
        price: moneyChange(line.unitPrice, after.unitPrice, open.order),
      };
    });
  });

  api.write(removeOrderLine, async (call) => {
    const open = await openOrder(call);
    const line = lineOf(open, call.params.lineItemId);
    requireChangeable(open);
    const goods = goodsOf(line, open);
    for (const one of goods) refuseBelowShipped(open, one, 0);
    if (shownLines(open.order.content).length === 1) {
      throw new Refusal('LAST_LINE');
    }
    const { lineItemId, productId, quantity, unitPrice } = line;
    await moveStock(
      call,
      open,
      goods.map((one) => ({
        lineItemId: one.lineItemId,
        productId: one.productId,
        quantity: Number(one.quantity),
      })),
    );
    return edited(call, open, { removed: lineItemId }, 'line removed', () => ({
      lineItemId,
      productId,
      quantity: { from: Number(quantity), to: 0 },
      price: moneyChange(unitPrice, 0, open.order),
    }));
  });

  api.write(updateOrderShipping, async (call) => {
    const open = await openOrder(call);
    requireChangeable(open);
    refuseEmpty(open);
    const { order, settings } = open;
    const { content } = order;
    const { shippingMethodId, price } = call.body;
    const wanted = shippingMethodId.toUpperCase();
    const method = settings.shippingMethods.find((one) => one.shippingMethodId === wanted);
    if (!method) throw invalid('UNKNOWN_VALUE', 'shippingMethodId');
    // With a price of their own, merchants can use a method beyond its zones.
    const agreed = isGiven(price)
      ? exactAmount(price, order, 'price')
      : deliveryPriceToday(content, method, destination(order, settings), pricedHere(order, settings));
    if (agreed === undefined) throw new Refusal('SHIPPING_METHOD_ELSEWHERE');
    const shipping = { ...contentDelivery(method, settings), price: agreed };
    return edited(call, open, { shipping }, 'shipping changed', (after) => ({
      shippingMethodId: { from: content.shipping?.shippingMethodId ?? null, to: wanted },
      price: moneyChange(content.shippingPrice, after.shippingPrice, order),
    }));
  });

  api.write(updateOrderPayment, async (call) => {
    const open = await openOrder(call);
    requireChangeable(open);
    refuseEmpty(open);
    const { order, settings } = open;
    const { content } = order;
    const { paymentMethodId, price } = call.body;
    const wanted = paymentMethodId.toUpperCase();
    const method = settings.paymentMethods.find((one) => one.paymentMethodId === wanted);
    if (!method) throw invalid('UNKNOWN_VALUE', 'paymentMethodId');
    const before = content.payment?.method?.paymentMethodId ?? null;
    const payment = {
      method: contentMethod(method, settings),
      name: null,
      // The provider's message is about its own payment.
      transactionId: before === wanted ? content.payment!.transactionId : null,
      status: before === wanted ? content.payment!.status : null,
      price: isGiven(price)
        ? exactAmount(price, order, 'price', { min: -MAX_MINOR })
        : paymentPriceToday(content, method, pricedHere(order, settings)),
    };
    // The page of the former method asks for the wrong payment.
    if (before !== wanted) await requestCancel(call.tx, call.shopId, order.orderId);
    return edited(call, open, { payment }, 'payment method changed', (after) => ({
      paymentMethodId: { from: before, to: wanted },
      price: moneyChange(content.payment?.price ?? 0, after.payment!.price, order),
    }));
  });
}

/** Saves the edited order, and answers with it. */
async function edited(
  call: OrderCall,
  open: OpenOrder,
  edits: Edits,
  kind: HistoryKind,
  details: (content: Content) => Record<string, unknown>,
): Promise<ManagedOrderAnswer> {
  const { tx, shopId } = call;
  const { order, activity, settings } = open;
  const content = revised(order.content, edits);
  if (content.grandTotal > MAX_MINOR || content.subTotal > MAX_MINOR) {
    throw new Refusal('ORDER_TOO_VALUABLE');
  }
  const states = statesReached({ ...order, content }, activity.shipments, tx.now);
  const isPaidOtherwise = methodIdOf(content) !== methodIdOf(order.content);
  const changes = {
    content,
    ...states,
    ...(isPaidOtherwise && { paymentWait: paymentWaitOf(content, settings) }),
  };
  const changed = await changeOrder(tx, shopId, order, changes, { moves: true });
  await record(call, open, kind, {
    ...details(content),
    grandTotal: moneyChange(order.content.grandTotal, content.grandTotal, order),
  });
  return managedOrder(tx, call, changed, settings);
}

const methodIdOf = ({ payment }: Content) => payment?.method?.paymentMethodId;

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;

const quantityOf = (value: number | string) => String(decimalOf(value, 'quantity', QUANTITY));

function lineOf({ order }: OpenOrder, lineItemId: string): ContentLine {
  const line = shownLines(order.content).find((one) => one.lineItemId === lineItemId);
  if (!line) throw notFound('lineItemId');
  return line;
}

/** The lines of a bundle's parts; any other line itself. */
function goodsOf(line: ContentLine, { order }: OpenOrder): ContentLine[] {
  const parts = partsOfLine(order.content, line.lineItemId);
  return parts.length > 0 ? parts : [line];
}

/**
 * Lines, delivery and payment can change while nothing of the order is invoiced: a change of one line may move the
 * discount on all others, and then invoices would no longer sum to the order.
 */
function requireChangeable(open: OpenOrder): void {
  requireEditing(open);
  const { invoicedIds, invoicedAmount } = open.activity;
  if (invoicedIds.length > 0 || invoicedAmount > 0) {
    throw new Refusal('ORDER_INVOICED');
  }
}

/** Requires something that can be delivered and paid for. */
function refuseEmpty({ order }: OpenOrder): void {
  if (order.content.lines.length === 0) throw new Refusal('ORDER_EMPTY');
}

function refuseBelowShipped({ activity }: OpenOrder, { lineItemId }: ContentLine, wanted: number): void {
  const shipped = quantitiesOf(activity.shipments).get(lineItemId) ?? 0;
  if (wanted < shipped) throw new Refusal('LINE_SHIPPED', { quantity: quantityText(shipped) });
}

/** The goods' destination. */
function destination(order: ManagedOrder, settings: Settings): Destination & { country: string } {
  return { ...destinationOf(order), country: destinationCountry(order, settings) };
}

export function destinationCountry(
  { shippingAddress, billingAddress }: ManagedOrder,
  { country }: Settings,
): string {
  return (shippingAddress ?? billingAddress).country ?? country;
}

/** The settings, if they have prices in the currency of the order. */
function pricedHere({ currency }: ManagedOrder, settings: Settings): Settings {
  if (settings.currencies.includes(currency)) return settings;
  throw new Refusal('ORDER_CURRENCY_ENDED', { currency });
}

/** A product as sold today, in the terms of the order. */
async function lineOfToday(
  { tx, shopId }: OrderCall,
  { order, settings }: OpenOrder,
  {
    productId,
    quantity,
    price,
    customText: typed,
  }: {
    productId: string;
    quantity: number | string;
    price?: number | string | null;
    customText?: string | null;
  },
): Promise<ContentLine> {
  if (!isId(productId)) throw notFound('productId');
  if (order.content.lines.length >= MAX_LINES) {
    throw new Refusal('ORDER_FULL', { limit: MAX_LINES });
  }
  const offer = await findOffer(tx, shopId, productId, order.customerId);
  if (!offer) throw notFound('productId');
  const { product, customerGroupId } = offer;
  if (product.kind === 'master') {
    throw new Refusal('LINE_IS_MASTER', { product: product.productNumber });
  }
  if (product.facts.parts) throw new Refusal('LINE_IS_BUNDLE', { product: product.productNumber });
  const customText = givenText(typed);
  const problem = customTextProblem(product.customisation, customText);
  if (problem) throw invalid(problem, 'customText');
  const { currency, taxType, shipping } = order.content;
  const { content } = contentOf(
    {
      currency,
      taxType,
      customerGroupId,
      lines: [
        {
          lineItemId: newId(tx.now),
          productId: product.productId,
          quantity: quantityOf(quantity),
          ...(isGiven(price) && { price: exactAmount(price, order, 'price') }),
          ...(customText !== undefined && { customText }),
        },
      ],
      products: [product],
      coupon: null,
      couponLineItemId: null,
      billingAddress: order.billingAddress,
      shippingAddress: order.shippingAddress,
      buyer: order.buyer,
      shippingMethodId: shipping?.shippingMethodId ?? null,
      shippingPrice: null,
      paymentMethodId: null,
      paymentTransactionId: null,
      paymentStatus: null,
      paymentName: null,
      paymentPrice: null,
    },
    settings,
    tx.now,
  );
  const [line] = content.lines;
  if (!line) throw new Refusal('LINE_WITHOUT_PRICE', { product: product.productNumber, currency });
  return line;
}

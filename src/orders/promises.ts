import {
  addPromises,
  findWaiting,
  giveBackPromises,
  raisePromised,
  type NewWaitingLine,
  type WaitingPart,
} from '../catalogue/products/backorder-queue.ts';
import {
  dayAt,
  unitsText,
  fromDecimal,
  promisableOf,
  splitQuantity,
} from '../catalogue/products/backorders.ts';
import { lockStock, type StockMove } from '../catalogue/products/stock-queries.ts';
import type { Transaction } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { waitingOfOrder } from './backorders.ts';
import type { OrderActivity } from './manage-queries.ts';
import type { ManagedOrder } from './queries.ts';

/** A move of stock for a line; goods that have come back are of none, because they are there. */
export interface LineMove extends StockMove {
  lineItemId?: string;
}

interface MovedOrder {
  order: ManagedOrder;
  activity: Pick<OrderActivity, 'backorders'>;
  settings: Settings;
}

/** Ends or adds promises of an order that changes, and returns what is left to be moved in stock. */
export async function movePromises(
  tx: Transaction,
  shopId: string,
  moved: MovedOrder,
  moves: readonly LineMove[],
): Promise<LineMove[]> {
  const left = await endWaiting(tx, shopId, moved, moves);
  return promiseMore(tx, shopId, moved, left);
}

/** What an order gives back ends its waiting before it fills the stock. */
async function endWaiting(
  tx: Transaction,
  shopId: string,
  { order, activity }: MovedOrder,
  moves: readonly LineMove[],
): Promise<LineMove[]> {
  const isGiven = ({ quantity, lineItemId }: LineMove) => quantity > 0 && lineItemId !== undefined;
  // What waits can become less without the order's lock, and never more.
  if (waitingOfOrder(activity).size === 0 || !moves.some(isGiven)) return [...moves];
  await lockStock(
    tx,
    shopId,
    moves.map(({ productId }) => productId),
  );
  const waiting = await findWaiting(tx, shopId, order.orderId);
  const ended: (WaitingPart & { productId: string })[] = [];
  const left = moves.map((move): LineMove => {
    const wait = isGiven(move) ? waiting.get(move.lineItemId!) : undefined;
    if (!wait) return move;
    const given = units(move.quantity);
    const quantity = given < wait.waiting ? given : wait.waiting;
    waiting.set(move.lineItemId!, { ...wait, waiting: wait.waiting - quantity });
    if (quantity > 0n)
      ended.push({
        orderId: order.orderId,
        lineItemId: move.lineItemId!,
        productId: move.productId,
        quantity,
      });
    return { ...move, quantity: Number(unitsText(given - quantity)) };
  });
  await giveBackPromises(tx, shopId, ended);
  return left;
}

/** What an order takes beyond the stock of a product that allows it is promised, at the end of the queue. */
async function promiseMore(
  tx: Transaction,
  shopId: string,
  { order, settings }: MovedOrder,
  moves: readonly LineMove[],
): Promise<LineMove[]> {
  const taken = moves.filter(({ quantity, lineItemId }) => quantity < 0 && lineItemId !== undefined);
  if (taken.length === 0) return [...moves];
  const products = await lockStock(
    tx,
    shopId,
    taken.map(({ productId }) => productId),
  );
  const known = new Map(products.map((product) => [product.productId, { ...product }]));
  const added: NewWaitingLine[] = [];
  const today = dayAt(tx.now, settings.deliveryTimes.timeZone);
  const left = moves.map((move): LineMove => {
    const product = taken.includes(move) ? known.get(move.productId) : undefined;
    const promisable = product && promisableOf(product, today);
    if (!product || promisable === undefined) return move;
    const split = splitQuantity(units(-move.quantity), fromDecimal(product.stock), promisable);
    if (!split) throw new Refusal('OUT_OF_STOCK', { products: [numberOf(order, move.productId)] });
    product.stock = unitsText(fromDecimal(product.stock) - split.fromStock);
    product.promised = unitsText(fromDecimal(product.promised) + split.promised);
    if (split.promised > 0n)
      added.push({
        orderId: order.orderId,
        lineItemId: move.lineItemId!,
        productId: move.productId,
        orderedAt: tx.now,
        quantity: split.promised,
        expectedOn: product.backorder!.expectedOn ?? null,
      });
    return { ...move, quantity: -Number(unitsText(split.fromStock)) };
  });
  await addPromises(tx, shopId, added);
  await raisePromised(tx, shopId, added);
  return left;
}

const units = (quantity: number) => BigInt(Math.round(quantity * 1e6));

const numberOf = ({ content }: ManagedOrder, productId: string) =>
  content.lines.find((line) => line.productId === productId)?.productNumber ?? productId;

/** An order that was sent, whatever the stock says, waits for nothing. */
export async function endWaitingOf(tx: Transaction, shopId: string, orderId: string): Promise<void> {
  const awaited = await findWaiting(tx, shopId, orderId);
  if (awaited.size === 0) return;
  await lockStock(
    tx,
    shopId,
    [...awaited.values()].map(({ productId }) => productId),
  );
  const waiting = await findWaiting(tx, shopId, orderId);
  await giveBackPromises(
    tx,
    shopId,
    [...waiting].map(([lineItemId, { productId, waiting: quantity }]) => ({
      orderId,
      lineItemId,
      productId,
      quantity,
    })),
  );
}

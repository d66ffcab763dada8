import { updateCachedStock } from '../pricing/cart-product-cache.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { requireRoom } from '../platform/plans/limits.ts';
import { PreconditionFailed } from '../http/errors.ts';
import type { OrderRequest } from './placement.ts';
import { isFresh } from '../shops/vat-numbers/register.ts';
import { placedEmails } from '../orders/placed-emails.ts';
import { createOrderBatcher, placeAlone } from './order-batcher.ts';
import { placeOrders } from './place-orders.ts';
import type { OrderRow } from '../orders/queries.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { priceCart, type PricedCart } from '../carts/cart.ts';
import type { CartStore, CartStoreOptions, CartWriteRequest } from '../carts/cart-store.ts';
import { placedOrder, shortage } from './new-order.ts';
import type { NewOrder } from '../orders/insert-orders.ts';

/** Places the order that `decide` makes of a cart, which is gone from then on. */
export type PlaceOrder = (
  request: CartWriteRequest,
  decide: (cart: PricedCart, now: Date) => NewOrder,
) => Promise<{ order: OrderRow; settings: Settings }>;

export function createPlaceOrder(
  service: Database,
  carts: CartStore,
  { batch, config }: Pick<CartStoreOptions, 'batch'> & { config: Config },
): PlaceOrder {
  const placeUnlocked = batch
    ? createOrderBatcher(service)
    : (shopId: string, request: OrderRequest) => placeAlone(service.atClockOf(shopId), shopId, request);

  const place = async (
    request: CartWriteRequest,
    decide: (cart: PricedCart, now: Date) => NewOrder,
    { isVatChecked }: { isVatChecked: boolean },
  ) => {
    const { shopId, entry, transaction } = request;
    const db = service.atClockOf(shopId);
    const { order, placement, cart } = await carts.close(request, async ({ isCached, tx, ...open }) => {
      const { now } = tx ?? db;
      const vatCheck = open.cart.buyer?.vatCheck;
      if (vatCheck && !isVatChecked && !isFresh(vatCheck, now)) throw new VatCheckOutdated();
      const cart: PricedCart = { ...open, priced: priceCart(open.cart, open.settings, now) };
      let order: NewOrder;
      try {
        order = decide(cart, now);
      } catch (error) {
        // A cached cart may differ for a reason that its versions do not show, such as a coupon's uses.
        if (isCached && error instanceof PreconditionFailed) return undefined;
        throw error;
      }
      const { settingsVersion, products } = open.cart;
      const item: OrderRequest = {
        order,
        options: {
          emails: placedEmails(order, open.settings, now),
          entry: entry && { ...entry, object: { ...entry.object, orderId: order.orderId } },
          expected: isCached ? { settingsVersion, products } : undefined,
        },
      };
      const placement = tx ? (await placeOrders(tx, shopId, [item]))[0]! : await placeUnlocked(shopId, item);
      return placement.isCurrent ? { order, placement, cart } : undefined;
    });
    if (placement.orderNumber === null) throw shortage(placement.shortIds, cart);
    updateCachedStock(transaction ?? db, shopId, placement.left);
    return { order: placedOrder(order, placement), settings: cart.settings };
  };

  return async (request, decide) => {
    const { shopId, transaction } = request;
    await requireRoom({ db: transaction ?? service.atClockOf(shopId), config }, shopId, 'ordersPerMonth');
    // Within a transaction no register can be asked; `prepare` of the operation has asked before.
    if (request.transaction) return place(request, decide, { isVatChecked: true });
    try {
      return await place(request, decide, { isVatChecked: false });
    } catch (error) {
      if (!(error instanceof VatCheckOutdated)) throw error;
      await carts.refreshVatCheck(request);
      return place(request, decide, { isVatChecked: true });
    }
  };
}

/** The VAT number was checked so long ago that the register has to be asked again, outside of the transaction. */
class VatCheckOutdated extends Error {
  override name = 'VatCheckOutdated';
}

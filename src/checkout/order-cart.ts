import { isDeepStrictEqual } from 'node:util';
import { updateCachedStock } from '../pricing/cart-product-cache.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { requireRoom } from '../platform/plans/limits.ts';
import { isRefusal, PreconditionFailed, Refusal } from '../http/errors.ts';
import type { AppCalls } from '../apps/calls/calls.ts';
import {
  AppsNotAsked,
  askBeforeOrder,
  DeliveryChanged,
  requireAppChecks,
  type AppChecks,
} from './app-checks.ts';
import type { OrderRequest } from './placement.ts';
import { isFresh } from '../shops/vat-numbers/register.ts';
import { placedEmails } from '../orders/placed-emails.ts';
import { createOrderBatcher, placeAlone } from './order-batcher.ts';
import { placeOrders } from './place-orders.ts';
import type { OrderRow } from '../orders/queries.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { priceCart, type PricedCart } from '../carts/cart.ts';
import type { CartStore, CartStoreOptions, CartWriteRequest, OpenCart } from '../carts/cart-store.ts';
import { findCardPayments } from '../carts/gift-cards.ts';
import { AppTermsOutdated, requireAppTerms, type AppTerms, type StoredTerms } from '../carts/app-terms.ts';
import { placedOrder, shortage, type OrderableCart } from './new-order.ts';
import type { NewOrder } from '../orders/insert-orders.ts';

type OrderRequestOfCart = CartWriteRequest & {
  /** `decide` compares the cart with what the customer has seen; else a price that changes is refused once. */
  isConfirmed?: boolean;
};

export interface PlaceOrder {
  /** Places the order that `decide` makes of a cart, which is gone from then on. */
  (
    request: OrderRequestOfCart,
    decide: (cart: OrderableCart, now: Date) => NewOrder,
    /** The apps' answers, for an order inside of a transaction; undefined: they are not asked there. */
    checks?: AppChecks,
  ): Promise<{ order: OrderRow; settings: Settings }>;
  /** Asks the apps before a transaction in which they can't be asked; it refuses what they refuse. */
  askApps(request: OrderRequestOfCart, open: OpenCart): Promise<AppChecks>;
}

export function createPlaceOrder(
  service: Database,
  carts: CartStore,
  {
    batch,
    config,
    calls,
    appTerms,
  }: Pick<CartStoreOptions, 'batch'> & { config: Config; calls: AppCalls; appTerms: AppTerms },
): PlaceOrder {
  const placeUnlocked = batch
    ? createOrderBatcher(service)
    : (shopId: string, request: OrderRequest) => placeAlone(service.atClockOf(shopId), shopId, request);

  const place = async (
    request: CartWriteRequest,
    decide: (cart: OrderableCart, now: Date) => NewOrder,
    {
      isVatChecked,
      hasTerms,
      checks,
    }: { isVatChecked: boolean; hasTerms: boolean; checks: AppChecks | undefined },
  ) => {
    const { shopId, entry, transaction } = request;
    const db = service.atClockOf(shopId);
    const { order, placement, cart } = await carts.close(request, async ({ isCached, tx, ...open }) => {
      const { now } = tx ?? db;
      const vatCheck = open.cart.buyer?.vatCheck;
      if (vatCheck && !isVatChecked && !isFresh(vatCheck, now)) throw new VatCheckOutdated();
      const isAnswered = hasTerms ? appTerms.areKnown(open) : appTerms.areCurrent(open);
      if (!(await isAnswered)) {
        // Another process may have asked the apps since this one has cached the cart.
        if (isCached) return undefined;
        throw new AppTermsOutdated();
      }
      requireAppTerms(open.cart);
      const pricedCart: PricedCart = { ...open, priced: priceCart(open.cart, open.settings, now) };
      const giftCards = await findCardPayments(tx ?? db, shopId, pricedCart);
      const cart: OrderableCart = { ...pricedCart, giftCards };
      // The apps are not asked about an order that is refused anyway.
      let order: NewOrder;
      try {
        order = decide(cart, now);
      } catch (error) {
        // A cached cart may differ for a reason that its versions do not show, such as a coupon's uses.
        if (isCached && error instanceof PreconditionFailed) return undefined;
        const isUndelivered = isRefusalOf(error, ['ADDRESS_UNDELIVERABLE', 'NO_SHIPPING_METHOD']);
        if (isUndelivered) await refuseUndelivered(cart);
        throw error;
      }
      await refuseUndelivered(cart);
      if (!tx || checks) await requireAppChecks(tx ?? db, calls, cart, checks);
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
    if (placement.orderNumber === null) throw shortage(placement, cart);
    updateCachedStock(transaction ?? db, shopId, placement.left);
    return { order: placedOrder(order, placement), settings: cart.settings };
  };

  /**
   * Asks the apps. A changed delivery goes into the cart, so that the customer sees it before another
   * order.
   */
  const ask = async (request: OrderRequestOfCart, cart: PricedCart): Promise<AppChecks> => {
    try {
      return await askBeforeOrder(calls, cart, request.origin, service.atClockOf(request.shopId).now);
    } catch (error) {
      if (!(error instanceof DeliveryChanged)) throw error;
      const { option } = error;
      const before = cart.cart.deliveryOption;
      const unaudited = { ...request, caller: undefined, transaction: undefined, entry: undefined };
      await carts.update(unaudited, ({ deliveryOption }) =>
        isDeepStrictEqual(deliveryOption, before)
          ? { deliveryOption: option ?? null, ...(!option && { shippingMethodId: null }) }
          : {},
      );
      throw error;
    }
  };

  /** The shop has no way to deliver the cart, but its apps may have one, which the customer has to choose. */
  const refuseUndelivered = async ({ priced, settings }: PricedCart): Promise<void> => {
    const { isNeeded, method } = priced.totals.delivery;
    if (!isNeeded || method) return;
    const apps = await calls.asked(service, settings, 'deliveryOptions');
    if (apps.length > 0) throw new Refusal('DELIVERY_NOT_CHOSEN');
  };

  /**
   * Asks the apps for the prices and taxes. A change is in the cart, so that the customer sees it before another order.
   */
  const refreshTerms = async (request: OrderRequestOfCart): Promise<void> => {
    const before = await carts.find(request);
    const { cart } = await carts.open(request);
    requireAppTerms(cart);
    if (request.isConfirmed) return;
    const isChanged = (key: keyof StoredTerms) =>
      !isDeepStrictEqual(before[key]?.answers ?? [], cart[key]?.answers ?? []);
    if (isChanged('linePrices')) throw new Refusal('LINE_PRICE_CHANGED');
    if (isChanged('appTaxes')) throw new Refusal('APP_TAX_CHANGED');
  };

  const placeOrder = async (
    request: OrderRequestOfCart,
    decide: (cart: OrderableCart, now: Date) => NewOrder,
    prepared?: AppChecks,
  ) => {
    const { shopId, transaction } = request;
    await requireRoom({ db: transaction ?? service.atClockOf(shopId), config }, shopId, 'ordersPerMonth');
    // Within a transaction neither a register nor an app can be asked; `prepare` of the operation has asked before.
    if (transaction) {
      try {
        return await place(request, decide, { isVatChecked: true, hasTerms: true, checks: prepared });
      } catch (error) {
        const isNotAsked = error instanceof AppsNotAsked || error instanceof AppTermsOutdated;
        throw isNotAsked ? new Refusal('CART_CHANGED') : error;
      }
    }
    const known = { isVatChecked: false, hasTerms: false, checks: undefined as AppChecks | undefined };
    // Each may have to be asked once; a cart that changes all the time is not ordered.
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        return await place(request, decide, known);
      } catch (error) {
        if (error instanceof VatCheckOutdated) {
          await carts.refreshVatCheck(request);
          known.isVatChecked = true;
        } else if (error instanceof AppTermsOutdated) {
          await refreshTerms(request);
          known.hasTerms = true;
        } else if (error instanceof AppsNotAsked) known.checks = await ask(request, error.cart);
        else throw error;
      }
    }
    throw new Refusal('CART_CHANGED');
  };

  return Object.assign(placeOrder, {
    askApps: async (request: OrderRequestOfCart, { cart, settings }: OpenCart): Promise<AppChecks> => {
      const asked = await calls.asked(service, settings, 'checkoutValidation');
      try {
        if (!(await appTerms.areCurrent({ cart, settings }))) await refreshTerms(request);
        if (!cart.deliveryOption && asked.length === 0) return { validated: null, delivery: null };
        return await ask(request, await carts.open(request));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return { validated: null, delivery: null, refusal: error };
      }
    },
  });
}

const isRefusalOf = (error: unknown, codes: readonly string[]) =>
  error instanceof Refusal && codes.includes(error.code);

/** Two orders created the same customer, or the customer was erased meanwhile. The next attempt succeeds. */
export const ORDER_RACES: readonly unknown[] = ['customer_number', 'customer_order_customer'];

const MAX_ATTEMPTS = 5;

/** The VAT number was checked so long ago that the register has to be asked again, outside of the transaction. */
class VatCheckOutdated extends Error {
  override name = 'VatCheckOutdated';
}

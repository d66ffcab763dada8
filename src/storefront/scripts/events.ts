import type { Cart } from '../../carts/schema.ts';
import type { Price } from '../../http/price.ts';
import type { Order } from '../../orders/schema.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findRefs } from '../../catalogue/products/queries.ts';
import type { Page, PageEvent } from '../page.ts';
import type { Happening } from '../session.ts';
import type { Visit } from '../visit.ts';

/** All that a page tells the scripts of apps; that a product was wished for, any page can tell. */
export function pageEvents({ session, locale }: Visit, { events = [] }: Page): PageEvent[] {
  const wishes = (session.happened ?? []).filter((one) => one.event === 'wishlist:add');
  return [
    ...events,
    ...wishes.map(({ event, productId }) => ({
      name: event,
      detail: { locale, product: { productId, quantity: 1 } },
    })),
  ];
}

/** What the visitor did with the cart before this page, which shows it. */
export async function happenedEvents(visit: Visit, cart: Cart): Promise<PageEvent[]> {
  const happened = visit.session.happened ?? [];
  const lines = cart.lineItemContainer.productLineItems;
  const lineOf = (id: string) => lines.find(({ lineItemId }) => lineItemId === id);
  const products = await addedProducts(
    visit,
    happened.flatMap((one) => (one.event === 'cart:add' ? (lineOf(one.lineItemId)?.productId ?? []) : [])),
  );
  const detailOf = (one: Happening): unknown => {
    switch (one.event) {
      case 'cart:add': {
        const productId = lineOf(one.lineItemId)?.productId;
        const product = products.find((product) => product.productId === productId);
        return product && { cart: toldCart(visit, cart), product, quantity: one.quantity };
      }
      case 'cart:setQuantity': {
        const { lineItemId, quantity, quantityDelta } = one;
        // A line that was taken out is no longer in the cart.
        return { lineItem: lineOf(lineItemId) ?? { lineItemId }, quantity, quantityDelta };
      }
      case 'cart:update':
        return { cart: toldCart(visit, cart) };
      case 'shippingMethod:select': {
        const { shippingMethod, price } = cart.shippingData ?? {};
        return shippingMethod && price && methodEvent(one.event, { ...shippingMethod, price }).detail;
      }
      case 'paymentMethod:select': {
        const { paymentMethod, price } = cart.paymentData ?? {};
        return paymentMethod && price && methodEvent(one.event, { ...paymentMethod, price }).detail;
      }
      case 'wishlist:add':
      case 'order:completed':
        return undefined;
    }
  };
  return happened.flatMap((one) => {
    const detail = detailOf(one);
    return detail ? [{ name: one.event, detail }] : [];
  });
}

async function addedProducts(visit: Visit, productIds: string[]): Promise<{ productId: string }[]> {
  const { db, shopId, settings, locale, currency, origin } = visit;
  if (productIds.length === 0) return [];
  const refs = await findRefs(db, shopId, productIds);
  const view = { locale, currency, origin, canWrite: false, variant: 'full' } as const;
  return productValues(db, settings, refs, view);
}

/**
 * A cart as apps may see it. Who the visitor is, they learn only from visitors who allow it; what opens the cart, and
 * so gives write access to it, never.
 */
export function toldCart({ session }: Pick<Visit, 'session'>, cart: Cart): object {
  const addresses = session.consent === 'all' ? {} : { billingAddress: null, shippingAddress: null };
  return { ...cart, ...addresses, pickupToken: null, checkoutUrl: null, registerSessionUrl: null };
}

/** A method of delivery or payment is chosen; also for the `data-event` of its radio button. */
export function methodEvent(
  name: 'shippingMethod:select' | 'paymentMethod:select',
  method: { id: string; name: string; price: Price },
): PageEvent {
  const detail = { _id: method.id, name: method.name, lineItemPrice: method.price };
  return {
    name,
    detail: name === 'shippingMethod:select' ? { shippingMethod: detail } : { paymentMethod: detail },
  };
}

/** Says who ordered what, so it may be on a page only for visitors who allow it. */
export function orderCompleted(order: Order): PageEvent {
  const { couponLineItem } = order.lineItemContainer;
  return {
    name: 'order:completed',
    detail: {
      orderId: order.orderId,
      orderNumber: order.orderNumber,
      currencyId: order.currencyId,
      grandTotal: order.grandTotal,
      totalTax: order.totalTax,
      billingAddress: order.billingAddress,
      shippingAddress: order.shippingAddress,
      couponCampaign: couponLineItem && { campaignId: couponLineItem.couponCampaignId },
      lineItemContainer: order.lineItemContainer,
      shippingData: order.shippingData,
      paymentData: order.paymentData,
    },
  };
}

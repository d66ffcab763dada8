import type { Cart } from '../../carts/schema.ts';
import type { Price } from '../../http/price.ts';
import type { Order } from '../../orders/schema.ts';
import { findVersions } from '../../catalogue/products/queries.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { PageEvent, type Page } from '../page.ts';
import type { VisitorEvent } from '../session.ts';
import type { Visit } from '../visit.ts';

/** The events of a page for the scripts of apps. Any page can report an addition to the wish list. */
export function pageEvents({ session, locale }: Visit, { events = [] }: Page): PageEvent[] {
  const added = (session.visitorEvents ?? []).filter((one) => one.event === 'wishlist:add');
  return [
    ...events,
    ...added.map(
      ({ event, productId }) => new PageEvent(event, { locale, product: { productId, quantity: 1 } }),
    ),
  ];
}

/** The visitor's changes to the cart before this page, which shows them. */
export async function cartEvents(visit: Visit, cart: Cart): Promise<PageEvent[]> {
  const { visitorEvents = [] } = visit.session;
  const lines = cart.lineItemContainer.productLineItems;
  const lineOf = (id: string) => lines.find(({ lineItemId }) => lineItemId === id);
  const products = await addedProducts(
    visit,
    visitorEvents.flatMap((one) =>
      one.event === 'cart:add' ? (lineOf(one.lineItemId)?.productId ?? []) : [],
    ),
  );
  const detailOf = (one: VisitorEvent): unknown => {
    switch (one.event) {
      case 'cart:add': {
        const productId = lineOf(one.lineItemId)?.productId;
        const product = products.find((product) => product.productId === productId);
        return product && { cart: cartForApps(visit, cart), product, quantity: one.quantity };
      }
      case 'cart:setQuantity': {
        const { lineItemId, quantity, quantityDelta } = one;
        // A line that was removed is no longer in the cart.
        return { lineItem: lineOf(lineItemId) ?? { lineItemId }, quantity, quantityDelta };
      }
      case 'cart:update':
        return { cart: cartForApps(visit, cart) };
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
  return visitorEvents.flatMap((one) => {
    const detail = detailOf(one);
    return detail ? [new PageEvent(one.event, detail)] : [];
  });
}

async function addedProducts(visit: Visit, productIds: string[]): Promise<{ productId: string }[]> {
  const { db, shopId, settings, locale, currency, origin } = visit;
  if (productIds.length === 0) return [];
  const refs = await findVersions(db, shopId, productIds);
  const view = { locale, currency, origin, canWrite: false, variant: 'full' } as const;
  return productValues(db, settings, refs, view);
}

/**
 * A cart as apps may see it. They learn the visitor's identity only with consent, and never the token, which would
 * give them write access to the cart.
 */
export function cartForApps({ session }: Pick<Visit, 'session'>, cart: Cart): object {
  const addresses = session.consent === 'all' ? {} : { billingAddress: null, shippingAddress: null };
  return { ...cart, ...addresses, pickupToken: null, checkoutUrl: null, registerSessionUrl: null };
}

/** A method of delivery or payment was selected. The `data-event` of its radio button has the same event. */
export function methodEvent(
  name: 'shippingMethod:select' | 'paymentMethod:select',
  method: { id: string; name: string; price: Price },
): PageEvent {
  const detail = { _id: method.id, name: method.name, lineItemPrice: method.price };
  return new PageEvent(
    name,
    name === 'shippingMethod:select' ? { shippingMethod: detail } : { paymentMethod: detail },
  );
}

/** Identifies the customer and the order, so it is only on pages of visitors who consent. */
export function orderCompleted(order: Order): PageEvent {
  const { couponLineItem } = order.lineItemContainer;
  return new PageEvent('order:completed', {
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
  });
}

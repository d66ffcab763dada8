import type { Cart } from '../../carts/schema.ts';
import { changeCart, startCart, type VisitorCart } from '../../checkout/visitor-cart.ts';
import { isRefusal } from '../../http/errors.ts';
import { readingCurrency } from '../../http/locale.ts';
import { findVisitorCart, setSessionCart, shopperOf } from './visitor-cart.ts';
import type { Pages } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { Redirect } from '../../http/page-kit.ts';

/** Switches the currency. A cart never changes its currency, so its content moves to a new cart. */
export function currency(pages: Pages): void {
  pages.post('/currency', async (visit, { field, referrerPath }) => {
    const currency = readingCurrency(field('currency'), visit.settings);
    visit.updateSession({ currency });
    const before = await findVisitorCart(visit);
    if (!before || before.cart.currency === currency) return new Redirect(referrerPath);
    return new Redirect(referrerPath, await moveCart(visit, before, currency));
  });
}

/** Returns the notice about it. The former cart is left unchanged and expires. */
async function moveCart(visit: Visit, before: VisitorCart, currency: string): Promise<string> {
  const messages = messagesIn(visit.locale).storefront.currency;
  const { lines, couponCodeKey, shippingPrice, paymentPrice } = before.cart;
  const after = await createMovedCart(visit, before, currency);
  if (after) setSessionCart(visit, after, { event: 'cart:update' });
  else visit.updateSession({ cart: undefined });
  const hasOwnPrices =
    lines.some(({ price }) => price !== undefined) || shippingPrice !== null || paymentPrice !== null;
  return [
    messages.changed({ currency }),
    ...((after?.lineItemContainer.productLineItems.length ?? 0) < lines.length
      ? [messages.productsRemoved]
      : []),
    ...(couponCodeKey === null ? [] : [messages.couponRemoved]),
    ...(hasOwnPrices ? [messages.agreedPrices] : []),
  ].join(' ');
}

/** undefined: none of the products is sold in this currency. */
async function createMovedCart(
  visit: Visit,
  { cart }: VisitorCart,
  currency: string,
): Promise<Cart | undefined> {
  const shopper = shopperOf(visit);
  const { taxType, customerId, billingAddress, shippingAddress, shippingMethodId, paymentMethodId } = cart;
  const lineItems = cart.lines.map(({ productId, quantity }) => ({ productId, quantity: Number(quantity) }));
  try {
    const { cartId } = await startCart(
      shopper,
      {
        currency,
        locale: visit.locale,
        taxType,
        customerId,
        lineItems,
        forceCreate: true,
      },
      cart.appId,
    );
    const chosen = { billingAddress, shippingAddress, shippingMethodId, paymentMethodId };
    return await changeCart(shopper, cartId, () => chosen);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

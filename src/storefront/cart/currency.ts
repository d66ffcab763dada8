import type { Cart } from '../../carts/schema.ts';
import { changeCart, startCart, type ShownCart } from '../../carts/shopping.ts';
import { isRefusal } from '../../http/errors.ts';
import { readingCurrency } from '../../http/locale.ts';
import { cartOf, rememberCart, shopperOf } from './visitor-cart.ts';
import { Redirect } from '../page.ts';
import type { Pages } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { messages } from '../../kernel/messages.ts';

/** The switch of currencies. A cart has one for ever, so what is in it moves to a new one. */
export function currency(pages: Pages): void {
  pages.post('/currency', async (visit, { field, referrerPath }) => {
    const currency = readingCurrency(field('currency'), visit.settings);
    visit.updateSession({ currency });
    const before = await cartOf(visit);
    if (!before || before.cart.currency === currency) return new Redirect(referrerPath);
    return new Redirect(referrerPath, await carriedOver(visit, before, currency));
  });
}

/** What is to be said about it. The former cart is left alone and ends by itself. */
async function carriedOver(visit: Visit, before: ShownCart, currency: string): Promise<string> {
  const words = messages(visit.locale).storefront.currency;
  const { lines, couponCodeKey, shippingPrice, paymentPrice } = before.cart;
  const after = await startedWith(visit, before, currency);
  if (after) rememberCart(visit, after, { event: 'cart:update' });
  else visit.updateSession({ cart: undefined });
  const hasOwnPrices =
    lines.some(({ price }) => price !== undefined) || shippingPrice !== null || paymentPrice !== null;
  return [
    words.changed({ currency }),
    ...((after?.lineItemContainer.productLineItems.length ?? 0) < lines.length
      ? [words.productsRemoved]
      : []),
    ...(couponCodeKey === null ? [] : [words.couponRemoved]),
    ...(hasOwnPrices ? [words.agreedPrices] : []),
  ].join(' ');
}

/** undefined: nothing of it is sold in this currency. */
async function startedWith(visit: Visit, { cart }: ShownCart, currency: string): Promise<Cart | undefined> {
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

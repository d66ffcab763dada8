import type { Cart } from '../../carts/schema.ts';
import { changeCart, startCart, type ShownCart } from '../../carts/shopping.ts';
import { isRefusal } from '../../http/errors.ts';
import { readingCurrency } from '../../http/locale.ts';
import { cartOf, rememberCart, shopperOf } from './visitor-cart.ts';
import { Redirect } from '../page.ts';
import type { Pages } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { spoken } from '../words.ts';

const currencyWords = spoken({
  en: {
    changed: (currency: string) => `Your cart is now in ${currency}.`,
    lines: 'Products that are not sold in this currency were left out.',
    coupon: 'The coupon has been removed, please enter it again.',
    prices: 'Prices that were agreed on for you hold in the former currency only.',
  },
  de: {
    changed: (currency: string) => `Ihr Warenkorb ist jetzt in ${currency}.`,
    lines: 'Artikel, die es in dieser Währung nicht gibt, wurden nicht übernommen.',
    coupon: 'Der Gutschein wurde entfernt, bitte geben Sie ihn erneut ein.',
    prices: 'Mit Ihnen vereinbarte Preise gelten nur in der bisherigen Währung.',
  },
  fr: {
    changed: (currency: string) => `Votre panier est maintenant en ${currency}.`,
    lines: 'Les articles qui ne sont pas vendus dans cette devise n’ont pas été repris.',
    coupon: 'Le bon de réduction a été retiré, veuillez le saisir à nouveau.',
    prices: 'Les prix convenus avec vous ne valent que dans la devise précédente.',
  },
});

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
  const words = currencyWords(visit.locale);
  const { lines, couponCodeKey, shippingPrice, paymentPrice } = before.cart;
  const after = await startedWith(visit, before, currency);
  if (after) rememberCart(visit, after, { event: 'cart:update' });
  else visit.updateSession({ cart: undefined });
  const hasOwnPrices =
    lines.some(({ price }) => price !== undefined) || shippingPrice !== null || paymentPrice !== null;
  return [
    words.changed(currency),
    ...((after?.lineItemContainer.productLineItems.length ?? 0) < lines.length ? [words.lines] : []),
    ...(couponCodeKey === null ? [] : [words.coupon]),
    ...(hasOwnPrices ? [words.prices] : []),
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
    return await changeCart(shopper, cartId, () => ({ changed: chosen }));
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

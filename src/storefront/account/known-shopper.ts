import type { CartChange } from '../../carts/cart.ts';
import { choosePayment, chooseShipping, removeAddress, setAddress } from '../../carts/changes.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { html, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { businessForm } from '../checkout/business-fields.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { addressLines } from '../../orders/documents/address-lines.ts';
import { findAddresses, type AddressRow } from '../../people/accounts/queries.ts';
import { contentOf } from '../../pricing/content.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { VatCheck } from '../../shops/vat-numbers/buyer.ts';
import { parseAddress } from '../checkout/address-form.ts';
import { addressValues, cartAddresses, type AddressForm } from '../checkout/address-step.ts';
import { isOfferedHere } from '../payment/offered.ts';
import { shopPath, type Visit } from '../visit.ts';
import { findLastOrderOf, type LastOrder } from './queries.ts';

/** The checkout's data about a signed-in shopper. */
export interface KnownShopper {
  email: string;
  /** The address book. */
  addresses: readonly AddressRow[];
  lastOrder: LastOrder | undefined;
}

/** undefined: the visitor is not signed in. */
export async function findKnownShopper({ db, shopId, account }: Visit): Promise<KnownShopper | undefined> {
  if (!account) return undefined;
  const { email, accountId } = account;
  const [addresses, lastOrder] = await Promise.all([
    findAddresses(db, shopId, accountId),
    findLastOrderOf(db, shopId, email),
  ]);
  return { email, addresses, lastOrder };
}

/**
 * The address form, filled in: with the address chosen from the address book, else with the values typed before, else
 * with the first address of the book or those of the last order.
 */
export function filledAddresses(
  visit: Visit,
  visitorCart: VisitorCart,
  known: KnownShopper | undefined,
  chosenId: string | undefined,
): AddressForm {
  const typed = cartAddresses(visit, visitorCart);
  if (!known) return typed;
  const { email, addresses, lastOrder } = known;
  const chosen = addresses.find(({ addressId }) => addressId === chosenId?.toUpperCase());
  if (!chosen && visitorCart.view.billingAddress) return typed;
  const billing = (address: Address | undefined) => ({
    ...typed.billing,
    ...addressValues(address ?? null),
    emailAddress: email,
  });
  const fromBook = chosen ?? addresses[0];
  const withBilling = (address: Address | undefined) => {
    const values = billing(address);
    return { ...typed, billing: values, business: businessForm(values, visitorCart.cart.buyer) };
  };
  if (fromBook || !lastOrder) return withBilling(fromBook?.address);
  return {
    ...withBilling(lastOrder.billingAddress),
    shipping: { ...typed.shipping, ...addressValues(lastOrder.shippingAddress) },
    isElsewhere: lastOrder.shippingAddress !== null,
  };
}

/**
 * Fills a cart with the addresses and methods of the last order. Methods that can't be used for this cart are left to
 * the shopper. Throws the problems of an address that is no longer complete.
 */
export function repeatLastOrder(
  { email, lastOrder }: { email: string; lastOrder: LastOrder },
  visit: Visit,
  vatCheck: VatCheck | undefined,
): CartChange {
  const { settings } = visit;
  const { billingAddress, shippingAddress, shippingMethodId, paymentMethodId } = lastOrder;
  const [billing, shipping] = [addressValues(billingAddress), addressValues(shippingAddress)];
  const checked = {
    billing: parseAddress('billing', { ...billing, emailAddress: email }, billing, settings),
    shipping: shippingAddress && parseAddress('shipping', shipping, shipping, settings),
  };
  return (cart, context) => {
    const addresses = {
      ...setAddress('billingAddress', checked.billing, cart, context, vatCheck),
      ...(checked.shipping
        ? setAddress('shippingAddress', checked.shipping, cart, context)
        : removeAddress('shippingAddress', cart)),
    };
    const { isNeeded, possible } = contentOf({ ...cart, ...addresses }, context.settings, context.now).totals
      .delivery;
    const isDelivered = isNeeded && possible.some((method) => method.shippingMethodId === shippingMethodId);
    const isPayable = context.settings.paymentMethods.some(
      (method) => method.paymentMethodId === paymentMethodId && isOfferedHere(visit, method),
    );
    return {
      ...addresses,
      ...(isDelivered && chooseShipping({ ...cart, ...addresses }, { id: shippingMethodId! }, context)),
      ...(isPayable && choosePayment(paymentMethodId!, {}, context)),
    };
  };
}

/** The content above the address form: how to sign in, or what the account makes easier. */
export function shopperHelp(visit: Visit, known: KnownShopper | undefined): Markup | false {
  const messages = messagesIn(visit.locale).storefront.account.checkout;
  if (!known) {
    const href = shopPath(visit, '/account/sign-in', { target: '/checkout' });
    return html`<p><a href="${href}">${messages.signIn}</a></p>`;
  }
  const { addresses, lastOrder } = known;
  return html`${lastOrder && repeatBox(visit, lastOrder)}
  ${
    addresses.length > 1 &&
    html`<nav class="known" aria-label="${messages.saved}">
      <h2>${messages.saved}</h2>
      <ul>
        ${addresses.map(({ addressId, address }) => {
          const text = linesOf(visit, address).join(', ');
          const href = shopPath(visit, '/checkout', { address: addressId });
          return html`<li><a href="${href}" aria-label="${messages.use({ address: text })}">${text}</a></li>`;
        })}
      </ul>
    </nav>`
  }`;
}

function repeatBox(visit: Visit, { billingAddress, shippingAddress, ...methods }: LastOrder): Markup {
  const { settings, locale } = visit;
  const messages = messagesIn(locale).storefront.account.checkout;
  const shipping = settings.shippingMethods.find((one) => one.shippingMethodId === methods.shippingMethodId);
  const payment = settings.paymentMethods.find(
    (one) => one.paymentMethodId === methods.paymentMethodId && isOfferedHere(visit, one),
  );
  const names = [shipping, payment].flatMap((method) =>
    method ? [textIn(method.name, locale, settings.defaultLocale) ?? method.key] : [],
  );
  const lines = linesOf(visit, shippingAddress ?? billingAddress);
  return html`<section class="known" aria-labelledby="last-time">
    <h2 id="last-time">${messages.lastTime}</h2>
    <p>${[lines.join(', '), ...names].map((line) => html`${line}<br />`)}</p>
    <form method="post" action="${shopPath(visit, '/checkout/repeat')}">
      <button class="button">${messages.repeat}</button>
    </form>
  </section>`;
}

function linesOf({ settings, locale }: Visit, address: Address): string[] {
  return addressLines(address, settings.country, languageTag(locale));
}

import type { CartChange } from '../../carts/cart.ts';
import { choosePayment, chooseShipping } from '../../carts/changes.ts';
import { contentDelivery, contentOf, named } from '../../pricing/content.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { isOfShop, type OfferedDeliveries } from '../../carts/delivery-options.ts';
import { methodOfOption } from '../../pricing/delivery-option.ts';
import type { DeliveryOption } from '../../pricing/input.ts';
import type { ShippingMethod } from '../../shops/settings/settings.ts';
import { html, webAddress, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { priceOf, type Price } from '../../http/price.ts';
import { isId } from '../../kernel/ids.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { isOfferedHere, payableOfCart } from '../payment/offered.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { methodNotice } from '../cart/cart-page.ts';
import { pickupText } from './pickup-text.ts';
import { besideCart, checkoutHeader, vatNotice } from './steps.ts';
import { cartEvents, methodEvent } from '../scripts/events.ts';
import type { Page, PageEvent } from '../page.ts';
import { cartDeliveryText } from '../product/delivery-span.ts';
import type { ShopFormRequest } from '../pages.ts';
import { priceText } from '../../http/price-text.ts';
import { shopPath, type Visit } from '../visit.ts';

/** The id of a payment for which an app has set its own price. */
const AGREED = 'agreed';

type Field = 'shippingMethod' | 'paymentMethod';

/** The methods of the form, and which of them are not offered. */
export interface MethodForm extends Record<Field, string> {
  rejected: readonly Field[];
}

interface Option {
  id: string;
  name: string;
  description: string | null;
  /** Where and when the customer collects the goods. */
  pickup?: Markup | false;
  logo: string | undefined;
  price: Price;
  event?: PageEvent;
  isChosen: boolean;
}

/** The methods that can deliver this cart, and what apps offer for it, each with its price. */
function shippingOptions(
  visit: Visit,
  visitorCart: VisitorCart,
  { options, missing }: OfferedDeliveries,
): Option[] {
  const { db, locale } = visit;
  const { cart, priced, settings } = visitorCart;
  const { possible, isNeeded, method: current, unavailable } = priced.totals.delivery;
  if (!isNeeded || missing !== null) return [];
  const own = possible.filter(({ shippingMethodId }) => isOfShop(shippingMethodId, settings));
  const offered = options.filter(
    (option) => contentOf(choiceOf(option), settings, db.now).totals.delivery.isChosen,
  );
  return [
    ...own.map((method) => optionOf(method, null)),
    ...offered.map((one) => optionOf(methodOfOption(one), one)),
  ];

  function choiceOf(deliveryOption: DeliveryOption) {
    const { shippingMethodId } = deliveryOption;
    return { ...cart, shippingMethodId, deliveryOption, shippingPrice: null };
  }

  function optionOf(method: ShippingMethod, option: DeliveryOption | null): Option {
    const id = method.shippingMethodId;
    // A price set by an app is valid for the method that the app has chosen.
    const chosen =
      id === cart.shippingMethodId && !option ? cart : { ...cart, shippingMethodId: id, shippingPrice: null };
    const priced = contentOf(option ? choiceOf(option) : chosen, settings, db.now);
    const { totals } = priced;
    const name = anyText(named(method, settings), locale, settings.defaultLocale)!;
    const price = priceOf(totals.shipping!.price, cart.currency, cart.taxType, locale);
    const delivery = cartDeliveryText({ ...visitorCart, priced }, totals.delivery.method ?? method, visit);
    return {
      id,
      name,
      // A description often promises a time, which does not know the products of this cart.
      description: delivery ?? textIn(method.description, locale, settings.defaultLocale),
      pickup: pickupText(visit, contentDelivery(method, settings).pickup),
      logo: method.logoUrl?.startsWith('/') ? method.logoUrl : webAddress(method.logoUrl),
      price,
      event: methodEvent('shippingMethod:select', { id, name, price }),
      // A method that replaces the chosen one may be dearer, so the shopper chooses it.
      isChosen: id === current?.shippingMethodId && !unavailable,
    };
  }
}

function paymentOptions(visit: Visit, visitorCart: VisitorCart): Option[] {
  const { cart, priced, settings } = visitorCart;
  const { db, locale } = visit;
  const current = priced.totals.payment;
  const offered = settings.paymentMethods.filter((method) =>
    isOfferedHere(visit, method, payableOfCart(visitorCart)),
  );
  const options = offered.map((method): Option => {
    const id = method.paymentMethodId;
    const choice = { paymentMethodId: id, paymentPrice: null, paymentName: null };
    const { totals } = contentOf({ ...cart, ...choice }, settings, db.now);
    const name = anyText(named(method, settings), locale, settings.defaultLocale)!;
    const price = priceOf(totals.payment!.price, cart.currency, cart.taxType, locale);
    return {
      id,
      name,
      description: null,
      logo: undefined,
      price,
      event: methodEvent('paymentMethod:select', { id, name, price }),
      isChosen: id === current?.method?.paymentMethodId,
    };
  });
  if (cart.paymentPrice === null) return options;
  const agreed: Option = {
    id: AGREED,
    name: messagesIn(locale).storefront.checkout.agreed,
    description: null,
    logo: undefined,
    price: priceOf(current!.price, cart.currency, cart.taxType, locale),
    isChosen: true,
  };
  return [agreed, ...options];
}

export function parseMethods(
  visit: Visit,
  visitorCart: VisitorCart,
  offered: OfferedDeliveries,
  { field }: ShopFormRequest,
): MethodForm {
  const isOffered = (options: Option[], id: string, isNeeded: boolean) =>
    options.some((option) => option.id === id) || (options.length === 0 && !isNeeded);
  // A shop without payment methods agrees otherwise with its customers; one that offers none of its own can't be paid.
  const hasPayments = visitorCart.settings.paymentMethods.length > 0;
  const { hasDeliveryApps, priced } = visitorCart;
  const isShipped = hasDeliveryApps && priced.totals.delivery.isNeeded;
  const shippingMethod = normalisedId(field('shippingMethod'));
  const paymentMethod = normalisedId(field('paymentMethod'));
  return {
    shippingMethod,
    paymentMethod,
    rejected: [
      ...(isOffered(shippingOptions(visit, visitorCart, offered), shippingMethod, isShipped)
        ? []
        : (['shippingMethod'] as const)),
      ...(isOffered(paymentOptions(visit, visitorCart), paymentMethod, hasPayments)
        ? []
        : (['paymentMethod'] as const)),
    ],
  };
}

const normalisedId = (text: string) => (isId(text) ? text.toUpperCase() : text);

/** A method that is selected again stays unchanged, because an app may have set its price. */
export function chooseMethods(
  { shippingMethod, paymentMethod }: MethodForm,
  { options }: OfferedDeliveries,
): CartChange {
  return (cart, context) => {
    const { settings, now } = context;
    const { isNeeded, possible } = contentOf(cart, settings, now).totals.delivery;
    const isOfApp = options.some(({ shippingMethodId }) => shippingMethodId === shippingMethod);
    // What an app offers is chosen again, because its price may be another one now.
    const isShipped =
      isNeeded && (isOfApp || (possible.length > 0 && shippingMethod !== cart.shippingMethodId));
    const isPaid =
      settings.paymentMethods.length > 0 &&
      paymentMethod !== AGREED &&
      (paymentMethod !== cart.paymentMethodId || cart.paymentPrice !== null);
    return {
      ...(isShipped && chooseShipping(cart, { id: shippingMethod }, context, options)),
      ...(isPaid && choosePayment(paymentMethod, {}, context)),
    };
  };
}

export async function deliveryPage(
  visit: Visit,
  visitorCart: VisitorCart,
  offered: OfferedDeliveries,
  form?: MethodForm,
): Promise<Page> {
  const messages = messagesIn(visit.locale).storefront.checkout;
  const shipping = shippingOptions(visit, visitorCart, offered);
  const payment = paymentOptions(visit, visitorCart);
  const { isNeeded } = visitorCart.priced.totals.delivery;
  const withoutShipping = () => {
    if (!isNeeded) return messages.nothingShipped;
    if (offered.missing !== null) return messages.appMissing;
    return visitorCart.hasDeliveryApps
      ? messagesIn(visit.locale).storefront.cart.undeliverable
      : messages.noShipping;
  };
  return {
    title: messages.deliveryAndPayment,
    path: '/checkout/delivery',
    isPrivate: true,
    ...(form && { status: 400 }),
    events: await cartEvents(visit, visitorCart.view),
    header: checkoutHeader(visit, visitorCart, '/checkout/delivery'),
    main: html`<h1>${messages.deliveryAndPayment}</h1>
      ${methodNotice(visit, visitorCart)} ${vatNotice(visit, visitorCart)}
      ${besideCart(
        visit,
        visitorCart,
        html`<form method="post" action="${shopPath(visit, '/checkout/delivery')}">
          ${
            shipping.length > 0
              ? group('shippingMethod', messages.shipping, shipping, form, messages.chooseShipping)
              : html`<p ${form?.rejected.includes('shippingMethod') && html`class="error" role="alert"`}>
                  ${withoutShipping()}
                </p>`
          }
          ${
            payment.length > 0
              ? group('paymentMethod', messages.payment, payment, form, messages.choosePayment)
              : html`<p ${form?.rejected.includes('paymentMethod') && html`class="error" role="alert"`}>
                  ${visitorCart.settings.paymentMethods.length > 0 ? messages.cannotPay : messages.noPayment}
                </p>`
          }
          <p><button class="button">${messages.continue}</button></p>
        </form>`,
      )}`,
  };

  function group(
    name: Field,
    legend: string,
    options: readonly Option[],
    form: MethodForm | undefined,
    message: string,
  ): Markup {
    const isRejected = form?.rejected.includes(name) ?? false;
    return html`<fieldset ${isRejected && html`aria-describedby="${name}-error"`}>
      <legend><h2>${legend}</h2></legend>
      ${isRejected && html`<p class="error" id="${name}-error">${message}</p>`}
      ${options.map(
        ({ id, name: text, description, pickup, logo, price, event, isChosen }) =>
          html`<label class="choice">
            <input
              type="radio"
              name="${name}"
              value="${id}"
              required
              ${(form && !isRejected ? form[name] === id : isChosen) && html`checked`}
              ${event && html`data-event="${JSON.stringify(event)}"`}
            />
            ${logo !== undefined && html`<img src="${logo}" alt="" height="32" />`}
            <span
              >${text}${description !== null && html`<br /><small>${description}</small>`}
              ${pickup && html`<br />${pickup}`}</span
            >
            <span class="price">${price.amount === 0 ? messages.free : priceText(price, visit.locale)}</span>
          </label>`,
      )}
    </fieldset>`;
  }
}

import { isDelivered } from '../../checkout/new-order.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { html, type Markup } from '../../http/html.ts';
import { shortLines, summary } from '../cart/cart-summary.ts';
import { checkoutObstacle } from '../cart/visitor-cart.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { priceText } from '../../http/price-text.ts';
import { isOfferedHere, payableOfCart } from '../payment/offered.ts';
import { shopPath, type Visit } from '../visit.ts';

export type Step = '/checkout' | '/checkout/delivery' | '/checkout/review';

/** The page that must be completed before this step; undefined: nothing is missing. */
export function firstMissingStep(
  visit: Visit,
  step: Step,
  visitorCart: VisitorCart,
): '/cart' | Step | undefined {
  const obstacle = checkoutObstacle(visitorCart);
  // An address that no method delivers to is changed in the first step.
  if (obstacle && obstacle !== 'address') return '/cart';
  if (step === '/checkout') return undefined;
  if (obstacle) return '/checkout';
  const { cart, settings } = visitorCart;
  // The shop may have stopped delivering there, or an app has created the cart.
  if (cart.billingAddress === null || !isDelivered(cart, settings)) return '/checkout';
  return step === '/checkout/review' && !hasMethods(visit, visitorCart) ? '/checkout/delivery' : undefined;
}

/** The delivery and payment methods are chosen, if there are any, and still offered. */
function hasMethods(visit: Visit, visitorCart: VisitorCart): boolean {
  const { cart, priced, settings, hasDeliveryApps } = visitorCart;
  const { delivery } = priced.totals;
  const isPaid =
    cart.paymentPrice !== null ||
    settings.paymentMethods.length === 0 ||
    settings.paymentMethods.some(
      (method) =>
        method.paymentMethodId === cart.paymentMethodId &&
        isOfferedHere(visit, method, payableOfCart(visitorCart)),
    );
  const isArranged = delivery.method === null && !(delivery.isNeeded && hasDeliveryApps);
  return isPaid && (delivery.isChosen || isArranged);
}

/** The steps and the way back, with no other links. Steps that can be reached are links. */
export function checkoutHeader(visit: Visit, visitorCart: VisitorCart, current: Step): Markup {
  const messages = messagesIn(visit.locale).storefront.checkout;
  const all: [Step, string][] = [
    ['/checkout', messages.address],
    ['/checkout/delivery', messages.deliveryAndPayment],
    ['/checkout/review', messages.review],
  ];
  return html`<nav class="progress" aria-label="${messages.steps}">
      <ol class="steps">
        ${all.map(([step, name]) => {
          if (step === current) return html`<li><span aria-current="step">${name}</span></li>`;
          const isOpen = firstMissingStep(visit, step, visitorCart) === undefined;
          return html`<li>
            ${isOpen ? html`<a href="${shopPath(visit, step)}">${name}</a>` : html`<span>${name}</span>`}
          </li>`;
        })}
      </ol>
    </nav>
    <a class="back" href="${shopPath(visit, '/cart')}">${messages.back}</a>`;
}

/** Why VAT is charged although the customer has given a VAT number. */
export function vatNotice({ locale }: Visit, { cart }: VisitorCart): Markup | false {
  const messages = messagesIn(locale).storefront.checkout;
  const { result, vatNumber: number } = cart.buyer?.vatCheck ?? {};
  if (number === undefined || result === 'valid') return false;
  return html`<div class="notice" role="status">
    <p>${result === 'invalid' ? messages.vatInvalid({ number }) : messages.vatUnavailable({ number })}</p>
  </div>`;
}

/** The form of a step with the cart beside it; on phones the cart is folded above it. */
export function besideCart(visit: Visit, { view, priced }: VisitorCart, form: Markup): Markup {
  const { locale } = visit;
  const messages = messagesIn(locale).storefront;
  const { grandTotal, productLineItems } = view.lineItemContainer;
  return html`<div class="checkout">
    <aside aria-label="${messages.cart.summary}">
      <details class="fold">
        <summary>
          ${messages.choosing.yourOrder} <span class="price">${priceText(grandTotal, locale)}</span>
        </summary>
        ${shortLines(visit, productLineItems)} ${summary(visit, view, priced.content)}
      </details>
    </aside>
    ${form}
  </div>`;
}

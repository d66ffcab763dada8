import type { VisitorCart } from '../../carts/shopping.ts';
import { html, type Markup } from '../../http/html.ts';
import { checkoutObstacle } from '../cart/visitor-cart.ts';
import { messages } from '../../kernel/messages.ts';
import { to, type Visit } from '../visit.ts';

export type Step = '/checkout' | '/checkout/delivery' | '/checkout/review';

/** The page that must be completed before this step; undefined: nothing is missing. */
export function firstMissingStep(step: Step, visitorCart: VisitorCart): '/cart' | Step | undefined {
  if (checkoutObstacle(visitorCart)) return '/cart';
  if (step === '/checkout') return undefined;
  if (visitorCart.cart.billingAddress === null) return '/checkout';
  return step === '/checkout/review' && !hasMethods(visitorCart) ? '/checkout/delivery' : undefined;
}

/** The methods of delivery and payment are chosen, as far as there are any. */
function hasMethods({ cart, priced, settings }: VisitorCart): boolean {
  const { delivery } = priced.totals;
  const isPaid =
    cart.paymentPrice !== null ||
    settings.paymentMethods.length === 0 ||
    settings.paymentMethods.some(({ paymentMethodId }) => paymentMethodId === cart.paymentMethodId);
  return isPaid && (delivery.isChosen || delivery.method === null);
}

/** Steps that can be reached are links. */
export function steps(visit: Visit, visitorCart: VisitorCart, current: Step): Markup {
  const words = messages(visit.locale).storefront.checkout;
  const all: [Step, string][] = [
    ['/checkout', words.address],
    ['/checkout/delivery', words.deliveryAndPayment],
    ['/checkout/review', words.review],
  ];
  return html`<nav aria-label="${words.steps}">
    <ol class="steps">
      ${all.map(([step, name]) => {
        if (step === current) return html`<li><span aria-current="step">${name}</span></li>`;
        const isOpen = firstMissingStep(step, visitorCart) === undefined;
        return html`<li>${isOpen ? html`<a href="${to(visit, step)}">${name}</a>` : name}</li>`;
      })}
    </ol>
  </nav>`;
}

import type { ShownCart } from '../../carts/shopping.ts';
import { html, type Markup } from '../../http/html.ts';
import { obstacleTo } from '../cart/visitor-cart.ts';
import { messages } from '../../kernel/messages.ts';
import { to, type Visit } from '../visit.ts';

export type Step = '/checkout' | '/checkout/delivery' | '/checkout/review';

/** Where somebody must go before this step; undefined: nothing is missing. */
export function missingBefore(step: Step, shown: ShownCart): '/cart' | Step | undefined {
  if (obstacleTo(shown)) return '/cart';
  if (step === '/checkout') return undefined;
  if (shown.cart.billingAddress === null) return '/checkout';
  return step === '/checkout/review' && !isChosen(shown) ? '/checkout/delivery' : undefined;
}

/** Somebody said how to deliver and how to pay, where there is something to say. */
function isChosen({ cart, priced, settings }: ShownCart): boolean {
  const { delivery } = priced.totals;
  const isPaid =
    cart.paymentPrice !== null ||
    settings.paymentMethods.length === 0 ||
    settings.paymentMethods.some(({ paymentMethodId }) => paymentMethodId === cart.paymentMethodId);
  return isPaid && (delivery.isChosen || delivery.method === null);
}

/** The steps; those that can be reached are links. */
export function steps(visit: Visit, shown: ShownCart, current: Step): Markup {
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
        const isOpen = missingBefore(step, shown) === undefined;
        return html`<li>${isOpen ? html`<a href="${to(visit, step)}">${name}</a>` : name}</li>`;
      })}
    </ol>
  </nav>`;
}

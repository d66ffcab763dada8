import type { Content, ContentShipping } from '../../pricing/content.ts';
import { reviewDigest } from '../../carts/review-digest.ts';
import { requiredConsents, type ConsentKind } from '../../checkout/withdrawal-consent.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import type { Address } from '../../shops/countries/address.ts';
import { isBusinessBuyer } from '../../shops/vat-numbers/buyer.ts';
import { addressLines } from '../../orders/documents/address-lines.ts';
import { html, type Markup } from '../../http/html.ts';
import type { PageName } from '../../shops/legal/schema.ts';
import { orderLines, summary, type ShownWait, type Sums } from '../cart/cart-summary.ts';
import { messagesIn, type Message } from '../../kernel/messages.ts';
import { pickupText } from './pickup-text.ts';
import type { RejectedCode } from '../cart/code-form.ts';
import { giftCardForms, giftCardSums, orderCardSums } from './gift-cards.ts';
import { checkoutHeader, vatNotice, type Step } from './steps.ts';
import { cartEvents } from '../scripts/events.ts';
import type { Page } from '../page.ts';
import { cartDeliveryText } from '../product/delivery-span.ts';
import { isGoods } from '../../pricing/goods.ts';
import { legalGuaranteeNotice } from '../product/guarantee.ts';
import { legalNames, shopPath, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';
import { moneyText } from '../../http/price-text.ts';

/** The whole order on one page, with the button that places it. */
export async function reviewPage(
  visit: Visit,
  visitorCart: VisitorCart,
  rejection?: {
    status: 400 | 409;
    message?: string;
    consents?: readonly ConsentKind[];
    giftCard?: RejectedCode;
  },
): Promise<Page> {
  const messages = messagesIn(visit.locale).storefront.checkout;
  const { content, totals, waits } = visitorCart.priced;
  const { billingAddress, buyer } = visitorCart.cart;
  const giftCards = await giftCardForms(visit, visitorCart, rejection?.giftCard);
  const reviewed = reviewDigest(visitorCart.cart, content, visitorCart.giftCards, waits);
  const isConsumer = !billingAddress || !isBusinessBuyer(billingAddress, buyer);
  return {
    title: messages.review,
    path: '/checkout/review',
    isPrivate: true,
    ...(rejection && { status: rejection.status }),
    events: await cartEvents(visit, visitorCart.view),
    header: checkoutHeader(visit, visitorCart, '/checkout/review'),
    main: html`<h1>${messages.review}</h1>
      ${
        rejection?.message !== undefined &&
        html`<div class="notice" role="alert"><p class="error">${rejection.message}</p></div>`
      }
      ${changedTotal(visit, visitorCart)} ${vatNotice(visit, visitorCart)}
      <div class="columns review">
        <div>
          ${orderParties(visit, visitorCart.view, {
            hasLinks: true,
            delivery: cartDeliveryText(visitorCart, totals.delivery.method, visit),
            pickup: content.shipping?.pickup,
          })}
          <h2>${messages.items}</h2>
          ${orderLines(visit, visitorCart.view, content, waits)}
          ${isConsumer && content.lines.some(isGoods) && legalGuaranteeNotice(visit)} ${giftCards}
        </div>
        <form method="post" action="${shopPath(visit, '/checkout/order')}">
          <h2>${messagesIn(visit.locale).storefront.cart.summary}</h2>
          ${summary(visit, visitorCart.view, content)} ${giftCardSums(visit, visitorCart)}
          <input type="hidden" name="reviewed" value="${reviewed}" />
          ${legalTexts(visit)} ${consentFields(visit, visitorCart, rejection?.consents)}
          <p><button class="button">${messages.order}</button></p>
        </form>
      </div>`,
  };
}

/** The buyer has decided by the total that the assistant has shown. */
function changedTotal(
  { locale, session }: Visit,
  { cart: { cartId, currency }, priced: { totals } }: VisitorCart,
): Markup | false {
  const { id, shown } = session.cart ?? {};
  if (id !== cartId || shown === undefined || shown === totals.grandTotal) return false;
  const text = (minor: number) => moneyText(minor, currency, locale);
  const { totalChanged } = messagesIn(locale).storefront.checkout;
  return html`<div class="notice" role="alert">
    <p>${totalChanged({ shown: text(shown), now: text(totals.grandTotal) })}</p>
  </div>`;
}

export const consentField = (kind: ConsentKind) => `consent-${kind}`;

/** Boxes for what the customer must agree to, never checked in advance. `given` are those of a form that was refused. */
function consentFields(
  { locale }: Visit,
  { priced: { content }, settings }: VisitorCart,
  given: readonly ConsentKind[] | undefined,
): Markup | false {
  const consents = requiredConsents(content, settings, locale);
  if (consents.length === 0) return false;
  const messages = messagesIn(locale).storefront.checkout.consents;
  return html`<fieldset>
    <legend>${messages.title}</legend>
    ${consents.map(({ kind, text }) => {
      const name = consentField(kind);
      const isMissing = given !== undefined && !given.includes(kind);
      return html`<div class="field">
        <label
          ><input
            type="checkbox"
            name="${name}"
            value="yes"
            required
            ${given?.includes(kind) && html`checked`}
            ${isMissing && html`aria-invalid="true" aria-describedby="${name}-error"`}
          />
          <span>${text}</span></label
        >
        ${isMissing && html`<p class="error" id="${name}-error">${messages.missing}</p>`}
      </div>`;
    })}
  </fieldset>`;
}

type OrderParties = Sums & { billingAddress: Address | null; shippingAddress: Address | null };

/** Addresses and methods of a cart or of an order. */
export function orderParties(
  visit: Visit,
  order: OrderParties,
  {
    hasLinks,
    delivery,
    pickup,
  }: { hasLinks: boolean; delivery?: string | undefined; pickup?: ContentShipping['pickup'] },
): Markup {
  const messages = messagesIn(visit.locale).storefront.checkout;
  const { billingAddress, shippingAddress, shippingData, paymentData } = order;
  const block = (title: string, content: Markup, step: Step) =>
    html`<section>
      <h2>${title}</h2>
      ${content}
      ${
        hasLinks &&
        html`<p>
          <a class="quiet" href="${shopPath(visit, step)}"
            >${messages.change}<span class="visually-hidden">: ${title}</span></a
          >
        </p>`
      }
    </section>`;
  return html`<div class="boxes">
    ${
      billingAddress &&
      block(
        messages.billingAddress,
        html`${addressText(visit, billingAddress, { hasEmail: true })}
        ${billingAddress.vatId && html`<p>${messages.vatNumber({ number: billingAddress.vatId })}</p>`}`,
        '/checkout',
      )
    }
    ${
      shippingData &&
      block(
        messages.deliveryAddress,
        shippingAddress ? addressText(visit, shippingAddress) : html`<p>${messages.sameAddress}</p>`,
        '/checkout',
      )
    }
    ${
      shippingData &&
      block(
        messages.shippingMethod,
        html`<p>
          ${shippingData.shippingMethod.name}
          ${delivery !== undefined && html`<br /><small>${delivery}</small>`}
          ${pickup && html`<br />${pickupText(visit, pickup)}`}
        </p>`,
        '/checkout/delivery',
      )
    }
    ${
      paymentData &&
      block(
        messages.paymentMethod,
        html`<p>${paymentData.paymentMethod?.name ?? messages.agreed}</p>`,
        '/checkout/delivery',
      )
    }
  </div>`;
}

function addressText({ settings, locale }: Visit, address: Address, { hasEmail = false } = {}): Markup {
  const lines = addressLines(address, settings.country, languageTag(locale));
  return html`<address>
    ${lines.map((line) => html`${line}<br />`)} ${hasEmail && address.emailAddress}
  </address>`;
}

export function linesAndTotals(
  visit: Visit,
  sums: Sums,
  content: Content,
  {
    payments,
    left,
    waits,
  }: {
    payments: Parameters<typeof orderCardSums>[1];
    left: number;
    waits: ReadonlyMap<string, ShownWait>;
  },
): Markup {
  return html`<div class="columns">
    <section aria-labelledby="items">
      <h2 id="items">${messagesIn(visit.locale).storefront.checkout.items}</h2>
      ${orderLines(visit, sums, content, waits)}
    </section>
    <section aria-labelledby="sums">
      <h2 id="sums">${messagesIn(visit.locale).storefront.cart.summary}</h2>
      ${summary(visit, sums, content)} ${orderCardSums(visit, payments, { left, currency: content.currency })}
    </section>
  </div>`;
}

/** A sentence with a link for each legal page that the shop has. */
function legalTexts(visit: Visit): Markup {
  const messages = messagesIn(visit.locale).storefront.checkout;
  const names = legalNames(visit);
  const sentence = (page: PageName, around: Message<'link'>) => {
    const name = names[page];
    if (name === undefined) return false;
    return html`<p>
      ${around.pieces({ link: html`<a href="${shopPath(visit, `/legal/${page}`)}">${name}</a>` })}
    </p>`;
  };
  return html`${sentence('terms-and-conditions', messages.terms)}
  ${sentence('rights-of-withdrawal', messages.withdrawal)} ${sentence('privacy-policy', messages.privacy)}`;
}

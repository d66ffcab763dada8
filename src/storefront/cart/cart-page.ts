import { hasLeftOutLines } from '../../carts/cart.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { named } from '../../pricing/content.ts';
import { largestQuantity } from '../../pricing/quantity.ts';
import { partsOfLine, soldUnits, type SoldUnit } from '../../pricing/shown-lines.ts';
import { taxVariesByCountry } from '../../pricing/tax.ts';
import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { html, type Markup } from '../../http/html.ts';
import {
  checkoutObstacle,
  exceededLimit,
  insufficientStock,
  textProblem,
  type Obstacle,
} from './visitor-cart.ts';
import { amountWithUnit } from '../../http/amount-text.ts';
import { moneyText, priceText } from '../../http/price-text.ts';
import { MAX_CODE_LENGTH } from '../../coupons/campaign.ts';
import { codeForm, type RejectedCode } from './code-form.ts';
import { quickOrderLink } from './quick-order.ts';
import { cartLinePicture, cartLineText, partList, waitNote, summary, type Line } from './cart-summary.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { cartEvents, cartForApps } from '../scripts/events.ts';
import { PageEvent, type Page } from '../page.ts';
import { percentText } from '../product/product-card.ts';
import { cartDeliveryText } from '../product/delivery-span.ts';
import { garanLabel } from '../product/guarantee.ts';
import { shopPath, type Visit } from '../visit.ts';

/** Why a form was rejected; the message stands beside its field. */
export interface Rejection {
  status: 400 | 409;
  /** The message about the whole cart. */
  message?: string;
  /** The message about the quantity of a line. */
  line?: { lineItemId: string; message: string };
  coupon?: RejectedCode;
}

export async function cartPage(
  visit: Visit,
  visitorCart: VisitorCart | undefined,
  rejection?: Rejection,
): Promise<Page> {
  const messages = messagesIn(visit.locale).storefront.cart;
  const isLeftOut = visitorCart && hasLeftOutLines(visitorCart);
  const isEmpty = !visitorCart || visitorCart.priced.content.lines.length === 0;
  return {
    title: messages.title,
    path: '/cart',
    isPrivate: true,
    ...(rejection && { status: rejection.status }),
    events: visitorCart
      ? [
          new PageEvent('cart:view', { cart: cartForApps(visit, visitorCart.view) }),
          ...(await cartEvents(visit, visitorCart.view)),
        ]
      : [],
    main: html`${
      rejection?.message !== undefined &&
      html`<div class="notice" role="alert"><p class="error">${rejection.message}</p></div>`
    }
    ${isLeftOut && html`<p class="notice">${messages.productRemoved}</p>`}
    ${
      isEmpty
        ? html`<div class="hero">
            <h1>${messages.title}</h1>
            <p>${messages.empty}</p>
            <p><a class="button" href="${shopPath(visit, '')}">${messages.continueShopping}</a></p>
            ${quickOrderLink(visit)}
          </div>`
        : html`<h1>${messages.title}</h1>
            ${cartContent(visit, visitorCart, rejection)}`
    }`,
  };
}

function cartContent(visit: Visit, visitorCart: VisitorCart, rejection: Rejection | undefined): Markup {
  const messages = messagesIn(visit.locale).storefront.cart;
  const { view, priced } = visitorCart;
  const { lineItemContainer } = view;
  const sold = soldUnits(priced);
  const delivery = cartDeliveryText(visitorCart, priced.totals.delivery.method, visit);
  return html`<div class="columns">
    <ul class="lines">
      ${lineItemContainer.productLineItems.map((line, index) => cartLine(visit, visitorCart, { line, unit: sold[index]!, index }, rejection))}
    </ul>
    <section aria-labelledby="sums">
      <h2 id="sums">${messages.summary}</h2>
      ${summary(visit, view, priced.content)}
      ${isTaxOpen(visitorCart) && html`<p><small>${messages.vatByCountry}</small></p>`}
      ${delivery !== undefined && html`<p class="arrival">${delivery}</p>`}
      ${nextDiscount(visit, visitorCart)} ${nextPromotions(visit, visitorCart)}
      ${couponForm(visit, visitorCart, rejection)}
      ${checkoutLink(visit, visitorCart, checkoutObstacle(visitorCart))}
      <p><a class="quiet" href="${shopPath(visit, '')}">${messages.continueShopping}</a></p>
      ${quickOrderLink(visit)}
    </section>
  </div>`;
}

/** No address is known yet, and the tax depends on it. */
const isTaxOpen = ({ cart, settings }: VisitorCart) =>
  !cart.shippingAddress && !cart.billingAddress && taxVariesByCountry(settings);

function cartLine(
  visit: Visit,
  visitorCart: VisitorCart,
  { line, unit, index }: { line: Line; unit: SoldUnit; index: number },
  rejection: Rejection | undefined,
): Markup {
  const messages = messagesIn(visit.locale).storefront.cart;
  const path = `/cart/lines/${line.lineItemId}`;
  const id = `quantity-${index}`;
  const message =
    rejection?.line?.lineItemId === line.lineItemId
      ? rejection.line.message
      : lineProblem(visit, visitorCart, line, unit);
  const limit = largestQuantity(unit.product.facts, visitorCart.settings);
  // Pieces need no unit: the short and the full text are the same.
  return html`<li>
    ${cartLinePicture(line)}
    <div class="what">
      ${cartLineText(visit, line)}
      ${partList(visit, partsOfLine(visitorCart.priced.content, line.lineItemId), visitorCart.priced.waits)}
      ${waitNote(visit, visitorCart.priced.waits.get(line.lineItemId))}
      ${garanLabel(visit, unit.line.durabilityGuarantee)}
    </div>
    <form class="field" method="post" action="${shopPath(visit, path)}">
      <label for="${id}"
        >${messages.quantity}<span class="visually-hidden">: ${line.name}</span>
        ${line.orderUnitShort !== line.orderUnit && `(${line.orderUnitShort})`}</label
      >
      <input
        id="${id}"
        name="quantity"
        type="number"
        required
        min="${line.minOrder}"
        ${limit !== null && html`max="${limit}"`}
        step="${line.intervalOrder === '0' ? 'any' : line.intervalOrder}"
        value="${line.quantity.amount}"
        data-submit
        ${message !== undefined && html`aria-invalid="true" aria-describedby="${id}-error"`}
      />
      ${message !== undefined && html`<p class="error" id="${id}-error">${message}</p>`}
      <button class="quiet">${messages.update}<span class="visually-hidden">: ${line.name}</span></button>
    </form>
    <form method="post" action="${shopPath(visit, `${path}/remove`)}">
      <button class="quiet">${messages.remove}<span class="visually-hidden">: ${line.name}</span></button>
    </form>
    <span class="price">${priceText(line.lineItemPrice, visit.locale)}</span>
  </li>`;
}

/** Why a line can't be ordered as it is. */
function lineProblem(
  visit: Visit,
  visitorCart: VisitorCart,
  { orderUnitShort }: Line,
  unit: SoldUnit,
): string | undefined {
  const messages = messagesIn(visit.locale).storefront.cart;
  if (textProblem(unit)) return messagesIn(visit.locale).customisation.changed;
  const left = insufficientStock(unit, visitorCart);
  if (left === 0) return messages.soldOut;
  if (left !== undefined)
    return messages.onlyLeft({ amount: amountWithUnit(left, orderUnitShort, visit.locale) });
  const limit = exceededLimit(unit, visitorCart);
  return limit === undefined
    ? undefined
    : messages.atMost({ amount: amountWithUnit(limit, orderUnitShort, visit.locale) });
}

/** The amount missing for the next discount on the whole cart. */
function nextDiscount({ locale }: Visit, { priced: { totals, content } }: VisitorCart): Markup | false {
  const money = (minor: number) => moneyText(minor, content.currency, locale);
  const next = totals.offers
    .filter(({ minimumAmount }) => minimumAmount > content.subTotal)
    .toSorted((a, b) => a.minimumAmount - b.minimumAmount)[0];
  if (!next) return false;
  const { minimumAmount, absolute, percent = 0 } = next;
  const gain = absolute === undefined ? percentText(percent / 100, locale) : money(absolute);
  return html`<p>
    ${messagesIn(locale).storefront.cart.nextDiscount({ missing: money(minimumAmount - content.subTotal), discount: gain })}
  </p>`;
}

/** More would hide what the cart is about. */
const MAX_NEXT_PROMOTIONS = 2;

/** What the cart lacks for the first promotions that it does not have yet. */
function nextPromotions({ locale }: Visit, { priced: { totals, content }, settings }: VisitorCart): Markup[] {
  const messages = messagesIn(locale).storefront.cart;
  return totals.missingForPromotions
    .slice(0, MAX_NEXT_PROMOTIONS)
    .map(({ promotionId, amount, quantity }) => {
      const promotion = settings.promotions.find((one) => one.promotionId === promotionId)!;
      const name = anyText(promotion.name, locale, settings.defaultLocale)!;
      const missing = moneyText(amount, content.currency, locale);
      return html`<p>
        ${amount > 0 ? messages.nextPromotion({ missing, name }) : messages.nextPromotionItems({ count: quantity, name })}
      </p>`;
    });
}

function couponForm(visit: Visit, { cart, view }: VisitorCart, rejection: Rejection | undefined): Markup {
  const messages = messagesIn(visit.locale).storefront.cart;
  const { couponLineItem } = view.lineItemContainer;
  return html`${
    couponLineItem &&
    html`${
        couponLineItem.validationErrors.length > 0 &&
        html`<div class="notice">
          <p class="error">${messages.inactiveCoupon}</p>
          <ul>
            ${couponLineItem.validationErrors.map((problem) => html`<li>${messages.problems[problem]}</li>`)}
          </ul>
        </div>`
      }
      <form method="post" action="${shopPath(visit, '/cart/coupon/remove')}">
        <button class="quiet">${messages.removeCoupon({ code: cart.couponCodeKey ?? '' })}</button>
      </form>`
  }
  ${codeForm(visit, {
    path: '/cart/coupon',
    id: 'code',
    label: messages.couponCode,
    maxLength: MAX_CODE_LENGTH,
    button: messages.redeem,
    rejected: rejection?.coupon,
  })}`;
}

/** The link to the checkout, or the reason why there is none. */
export function checkoutLink(visit: Visit, visitorCart: VisitorCart, obstacle: Obstacle | undefined): Markup {
  const messages = messagesIn(visit.locale).storefront.cart;
  const link = (text: string) =>
    html`<p><a class="button" href="${shopPath(visit, '/checkout')}">${text}</a></p>`;
  if (!obstacle) return html`${methodNotice(visit, visitorCart)} ${link(messages.checkout)}`;
  return html`<p class="notice">${obstacleText(visit, visitorCart, obstacle)}</p>
    ${obstacle === 'address' && link(messages.changeAddress)}`;
}

/** Says that the chosen method does not deliver to the address: the sums are those of another one. */
export function methodNotice({ locale }: Visit, { cart, priced, settings }: VisitorCart): Markup | false {
  const { unavailable } = priced.totals.delivery;
  if (!unavailable) return false;
  const method = anyText(named(unavailable, settings), locale, settings.defaultLocale)!;
  const messages = messagesIn(locale).storefront.cart;
  const isOfApp = cart.deliveryOption?.shippingMethodId === unavailable.shippingMethodId;
  return html`<p class="notice" role="status">
    ${isOfApp ? messages.deliveryOutdated({ method }) : messages.methodElsewhere({ method })}
  </p>`;
}

function obstacleText(visit: Visit, { priced }: VisitorCart, obstacle: Obstacle): string {
  const messages = messagesIn(visit.locale).storefront.cart;
  const money = (minor: number) => moneyText(minor, priced.content.currency, visit.locale);
  switch (obstacle) {
    case 'empty':
      return messages.empty;
    case 'minimum':
      return messages.minimum({
        least: money(priced.totals.minimum.amount!),
        missing: money(priced.totals.missingToMinimum),
      });
    case 'delivery':
      return messages.undeliverable;
    case 'address':
      return messages.addressUndeliverable;
    case 'product':
      return messages.checkProducts;
  }
}

import { largestQuantity } from '../../pricing/quantity.ts';
import type { ShownCart } from '../../carts/shopping.ts';
import { html, type Markup } from '../../http/html.ts';
import { formatMoney } from '../../kernel/money.ts';
import { obstacleTo, quantityLimitOf, stockShortOf, type Obstacle } from './visitor-cart.ts';
import { amountText, linePicture, lineText, summary, type Line } from './cart-summary.ts';
import { messages } from '../../kernel/messages.ts';
import { cartEvents, cartForApps } from '../scripts/events.ts';
import { PageEvent, type Page } from '../page.ts';
import { to, type Visit } from '../visit.ts';

/** What was refused, to be said where it was typed. */
export interface Refusal {
  status: 400 | 409;
  /** Of the whole cart. */
  message?: string;
  /** Of a quantity. */
  line?: { lineItemId: string; message: string };
  coupon?: { code: string; message: string };
}

export async function cartPage(visit: Visit, shown: ShownCart | undefined, refusal?: Refusal): Promise<Page> {
  const words = messages(visit.locale).storefront.cart;
  const isLeftOut = shown && shown.priced.content.lines.length < shown.cart.lines.length;
  const isEmpty = !shown || shown.priced.content.lines.length === 0;
  return {
    title: words.title,
    path: '/cart',
    isPrivate: true,
    ...(refusal && { status: refusal.status }),
    events: shown
      ? [
          new PageEvent('cart:view', { cart: cartForApps(visit, shown.shown) }),
          ...(await cartEvents(visit, shown.shown)),
        ]
      : [],
    main: html`${
      refusal?.message !== undefined &&
      html`<div class="notice" role="alert"><p class="error">${refusal.message}</p></div>`
    }
    ${isLeftOut && html`<p class="notice">${words.productRemoved}</p>`}
    ${
      isEmpty
        ? html`<div class="hero">
            <h1>${words.title}</h1>
            <p>${words.empty}</p>
            <p><a class="button" href="${to(visit, '')}">${words.continueShopping}</a></p>
          </div>`
        : html`<h1>${words.title}</h1>
            ${filled(visit, shown, refusal)}`
    }`,
  };
}

function filled(visit: Visit, shown: ShownCart, refusal: Refusal | undefined): Markup {
  const words = messages(visit.locale).storefront.cart;
  const { lineItemContainer } = shown.shown;
  return html`<div class="columns">
    <ul class="lines">
      ${lineItemContainer.productLineItems.map((line, index) => lineOf(visit, shown, line, index, refusal))}
    </ul>
    <section aria-labelledby="sums">
      <h2 id="sums">${words.summary}</h2>
      ${summary(visit, shown.shown, shown.priced.content)} ${offer(visit, shown)}
      ${couponForm(visit, shown, refusal)} ${next(visit, shown, obstacleTo(shown))}
      <p><a class="quiet" href="${to(visit, '')}">${words.continueShopping}</a></p>
    </section>
  </div>`;
}

function lineOf(
  visit: Visit,
  shown: ShownCart,
  line: Line,
  index: number,
  refusal: Refusal | undefined,
): Markup {
  const words = messages(visit.locale).storefront.cart;
  const path = `/cart/lines/${line.lineItemId}`;
  const id = `quantity-${index}`;
  const message =
    refusal?.line?.lineItemId === line.lineItemId
      ? refusal.line.message
      : quantityProblem(visit, shown, index);
  const most = largestQuantity(shown.priced.goods[index]!.facts, shown.settings);
  return html`<li>
    ${linePicture(line)}
    <div class="what">${lineText(visit, line)}</div>
    <form class="field" method="post" action="${to(visit, path)}">
      <label for="${id}"
        >${words.quantity}<span class="visually-hidden">: ${line.name}</span> (${line.orderUnitShort})</label
      >
      <input
        id="${id}"
        name="quantity"
        type="number"
        required
        min="${line.minOrder}"
        ${most !== null && html`max="${most}"`}
        step="${line.intervalOrder === '0' ? 'any' : line.intervalOrder}"
        value="${line.quantity.amount}"
        data-submit
        ${message !== undefined && html`aria-invalid="true" aria-describedby="${id}-error"`}
      />
      ${message !== undefined && html`<p class="error" id="${id}-error">${message}</p>`}
      <button class="quiet">${words.update}<span class="visually-hidden">: ${line.name}</span></button>
    </form>
    <form method="post" action="${to(visit, `${path}/remove`)}">
      <button class="quiet">${words.remove}<span class="visually-hidden">: ${line.name}</span></button>
    </form>
    <span class="price">${line.lineItemPrice.formatted}</span>
  </li>`;
}

/** Why so much of a line can't be ordered. */
function quantityProblem(visit: Visit, shown: ShownCart, index: number): string | undefined {
  const words = messages(visit.locale).storefront.cart;
  const { orderUnitShort } = shown.shown.lineItemContainer.productLineItems[index]!;
  const left = stockShortOf(index, shown);
  if (left === 0) return words.soldOut;
  if (left !== undefined) return words.onlyLeft({ amount: amountText(visit, left, orderUnitShort) });
  const most = quantityLimitOf(index, shown);
  return most === undefined ? undefined : words.atMost({ amount: amountText(visit, most, orderUnitShort) });
}

/** The next discount on the whole cart. */
function offer({ locale }: Visit, { priced: { totals, content } }: ShownCart): Markup | false {
  const money = (minor: number) => formatMoney(minor, content.currency, locale);
  const next = totals.offers
    .filter(({ minimumAmount }) => minimumAmount > content.subTotal)
    .toSorted((a, b) => a.minimumAmount - b.minimumAmount)[0];
  if (!next) return false;
  const { minimumAmount, absolute, percent = 0 } = next;
  const gain = absolute === undefined ? `${percent / 100} %` : money(absolute);
  return html`<p>
    ${messages(locale).storefront.cart.nextDiscount({ missing: money(minimumAmount - content.subTotal), discount: gain })}
  </p>`;
}

function couponForm(visit: Visit, { shown }: ShownCart, refusal: Refusal | undefined): Markup {
  const words = messages(visit.locale).storefront.cart;
  const { couponLineItem } = shown.lineItemContainer;
  const error = refusal?.coupon;
  return html`${
      couponLineItem &&
      html`${
          couponLineItem.validationErrors.length > 0 &&
          html`<div class="notice">
            <p class="error">${words.inactiveCoupon}</p>
            <ul>
              ${couponLineItem.validationErrors.map((problem) => html`<li>${words.problems[problem]}</li>`)}
            </ul>
          </div>`
        }
        <form method="post" action="${to(visit, '/cart/coupon/remove')}">
          <button class="quiet">${words.removeCoupon}</button>
        </form>`
    }
    <form class="field" method="post" action="${to(visit, '/cart/coupon')}">
      <label for="code">${words.couponCode}</label>
      <input
        id="code"
        name="code"
        maxlength="100"
        required
        autocomplete="off"
        autocapitalize="characters"
        value="${error?.code ?? ''}"
        ${error && html`aria-invalid="true" aria-describedby="code-error"`}
      />
      ${error && html`<p class="error" id="code-error">${error.message}</p>`}
      <button class="quiet">${words.redeem}</button>
    </form>`;
}

/** To the checkout, or why not. */
function next(visit: Visit, shown: ShownCart, obstacle: Obstacle | undefined): Markup {
  if (!obstacle) {
    return html`<p>
      <a class="button" href="${to(visit, '/checkout')}"
        >${messages(visit.locale).storefront.cart.checkout}</a
      >
    </p>`;
  }
  return html`<p class="notice">${obstacleText(visit, shown, obstacle)}</p>`;
}

function obstacleText(visit: Visit, { priced }: ShownCart, obstacle: Obstacle): string {
  const words = messages(visit.locale).storefront.cart;
  const money = (minor: number) => formatMoney(minor, priced.content.currency, visit.locale);
  switch (obstacle) {
    case 'empty':
      return words.empty;
    case 'minimum':
      return words.minimum({
        least: money(priced.totals.minimum.amount!),
        missing: money(priced.totals.missingToMinimum),
      });
    case 'delivery':
      return words.undeliverable;
    case 'quantity':
      return words.checkProducts;
  }
}

import type { VisitorCart } from '../../checkout/visitor-cart.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import { priceText } from '../../http/price-text.ts';
import { cartEvents } from '../scripts/events.ts';
import { shopPath, type Visit } from '../visit.ts';
import { checkoutLink } from './cart-page.ts';
import { shortLines } from './cart-summary.ts';
import { checkoutObstacle } from './visitor-cart.ts';

export const DRAWER_PATH = '/cart/drawer';

/** The short cart, which the script shows beside the page on which something was added. */
export async function drawerPage(visit: Visit, visitorCart: VisitorCart | undefined): Promise<Page> {
  const messages = messagesIn(visit.locale).storefront.cart;
  return {
    title: messages.title,
    path: DRAWER_PATH,
    isPrivate: true,
    events: visitorCart ? await cartEvents(visit, visitorCart.view) : [],
    main: html`<h1>${messages.title}</h1>
      ${
        visitorCart && visitorCart.priced.content.lines.length > 0
          ? drawerContent(visit, visitorCart)
          : html`<p>${messages.empty}</p>`
      }`,
  };
}

function drawerContent(visit: Visit, visitorCart: VisitorCart): Markup {
  const { locale } = visit;
  const messages = messagesIn(locale).storefront;
  const { productLineItems, lineItemsSubTotal } = visitorCart.view.lineItemContainer;
  return html`${shortLines(visit, productLineItems)}
    <div class="drawer-foot">
      <dl class="summary">
        <dt>${messages.cart.subTotal}</dt>
        <dd>${priceText(lineItemsSubTotal, locale)}</dd>
      </dl>
      ${checkoutLink(visit, visitorCart, checkoutObstacle(visitorCart))}
      <p class="actions">
        <a href="${shopPath(visit, '/cart')}">${messages.choosing.viewCart}</a>
        <a href="${shopPath(visit, '')}" data-close>${messages.cart.continueShopping}</a>
      </p>
    </div>`;
}

import { findDownloadDeliveries } from '../../downloads/delivery-queries.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { formatMoney } from '../../kernel/money.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { accountPage, mediumDateText, whenSignedIn } from './account-page.ts';
import { countAccountOrders, findAccountOrders, type AccountOrder } from './queries.ts';

const PER_PAGE = 20;

/** The first page of the account: all orders with the confirmed address. */
export function accountOrders(pages: Pages, tokens: OrderTokens): void {
  pages.get(
    '/account',
    whenSignedIn(async (visit, account, { query }) => {
      const { db, shopId, locale } = visit;
      const messages = messagesIn(locale).storefront.account.orders;
      const page = pageNumber(query('page'));
      const [count, orders] = await Promise.all([
        countAccountOrders(db, shopId, account.email),
        findAccountOrders(db, shopId, account.email, { limit: PER_PAGE, offset: (page - 1) * PER_PAGE }),
      ]);
      const deliveries = await findDownloadDeliveries(
        db,
        shopId,
        orders.map(({ orderId }) => orderId),
      );
      const withDownloads = new Set(deliveries.map(({ orderId }) => orderId));
      return accountPage(visit, account, {
        title: messages.title,
        path: '/account',
        main:
          orders.length > 0
            ? html`<ul class="lines">
                  ${orders.map((order) => orderLine(visit, order, tokens, withDownloads.has(order.orderId)))}
                </ul>
                ${pageLinks(visit, page, count)}`
            : html`<p>${messages.empty}</p>
                <p><a class="button" href="${shopPath(visit, '')}">${messages.shop}</a></p>`,
      });
    }),
  );
}

/** A limit, because PostgreSQL reads the rows that it skips. */
const MAX_PAGE = 1_000;

function pageNumber(text: string | undefined): number {
  return /^[1-9]\d{0,3}$/.test(text ?? '') ? Math.min(Number(text), MAX_PAGE) : 1;
}

function orderLine(visit: Visit, order: AccountOrder, tokens: OrderTokens, hasDownloads: boolean): Markup {
  const messages = messagesIn(visit.locale).storefront.account.orders;
  const path = `/order/${tokens.token(visit.shopId, order.orderId)}`;
  const href = shopPath(visit, path);
  const { heading } = messagesIn(visit.locale).storefront.downloads;
  return html`<li>
    <div class="what">
      <p><a href="${href}">${messages.number} ${order.orderNumber}</a></p>
      <p><small>${mediumDateText(visit, order.createdAt)}</small></p>
      ${hasDownloads && html`<p><a href="${shopPath(visit, `${path}/downloads`)}">${heading}</a></p>`}
    </div>
    <span class="badge">${messages.states[order.status]}</span>
    <span class="price">${formatMoney(order.grandTotal, order.currency, visit.locale)}</span>
  </li>`;
}

function pageLinks(visit: Visit, page: number, count: number): Markup | false {
  if (count <= PER_PAGE) return false;
  const messages = messagesIn(visit.locale).storefront.account.orders;
  const link = (number: number, text: string, rel: 'prev' | 'next') =>
    html`<a class="quiet" rel="${rel}" href="${shopPath(visit, '/account', { page: String(number) })}"
      >${text}</a
    >`;
  return html`<nav class="account-pages" aria-label="${messages.pages}">
    ${page > 1 && link(page - 1, messages.newer, 'prev')}
    ${page * PER_PAGE < count && link(page + 1, messages.older, 'next')}
  </nav>`;
}

import { html, type Markup, type Part } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { barChart } from '../components/bars.ts';
import { chip, dayText, type ChipKind } from '../components/format.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { firstOf, lastOf, valueText } from './customer-list.ts';
import { findMonthsOf, type CustomerOrderRow, type CustomerSummary } from './queries.ts';

export const SHOWN_ORDERS = 20;
const SHOWN_MONTHS = 12;

export function figures(
  { messages, language, locale, settings }: ShopVisit,
  { sums }: CustomerSummary,
): Markup {
  const titles = messages.customers;
  const count = sums.reduce((sum, { orders }) => sum + orders, 0);
  const [first, last] = [firstOf(sums), lastOf(sums)];
  const refunds = sums.filter(({ refunded }) => refunded > 0);
  const averages = sums.map(({ worth, orders, currency }) =>
    moneyText(Math.round(worth / orders), currency, locale),
  );
  const figure = (title: string, value: Part, note?: string | false) =>
    html`<div>
      <dt>${title}</dt>
      <dd>${value} ${note && html`<span class="quiet">${note}</span>`}</dd>
    </div>`;
  return html`<dl class="card figures">
    ${figure(titles.orders, count)}
    ${figure(
      titles.value,
      valueText(sums, settings.defaultCurrency, locale),
      refunds.length > 0 &&
        titles.refunded({
          amount: refunds.map(({ refunded, currency }) => moneyText(refunded, currency, locale)).join(' + '),
        }),
    )}
    ${figure(titles.average, averages.length > 0 ? averages.join(' / ') : '–')}
    ${figure(titles.firstOrder, first ? dayText(first, language) : titles.never)}
    ${figure(titles.lastOrder, last ? dayText(last, language) : titles.never)}
  </dl>`;
}

export function orderTable(
  visit: ShopVisit,
  customerNumber: string,
  orders: readonly CustomerOrderRow[],
  { sums }: CustomerSummary,
): Markup {
  const messages = visit.messages.customers;
  if (orders.length === 0) return html`<p class="quiet">${messages.noOrders}</p>`;
  const count = sums.reduce((sum, one) => sum + one.orders, 0);
  return html`<div class="list plain">
      <table>
        <thead>
          <tr>
            <th scope="col">${messages.order}</th>
            <th scope="col">${messages.date}</th>
            <th scope="col">${messages.state}</th>
            <th scope="col" class="number">${messages.total}</th>
          </tr>
        </thead>
        <tbody>
          ${orders.map((order) => {
            const [state, kind] = stateOf(order);
            return html`<tr>
              <td data-title="${messages.order}">
                <a href="${adminPath(visit, `/orders/${order.orderId}`)}">${order.orderNumber}</a>
              </td>
              <td data-title="${messages.date}">${dayText(order.createdAt, visit.language)}</td>
              <td data-title="${messages.state}">${chip(messages.states[state], kind)}</td>
              <td data-title="${messages.total}" class="number">
                ${moneyText(order.grandTotal, order.currency, visit.locale)}
              </td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    ${
      orders.length === SHOWN_ORDERS &&
      html`<a href="${adminPath(visit, '/orders', { state: 'all', q: customerNumber })}"
        >${messages.allOrders({ count })}</a
      >`
    }`;
}

type OrderState = keyof ShopVisit['messages']['customers']['states'];

function stateOf(order: CustomerOrderRow): [OrderState, ChipKind] {
  if (order.isCancelled) return ['cancelled', 'neutral'];
  if (order.isRejected) return ['rejected', 'neutral'];
  if (order.isReturned) return ['returned', 'warning'];
  if (order.isDelivered) return ['delivered', 'good'];
  if (order.isShipped) return ['shipped', 'good'];
  return order.isPaid ? ['paid', 'good'] : ['open', 'warning'];
}

export async function monthChart(visit: ShopVisit, customerId: string, currency: string): Promise<Markup> {
  const { db, shopId, language, locale, messages } = visit;
  const { now } = db;
  const months = Array.from(
    { length: SHOWN_MONTHS },
    (_, index) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - SHOWN_MONTHS + 1 + index, 1)),
  );
  const sums = await findMonthsOf(db, shopId, { customerId, currency, since: months[0]! });
  const grossOf = new Map(sums.map(({ month, gross }) => [month, gross]));
  return barChart(
    messages.customers.overTime,
    months.map((month) => {
      const value = grossOf.get(month.toISOString().slice(0, 7)) ?? 0;
      return {
        label: month.toLocaleDateString(language, { month: 'short', year: '2-digit', timeZone: 'UTC' }),
        value,
        text: moneyText(value, currency, locale),
      };
    }),
  );
}

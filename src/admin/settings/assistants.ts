import { publishedKeys } from '../../assistants/keys.ts';
import {
  findAssistantOrders,
  findAssistantSums,
  findCalls,
  type AssistantOrder,
  type AssistantSum,
  type CallRow,
} from '../../assistants/queries.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { timeOfId } from '../../kernel/ids.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { chip, momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sectionPage } from './section-page.ts';

/** What assistants may do in the shop, what they see of it, and what they have asked for. */
export function assistantSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'assistants',
    isEven: true,
    beside: async (visit) => {
      const { db, shopId } = visit;
      const [keys, calls, sums, orders] = await Promise.all([
        publishedKeys(db, shopId),
        findCalls(db, shopId),
        findAssistantSums(db, shopId),
        findAssistantOrders(db, shopId, SHOWN_ORDERS),
      ]);
      return html`<div>
        ${profileCard(
          visit,
          keys.map(({ kid }) => kid),
        )}
        ${ordersCard(visit, sums, orders)} ${callsCard(visit, calls)}
      </div>`;
    },
  });
}

function profileCard(visit: ShopVisit, keyIds: readonly string[]): Markup {
  const { settings, storefront, language } = visit;
  const messages = visit.messages.settings.assistantView;
  // A shop without a host of its own is below a path of the service, where there is nothing for assistants.
  const hasHost = new URL(storefront).pathname === '/';
  const address = hasHost ? new URL('/.well-known/ucp', storefront).href : undefined;
  return html`<section class="card">
    <h2>${messages.profile}</h2>
    ${!settings.assistants.open && html`<p>${messages.closed}</p>`}
    ${
      address === undefined
        ? html`<p>
            ${messages.needsDomain}
            <a href="${adminPath(visit, '/settings/domains')}">${visit.messages.settings.pages.domains}</a>
          </p>`
        : settings.assistants.open &&
          html`<p>${messages.use}</p>
            <p class="address">
              <a href="${address}" target="_blank" rel="noopener">${address}</a>
            </p>`
    }
    <p class="quiet">${messages.sees}</p>
    <h3>${messages.keys}</h3>
    ${
      keyIds.length === 0
        ? html`<p class="quiet">${messages.noKeys}</p>`
        : html`<ul>
            ${keyIds.map(
              (keyId) =>
                html`<li>
                  <code>${keyId}</code>
                  <span class="quiet"
                    >${messages.since({ time: momentText(timeOfId(keyId), language) })}</span
                  >
                </li>`,
            )}
          </ul>`
    }
    <p class="quiet">${messages.keysText}</p>
  </section>`;
}

const SHOWN_ORDERS = 10;

/** What the buyers of each assistant have ordered, and their last orders. */
function ordersCard(
  visit: ShopVisit,
  sums: readonly AssistantSum[],
  orders: readonly AssistantOrder[],
): Markup {
  const { language } = visit;
  const messages = visit.messages.settings.assistantView;
  const cell = (title: string, value: Markup | string) => html`<td data-title="${title}">${value}</td>`;
  const sumCell = (amount: number, currency: string) =>
    html`<td data-title="${messages.sum}" class="number">${moneyText(amount, currency, language)}</td>`;
  const head = (...titles: string[]) =>
    html`<thead>
      <tr>
        ${titles.map((title) => html`<th scope="col">${title}</th>`)}
        <th scope="col" class="number">${messages.sum}</th>
      </tr>
    </thead>`;
  const lastOrders = html`<h3>${messages.lastOrders}</h3>
    <div class="list plain">
      <table>
        ${head(messages.when, messages.order, messages.assistant)}
        <tbody>
          ${orders.map(
            ({ orderId, orderNumber, createdAt, profile, currency, grandTotal }) =>
              html`<tr>
                ${cell(messages.when, momentText(createdAt, language))}
                ${cell(
                  messages.order,
                  html`<a href="${adminPath(visit, `/orders/${orderId}`)}">${orderNumber}</a>`,
                )}
                ${cell(messages.assistant, new URL(profile).host)} ${sumCell(grandTotal, currency)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  return html`<section class="card">
    <h2>${messages.orders}</h2>
    ${
      sums.length === 0
        ? html`<p class="quiet">${messages.noOrders}</p>`
        : html`<div class="list plain">
              <table>
                ${head(messages.assistant, messages.orderCount)}
                <tbody>
                  ${sums.map(
                    ({ profile, orders, total, currency }) =>
                      html`<tr>
                        ${cell(messages.assistant, new URL(profile).host)}
                        ${cell(messages.orderCount, String(orders))} ${sumCell(total, currency)}
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>
            <p class="quiet">${messages.sumText}</p>`
    }
    ${orders.length > 0 && lastOrders}
  </section>`;
}

/** More of them are in no page that a person would read. */
const SHOWN_CALLS = 20;

function callsCard({ language, messages: all }: ShopVisit, calls: readonly CallRow[]): Markup {
  const messages = all.settings.assistantView;
  return html`<section class="card">
    <h2>${messages.calls}</h2>
    ${
      calls.length === 0
        ? html`<p class="quiet">${messages.noCalls}</p>`
        : html`<div class="list plain">
            <table>
              <thead>
                <tr>
                  <th scope="col">${messages.when}</th>
                  <th scope="col">${messages.assistant}</th>
                  <th scope="col">${messages.what}</th>
                  <th scope="col">${messages.outcome}</th>
                </tr>
              </thead>
              <tbody>
                ${calls.slice(0, SHOWN_CALLS).map((call) => callRow(call))}
              </tbody>
            </table>
          </div>`
    }
  </section>`;

  function callRow({ calledAt, profile, operation, problem, signed }: CallRow): Markup {
    const names: Readonly<Record<string, string>> = messages.operations;
    return html`<tr>
      <td data-title="${messages.when}">${momentText(calledAt, language)}</td>
      <td data-title="${messages.assistant}">
        ${profile === '' ? messages.unknown : new URL(profile).host}
        ${signed && html`<span class="quiet">(${messages.signed})</span>`}
      </td>
      <td data-title="${messages.what}">${names[operation] ?? operation}</td>
      <td data-title="${messages.outcome}">
        ${problem === null ? chip(messages.answered, 'good') : chip(messages.refused, 'warning')}
        ${problem !== null && html`<span class="quiet">${breakable(problem)}</span>`}
      </td>
    </tr>`;
  }
}

/** A code may break after its words, because the card is narrow. */
const breakable = (code: string) =>
  code.split('_').map((word, index) => html`${index > 0 && html`_<wbr />`}${word}`);

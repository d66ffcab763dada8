import { countListPrices } from '../../catalogue/pricelists/queries.ts';
import { html, type Markup } from '../../http/html.ts';
import { isRunning } from '../../pricing/price-lists.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { chip } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sectionPage } from './section-page.ts';

export function priceListSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, { name: 'priceLists', beside: async (visit) => listsOf(visit) });
}

/** The saved lists, with a link to the prices of each. */
async function listsOf(visit: ShopVisit): Promise<Markup> {
  const { db, shopId, settings } = visit;
  const messages = visit.messages.priceLists;
  const counts = await countListPrices(db, shopId);
  return html`<section class="card">
    <h2>${messages.prices}</h2>
    ${
      settings.priceLists.length === 0
        ? html`<p class="quiet">${messages.empty}</p>`
        : html`<ul class="stack">
            ${settings.priceLists.map((list) => {
              const count = counts.find(({ priceListId }) => priceListId === list.priceListId)?.count ?? 0;
              const text = html`<strong>${list.name}</strong>`;
              return html`<li>
                ${
                  visit.may('products_write')
                    ? html`<a href="${adminPath(visit, `/price-lists/${list.priceListId}`)}">${text}</a>`
                    : text
                }
                ${isRunning(list, db.now) ? chip(messages.running, 'good') : chip(messages.notRunning)}
                <br />${list.customerGroups.join(', ')} · ${messages.products({ count })}
              </li>`;
            })}
          </ul>`
    }
  </section>`;
}

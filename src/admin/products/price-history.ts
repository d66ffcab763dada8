import { html } from '../../http/html.ts';
import { toDecimal } from '../../kernel/money.ts';
import { amountText, momentText } from '../components/format.ts';
import { PRODUCTS_SCRIPT, UPLOT, UPLOT_STYLESHEET } from '../layout/assets.ts';
import type { ShopPages } from '../pages.ts';
import { productPage, readProduct } from './product-page.ts';
import { findPriceHistory } from './queries.ts';

/** The price history of a product, in the default currency: as a line, and as a table. */
export function priceHistory(pages: ShopPages): void {
  pages.get('/products/:productId/prices', 'products_read', async (visit, request) => {
    const row = await readProduct(visit, request.params['productId']!);
    const messages = visit.messages.products.priceHistory;
    const currency = visit.settings.defaultCurrency;
    const prices = await findPriceHistory(visit.db, visit.shopId, row.productId, currency);
    const money = (minor: number) => amountText(minor, visit);
    const points = prices
      .toReversed()
      .map(({ validFrom, price }) => [
        Math.floor(validFrom.getTime() / 1000),
        price === null ? null : toDecimal(price, currency),
      ]);
    return productPage(visit, row, 'prices', {
      scripts: [UPLOT_STYLESHEET, UPLOT, PRODUCTS_SCRIPT],
      main:
        prices.length === 0
          ? html`<p class="card">${messages.none}</p>`
          : html`<section class="card">
              <h2>${messages.title({ currency })}</h2>
              <div
                class="chart with-script"
                data-prices="${JSON.stringify(points)}"
                data-label="${visit.messages.products.price}"
                role="img"
                aria-label="${messages.title({ currency })}"
              ></div>
              <p class="hint">${messages.hint}</p>
              <table>
                <caption class="hidden">
                  ${messages.title({ currency })}
                </caption>
                <thead>
                  <tr>
                    <th scope="col">${messages.since}</th>
                    <th scope="col" class="number">${visit.messages.products.price}</th>
                    <th scope="col" class="number">${messages.change}</th>
                  </tr>
                </thead>
                <tbody>
                  ${prices.map(({ validFrom, price }, index) => {
                    const before = prices[index + 1]?.price;
                    const difference =
                      price !== null && before
                        ? Math.round(((price - before) / before) * 1000) / 10
                        : undefined;
                    return html`<tr>
                      <td>${momentText(validFrom, visit.language)}</td>
                      <td class="number">${price === null ? messages.noPrice : money(price)}</td>
                      <td class="number quiet">
                        ${
                          difference !== undefined &&
                          `${difference > 0 ? '+' : ''}${difference.toLocaleString(visit.language)} %`
                        }
                      </td>
                    </tr>`;
                  })}
                </tbody>
              </table>
            </section>`,
    });
  });
}

import { html, type Markup } from '../../http/html.ts';
import { hasZones } from '../../pricing/delivery-offers.ts';
import { findPublishedPage } from '../../shops/legal/queries.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { loadFeedReport } from '../../storefront/feeds/feed-report.ts';
import { FEEDS } from '../../storefront/feeds/feeds.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sectionPage } from './section-page.ts';
import { languageName } from '../components/language-name.ts';
import { settingsMessages } from './settings-messages.ts';

/** The product feeds of the shop, with the addresses that the merchant gives to Google and others, and what they lack. */
export function feedSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'feeds',
    isEven: true,
    beside: async (visit) => {
      const open = FEEDS.filter(({ setting }) => visit.settings.feeds[setting]);
      return html`<div>
        ${addresses(visit, open)} ${open.length > 0 && visit.may('products_read') && (await report(visit))}
      </div>`;
    },
  });
}

function addresses(visit: ShopVisit, open: readonly (typeof FEEDS)[number][]): Markup {
  const { settings, storefront } = visit;
  const messages = visit.messages.settings.feedView;
  const { label } = settingsMessages(visit.messages, visit.language);
  const nameOfLanguage = (one: string) => languageName(one, visit.language, settings.locales);
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <p>${open.length === 0 ? messages.none : messages.use}</p>
    ${open.map(({ setting, file }) => {
      const address = `${storefront}/feeds/${file}`;
      return html`<h3>${label(`feeds.${setting}`)}</h3>
        <p class="address">${address}</p>
        <table>
          <tbody>
            ${settings.locales.map(
              (locale) =>
                html`<tr>
                  <th scope="row">${nameOfLanguage(locale)}</th>
                  ${settings.currencies.map(
                    (currency) =>
                      html`<td>
                        <a
                          href="${address}?locale=${locale}&currency=${currency}"
                          target="_blank"
                          rel="noopener"
                          aria-label="${nameOfLanguage(locale)}, ${currency}"
                          >${currency}</a
                        >
                      </td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>`;
    })}
  </section>`;
}

/** The missing data, with links to the pages where it is entered. */
async function report(visit: ShopVisit): Promise<Markup> {
  const { settings, shopId, storefront, db } = visit;
  const messages = visit.messages.settings.feedView.report;
  const { checked, listed, isWhole, problems } = await loadFeedReport(
    db.ofShop(shopId),
    settings,
    storefront,
  );
  const returns = await findPublishedPage(db, shopId, 'rights-of-withdrawal', settings.defaultLocale);
  const shopLines = [
    ...(hasZones(settings) ? [] : [{ text: messages.noZones, path: '/settings/shipping' }]),
    ...(returns ? [] : [{ text: messages.noReturns, path: '/settings/legal/rights-of-withdrawal' }]),
  ];
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <p>
      ${messages.listed({ count: checked, listed })}${!isWhole && html` ${messages.onlyFirst({ checked })}`}
    </p>
    ${problems.length + shopLines.length === 0 && html`<p>${messages.complete}</p>`}
    ${
      problems.length > 0 &&
      html`<table>
        <thead>
          <tr>
            <th scope="col">${messages.missing}</th>
            <th scope="col">${messages.products}</th>
          </tr>
        </thead>
        <tbody>
          ${problems.map(
            ({ problem, count, examples }) =>
              html`<tr>
                <th scope="row">${messages.problems[problem]}</th>
                <td>
                  ${count}:
                  ${examples.map(
                    ({ productId, productNumber }, index) =>
                      html`${index > 0 && ', '}<a href="${adminPath(visit, `/products/${productId}`)}"
                          >${productNumber}</a
                        >`,
                  )}${count > examples.length && ' …'}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>`
    }
    ${shopLines.map(({ text, path }) => html`<p><a href="${adminPath(visit, path)}">${text}</a></p>`)}
  </section>`;
}

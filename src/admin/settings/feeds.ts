import { html } from '../../http/html.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { FEEDS } from '../../storefront/feeds/feeds.ts';
import type { ShopPages } from '../pages.ts';
import { sectionPage } from './section-page.ts';
import { languageName } from '../components/language-name.ts';
import { settingsMessages } from './settings-messages.ts';

/** The product feeds of the shop, with the addresses that the merchant gives to Google and others. */
export function feedSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'feeds',
    isEven: true,
    beside: async (visit) => {
      const { settings, storefront } = visit;
      const messages = visit.messages.settings.feedView;
      const { label } = settingsMessages(visit.messages, visit.language);
      const nameOfLanguage = (one: string) => languageName(one, visit.language, visit.settings.locales);
      const open = FEEDS.filter(({ setting }) => settings.feeds[setting]);
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
        ${open.length > 0 && html`<p class="quiet">${messages.leftOut}</p>`}
      </section>`;
    },
  });
}

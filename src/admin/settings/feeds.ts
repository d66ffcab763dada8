import { html } from '../../http/html.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { FEEDS } from '../../storefront/feeds/feeds.ts';
import type { ShopPages } from '../pages.ts';
import { sectionPage } from './section-page.ts';
import { settingsWords } from './words.ts';

/** The product feeds of the shop, with the addresses that the merchant gives to Google and others. */
export function feeds(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'feeds',
    sections: ['feeds'],
    beside: async (visit) => {
      const { settings, storefront } = visit;
      const words = visit.words.settings.feedView;
      const { label, languageName } = settingsWords(visit.words, visit.language);
      const open = FEEDS.filter(({ setting }) => settings.feeds[setting]);
      const views = settings.locales.flatMap((locale) =>
        settings.currencies.map((currency) => ({ locale, currency })),
      );
      return html`<section class="card">
        <h2>${words.title}</h2>
        <p>${open.length === 0 ? words.none : words.use}</p>
        ${open.map(
          ({ setting, file }) =>
            html`<h3>${label(`feeds.${setting}`)}</h3>
              <ul class="plain">
                ${views.map(({ locale, currency }) => {
                  const address = `${storefront}/feeds/${file}?locale=${locale}&currency=${currency}`;
                  return html`<li>
                    ${languageName(locale)}, ${currency}:<br />
                    <a href="${address}" target="_blank" rel="noopener">${address}</a>
                  </li>`;
                })}
              </ul>`,
        )}
        ${open.length > 0 && html`<p class="quiet">${words.leftOut}</p>`}
      </section>`;
    },
  });
}

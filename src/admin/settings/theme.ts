import { encodeHtml, html, safe } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { formatMoney, toMinor } from '../../kernel/money.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { formProblems, type Problem } from '../../shops/settings/problem.ts';
import type { Theme } from '../../shops/settings/settings.ts';
import { themeProblems } from '../../shops/settings/theme.ts';
import { STYLESHEET } from '../../storefront/layout/assets.ts';
import { toStyle } from '../../storefront/layout/theme.ts';
import type { AdminFile } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { schemaOf } from './field-kind.ts';
import { logo, logoCard } from './logo.ts';
import { PAGE_SECTIONS } from './page-sections.ts';
import { formProblemText } from './problem-text.ts';
import { sectionLimits } from './section-limits.ts';
import { childOf, fieldTree, readValue } from './read-section.ts';
import { placeText, sectionPage } from './section-page.ts';
import { settingsMessages } from './settings-messages.ts';

export function theme(pages: ShopPages, format: SettingsFormat, media: MediaStorage): void {
  logo(pages, format, media);
  sectionPage(pages, format, {
    name: 'theme',
    isEven: true,
    // The card beside the form shows the logo. A logo of another site, from a settings file, stays as it is.
    leftOut: ['logoUrl'],
    fields: (_visit, { file }) => html`<input type="hidden" name="logoUrl" value="${file.logoUrl ?? ''}" />`,
    beside: async (visit) => {
      const preview = adminPath(visit, '/settings/theme/preview');
      const messages = visit.messages.settings.preview;
      return html`<div class="stack">
        ${logoCard(visit)}
        <section class="card stay">
          <h2>${messages.title}</h2>
          <iframe
            class="preview"
            name="preview"
            title="${messages.title}"
            src="${preview}"
            data-preview="${preview}"
            sandbox=""
          ></iframe>
          <p class="hint">${messages.theme}</p>
        </section>
      </div>`;
    },
  });

  pages.file('/settings/theme/preview', 'settings_read', async (visit) =>
    sample(visit, visit.settings.theme, []),
  );

  pages.post(
    '/settings/theme/preview',
    'settings_read',
    async (visit, form) => {
      const typed = readValue(schemaOf('theme'), childOf(fieldTree(form), 'theme'), true);
      const malformed = formProblems({ theme: typed }, format.schema);
      // An invalid colour must not reach a stylesheet.
      if (malformed.length > 0) return sample(visit, visit.settings.theme, malformed);
      const draft = typed as Theme;
      return sample(visit, draft, [...themeProblems(draft)]);
    },
    { limits: sectionLimits(PAGE_SECTIONS.theme) },
  );
}

/** A sample page with the elements of the shop's pages, in the colours of the theme. */
function sample(visit: ShopVisit, draft: Theme, problems: readonly Problem[]): AdminFile {
  const { settings, locale, language } = visit;
  const style = toStyle(draft);
  const labels = settingsMessages(visit.messages, language);
  const messages = messagesIn(locale).storefront;
  const name = textIn(settings.name, locale, settings.defaultLocale) ?? '';
  const price = (amount: number) =>
    formatMoney(toMinor(amount, settings.defaultCurrency)!, settings.defaultCurrency, locale);
  const picture = html`<svg viewBox="0 0 500 375" aria-hidden="true">
    <rect width="500" height="375" fill="var(--soft)" />
    <circle cx="250" cy="180" r="80" fill="var(--accent)" opacity=".55" />
  </svg>`;
  const content = encodeHtml`<!doctype html>
    <html lang="${locale.slice(0, 2)}">
      <head>
        <meta charset="utf-8" />
        <title>${name}</title>
        <style>${safe(STYLESHEET.content.toString())}</style>
        ${style.element} ${
          style.own &&
          html`<style>
            ${safe(style.own.css)}
          </style>`
        }
      </head>
      <body>
        ${problems.map(
          (problem) =>
            html`<p class="notice error" role="alert">
              ${placeText(problem.path, labels)}: ${formProblemText(problem, visit)}
            </p>`,
        )}
        <header class="top"><div class="bar"><a class="brand" href="#"><span>${name}</span></a></div></header>
        <main>
          <section class="hero">
            <div>
              <h1>${textIn(settings.home.title, locale, settings.defaultLocale) ?? name}</h1>
              <div class="prose"><p>${textIn(settings.home.text, locale, settings.defaultLocale)}</p></div>
              <p><a class="button" href="#">${messages.cart.checkout}</a></p>
            </div>
          </section>
          <ul class="grid">
            ${[12, 7.5].map(
              (amount) =>
                html`<li class="card">
                  ${picture}
                  <h3><a href="#">${name}</a></h3>
                  <p class="price">${price(amount)}</p>
                  <button class="quiet">${messages.product.addToCart}</button>
                </li>`,
            )}
          </ul>
        </main>
      </body>
    </html>`;
  return { type: 'text/html; charset=utf-8', content };
}

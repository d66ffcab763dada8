import { html, webAddress, type Markup } from '../http/html.ts';
import { textIn } from '../http/locale.ts';
import { PAGES } from '../legal/schema.ts';
import { SCRIPT, STYLESHEET } from './assets.ts';
import { consentBanner } from './consent.ts';
import { layoutWords } from './layout-words.ts';
import { jsonScript, type Page } from './page.ts';
import { scriptTags } from './scripts.ts';
import { themeStyle } from './theme.ts';
import { categoryPath, shopName, to, type Visit } from './visit.ts';
import { languageTag } from './words.ts';

/** The whole document. */
export function pageText(visit: Visit, page: Page): string {
  const { locale, session } = visit;
  const words = layoutWords(locale);
  const name = shopName(visit);
  return html`<!doctype html>
    <html lang="${languageTag(locale)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title === name ? name : `${page.title} | ${name}`}</title>
        ${page.description && html`<meta name="description" content="${page.description}" />`}
        ${addresses(visit, page)} ${themeStyle(visit)}
        <link rel="stylesheet" href="${STYLESHEET.path}" />
        ${page.head}
        <script src="${SCRIPT.path}" defer></script>
        ${scriptTags(visit)}
      </head>
      <body>
        <a class="skip" href="#page.main">${words.skip}</a>
        ${header(visit, page)}
        <main id="page.main">
          ${session.notice !== undefined && html`<p class="notice" role="status">${session.notice}</p>`}
          ${page.main}
        </main>
        ${footer(visit)} ${consentBanner(visit)} ${jsonScript('page.events', page.events ?? [])}
      </body>
    </html> `.text;
}

/** Where the page is at home, and where it is in other languages. */
function addresses(visit: Visit, { path, query, isPrivate }: Page): Markup {
  if (isPrivate) return html`<meta name="robots" content="noindex" />`;
  const { settings, origin } = visit;
  const address = (locale: string) => origin + to({ ...visit, locale }, path, query);
  return html`<link rel="canonical" href="${address(visit.locale)}" />
    ${
      settings.locales.length > 1 &&
      settings.locales.map(
        (locale) =>
          html`<link rel="alternate" hreflang="${languageTag(locale)}" href="${address(locale)}" />`,
      )
    }
    <link rel="alternate" hreflang="x-default" href="${address(settings.defaultLocale)}" />`;
}

function header(visit: Visit, page: Page): Markup {
  const { session, settings } = visit;
  const words = layoutWords(visit.locale);
  const name = shopName(visit);
  const logo = settings.logoUrl?.startsWith('/') ? settings.logoUrl : webAddress(settings.logoUrl);
  return html`<header class="top">
    <div class="bar">
      <a class="brand" href="${to(visit, '')}"
        >${logo ? html`<img src="${logo}" alt="${name}" height="40" />` : name}</a
      >
      <form class="search" role="search" action="${to(visit, '/search')}">
        ${visit.locale !== settings.defaultLocale && html`<input type="hidden" name="locale" value="${visit.locale}" />`}
        <input
          type="search"
          name="q"
          maxlength="200"
          required
          aria-label="${words.searchFor}"
          placeholder="${words.searchFor}"
          autocomplete="off"
          data-suggest="${to(visit, '/suggest')}"
        />
        <button>${words.search}</button>
      </form>
      <nav class="own" aria-label="${words.cart}">
        <a href="${to(visit, '/wishlist')}">${words.wishes} ${badge(session.wishes)}</a>
        <a href="${to(visit, '/cart')}">${words.cart} ${badge(session.cart?.count)}</a>
      </nav>
    </div>
    ${menu(visit, page)}
  </header>`;
}

function badge(count: number | undefined): Markup | false {
  return count !== undefined && count > 0 && html`<span class="badge">${count}</span>`;
}

function menu(visit: Visit, { path }: Page): Markup | false {
  const { frame, settings, locale } = visit;
  if (frame.categories.length === 0) return false;
  const link = ({ alias, name }: { alias: string; name: Readonly<Record<string, string>> }) => {
    const place = categoryPath(alias);
    const text = textIn(name, locale, settings.defaultLocale) ?? alias;
    return html`<a href="${to(visit, place)}" ${place === path && html`aria-current="page"`}>${text}</a>`;
  };
  return html`<nav class="menu" aria-label="${layoutWords(locale).menu}">
    <ul>
      ${frame.categories.map(
        (category) =>
          html`<li>
            ${link(category)}
            ${
              category.children.length > 0 &&
              html`<ul>
                ${category.children.map((child) => html`<li>${link(child)}</li>`)}
              </ul>`
            }
          </li>`,
      )}
    </ul>
  </nav>`;
}

function footer(visit: Visit): Markup {
  const { frame, locale, settings } = visit;
  const words = layoutWords(locale);
  const names = frame.legalNames[locale] ?? {};
  return html`<footer>
    <nav aria-label="${words.information}">
      <ul>
        ${PAGES.map(
          ({ page }) =>
            names[page] !== undefined &&
            html`<li><a href="${to(visit, `/legal/${page}`)}">${names[page]}</a></li>`,
        )}
        ${
          settings.newsletterCampaigns.length > 0 &&
          html`<li><a href="${to(visit, '/newsletter')}">${words.newsletter}</a></li>`
        }
      </ul>
    </nav>
    ${switches(visit)}
    <p>© ${shopName(visit)}</p>
  </footer>`;
}

/** Currencies are a form, because the cookie remembers them. Languages are in the header of the page's addresses too. */
function switches(visit: Visit): Markup {
  const { settings, locale, currency } = visit;
  const words = layoutWords(locale);
  return html`<div class="switches">
    ${
      settings.currencies.length > 1 &&
      html`<form method="post" action="${to(visit, '/currency')}">
        <label
          >${words.currency}
          <select name="currency" data-submit>
            ${settings.currencies.map(
              (code) => html`<option value="${code}" ${code === currency && html`selected`}>${code}</option>`,
            )}
          </select></label
        >
        <button class="quiet">${words.change}</button>
      </form>`
    }
  </div>`;
}

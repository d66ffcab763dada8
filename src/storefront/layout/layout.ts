import { html, safe, type Markup } from '../../http/html.ts';
import { SCRIPT, STYLESHEET } from './assets.ts';
import { consentBanner } from '../scripts/consent.ts';
import { pageEvents } from '../scripts/events.ts';
import { footerText } from './footer.ts';
import { header, here, logoAddress, SLOT } from './header.ts';
import { compactText, memoizeBySettings } from '../memoize-by-settings.ts';
import { messages } from '../../kernel/messages.ts';
import { eventsScript, type Page } from '../page.ts';
import { hasListeners, scriptTags } from '../scripts/scripts.ts';
import { backgroundOf, letterIcon, themeStyle } from './theme.ts';
import { addressOf, shopName, to, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';

/** The whole document. The part that may be kept is encoded when it is first sent, the rest every time. */
export function pageBytes(visit: Visit, page: Page): Buffer {
  const [before, after] = around(visit, page).split(SLOT.text) as [string, string];
  return Buffer.concat([Buffer.from(before), bytesOf(page.main), Buffer.from(after)]);
}

const encoded = new WeakMap<Markup, Buffer>();

function bytesOf(markup: Markup): Buffer {
  let bytes = encoded.get(markup);
  if (!bytes) encoded.set(markup, (bytes = Buffer.from(markup.text)));
  return bytes;
}

/** The document without the main part, for which it has a slot. */
function around(visit: Visit, page: Page): string {
  const { session, settings } = visit;
  const versions = settings.locales.map((locale) => ({
    locale,
    href: to({ ...visit, locale }, page.path, page.query),
  }));
  return html`<!doctype html>
    <html lang="${languageTag(visit.locale)}">
      <head>
        ${keptHead(visit)} ${described(visit, page)} ${addresses(visit, page)} ${page.head}
        ${scriptTags(visit)}
      </head>
      <body>
        <a class="skip" href="#page.main">${messages(visit.locale).storefront.layout.skip}</a>
        ${header(visit, page, versions)}
        <main id="page.main" tabindex="-1">
          ${session.notice !== undefined && html`<p class="notice" role="status">${session.notice}</p>`}
          ${SLOT}
        </main>
        ${here(footerText(visit), visit, page)} ${settings.publicCatalogue && consentBanner(visit, page)}
        ${hasListeners(visit) && eventsScript(pageEvents(visit, page))}
      </body>
    </html> `.text;
}

/** What is the same on every page. */
const keptHead = memoizeBySettings((visit): Markup => {
  const { settings, locale } = visit;
  const name = shopName(visit);
  const head = html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="format-detection" content="telephone=no" />
    <meta name="theme-color" content="${backgroundOf(settings)}" />
    <meta property="og:site_name" content="${name}" />
    <meta property="og:locale" content="${locale}" />
    <link rel="icon" href="${logoAddress(settings) ?? letterIcon(settings, name)}" />
    <link rel="stylesheet" href="${STYLESHEET.path}" />
    <script src="${SCRIPT.path}" defer></script>`;
  return html`${safe(compactText(head))}${themeStyle(visit)}`;
});

/** For the window, for search engines, and for where people share the page. */
function described(visit: Visit, { title, description, path, image }: Page): Markup {
  const name = shopName(visit);
  const picture = image ?? logoAddress(visit.settings);
  return html`<title>${title === name ? name : `${title} | ${name}`}</title>
    <meta property="og:title" content="${title}" />
    <meta property="og:type" content="${path.startsWith('/Products/') ? 'product' : 'website'}" />
    ${
      description &&
      html`<meta name="description" content="${description}" />
        <meta property="og:description" content="${description}" />`
    }
    ${
      picture !== undefined &&
      html`<meta
        property="og:image"
        content="${picture.startsWith('/') ? visit.pageOrigin + picture : picture}"
      />`
    }`;
}

/** Where the page is at home, and where it is in other languages. */
function addresses(visit: Visit, { isPrivate, path, query }: Page): Markup {
  if (isPrivate) return html`<meta name="robots" content="noindex" />`;
  const { locales, defaultLocale } = visit.settings;
  const hrefIn = (locale: string) => addressOf({ ...visit, locale }, path, query);
  const home = hrefIn(visit.locale);
  return html`<link rel="canonical" href="${home}" /><meta property="og:url" content="${home}" />
    ${
      locales.length > 1 &&
      locales.map(
        (locale) => html`<link rel="alternate" hreflang="${languageTag(locale)}" href="${hrefIn(locale)}" />`,
      )
    }
    <link rel="alternate" hreflang="x-default" href="${hrefIn(defaultLocale)}" />`;
}

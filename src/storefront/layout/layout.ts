import type { CacheKind } from '../../db/cache.ts';
import { isDemo } from '../../config.ts';
import { minutesToReset } from '../../http/demo-mode.ts';
import { encodeHtml, html, type Markup } from '../../http/html.ts';
import { PERSONAL_STYLESHEET, SCRIPT, STYLESHEET } from './assets.ts';
import { asksForConsent, consentBanner } from '../scripts/consent.ts';
import { pageEvents } from '../scripts/events.ts';
import { closedFooter, footer, footerLinks, legalFooter } from './footer.ts';
import { header, headerParts, plainHeader, logoAddress, menuPaths, type HeaderParts } from './header.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { eventsScript, type Page } from '../page.ts';
import { pageToolsTag } from '../scripts/page-tools.ts';
import { hasListeners, scriptTags } from '../scripts/scripts.ts';
import { menuItems, pathsOfItems } from './menu.ts';
import type { ShopLayout } from './shop-layout.ts';
import { OWN_STYLE_PATH } from './own-style.ts';
import { letterIcon } from './theme.ts';
import { absoluteUrl, isShut, shopName, shopPath, type LayoutContext, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';
import type { Sandbox } from '../../shops/settings/settings.ts';

/** The whole document: the page's content, and the layout around it. */
export function documentBytes(visit: Visit, page: Page): Buffer {
  const { notice } = visit.session;
  const isOpen = visit.settings.publicCatalogue && !isShut(visit);
  const parts = layoutParts(visit, page.path);
  return encodeHtml`<!doctype html>
    <html lang="${languageTag(visit.locale)}">
      <head>
        ${parts.head} ${page.isPrivate && personalStyles} ${page.takesOwnStyle && ownStyle(visit)} ${description(visit, page)} ${addresses(visit, page)} ${page.head}
        ${page.script !== undefined && html`<script src="${page.script}" defer></script>`} ${pageToolsTag(visit, page)} ${scriptTags(visit)}
      </head>
      <body data-close="${messagesIn(visit.locale).storefront.choosing.close}" ${viewedData(visit)}>
        <a class="skip" href="#page.main">${messagesIn(visit.locale).storefront.layout.skip}</a>
        ${topBanner(visit)}
        ${page.header ? plainHeader(parts.header, page.header) : header(visit, page, parts.header)}
        <main id="page.main" tabindex="-1">
          ${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
          ${page.main}
        </main>
        ${isOpen && (page.header ? parts.legalFooter : parts.footer)}
        ${isShut(visit) && parts.closedFooter}
        ${isOpen && asksForConsent(visit, page) && parts.consentBanner}
        ${hasListeners(visit) && eventsScript(pageEvents(visit, page))}
      </body>
    </html>
  `;
}

const personalStyles = html`<link rel="stylesheet" href="${PERSONAL_STYLESHEET.path}" />`;

/** Its address changes with its content, so browsers may keep it. */
function ownStyle({ base, layout: { style } }: Visit): Markup | false {
  return (
    !!style.own && html`<link rel="stylesheet" href="${base}${OWN_STYLE_PATH}?v=${style.own.version}" />`
  );
}

/** What visitors must know of a shop that is not for buying. */
function topBanner(visit: Visit): Markup | false {
  const { sandbox } = visit.settings;
  if (isDemo(visit.config)) return demoBanner(visit);
  return sandbox ? sandboxBanner(visit, sandbox) : visit.access === 'preview' && previewBanner(visit);
}

function demoBanner({ db, locale }: Visit): Markup {
  const { demo } = messagesIn(locale).storefront;
  return html`<p class="preview-banner" role="status">
    <strong>${demo.title}</strong> ${demo.reset({ count: minutesToReset(db.now) })}
  </p>`;
}

/** Only visitors who came by the preview link see it. */
function previewBanner({ locale }: Visit): Markup {
  const { preview } = messagesIn(locale).storefront.opening;
  return html`<p class="preview-banner" role="status"><strong>${preview.title}</strong> ${preview.text}</p>`;
}

/** A page of a sandbox, even as a screenshot, says that nothing is sold there. */
function sandboxBanner({ locale }: Visit, { of: shop }: Sandbox): Markup {
  const { sandbox } = messagesIn(locale).storefront;
  return html`<p class="preview-banner" role="status">
    <strong>${sandbox.title({ shop })}</strong> ${sandbox.text}
  </p>`;
}

/** Tells the script where to request viewed products, which the browser remembers only with the visitor's consent. */
function viewedData(visit: Visit): Markup | false {
  return visit.session.consent === 'all' && html`data-viewed="${shopPath(visit, '/viewed')}"`;
}

/** The parts of the layout shared by all visitors with the same language and currency. */
interface LayoutParts {
  /** The data that they were rendered from, whose memory belongs to its own cache. */
  layout: WeakRef<ShopLayout>;
  head: Markup;
  header: HeaderParts;
  footer: Markup;
  /** The footer of pages with a header of their own. */
  legalFooter: Markup;
  /** The footer while the shop is not open. */
  closedFooter: Markup;
  consentBanner: Markup;
  /** The pages linked from the header and the footer, whose links are marked there. */
  paths: ReadonlySet<string>;
}

const partsCache: CacheKind<LayoutParts> = { name: 'layout parts', limit: { megabytes: 12 } };

/** Pages without such a link, such as product pages, share their parts with each other. */
function layoutParts(visit: Visit, path: string): LayoutParts {
  const parts = cachedParts(visit, undefined);
  return parts.paths.has(path) ? cachedParts(visit, path) : parts;
}

function cachedParts(visit: Visit, currentPath: string | undefined): LayoutParts {
  const { db, shopId, layout, locale, currency, base } = visit;
  const cache = db.caches.of(partsCache);
  const key = `${shopId} ${locale} ${currency} ${base} ${currentPath ?? 'none'}`;
  const cached = cache.get(key);
  if (cached?.layout.deref() === layout) return cached;
  const parts = renderParts(visit, currentPath);
  const { brand, search, currencies, menu } = parts.header;
  const texts = [
    parts.head,
    brand,
    search,
    currencies,
    menu,
    parts.footer,
    parts.legalFooter,
    parts.closedFooter,
    parts.consentBanner,
  ];
  const length = texts.reduce((sum, part) => sum + (part ? part.text.length : 0), 0);
  cache.set(key, parts, 2 * (length + key.length));
  return parts;
}

function renderParts(context: LayoutContext, currentPath: string | undefined): LayoutParts {
  return {
    layout: new WeakRef(context.layout),
    head: sharedHead(context),
    header: headerParts(context, currentPath),
    footer: footer(context, currentPath),
    legalFooter: legalFooter(context),
    closedFooter: closedFooter(context),
    consentBanner: consentBanner(context),
    paths: new Set([
      ...menuPaths(context),
      ...pathsOfItems(menuItems(context, context.settings.menus.footer)),
      ...footerLinks(context).map(({ path }) => path),
    ]),
  };
}

function sharedHead(context: LayoutContext): Markup {
  const { settings, locale, layout } = context;
  const name = shopName(context);
  const { palette, element } = layout.style;
  return html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="format-detection" content="telephone=no" />
    <meta name="theme-color" content="${palette.background}" />
    <meta property="og:site_name" content="${name}" />
    <meta property="og:locale" content="${locale}" />
    <link rel="icon" href="${logoAddress(settings) ?? letterIcon(palette, name)}" />
    <link rel="stylesheet" href="${STYLESHEET.path}" />
    <script src="${SCRIPT.path}" defer></script>
    ${element}`;
}

/** Describes the page to the browser, to search engines and to sites where it is shared. */
function description(visit: Visit, page: Page): Markup {
  const { title, path, image } = page;
  const name = shopName(visit);
  const picture = image ?? logoAddress(visit.settings);
  return html`<title>${title === name ? name : `${title} | ${name}`}</title>
    <meta property="og:title" content="${title}" />
    <meta property="og:type" content="${path.startsWith('/Products/') ? 'product' : 'website'}" />
    ${
      page.description &&
      html`<meta name="description" content="${page.description}" />
        <meta property="og:description" content="${page.description}" />`
    }
    ${
      picture !== undefined &&
      html`<meta
        property="og:image"
        content="${picture.startsWith('/') ? visit.pageOrigin + picture : picture}"
      />`
    }`;
}

/** The canonical address of the page, and its addresses in other languages. */
function addresses(visit: Visit, { isPrivate, path, paths, query, markdown }: Page): Markup {
  if (isPrivate || visit.access !== 'public') return html`<meta name="robots" content="noindex" />`;
  const { defaultLocale } = visit.settings;
  const locales = visit.settings.locales.filter((locale) => paths?.[locale] !== undefined || !paths);
  const hrefIn = (locale: string) => absoluteUrl({ ...visit, locale }, paths?.[locale] ?? path, query);
  const canonical = hrefIn(visit.locale);
  return html`<link rel="canonical" href="${canonical}" /><meta property="og:url" content="${canonical}" /> ${
      markdown !== undefined &&
      html`<link
        rel="alternate"
        type="text/markdown"
        href="${absoluteUrl(visit, `${paths?.[visit.locale] ?? path}.md`, query)}"
      />`
    }
    ${
      locales.length > 1 &&
      locales.map(
        (locale) => html`<link rel="alternate" hreflang="${languageTag(locale)}" href="${hrefIn(locale)}" />`,
      )
    }
    ${
      locales.includes(defaultLocale) &&
      html`<link rel="alternate" hreflang="x-default" href="${hrefIn(defaultLocale)}" />`
    }`;
}

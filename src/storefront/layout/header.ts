import { html, webAddress, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { ACCOUNT_ICON, CART_ICON, GLOBE_ICON, HEART_ICON, MENU_ICON } from './icons.ts';
import { displayName } from '../../kernel/display-names.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import { priceViewOf } from '../price-view.ts';
import { categoryPath, isShut, shopName, shopPath, type LayoutContext, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';
import { menuItems, menuList, pathsOfItems } from './menu.ts';
import { navigationLink } from './navigation-link.ts';
import { searchForm } from './search-form.ts';

/** The parts of the header shared by all visitors with the same language and currency. */
export interface HeaderParts {
  brand: Markup;
  search: Markup;
  currencies: Markup | false;
  /** The name of each language in that language, by locale. */
  languages: ReadonlyMap<string, string>;
  menu: Markup | false;
}

export function headerParts(context: LayoutContext, currentPath: string | undefined): HeaderParts {
  return {
    brand: brand(context),
    search: searchForm(context),
    currencies: context.settings.currencies.length > 1 && currencyForm(context),
    languages: languageNames(context.settings.locales),
    menu: menu(context, currentPath),
  };
}

/** The paths of the shop's pages that the menu leads to. */
export function menuPaths(context: LayoutContext): string[] {
  const { layout, settings } = context;
  const { header: own } = settings.menus;
  if (own.length > 0) return pathsOfItems(menuItems(context, own));
  return layout.categories.flatMap((category) =>
    [category, ...category.children].map(({ alias }) => categoryPath(alias)),
  );
}

export function header(visit: Visit, page: Page, parts: HeaderParts): Markup {
  if (!visit.settings.publicCatalogue || isShut(visit)) {
    return html`<header class="top"><div class="bar">${parts.brand}</div></header>`;
  }
  const { layout: messages, account } = messagesIn(visit.locale).storefront;
  const { wishlistCount, cart } = visit.session;
  return html`<header class="top">
    <div class="bar">
      ${parts.brand}
      <div class="find" role="search">
        ${page.searchQuery === undefined ? parts.search : searchForm(visit, page.searchQuery)}
      </div>
      ${languageAndCurrency(visit, page, parts)}
      <nav class="own" aria-label="${messages.cartAndWishList}" ${wishlistData(visit)}>
        ${navigationLink(visit, '/account', countedLabel(ACCOUNT_ICON, account.link), page.path)}
        ${navigationLink(visit, '/wishlist', countedLabel(HEART_ICON, messages.wishList, wishlistCount), page.path)}
        ${navigationLink(visit, '/cart', countedLabel(CART_ICON, messages.cart, cart?.count), page.path)}
      </nav>
      ${parts.menu}
    </div>
  </header>`;
}

/** Tells the script which hearts of the page to fill. */
function wishlistData(visit: Visit): Markup | false {
  return !!visit.session.wishlistCount && html`data-wishlist="${shopPath(visit, '/wishlist/products')}"`;
}

/** The shop's name and the page's own content beside it. */
export function plainHeader({ brand }: HeaderParts, content: Markup): Markup {
  return html`<header class="top plain">
    <div class="bar">${brand} ${content}</div>
  </header>`;
}

function countedLabel(icon: Markup, text: string, count = 0): Markup {
  return html`${icon}<span class="label">${text}</span>
    ${count > 0 && html`<span class="badge">${count}</span>`}`;
}

function brand(context: LayoutContext): Markup {
  const name = shopName(context);
  const logo = logoAddress(context.settings);
  const isNamed = logo === undefined || context.settings.theme.showName;
  return html`<a class="brand" href="${shopPath(context, '')}"
    >${logo !== undefined && html`<img src="${logo}" alt="${isNamed ? '' : name}" height="40" />`}
    ${isNamed && html`<span>${name}</span>`}</a
  >`;
}

/** The address of the logo, which is a file of this server or of another one. */
export function logoAddress({ logoUrl }: Settings): string | undefined {
  return logoUrl?.startsWith('/') ? logoUrl : webAddress(logoUrl);
}

/** Both are forms, because the cookie stores the choice. */
function languageAndCurrency(visit: Visit, page: Page, { languages, ...parts }: HeaderParts): Markup | false {
  const { settings, locale, currency } = visit;
  // A page with a secret address shows past amounts, and its forms to other addresses would be refused.
  const currencies = !page.hasSecretAddress && parts.currencies;
  const messages = messagesIn(locale).storefront.layout;
  const hasLanguages = settings.locales.length > 1;
  const netPrices = !page.hasSecretAddress && netPricesForm(visit);
  if (!hasLanguages && !currencies && !netPrices) return false;
  const current = [
    hasLanguages && locale.slice(0, 2).toUpperCase(),
    currencies && currency,
    netPrices && visit.priceView.taxType === 'NET' && messages.withoutTax,
  ];
  return html`<details class="switch">
    <summary>
      ${GLOBE_ICON}<span class="visually-hidden">${messages.languageAndCurrency}: </span
      ><span class="label">${current.filter((part) => part !== false).join(' · ')}</span>
    </summary>
    <div class="sheet">
      ${
        hasLanguages &&
        (page.hasSecretAddress ? languageLinks(visit, page, languages) : languageForm(visit, page, languages))
      }
      ${currencies} ${netPrices}
    </div>
  </details>`;
}

/** The names of the languages, each in that language. */
type LanguageNames = HeaderParts['languages'];

function languageForm(visit: Visit, { path, query }: Page, languages: LanguageNames): Markup {
  const { settings, locale, base } = visit;
  const { defaultLocale } = settings;
  // The form names a language itself, so its addresses do not.
  const action = shopPath({ settings, base, locale: defaultLocale }, '/language');
  const address = shopPath({ settings, base: '', locale: defaultLocale }, path, query);
  return html`<form class="languages" method="post" action="${action}">
    <input type="hidden" name="page" value="${address}" />
    <ul aria-label="${messagesIn(locale).storefront.layout.language}">
      ${settings.locales.map(
        (other) =>
          html`<li>
            <button
              name="locale"
              value="${other}"
              lang="${languageTag(other)}"
              ${other === locale && html`aria-current="true"`}
            >
              ${languages.get(other)}
            </button>
          </li>`,
      )}
    </ul>
  </form>`;
}

/** A page with a secret address links to itself, because its forms to other addresses would be refused. */
function languageLinks(visit: Visit, { path, query }: Page, languages: LanguageNames): Markup {
  const { settings, locale, base } = visit;
  const link = (other: string) => {
    const tag = languageTag(other);
    // The default language is named, too: the browser may remember another one.
    const href = shopPath({ settings, base, locale: other }, path, { ...query, locale: other });
    const mark = other === locale && html`aria-current="true"`;
    return html`<li>
      <a lang="${tag}" hreflang="${tag}" href="${href}" ${mark}>${languages.get(other)}</a>
    </li>`;
  };
  return html`<nav aria-label="${messagesIn(locale).storefront.layout.language}">
    <ul>
      ${settings.locales.map(link)}
    </ul>
  </nav>`;
}

function currencyForm(context: LayoutContext): Markup {
  const { settings, currency, locale } = context;
  const messages = messagesIn(locale).storefront.layout;
  return html`<form method="post" action="${shopPath(context, '/currency')}">
    <label
      >${messages.currency}
      <select name="currency" data-submit>
        ${settings.currencies.map(
          (code) => html`<option value="${code}" ${code === currency && html`selected`}>${code}</option>`,
        )}
      </select></label
    >
    <button class="quiet">${messages.change}</button>
  </form>`;
}

/** Asks whether the visitor buys as a business; those who are known to do so are not asked. */
function netPricesForm(visit: Visit): Markup | false {
  const { settings, session, account, locale } = visit;
  const isAsked = settings.netPrices.shownTo === 'choice' && settings.taxModel === 'GROSS';
  const isKnown = priceViewOf({}, account, settings, visit.db.now).taxType === 'NET';
  if (!isAsked || isKnown) return false;
  const messages = messagesIn(locale).storefront.layout;
  const button = (value: 'gross' | 'net', text: string) =>
    html`<li>
      <button
        name="prices"
        value="${value}"
        ${(value === 'net') === (session.isBusiness === true) && html`aria-current="true"`}
      >
        ${text}
      </button>
    </li>`;
  return html`<form class="languages" method="post" action="${shopPath(visit, '/net-prices')}">
    <ul aria-label="${messages.prices}">
      ${button('gross', messages.privatePrices)} ${button('net', messages.businessPrices)}
    </ul>
  </form>`;
}

/** Adds the country to the name of a language that occurs twice in the shop. */
function languageNames(locales: readonly string[]): ReadonlyMap<string, string> {
  const languages = locales.map((locale) => locale.slice(0, 2));
  return new Map(
    locales.map((locale) => {
      const tag = languageTag(locale);
      const [language] = tag.split('-');
      const isAlone = languages.filter((one) => one === language).length === 1;
      const name = displayName(isAlone ? language! : tag, 'language', tag, 'standard');
      return [locale, name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)];
    }),
  );
}

/** The stylesheet shows a bar on wide screens, and a button that opens it on narrow ones. */
function menu(context: LayoutContext, currentPath: string | undefined): Markup | false {
  const { header: own } = context.settings.menus;
  const messages = messagesIn(context.locale).storefront.layout;
  const title = own.length > 0 ? messages.menu : messages.categories;
  const items =
    own.length > 0
      ? menuList(context, menuItems(context, own), currentPath)
      : categoryList(context, currentPath);
  if (items.length === 0) return false;
  return html`<details class="menu">
    <summary>${MENU_ICON}<span class="label">${title}</span></summary>
    <nav aria-label="${title}">
      <ul>
        ${items}
      </ul>
    </nav>
  </details>`;
}

function categoryList(context: LayoutContext, currentPath: string | undefined): Markup[] {
  const { layout, settings, locale } = context;
  const link = ({ alias, name }: { alias: string; name: Localised }) =>
    navigationLink(
      context,
      categoryPath(alias),
      textIn(name, locale, settings.defaultLocale) ?? alias,
      currentPath,
    );
  return layout.categories.map(
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
  );
}

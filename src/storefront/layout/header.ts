import { escapeHtml, html, safe, webAddress, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { CART_ICON, GLOBE_ICON, HEART_ICON, MENU_ICON } from './icons.ts';
import { compactText, memoizeBySettings, type Surroundings } from '../memoize-by-settings.ts';
import { messages } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import { searchForm } from '../listing/search-form.ts';
import { categoryPath, shopName, to, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';

/** The page in one of the shop's languages. */
export interface Version {
  locale: string;
  href: string;
}

/** The header: kept, but for what is the visitor's and the page's. */
export function header(visit: Visit, page: Page, versions: readonly Version[]): Markup {
  const { session, settings, locale } = visit;
  if (!settings.publicCatalogue)
    return html`<header class="top"><div class="bar">${brand(visit)}</div></header>`;
  const [start, languages, wishes, cart] = keptHeader(visit) as [string, string, string, string];
  const links = settings.locales.length > 1 ? languageLinks(versions, locale, languageNames(visit)) : '';
  return here(
    start + links + languages + badge(session.wishes) + wishes + badge(session.cart?.count) + cart,
    visit,
    page,
  );
}

/** The text with its link to this page marked; those to its other languages begin with their language. */
export function here(text: string, visit: Visit, { path }: Page): Markup {
  const link = `<a href="${escapeHtml(to(visit, path))}"`;
  return safe(text.replace(link, () => `${link} aria-current="page"`));
}

function badge(count: number | undefined): string {
  return count !== undefined && count > 0 ? html`<span class="badge">${count}</span>`.text : '';
}

/** Where something is put in later; no text in the database can hold it. */
export const SLOT = safe('\0');

const keptHeader = memoizeBySettings((visit): string[] => {
  const words = messages(visit.locale).storefront.layout;
  const markup = html`<header class="top">
    <div class="bar">
      ${brand(visit)}
      <div class="find" role="search">${searchForm(visit)}</div>
      ${choices(visit)}
      <nav class="own" aria-label="${words.cartAndWishList}">
        <a href="${to(visit, '/wishlist')}"
          >${HEART_ICON}<span class="label">${words.wishList}</span> ${SLOT}</a
        >
        <a href="${to(visit, '/cart')}">${CART_ICON}<span class="label">${words.cart}</span> ${SLOT}</a>
      </nav>
      ${menu(visit)}
    </div>
  </header>`;
  return compactText(markup).split(SLOT.text);
});

function brand(visit: Surroundings): Markup {
  const name = shopName(visit);
  const logo = logoAddress(visit.settings);
  const isNamed = logo === undefined || visit.settings.theme.showName;
  return html`<a class="brand" href="${to(visit, '')}"
    >${logo !== undefined && html`<img src="${logo}" alt="${isNamed ? '' : name}" height="40" />`}
    ${isNamed && html`<span>${name}</span>`}</a
  >`;
}

/** Where the logo is: on this server or elsewhere. */
export function logoAddress({ logoUrl }: Settings): string | undefined {
  return logoUrl?.startsWith('/') ? logoUrl : webAddress(logoUrl);
}

/** Languages are links to the same page; currencies are a form, because the cookie remembers them. */
function choices(visit: Surroundings): Markup {
  const { settings, locale, currency } = visit;
  const words = messages(locale).storefront.layout;
  const hasLanguages = settings.locales.length > 1;
  const hasCurrencies = settings.currencies.length > 1;
  if (!hasLanguages && !hasCurrencies) return SLOT;
  const chosen = [hasLanguages && locale.slice(0, 2).toUpperCase(), hasCurrencies && currency];
  return html`<details class="switch">
    <summary>
      ${GLOBE_ICON}<span class="visually-hidden">${words.languageAndCurrency}: </span
      ><span class="label">${chosen.filter((part) => part !== false).join(' · ')}</span>
    </summary>
    <div class="sheet">
      ${
        hasLanguages
          ? html`<nav aria-label="${words.language}">
              <ul>
                ${SLOT}
              </ul>
            </nav>`
          : SLOT
      }
      ${
        hasCurrencies &&
        html`<form method="post" action="${to(visit, '/currency')}">
          <label
            >${words.currency}
            <select name="currency" data-submit>
              ${settings.currencies.map(
                (code) =>
                  html`<option value="${code}" ${code === currency && html`selected`}>${code}</option>`,
              )}
            </select></label
          >
          <button class="quiet">${words.change}</button>
        </form>`
      }
    </div>
  </details>`;
}

function languageLinks(
  versions: readonly Version[],
  current: string,
  names: ReadonlyMap<string, string>,
): string {
  return versions
    .map(({ locale, href }) => {
      const tag = languageTag(locale);
      const mark = locale === current && html`aria-current="true"`;
      return html`<li><a lang="${tag}" hreflang="${tag}" href="${href}" ${mark}>${names.get(locale)}</a></li>`
        .text;
    })
    .join('');
}

/** Each in its own language; with the country where the shop has a language twice. */
const languageNames = memoizeBySettings(({ settings: { locales } }): ReadonlyMap<string, string> => {
  const languages = locales.map((locale) => locale.slice(0, 2));
  return new Map(
    locales.map((locale) => {
      const tag = languageTag(locale);
      const [language] = tag.split('-');
      const isAlone = languages.filter((one) => one === language).length === 1;
      const name = new Intl.DisplayNames(tag, { type: 'language', languageDisplay: 'standard' }).of(
        isAlone ? language! : tag,
      )!;
      return [locale, name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)];
    }),
  );
});

/** A bar on wide screens, behind a button on narrow ones. */
function menu(visit: Surroundings): Markup | false {
  const { frame, settings, locale } = visit;
  if (frame.categories.length === 0) return false;
  const words = messages(locale).storefront.layout;
  const link = ({ alias, name }: { alias: string; name: Readonly<Record<string, string>> }) =>
    html`<a href="${to(visit, categoryPath(alias))}"
      >${textIn(name, locale, settings.defaultLocale) ?? alias}</a
    >`;
  return html`<details class="menu">
    <summary>${MENU_ICON}<span class="label">${words.categories}</span></summary>
    <nav aria-label="${words.categories}">
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
    </nav>
  </details>`;
}

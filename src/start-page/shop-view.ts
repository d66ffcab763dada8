import { countryName } from '../countries/countries.ts';
import { html, plainText, type Markup } from '../http/html.ts';
import { textIn } from '../http/locale.ts';
import { priceOf } from '../http/price.ts';
import { lowestShippingPrice } from '../shipping-methods/shipping-price.ts';
import type { Settings, ShippingMethod } from '../shop/settings.ts';
import { brand, type Page } from './page.ts';

export interface LegalPages {
  /** The keys of the page contact-information that are set. */
  contact: Readonly<Record<string, string>>;
  names: readonly { page: string; name: string | null }[];
}

/** The front page of a shop. Its labels are English; what the merchant wrote is in the locale. */
export function shopPage(settings: Settings, locale: string, { contact, names }: LegalPages): Page {
  const { shopId, defaultLocale } = settings;
  const language = tagOf(locale);
  const name = nameOf(settings, locale);
  const slogan = plainText(textIn(settings.slogan, locale, defaultLocale) ?? '');
  const countries = settings.countries
    .map((code2) => countryName(code2, language))
    .toSorted(byName(language));
  return {
    title: name,
    header: html`${brand}${languages(settings, locale, '')}`,
    main: html`
      <div class="hero" lang="${language}">
        <h1>${name}</h1>
        ${slogan !== '' && html`<p class="lines">${slogan}</p>`}
      </div>
      <section class="grid" aria-label="About this shop">
        <div class="card">
          <h2>Shipping</h2>
          ${settings.shippingMethods.length === 0 && html`<p class="quiet">Not set up yet.</p>`}
          <dl class="pairs" lang="${language}">
            ${settings.shippingMethods.map((method) => shippingPair(method, settings, locale))}
          </dl>
        </div>
        <div class="card">
          <h2>Delivers to</h2>
          <p lang="${language}">${countries.join(', ')}</p>
          <h2>Currencies</h2>
          <p lang="${language}">
            ${settings.currencies.map((code) => currencyName(code, language)).join(', ')}
          </p>
        </div>
        <div class="card">
          <h2>Contact</h2>
          ${contactLines(contact, settings.email, language)}
        </div>
        <div class="card">
          <h2>Legal</h2>
          ${legalLinks(shopId, locale, names)}
        </div>
      </section>
    `,
    footer: html`<div class="row">
      <span>This page shows what the shop has set, until the storefront takes its place.</span>
      <a href="/rs/shops/${shopId}?locale=${locale}">This shop in the API</a>
    </div>`,
  };
}

/** A legal page as text; `content` are its keys that are set. */
export function legalPage(
  settings: Settings,
  locale: string,
  page: string,
  content: Readonly<Record<string, string>>,
): Page {
  const shopName = nameOf(settings, locale);
  const { name, navigationCaption, title } = content;
  const heading = [name, navigationCaption, title].find((text) => text?.trim()) ?? shopName;
  const text = plainText(`${content['shortDescription'] ?? ''}<p>${content['description'] ?? ''}`);
  return {
    title: `${heading} | ${shopName}`,
    header: html`${brand}${languages(settings, locale, `/legal/${page}`)}`,
    main: html`<article lang="${tagOf(locale)}">
      <div class="hero">
        <a href="/shop/${settings.shopId}?locale=${locale}">${shopName}</a>
        <h1>${heading}</h1>
      </div>
      ${
        text === ''
          ? html`<p class="quiet">This page has no text in this language.</p>`
          : text.split('\n').map((line) => html`<p class="prose">${line}</p>`)
      }
    </article>`,
  };
}

/** A shop that shows nothing to callers without a token shows nothing here either. */
export function closedShopPage(settings: Settings): Page {
  const name = nameOf(settings, settings.defaultLocale);
  return {
    title: name,
    header: brand,
    main: html`<div class="hero">
      <h1>${name}</h1>
      <p>This shop is not open to the public.</p>
    </div>`,
  };
}

function nameOf({ name, defaultLocale, shopId }: Settings, locale: string): string {
  return textIn(name, locale, defaultLocale) ?? shopId;
}

/** The links between the languages, each named in its own. */
function languages({ shopId, locales }: Settings, current: string, path: string): Markup | false {
  if (locales.length < 2) return false;
  return html`<nav aria-label="Language">
    <ul>
      ${locales.map((locale) => {
        const tag = tagOf(locale);
        const href = `/shop/${shopId}${path}?locale=${locale}`;
        return html`<li>
          <a href="${href}" lang="${tag}" aria-current="${String(locale === current)}"
            >${languageName(tag)}</a
          >
        </li>`;
      })}
    </ul>
  </nav>`;
}

function shippingPair(method: ShippingMethod, settings: Settings, locale: string): Markup {
  const price = (minor: number) =>
    priceOf(minor, settings.defaultCurrency, settings.taxModel, locale).formatted;
  const name = textIn(method.name, locale, settings.defaultLocale) ?? method.key;
  const description = plainText(textIn(method.description, locale, settings.defaultLocale) ?? '');
  const notes = [
    ...(description === '' ? [] : [description]),
    ...(method.kind === 'weight' && method.amountPerKg > 0 ? [`+ ${price(method.amountPerKg)} / kg`] : []),
    ...(method.freeFrom === null ? [] : [`free from ${price(method.freeFrom)}`]),
  ];
  return html`<div>
    <dt>${name}</dt>
    <dd>${shippingPrice(method, price)}</dd>
    ${notes.length > 0 && html`<dd class="small quiet">${notes.join(', ')}</dd>`}
  </div>`;
}

function shippingPrice(method: ShippingMethod, price: (minor: number) => string): string {
  const lowest = lowestShippingPrice(method);
  if (lowest === null) return 'free';
  const varies = method.kind === 'order_value' && method.tiers.some((tier) => tier.amount !== lowest);
  return varies ? `from ${price(lowest)}` : price(lowest);
}

function contactLines(
  contact: Readonly<Record<string, string>>,
  shopEmail: string,
  language: string,
): Markup {
  const { company, contactPerson, contactPersonJobTitle, address, phone } = contact;
  const email = contact['email']?.trim() || shopEmail;
  const person = [contactPerson, contactPersonJobTitle].filter((text) => text?.trim()).join(', ');
  const lines = [company ?? '', person, plainText(address ?? '')].map((text) => text.trim());
  return html`<p class="lines" lang="${language}">${lines.filter((text) => text !== '').join('\n')}</p>
    <p class="row">
      <a href="mailto:${email}">${email}</a>
      ${phone?.trim() && html`<a href="tel:${phone.replaceAll(/[^\d+]/g, '')}">${phone.trim()}</a>`}
    </p>`;
}

function legalLinks(shopId: string, locale: string, names: LegalPages['names']): Markup {
  const shown = names.filter(({ name }) => name !== null);
  if (shown.length === 0) return html`<p class="quiet">No pages in this language yet.</p>`;
  return html`<ul class="links" lang="${tagOf(locale)}">
    ${shown.map(
      ({ page, name }) => html`<li><a href="/shop/${shopId}/legal/${page}?locale=${locale}">${name}</a></li>`,
    )}
  </ul>`;
}

/** `en_GB` is `en-GB` to browsers. */
function tagOf(locale: string): string {
  return locale.replace('_', '-');
}

function languageName(tag: string): string {
  return new Intl.DisplayNames([tag], { type: 'language', languageDisplay: 'standard' }).of(tag) ?? tag;
}

function currencyName(code: string, language: string): string {
  return `${new Intl.DisplayNames([language], { type: 'currency' }).of(code) ?? code} (${code})`;
}

function byName(language: string): (left: string, right: string) => number {
  return new Intl.Collator(language).compare;
}

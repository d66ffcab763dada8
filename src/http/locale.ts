import { Refusal } from './errors.ts';

const FULL_LOCALE = /^[a-z]{2}_[a-z]{2}$/i;

/**
 * The shop's spelling of the requested locale, ignoring case (clients send `fi_fi`); undefined when the shop does not
 * have it. A language without a country is refused with the contract's message.
 */
export function offeredLocale(asked: string, offered: readonly string[]): string | undefined {
  if (!FULL_LOCALE.test(asked)) throw new Refusal('LOCALE_INCOMPLETE');
  const wanted = asked.toLowerCase();
  return offered.find((locale) => locale.toLowerCase() === wanted);
}

/** For reading: a locale that the shop lacks falls back to its default. */
export function readingLocale(
  asked: string | undefined,
  settings: { locales: readonly string[]; defaultLocale: string },
): string {
  if (asked === undefined) return settings.defaultLocale;
  return offeredLocale(asked, settings.locales) ?? settings.defaultLocale;
}

/** For reading: an unknown currency falls back to the shop's default. */
export function readingCurrency(
  asked: string | undefined,
  settings: { currencies: readonly string[]; defaultCurrency: string },
): string {
  const wanted = asked?.toUpperCase();
  return settings.currencies.find((currency) => currency === wanted) ?? settings.defaultCurrency;
}

/** For writing: a text or a price must not be stored in another language or currency than the client named. */
export function writingLocale(
  asked: string | undefined,
  settings: { locales: readonly string[]; defaultLocale: string },
): string {
  if (asked === undefined) return settings.defaultLocale;
  const locale = offeredLocale(asked, settings.locales);
  if (!locale)
    throw new Refusal('LOCALE_NOT_OFFERED', { locale: asked, offered: settings.locales.join(', ') });
  return locale;
}

export function writingCurrency(
  asked: string | undefined,
  settings: { currencies: readonly string[]; defaultCurrency: string },
): string {
  if (asked === undefined) return settings.defaultCurrency;
  const currency = settings.currencies.find((one) => one === asked.toUpperCase());
  if (!currency)
    throw new Refusal('CURRENCY_NOT_OFFERED', { currency: asked, offered: settings.currencies.join(', ') });
  return currency;
}

/** Texts by locale: {"en_GB": "Coffee", "de_DE": "Kaffee"}. */
export type Localised = Readonly<Record<string, string>>;

/** The text in this locale, else in the shop's default one. */
export function textIn(texts: Localised, locale: string, defaultLocale: string): string | null {
  return texts[locale] ?? texts[defaultLocale] ?? null;
}

/** `en_GB` is `en-GB` to browsers and to Intl. */
export function languageTag(locale: string): string {
  return locale.replace('_', '-');
}

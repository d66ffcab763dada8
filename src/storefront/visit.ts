import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { textIn } from '../http/locale.ts';
import type { PageName } from '../legal/schema.ts';
import type { Settings } from '../shop/settings.ts';
import type { Frame } from './frame.ts';
import type { Session } from './session.ts';

/** A request for a page of a shop, with what every page needs to know. */
export interface Visit {
  db: Database;
  config: Config;
  shopId: string;
  settings: Settings;
  frame: Frame;
  /** The address says it: `?locale=de_DE`; without it, the shop's default. */
  locale: string;
  /** The cookie says it; without it, the shop's default. */
  currency: string;
  /** Scheme and host. */
  origin: string;
  /** As the cookie had it. `remember` changes it, and the answer writes it. */
  session: Readonly<Session>;
  /** What is undefined is forgotten. */
  remember: (changes: { [Key in keyof Session]?: Session[Key] | undefined }) => void;
}

type QueryValue = string | readonly string[] | null | undefined;

/** The address of a page of this shop in the visitor's language: `to(visit, '/cart')`. What is empty is left out. */
export function to(
  { shopId, locale, settings }: Pick<Visit, 'shopId' | 'locale' | 'settings'>,
  path: string,
  query: Readonly<Record<string, QueryValue>> = {},
): string {
  const language = locale === settings.defaultLocale ? {} : { locale };
  const parameters = new URLSearchParams(
    Object.entries({ ...language, ...query }).flatMap(([key, value]) =>
      [value ?? []].flat().map((one): [string, string] => [key, one]),
    ),
  ).toString();
  return `/shop/${shopId}${path}${parameters === '' ? '' : `?${parameters}`}`;
}

/** The paths of pages that the API's addresses lead to. */
export const productPath = (productNumber: string) => `/Products/${encodeURIComponent(productNumber)}`;
export const categoryPath = (alias: string) => `/Categories/${encodeURIComponent(alias)}`;

export function shopName({ settings, locale }: Pick<Visit, 'settings' | 'locale'>): string {
  return textIn(settings.name, locale, settings.defaultLocale) ?? settings.shopId;
}

/** What the legal pages are called; one that is not there in this language is linked in the shop's default one. */
export function legalNames({
  frame,
  locale,
  settings,
}: Pick<Visit, 'frame' | 'locale' | 'settings'>): Partial<Record<PageName, string>> {
  return { ...frame.legalNames[settings.defaultLocale], ...frame.legalNames[locale] };
}

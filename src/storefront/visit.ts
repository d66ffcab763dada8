import type { CartStore } from '../carts/cart-store.ts';
import type { OrderPlacing } from '../carts/order-placing.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { textIn } from '../http/locale.ts';
import type { PageName } from '../shops/legal/schema.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { Frame } from './frame.ts';
import type { Session } from './session.ts';

/** A request for a page of a shop, with what every page needs to know. */
export interface Visit {
  db: Database;
  carts: CartStore;
  placeOrder: OrderPlacing;
  config: Config;
  shopId: string;
  settings: Settings;
  frame: Frame;
  /** The address says it: `?locale=de_DE`; without it, the shop's default. */
  locale: string;
  /** The cookie says it; without it, the shop's default. */
  currency: string;
  /** Scheme and host of the service: the addresses of the API, in what pages tell the scripts of apps, begin with it. */
  origin: string;
  /** Scheme and host of this page, as the visitor's browser sees them. */
  pageOrigin: string;
  /** What the paths of pages begin with: nothing on the shop's own host, `/shop/ID` on the service's. */
  base: string;
  /** Where the shop's pages are for everybody, without a slash at the end: what search engines learn. */
  home: string;
  /** Not on a host that other shops share: a script could read their pages with the visitor's cookies. */
  loadsScripts: boolean;
  /** As the cookie had it. `remember` changes it, and the answer writes it. */
  session: Readonly<Session>;
  /** What is undefined is forgotten. */
  remember: (changes: { [Key in keyof Session]?: Session[Key] | undefined }) => void;
}

type QueryValue = string | readonly string[] | null | undefined;

/** The path of a page of this shop in the visitor's language: `to(visit, '/cart')`. What is empty is left out. */
export function to(
  { base, ...visit }: Pick<Visit, 'base' | 'locale' | 'settings'>,
  path: string,
  query?: Readonly<Record<string, QueryValue>>,
): string {
  return withQuery(base + path || '/', visit, query);
}

/** The whole address of a page, as search engines and other people get it. */
export function addressOf(
  { home, ...visit }: Pick<Visit, 'home' | 'locale' | 'settings'>,
  path: string,
  query?: Readonly<Record<string, QueryValue>>,
): string {
  const isHost = !home.includes('/', 'https://'.length);
  return withQuery(home + (path === '' && isHost ? '/' : path), visit, query);
}

function withQuery(
  address: string,
  { locale, settings }: Pick<Visit, 'locale' | 'settings'>,
  query: Readonly<Record<string, QueryValue>> = {},
): string {
  const language = locale === settings.defaultLocale ? {} : { locale };
  const parameters = new URLSearchParams(
    Object.entries({ ...language, ...query }).flatMap(([key, value]) =>
      [value ?? []].flat().map((one): [string, string] => [key, one]),
    ),
  ).toString();
  return parameters === '' ? address : `${address}?${parameters}`;
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

import type { Device } from '../people/accounts/device-cookie.ts';
import type { PriceView } from '../catalogue/products/price-view.ts';
import type { CartStore } from '../carts/cart-store.ts';
import type { AppCalls } from '../apps/calls/calls.ts';
import type { PlaceOrder } from '../checkout/order-cart.ts';
import type { Config } from '../config.ts';
import type { ShopDatabase } from '../db/database.ts';
import { textIn } from '../http/locale.ts';
import type { PaymentDeps } from '../orders/payments/calls.ts';
import type { GuaranteeFiles } from '../shops/legal/guarantee-files.ts';
import type { PageName } from '../shops/legal/schema.ts';
import type { Settings, VerifySettings } from '../shops/settings/settings.ts';
import type { VatRegister } from '../shops/vat-numbers/register.ts';
import type { SignedInAccount } from './account/signed-in-account.ts';
import type { ShopLayout } from './layout/shop-layout.ts';
import type { Session } from './session.ts';

/** A request for a page of a shop, with the data that every page needs. */
export interface Visit {
  db: ShopDatabase;
  carts: CartStore;
  placeOrder: PlaceOrder;
  appCalls: AppCalls;
  vatRegister: VatRegister;
  payments: PaymentDeps;
  config: Config;
  /** The official notices on the legal guarantee that the operator has placed. */
  guaranteeFiles: GuaranteeFiles;
  shopId: string;
  settings: Settings;
  /** For pages that begin with cached settings; see `withCachedSettings`. */
  verifySettings: VerifySettings;
  layout: ShopLayout;
  /**
   * `public`: the shop is open. Else its pages say that it opens soon (`closed`), except to visitors who have come by
   * the preview link (`preview`). `members`: the shop is for customers, and this visitor is none of them.
   */
  access: 'public' | 'preview' | 'closed' | 'members';
  /**
   * The parameter `?locale=de_DE` of the address, else the language that this browser or the account remembers;
   * without all of them, the shop's default.
   */
  locale: string;
  /** The address names the language. */
  isLocaleNamed: boolean;
  /** The parameter `?currency=GBP` of the address, else the session's; without both, the shop's default. */
  currency: string;
  /** Whose prices the pages show. */
  priceView: PriceView;
  /** Scheme and host of the service, for the addresses of the API in the events of a page. */
  origin: string;
  /** Scheme and host of this page, as the visitor's browser sees them. */
  pageOrigin: string;
  /** The prefix of page paths: empty on the shop's own host, `/shop/ID` on the service's. */
  base: string;
  /** The public address of the shop's pages, without a trailing slash, as search engines see it. */
  home: string;
  /** False on a host that other shops share: a script could read their pages with the visitor's cookies. */
  loadsScripts: boolean;
  /** The account that the visitor is signed in to. */
  account: SignedInAccount | undefined;
  /**
   * Signs the browser in with the token of a new session, or out with null. Data of the previous account is dropped.
   */
  setAccountToken: (token: string | null) => void;
  /** The argument of `setAccountToken`, for the cookie of the response. */
  accountToken?: string | null;
  /** The browser's record of the accounts that have signed in with it. */
  device: Device | undefined;
  /** Makes the browser remember that this account has signed in with it. */
  rememberAccount: (accountId: string) => void;
  /** The browser's record after `rememberAccount`, for the cookie of the response. */
  newDevice?: Device;
  /** The session of the cookie, including changes by `updateSession`, which the response writes. */
  session: Readonly<Session>;
  /** Changes the session; a key that is undefined is removed. */
  updateSession: (changes: { [Key in keyof Session]?: Session[Key] | undefined }) => void;
}

/** Whether the visitor sees no more of the shop than its legal texts, and what customers of earlier orders need. */
export const isShut = ({ access }: Pick<Visit, 'access'>): boolean =>
  access === 'closed' || access === 'members';

/** The part of a visit that many visitors share: shared caches may depend on nothing else. */
export type LayoutContext = Pick<Visit, 'shopId' | 'settings' | 'layout' | 'locale' | 'currency' | 'base'>;

type QueryValue = string | readonly string[] | null | undefined;

/** The path of a page of this shop in the visitor's language: `shopPath(visit, '/cart')`. Empty parameters are left out. */
export function shopPath(
  visit: Pick<Visit, 'base' | 'locale' | 'settings'>,
  path: string,
  query?: Readonly<Record<string, QueryValue>>,
): string {
  return withQuery(visit.base + path || '/', visit, query);
}

/** The whole address of a page, for search engines and for sharing. */
export function absoluteUrl(
  visit: Pick<Visit, 'home' | 'locale' | 'settings'>,
  path: string,
  query?: Readonly<Record<string, QueryValue>>,
): string {
  const { home } = visit;
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

/** The addresses of products and categories in the API lead to these paths. */
export const productPath = (productNumber: string) => `/Products/${encodeURIComponent(productNumber)}`;
export const categoryPath = (alias: string) => `/Categories/${encodeURIComponent(alias)}`;

export function shopName({ settings, locale }: Pick<Visit, 'settings' | 'locale'>): string {
  return textIn(settings.name, locale, settings.defaultLocale) ?? settings.shopId;
}

/**
 * The names of the legal pages. A page without a name in this language is linked by its name in the shop's default
 * language.
 */
export function legalNames({
  layout,
  locale,
  settings,
}: Pick<Visit, 'layout' | 'locale' | 'settings'>): Partial<Record<PageName, string>> {
  return { ...layout.legalNames[settings.defaultLocale], ...layout.legalNames[locale] };
}

import type { FastifyRequest } from 'fastify';
import type { CartStore } from '../carts/cart-store.ts';
import type { AppCalls } from '../apps/calls/calls.ts';
import type { PlaceOrder } from '../checkout/order-cart.ts';
import type { MissedAddresses } from '../catalogue/redirects/missed.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { notFound, tooManyRequests, type HttpError } from '../http/errors.ts';
import { originOf, schemeOf, storefrontUrl } from '../http/links.ts';
import { offeredLocale, readingCurrency } from '../http/locale.ts';
import { addressCaller, type RateLimiter } from '../http/rate-limit.ts';
import type { PaymentDeps } from '../orders/payments/calls.ts';
import type { GuaranteeFiles } from '../shops/legal/guarantee-files.ts';
import {
  cachedSettings,
  findSettings,
  type Settings,
  type VerifySettings,
} from '../shops/settings/settings.ts';
import type { ShopHosts } from '../shops/shop/hosts.ts';
import type { VatRegister } from '../shops/vat-numbers/register.ts';
import type { PreviewToken } from '../shops/shop/preview.ts';
import { mayEnter } from '../shops/shop/visibility.ts';
import { priceViewOf } from './price-view.ts';
import { findSignedInAccount } from './account/queries.ts';
import type { SignedInAccount } from './account/signed-in-account.ts';
import { sessionOfAccount, sharedSession } from './account/visit-account.ts';
import { loadShopLayout } from './layout/shop-layout.ts';
import { withUser, type DeviceCookie } from '../people/accounts/device-cookie.ts';
import { shopCookie, type Session, type Sessions } from './session.ts';
import type { Visit } from './visit.ts';

export interface PageDeps {
  db: Database;
  carts: CartStore;
  placeOrder: PlaceOrder;
  appCalls: AppCalls;
  vatRegister: VatRegister;
  payments: PaymentDeps;
  config: Config;
  guaranteeFiles: GuaranteeFiles;
  limiter: RateLimiter;
  sessions: Sessions;
  devices: DeviceCookie;
  hosts: ShopHosts;
  previewToken: PreviewToken;
  missed: MissedAddresses;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The visit of a request for a page of the storefront; undefined until the shop is known. */
    visit?: Visit;
  }
}

export interface VisitOptions {
  /** Absent: the current ones are read. */
  settings?: Settings;
  verifySettings?: VerifySettings;
}

const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** Turns a request into a visit: which shop, on which host, in which language, with which session. */
export async function openVisit(
  request: FastifyRequest,
  deps: PageDeps,
  { settings: given, verifySettings = () => {} }: VisitOptions = {},
): Promise<Visit> {
  const {
    carts,
    placeOrder,
    appCalls,
    vatRegister,
    payments,
    config,
    guaranteeFiles,
    sessions,
    devices,
    previewToken,
  } = deps;
  delete request.visit;
  const shopId = shopOf(request);
  // Without a share of the connections: an invented shop must not count as a busy one.
  const found = given ?? (await findSettings(deps.db, shopId));
  if (!found) throw notFound();
  // A suspended shop shows nothing but that it is paused.
  const settings = found.isSuspended ? { ...found, publicCatalogue: false } : found;
  const db = deps.db.ofShop(shopId);
  const addresses = visitAddresses(request, settings, deps);
  const cookieNamed = (name: 'visit' | 'account' | 'device') =>
    request.cookies[shopCookie(name, { shopId, ...addresses }).name];
  const [account, layout] = await Promise.all([
    findSignedInAccount(db, shopId, cookieNamed('account')),
    loadShopLayout(db, settings, payments),
  ]);
  const session = sessionOfAccount(sessions.read(shopId, cookieNamed('visit'), db.now), account);
  const query = request.query as Record<string, string | string[]>;
  const namedLocale = localeNamedBy([query['locale'] ?? []].flat()[0], settings);
  const { origin, pageOrigin, base, home, loadsScripts } = addresses;
  const visit: Visit = {
    db,
    carts,
    placeOrder,
    appCalls,
    vatRegister,
    payments,
    config,
    guaranteeFiles,
    shopId,
    settings,
    verifySettings,
    layout,
    access: accessTo(settings, { session, account }, previewToken),
    locale: namedLocale ?? rememberedLocale(session, account, settings),
    isLocaleNamed: namedLocale !== undefined,
    currency: visitCurrency([query['currency'] ?? []].flat()[0], session, settings),
    priceView: priceViewOf(session, account, settings, db.now),
    origin,
    pageOrigin,
    base,
    home,
    loadsScripts,
    account,
    setAccountToken: (token) => {
      visit.accountToken = token;
      visit.account = undefined;
      visit.session = { ...sharedSession(visit.session), ...(token !== null && { isSignedIn: true }) };
    },
    device: devices.read(cookieNamed('device')),
    rememberAccount: (accountId) => {
      visit.newDevice = withUser(visit.device, accountId);
    },
    session,
    updateSession: (changes) => {
      visit.session = { ...visit.session, ...changes } as Session;
    },
  };
  request.visit = visit;
  return visit;
}

/**
 * The session is signed for this shop; a new preview link ends the visits that came by the former one. A sandbox is only
 * ever seen as by a preview link: search engines, feeds and caches get nothing of it.
 */
function accessTo(
  settings: Settings,
  { session: { preview }, account }: Pick<Visit, 'session' | 'account'>,
  previewToken: PreviewToken,
): Visit['access'] {
  if (settings.isOpen) {
    if (!mayEnter(settings, account && (account.customer ?? NOBODY))) return 'members';
    return settings.sandbox ? 'preview' : 'public';
  }
  return preview !== undefined && preview === previewToken(settings) ? 'preview' : 'closed';
}

/** An account whose customer was deleted. */
const NOBODY = { customerGroupId: null };

/** The shop that the path names. Text that can't be one: 404. */
export function shopOf(request: FastifyRequest): string {
  const { shopId } = request.params as { shopId: string };
  if (!SHOP_ID.test(shopId) || request.url.includes('%00')) throw notFound();
  return shopId;
}

/** Counts the page against the client's limit, then opens the visit. */
export async function openCountedVisit(request: FastifyRequest, deps: PageDeps): Promise<Visit> {
  await countPage(request, deps);
  return openVisit(request, deps);
}

/**
 * Counts the page against the client's limit. A client above the limit costs no statement: the refusal has the layout
 * of the shop only if its settings are cached.
 */
export async function countPage(request: FastifyRequest, deps: PageDeps): Promise<void> {
  const refusal = await pageLimitRefusal(request, deps);
  if (!refusal) return;
  const settings = cachedSettings(deps.db, shopOf(request));
  if (settings) await openVisit(request, deps, { settings });
  throw refusal;
}

/** A page counts like a call of the API without a token. That costs a statement only now and then. */
export async function pageLimitRefusal(
  request: FastifyRequest,
  { config, limiter }: Pick<PageDeps, 'config' | 'limiter'>,
): Promise<HttpError | undefined> {
  const limit = config.RATE_LIMIT_ANONYMOUS;
  if (limit === 0) return undefined;
  const caller = addressCaller(request.ip);
  let allowance;
  while (!(allowance = limiter.count(caller))) await limiter.load(caller);
  return allowance.used > limit ? tooManyRequests(limit, allowance.secondsLeft) : undefined;
}

/** The addresses that follow from the host of the request: the shop's own host, or the shared one. */
export function visitAddresses(
  request: FastifyRequest,
  settings: Settings,
  { config, hosts }: Pick<PageDeps, 'config' | 'hosts'>,
) {
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');
  const { shopId, domainsInUse } = settings;
  const isOwnHost = hosts.shopOf(request.host) === shopId;
  if (!isOwnHost) {
    const origin = originOf(request, publicUrl);
    return {
      origin,
      pageOrigin: origin,
      base: `/shop/${shopId}`,
      home: storefrontUrl(origin, settings),
      // The admin is on this host: a script could use it with the cookies of a merchant who visits the shop.
      loadsScripts: false,
    };
  }
  const host = request.host.toLowerCase();
  const pageOrigin = `${publicUrl === undefined ? `${request.protocol}:` : schemeOf(publicUrl)}//${host}`;
  return {
    origin: publicUrl ?? pageOrigin.replace(/[^/.]+\.(?=localhost(?::|$))/, ''),
    pageOrigin,
    base: '',
    home: domainsInUse.length > 0 ? storefrontUrl(pageOrigin, settings) : pageOrigin,
    loadsScripts: true,
  };
}

/** The links of product feeds name the currency of their prices. A cart never changes its currency. */
function visitCurrency(
  parameter: string | undefined,
  { cart, currency }: Session,
  settings: Settings,
): string {
  const kept = readingCurrency(currency, settings);
  return (!cart && settings.currencies.find((one) => one === parameter)) || kept;
}

/** A language in an old or mistyped link must not hide the page. */
function localeNamedBy(parameter: string | undefined, { locales }: Settings): string | undefined {
  return /^[a-z]{2}_[a-z]{2}$/i.test(parameter ?? '') ? offeredLocale(parameter!, locales) : undefined;
}

/** A choice in this browser counts more than one on another device of the account. */
function rememberedLocale(
  { locale }: Session,
  account: SignedInAccount | undefined,
  { locales, defaultLocale }: Settings,
): string {
  return [locale, account?.locale].find((one) => one && locales.includes(one)) ?? defaultLocale;
}

import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { forbidden, notFound } from '../http/errors.ts';
import type { ObservedDemoAccess } from '../http/demo-access.ts';
import { isOwnFormOnThisMachine } from '../http/forwarded.ts';
import { joinCalls, type JoinedTransaction } from '../http/internal-call.ts';
import type { Operations } from '../http/operations.ts';
import type { PageCookie } from '../http/page-kit.ts';
import { originOf, storefrontUrl } from '../http/links.ts';
import { readingLocale } from '../http/locale.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import { SCOPES } from '../http/scopes.ts';
import { withCachedSettings, type Settings } from '../shops/settings/settings.ts';
import { domainPolicy } from '../shops/shop/domain-policy.ts';
import type { VatRegister } from '../shops/vat-numbers/register.ts';
import type { ShopHosts } from '../shops/shop/hosts.ts';
import { isLanguage, LANGUAGES, adminMessagesIn, type Language } from './messages.ts';
import { withUser, type Device, type DeviceCookie } from '../people/accounts/device-cookie.ts';
import type { NoticeCookie } from './notice-cookie.ts';
import { DEMO_OWNER } from './users/demo-owner.ts';
import { permissionsOf, type Permission } from './users/permissions.ts';
import { findMembership, findSignedInUser, touchAdminSession, type SignedInUser } from './users/queries.ts';
import type { ShopVisit, Visit } from './visit.ts';

export interface AdminDeps {
  db: Database;
  config: Config;
  limiter: RateLimiter;
  hosts: ShopHosts;
  demoAccess: ObservedDemoAccess;
  callAs: Operations['callAs'];
  vatRegister: VatRegister;
}

export interface OpenDeps extends AdminDeps {
  key: Buffer;
  notices: NoticeCookie;
  devices: DeviceCookie;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The visit of a request for a page of the admin; undefined until the caller is known. */
    adminVisit?: Visit<'anybody'> | ShopVisit;
    /** The token that the response signs the browser in with; null: it signs it out. */
    adminToken?: string | null;
    /** The browser's new record of users; undefined: it is unchanged. */
    adminDevice?: Device;
  }
}

/** Under https no other host can set a cookie with this prefix. */
export function adminCookie(origin: string): PageCookie {
  return origin.startsWith('https:')
    ? { name: '__Host-admin', path: '/', secure: true }
    : { name: 'admin', path: '/admin', secure: false };
}

export const deviceCookieName = (origin: string) =>
  origin.startsWith('https:') ? '__Host-admin-device' : 'admin-device';

/** Sessions are touched every few minutes, so that not every page writes. */
const TOUCH_AFTER = 5 * 60_000;

/** Turns a request into a visit: the user, and the language. */
export async function openVisit(request: FastifyRequest, deps: OpenDeps): Promise<Visit<'anybody'>> {
  const { db, config, demoAccess, key, notices, devices } = deps;
  if (request.url.includes('%00')) throw notFound();
  const origin = originOf(request, config.PUBLIC_URL?.replace(/\/$/, ''));
  const { name } = adminCookie(origin);
  const found = await findSignedInUser(db, request.cookies[name]);
  // The demo owner is rejected where other machines can call, even with an earlier session.
  const user = found?.email === DEMO_OWNER && !demoAccess.isOpen() ? undefined : found;
  if (user && db.now.getTime() - user.seenAt.getTime() > TOUCH_AFTER)
    await touchAdminSession(db, user.sessionId);
  const language = languageOf(user, request.headers['accept-language']);
  const visit: Visit<'anybody'> = {
    db,
    config,
    key,
    origin,
    demo: {
      isOpen: demoAccess.isOpen(),
      isEnded: demoAccess.isEnded(),
      isOwnForm: isOwnFormOnThisMachine(request),
    },
    language,
    messages: adminMessagesIn(language),
    notice: notices.read(request.cookies[notices.nameAt(origin)], user),
    user,
    device: devices.read(request.cookies[deviceCookieName(origin)]),
    setToken: (token) => {
      request.adminToken = token;
    },
    rememberUser: (userId) => {
      request.adminDevice = withUser(visit.device, userId);
    },
  };
  request.adminVisit = visit;
  return visit;
}

const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** A shop in which the user does not work looks like one that does not exist. */
export async function openShopVisit(
  request: FastifyRequest,
  visit: Visit<'signed in'>,
  permission: Permission | 'member',
  deps: OpenDeps,
): Promise<ShopVisit> {
  const { shopId } = request.params as { shopId: string };
  if (!SHOP_ID.test(shopId)) throw notFound();
  const { user } = visit;
  const { role, settings } = await withCachedSettings(deps.db, shopId, async (settings, verify) => {
    const membership = await findMembership(deps.db, shopId, user.userId);
    verify(membership?.settingsVersion);
    if (!membership) throw notFound();
    return { role: membership.role, settings };
  });
  const permissions = permissionsOf(role);
  const app = callerOf(user, permissions);
  const callIn = (joined: JoinedTransaction | undefined) =>
    deps.callAs({ shopId, app, origin: visit.origin, request, joined });
  const shopVisit: ShopVisit = {
    ...visit,
    db: deps.db.atClockOf(shopId),
    user,
    shopId,
    settings,
    role,
    may: (needed) => permissions.has(needed),
    locale: readingLocale(localeOf(visit.language, settings.locales), settings),
    base: `/admin/shops/${shopId}`,
    storefront: storefrontAddress(visit.origin, settings, deps.hosts),
    domainPolicy: domainPolicy(deps.config, deps.demoAccess, request.host),
    vatRegister: deps.vatRegister,
    call: callIn(undefined),
    inTransaction: (work) =>
      joinCalls(deps.db.ofShop(shopId), { appId: user.userId, log: request.log }, (joined) =>
        work(callIn(joined), joined.tx),
      ),
  };
  request.adminVisit = shopVisit;
  if (permission !== 'member' && !permissions.has(permission)) {
    throw forbidden(visit.messages.layout.missingPermission({ role: visit.messages.roles[role] }));
  }
  return shopVisit;
}

/** The operations treat a user like an app. */
function callerOf({ userId, email }: SignedInUser, permissions: ReadonlySet<Permission>) {
  return {
    appId: userId,
    name: email,
    tokenHash: `user ${userId}`,
    scopes: new Set(SCOPES.filter((scope) => permissions.has(scope))),
    rateKey: `user/${userId}`,
    expiresAt: null,
    networks: null,
    isPerson: true,
  };
}

function storefrontAddress(origin: string, settings: Settings, hosts: ShopHosts) {
  const localHost = settings.domainsInUse.length === 0 ? hosts.localHostOf(settings.shopId) : undefined;
  const { hostname, port } = new URL(origin);
  if (localHost !== undefined && hostname === 'localhost') {
    return `http://${localHost}${port === '' ? '' : `:${port}`}`;
  }
  return storefrontUrl(origin, settings);
}

function languageOf(user: SignedInUser | undefined, accepted = ''): Language {
  if (user?.language && isLanguage(user.language)) return user.language;
  const wanted = accepted
    .slice(0, 200)
    .split(',')
    .map((range) => range.trim().slice(0, 2).toLowerCase());
  return wanted.find(isLanguage) ?? LANGUAGES[0];
}

function localeOf(language: Language, locales: readonly string[]): string | undefined {
  return locales.find((locale) => locale.startsWith(language));
}

import type { FastifyRequest } from 'fastify';
import { installedApps } from '../apps/manifest/installed.ts';
import { isLoopback, type Config } from '../config.ts';
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
import { withCachedSettings } from '../shops/settings/settings.ts';
import { domainPolicy } from '../shops/shop/domain-policy.ts';
import type { VatRegister } from '../shops/vat-numbers/register.ts';
import { ownOrigin, type ShopHosts } from '../shops/shop/hosts.ts';
import { findSupportSession, isSupportToken, touchSupportVisit } from '../host/support.ts';
import { brandOf } from '../platform/brand.ts';
import type { CurrentMessages } from '../host/current-messages.ts';
import { findHostMessages } from './layout/host-messages.ts';
import { isLanguage, LANGUAGES, adminMessagesIn, type Language } from './messages.ts';
import { withUser, type Device, type DeviceCookie } from '../people/accounts/device-cookie.ts';
import type { NoticeCookie } from './notice-cookie.ts';
import { supportName } from './support/support-name.ts';
import { DEMO_OWNER } from './users/demo-owner.ts';
import { permissionsOf, supportPermissionsOf, type Permission, type Role } from './users/permissions.ts';
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
  hostNews: Pick<CurrentMessages, 'all'>;
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
  const found = await userOf(request.cookies[name], deps);
  // The demo owner is rejected where other machines can call, even with an earlier session.
  const user = found?.email === DEMO_OWNER && !demoAccess.isOpen() ? undefined : found;
  if (user && db.now.getTime() - user.seenAt.getTime() > TOUCH_AFTER) await touch(db, user);
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

/** One statement, for a user of the admin as for a person of the host. */
async function userOf(
  token: string | undefined,
  { db, config }: OpenDeps,
): Promise<SignedInUser | undefined> {
  if (token === undefined || !isSupportToken(token)) return findSignedInUser(db, token);
  const support = await findSupportSession(db, token);
  return (
    support && {
      userId: support.visitId,
      sessionId: support.visitId,
      email: supportName(support, brandOf(config)),
      language: null,
      isHost: false,
      seenAt: support.seenAt,
      // They have no password: what asks for one is not for them.
      confirmedAt: new Date(0),
      support,
    }
  );
}

function touch(db: Database, { support, sessionId }: SignedInUser) {
  return support ? touchSupportVisit(db, support.shopId, support.visitId) : touchAdminSession(db, sessionId);
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
  const { support } = user;
  // A person of the host is in this one shop, and nowhere else.
  if (support && support.shopId !== shopId) throw notFound();
  const { role, settings } = await withCachedSettings(deps.db, shopId, async (settings, verify) => {
    const membership = support
      ? { role: support.role as Role, settingsVersion: support.settingsVersion }
      : await findMembership(deps.db, shopId, user.userId);
    verify(membership?.settingsVersion);
    if (!membership) throw notFound();
    return { role: membership.role, settings };
  });
  const permissions = support ? supportPermissionsOf(role) : permissionsOf(role);
  const installed = await installedApps(deps.db, settings);
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
    storefront: ownOrigin(visit.origin, settings, deps.hosts) ?? storefrontUrl(visit.origin, settings),
    domainPolicy: domainPolicy(deps.config, deps.demoAccess, request.host),
    vatRegister: deps.vatRegister,
    hostMessages: await findHostMessages(deps.db, deps.hostNews, { shopId, userId: user.userId }),
    apps: installed.filter(
      ({ scopes, origin }) =>
        !isOfService(origin, visit.origin) && scopes.every((scope) => permissions.has(scope)),
    ),
    call: callIn(undefined),
    inTransaction: (work) =>
      joinCalls(deps.db.ofShop(shopId), { appId: user.userId, log: request.log }, (joined) =>
        work(callIn(joined), joined.tx),
      ),
  };
  request.adminVisit = shopVisit;
  if (permission !== 'member' && !permissions.has(permission)) {
    throw forbidden(
      support
        ? visit.messages.support.notAllowed
        : visit.messages.layout.missingPermission({ role: visit.messages.roles[role] }),
    );
  }
  return shopVisit;
}

/**
 * Whether a page of an app would be one of ours: its frame could reach out of itself, and its host would get our cookies,
 * which know no ports. On one's own machine apps are other ports of it.
 */
function isOfService(origin: string, service: string): boolean {
  const { hostname } = new URL(service);
  return origin === service || (!isLoopback(hostname) && new URL(origin).hostname === hostname);
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

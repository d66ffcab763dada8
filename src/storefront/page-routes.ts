import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CartStore } from '../carts/cart-store.ts';
import type { OrderPlacing } from '../carts/order-placing.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { forbidden, isRefusal, notFound, tooManyRequests, type HttpError } from '../http/errors.ts';
import { originOf, schemeOf, storefrontUrl } from '../http/links.ts';
import { readingCurrency, readingLocale } from '../http/locale.ts';
import { Nullable } from '../http/schemas.ts';
import { addressCaller, countCall, limitFailures, type RateLimiter } from '../http/rate-limit.ts';
import type { ShopHosts } from '../shops/shop/hosts.ts';
import { findSettings, cachedSettings, type Settings } from '../shops/settings/settings.ts';
import { closedPage } from './error-page.ts';
import { frameOf, NO_FRAME } from './frame.ts';
import { pageBytes } from './layout/layout.ts';
import { Redirect, type Page } from './page.ts';
import { policyOf } from './scripts/scripts.ts';
import { SESSION_SECONDS, sessionCookie, type Session, type Sessions } from './session.ts';
import type { Asked, PageAnswer, Pages, Sent } from './page-registration.ts';
import { StaleSettings } from './page-registration.ts';
import type { Visit } from './visit.ts';

export interface PageDeps {
  db: Database;
  carts: CartStore;
  placeOrder: OrderPlacing;
  config: Config;
  limiter: RateLimiter;
  sessions: Sessions;
  hosts: ShopHosts;
}

const MOST_FORMS = 1_000;
const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** A form; other fields than those a page knows are ignored. A button alone sends none. */
const Form = Nullable(Type.Object({}));

export function storefrontPages(app: FastifyInstance, deps: PageDeps): Pages {
  const { db, carts, placeOrder, config, limiter, sessions, hosts } = deps;
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');

  /** Whose host a page was asked for on, and what follows from it. */
  const placeOf = (request: FastifyRequest, settings: Settings) => {
    const { shopId, domains } = settings;
    const isOwnHost = hosts.shopOf(request.host) === shopId;
    if (!isOwnHost) {
      const origin = originOf(request, publicUrl);
      return {
        origin,
        pageOrigin: origin,
        base: `/shop/${shopId}`,
        home: storefrontUrl(origin, settings),
        // A shop with a domain shows its pages there only.
        loadsScripts: !hosts.hasSeveralShops && domains.length === 0,
      };
    }
    const host = request.host.toLowerCase();
    const pageOrigin = `${publicUrl === undefined ? `${request.protocol}:` : schemeOf(publicUrl)}//${host}`;
    return {
      origin: publicUrl ?? pageOrigin.replace(/[^/.]+\.(?=localhost(?::|$))/, ''),
      pageOrigin,
      base: '',
      home: domains.length > 0 ? storefrontUrl(pageOrigin, settings) : pageOrigin,
      loadsScripts: true,
    };
  };

  /** With the settings in memory, if there are any and they will do; else with those of the database. */
  const visitOf = async (request: FastifyRequest, { fromMemory = false } = {}) => {
    const { shopId } = request.params as { shopId: string };
    delete request.visit;
    if (!SHOP_ID.test(shopId) || request.url.includes('%00')) throw notFound();
    const settings = (fromMemory && cachedSettings(db, shopId)) || (await findSettings(db, shopId));
    if (!settings) throw notFound();
    // A shop that shows nothing to callers without a token shows nothing here either.
    const frame = settings.publicCatalogue ? await frameOf(db, settings) : NO_FRAME;
    const place = placeOf(request, settings);
    const cookie = request.cookies[sessionCookie({ shopId, ...place }).name];
    const session = sessions.read(shopId, cookie, db.now);
    const query = request.query as Record<string, string | string[]>;
    const visit: Visit = {
      db,
      carts,
      placeOrder,
      config,
      shopId,
      settings,
      frame,
      locale: localeOf([query['locale'] ?? []].flat()[0], settings),
      currency: readingCurrency(session.currency, settings),
      ...place,
      session,
      remember: (changes) => {
        visit.session = { ...visit.session, ...changes } as Session;
      },
    };
    request.visit = visit;
    return visit;
  };

  /**
   * Counts a page like a call of the API without a token: who may call so often, may open so many pages. Almost always
   * without a statement. Returns what is to be said when it is too much.
   */
  const countPage = async (request: FastifyRequest): Promise<HttpError | undefined> => {
    const limit = config.RATE_LIMIT_ANONYMOUS;
    if (limit === 0) return undefined;
    const caller = addressCaller(request.ip);
    let allowance;
    while (!(allowance = limiter.count(caller))) await limiter.load(caller);
    return allowance.used > limit ? tooManyRequests(limit, allowance.secondsLeft) : undefined;
  };

  /** Who has opened too many pages costs no statement: the refusal looks like the shop if that is in memory. */
  const enter = async (request: FastifyRequest, options: { fromMemory?: boolean } = {}): Promise<Visit> => {
    const refusal = await countPage(request);
    if (!refusal) return visitOf(request, options);
    const { shopId } = request.params as { shopId: string };
    if (cachedSettings(db, shopId)) await visitOf(request, { fromMemory: true });
    throw refusal;
  };

  const answer = (reply: FastifyReply, visit: Visit, before: Session, given: PageAnswer) => {
    const next: Session = { ...visit.session };
    if (given instanceof Redirect) {
      if (given.notice !== undefined) next.notice = given.notice;
    } else {
      // What this page says is not said again.
      delete next.notice;
      delete next.happened;
    }
    if (JSON.stringify(next) !== JSON.stringify(before)) writeSession(reply, sessions, visit, next);
    return given instanceof Redirect ? reply.redirect(given.href, 303) : sendPage(reply, visit, given);
  };

  const showPage = async (
    request: FastifyRequest,
    reply: FastifyReply,
    visit: Visit,
    handler: (visit: Visit, asked: Asked) => Promise<PageAnswer>,
  ) => {
    if (!visit.settings.publicCatalogue) return sendPage(reply, visit, closedPage(visit));
    const before = visit.session;
    return answer(reply, visit, before, await handler(visit, askedOf(request)));
  };

  const countForm = async (request: FastifyRequest, kind: string, perHour: number) => {
    if (config.RATE_LIMIT_ANONYMOUS === 0) return;
    await countCall(limiter, `form/${kind}/${addressCaller(request.ip)}`, perHour);
  };

  const failureLimiter =
    ({ ip }: FastifyRequest): Sent['limitFailures'] =>
    (limit, work) =>
      config.RATE_LIMIT_ANONYMOUS === 0 ? work() : limitFailures(limiter, limit(ip), work);

  return {
    show(path, handler) {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        const visit = await enter(request);
        return sendElsewhere(request, reply, visit) ?? showPage(request, reply, visit, handler);
      });
    },

    getOptimistic(path, handler) {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        const visit = await enter(request, { fromMemory: true });
        try {
          return sendElsewhere(request, reply, visit) ?? (await showPage(request, reply, visit, handler));
        } catch (error) {
          // What is refused with old settings may be there with those of now.
          if (!(error instanceof StaleSettings || isRefusal(error))) throw error;
          const fresh = await visitOf(request);
          if (fresh.settings === visit.settings) throw error;
          return sendElsewhere(request, reply, fresh) ?? showPage(request, reply, fresh, handler);
        }
      });
    },

    take(path, { perHour = MOST_FORMS }, handler) {
      app.post(
        `/shop/:shopId${path}`,
        { schema: { hide: true, body: Form }, config: { takesForm: true } },
        async (request, reply) => {
          const visit = await enter(request);
          const elsewhere = sendElsewhere(request, reply, visit);
          if (elsewhere) return elsewhere;
          if (!visit.settings.publicCatalogue) throw notFound();
          requireOwnForm(request, visit);
          await countForm(request, path, perHour);
          const before = visit.session;
          return answer(
            reply,
            visit,
            before,
            await handler(visit, { ...sentOf(request, visit), limitFailures: failureLimiter(request) }),
          );
        },
      );
    },

    file(path, handler, { movesWithShop = true } = {}) {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        const visit = await enter(request);
        const elsewhere = movesWithShop ? sendElsewhere(request, reply, visit) : undefined;
        if (elsewhere) return elsewhere;
        if (!visit.settings.publicCatalogue) throw notFound();
        const { type, content, headers } = await handler(visit, askedOf(request));
        return reply
          .type(type)
          .headers({ 'cache-control': 'private, no-cache', ...headers })
          .send(content);
      });
    },
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a page of the storefront: undefined until the shop is known. */
    visit?: Visit;
  }
}

/** A language in an old or mistyped link must not hide the page. */
function localeOf(asked: string | undefined, settings: Visit['settings']): string {
  return readingLocale(/^[a-z]{2}_[a-z]{2}$/i.test(asked ?? '') ? asked : undefined, settings);
}

function askedOf(request: FastifyRequest): Asked {
  const query = request.query as Record<string, string | string[]>;
  const queries = (name: string) => (Object.hasOwn(query, name) ? [query[name]!].flat() : []);
  return {
    isHead: request.method === 'HEAD',
    params: request.params as Record<string, string>,
    queries,
    query: (name) => queries(name)[0],
  };
}

function sentOf(request: FastifyRequest, visit: Visit): Omit<Sent, 'limitFailures'> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return {
    ...askedOf(request),
    field: (name) => {
      const value: unknown = [Object.hasOwn(body, name) ? body[name] : []].flat()[0];
      return typeof value === 'string' ? value.trim() : '';
    },
    cameFrom: pathOfReferer(request.headers.referer, visit),
  };
}

function pathOfReferer(referer: string | undefined, { base, pageOrigin }: Visit): string {
  const front = base || '/';
  if (!referer || !URL.canParse(referer)) return front;
  const { pathname, search, host } = new URL(referer);
  const isOurs =
    host === new URL(pageOrigin).host &&
    (pathname === base || pathname.startsWith(`${base}/`)) &&
    // A browser that is sent to `//name/path` goes to another host.
    !pathname.startsWith('//');
  return isOurs ? pathname + search : front;
}

const PATH_OF_SHOP = /^(?:https?:\/\/[^/?#]*)?\/shop\/[^/?#]+/i;

/**
 * Where the page is at home: a shop with a domain shows its pages there only, and on its own host they need no
 * `/shop/ID`, which old links still have. A form that was sent is not repeated there: the visitor comes to the page it
 * stood on.
 */
function sendElsewhere(request: FastifyRequest, reply: FastifyReply, visit: Visit): FastifyReply | undefined {
  const { base, home, pageOrigin, settings } = visit;
  const isOwnHost = base === '';
  // On its own host an address without `/shop/ID` was given one for the router.
  const isAtHome = isOwnHost ? !request.originalUrl.endsWith(request.url) : settings.domains.length === 0;
  if (isAtHome) return undefined;
  const target = isOwnHost ? pageOrigin : home;
  // Not for ever: the shop may lose its domain.
  reply.header('cache-control', 'no-cache');
  if (request.method === 'POST') {
    const from = pathOfReferer(request.headers.referer, visit).replace(PATH_OF_SHOP, '');
    return reply.redirect(absolutePath(target, from), 303);
  }
  return reply.redirect(absolutePath(target, request.url.replace(PATH_OF_SHOP, '')), 308);
}

const absolutePath = (origin: string, path: string) => origin + (path.startsWith('/') ? path : `/${path}`);

/**
 * Another site can send a form to us in the visitor's name, but it can't say that the form is ours: browsers say
 * themselves where a form comes from. One that does not is refused.
 */
function requireOwnForm({ headers, host }: FastifyRequest, { pageOrigin }: Visit): void {
  const site = headers['sec-fetch-site'];
  const isOurs =
    site === undefined
      ? [new URL(pageOrigin).host, host].includes(hostOf(headers.origin) ?? '')
      : site === 'same-origin';
  if (!isOurs) throw forbidden('The form does not come from this shop');
}

function hostOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
}

function writeSession(reply: FastifyReply, sessions: Sessions, visit: Visit, session: Session): void {
  const { name, path, secure } = sessionCookie(visit);
  reply.setCookie(name, sessions.write(visit.shopId, session, visit.db.now), {
    path,
    httpOnly: true,
    sameSite: 'lax',
    secure,
    maxAge: SESSION_SECONDS,
  });
}

export function sendPage(reply: FastifyReply, visit: Visit, page: Page): FastifyReply {
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy': policyOf(visit),
      'cache-control': 'private, no-cache',
      // Another value than the pages of the service have, so that neither can reach the other's window.
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      // Not no-referrer: with it, browsers would not say where our own forms come from.
      'referrer-policy': 'same-origin',
    })
    .send(pageBytes(visit, page));
}

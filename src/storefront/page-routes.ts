import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isDemo } from '../config.ts';
import { matchesEtag, unlessKnown } from '../http/answer-headers.ts';
import { RESET_SECONDS } from '../http/demo-mode.ts';
import { HttpError, notFound } from '../http/errors.ts';
import {
  formRequests,
  limitCheck,
  requireOwnForm,
  toPageRequest,
  writeCookie,
  type PageRequest,
  Redirect,
} from '../http/page-kit.ts';
import { prefersMarkdown } from '../http/markdown.ts';
import { readingCurrency } from '../http/locale.ts';
import { SESSION_LIFETIME } from '../people/accounts/queries.ts';
import { addressCaller, countCall, countTry, limitFailures } from '../http/rate-limit.ts';
import { Nullable } from '../http/schemas.ts';
import { withCachedSettings } from '../shops/settings/settings.ts';
import { saveAccountCart } from './account/visit-account.ts';
import { closedPage, PAUSED_FOR, pausedPage, resettingPage, shutPage } from './error-page.ts';
import { documentOf } from './document-cache.ts';
import { countPage, openCountedVisit, openVisit, shopOf, type PageDeps } from './open-visit.ts';
import type { Page } from './page.ts';
import type { ShopFormRequest, PageResponse, Pages } from './pages.ts';
import { DEVICE_LIFETIME } from '../people/accounts/device-cookie.ts';
import { findMoved, hasFormerAddresses, MovedPage } from './moved-pages.ts';
import { SESSION_SECONDS, shopCookie, type Session, type Sessions } from './session.ts';
import { absoluteUrl, isShut, type Visit } from './visit.ts';

const MAX_FORMS_PER_HOUR = 1_000;

/** Unknown fields are ignored, and a form that is only a button has none. */
const Form = Nullable(Type.Object({}));

/**
 * Pages of a shop that is not open yet: its legal texts, the preview link, and what a customer of an existing order must
 * reach, such as an order that an app has placed or one from before the merchant closed the shop.
 */
const SHOWN_WHILE_CLOSED = [
  '/legal/',
  '/accessibility',
  '/preview/',
  '/order/',
  '/withdraw',
  '/demo-payment/',
  '/newsletter/unsubscribe',
];

/** It would fill a cart. */
const REORDER = '/order/:token/reorder';

/** Where visitors sign in, ask for access and find what is theirs, in a shop that is for customers. */
const ACCOUNT = '/account';

function isClosed(visit: Visit, path: string): boolean {
  if (!isShut(visit)) return false;
  if (visit.access === 'members' && path.startsWith(ACCOUNT)) return false;
  return path === REORDER || !SHOWN_WHILE_CLOSED.some((shown) => path.startsWith(shown));
}

type PageHandler = (visit: Visit, request: PageRequest) => Promise<PageResponse>;

export function createPages(app: FastifyInstance, deps: PageDeps): Pages {
  const { config, limiter, sessions, devices, missed } = deps;

  const respond = async (reply: FastifyReply, visit: Visit, before: Session, response: PageResponse) => {
    const session: Session = { ...visit.session };
    if (response instanceof Redirect) {
      if (response.notice) session.notice = response.notice.text;
    } else {
      // This page shows the notice and reports the events, so the next one must not.
      delete session.notice;
      delete session.visitorEvents;
    }
    // An unknown visitor gets no cookie for this, so that the page can be cached.
    if (visit.isLocaleNamed && Object.keys(session).length > 0) session.locale = visit.locale;
    await saveAccountCart(visit, { mayRemove: reply.request.method === 'POST' });
    if (JSON.stringify(session) !== JSON.stringify(before)) writeSession(reply, sessions, visit, session);
    if (visit.accountToken !== undefined) {
      // The session of an account ends with its row, so the cookie needs no signature.
      writeCookie(reply, shopCookie('account', visit), visit.accountToken, SESSION_LIFETIME / 1000);
    }
    if (visit.newDevice) {
      writeCookie(reply, shopCookie('device', visit), devices.write(visit.newDevice), DEVICE_LIFETIME);
    }
    return response instanceof Redirect
      ? reply.redirect(response.href, 303)
      : sendPage(reply, visit, response);
  };

  const sendPaused = (reply: FastifyReply, visit: Visit) =>
    isDemo(config)
      ? sendPage(
          reply.headers({ 'retry-after': RESET_SECONDS, refresh: RESET_SECONDS }),
          visit,
          resettingPage(visit),
        )
      : sendPage(reply.header('retry-after', PAUSED_FOR), visit, pausedPage(visit));

  /** Returns the function that sends the page, because a page of stale settings is rendered again before it is sent. */
  const prepareGet = async (
    request: FastifyRequest,
    reply: FastifyReply,
    visit: Visit,
    handler: PageHandler,
    path: string,
  ): Promise<() => unknown> => {
    if (!isAtHome(request, visit)) return () => redirectToHome(request, reply, visit);
    if (visit.settings.isSuspended) return () => sendPaused(reply, visit);
    if (!visit.settings.publicCatalogue) return () => sendPage(reply, visit, closedPage(visit));
    if (isClosed(visit, path)) {
      return () => sendPage(reply, visit, shutPage(visit));
    }
    const before = visit.session;
    // The address named a currency: the next page has it too.
    if (visit.currency !== readingCurrency(before.currency, visit.settings))
      visit.updateSession({ currency: visit.currency });
    const response = await pageOrMove(request, visit, handler, path);
    if (response instanceof MovedPage) return () => sendMoved(reply, visit, response);
    return () => respond(reply, visit, before, response);
  };

  /** The page; where there is none, what a redirect of the shop says. */
  const pageOrMove = async (request: FastifyRequest, visit: Visit, handler: PageHandler, path: string) => {
    try {
      return await handler(visit, toPageRequest(request));
    } catch (error) {
      const isMissing = error instanceof HttpError && error.status === 404;
      const found = isMissing && (await markdownOf(visit, handler, toPageRequest(request)));
      if (found) return found;
      if (!isMissing || !hasFormerAddresses(path)) throw error;
      const moved = await findMoved(visit, addressInShop(request));
      if (moved) return moved;
      missed.count(visit, request, addressInShop(request));
      throw error;
    }
  };

  /** Forms with their own limit could be used for guessing or for sending emails; all others are traffic. */
  const countForm = async (request: FastifyRequest, path: string, perHour: number | undefined) => {
    if (config.RATE_LIMIT_ANONYMOUS === 0) return;
    const caller = `form/${path}/${addressCaller(request.ip)}`;
    await (perHour === undefined
      ? countCall(limiter, caller, MAX_FORMS_PER_HOUR)
      : countTry(limiter, caller, perHour));
  };

  const countFile = async (request: FastifyRequest, { shopId }: Visit, path: string, perHour: number) => {
    if (config.RATE_LIMIT_ANONYMOUS === 0) return;
    await countTry(limiter, `file/${shopId}${path}/${addressCaller(request.ip)}`, perHour);
  };

  const failureLimiter =
    ({ ip }: FastifyRequest): ShopFormRequest['limitFailures'] =>
    (limit, work) =>
      config.RATE_LIMIT_ANONYMOUS === 0 ? work() : limitFailures(limiter, limit(ip), work);

  return {
    get(path, handler) {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        const send = await prepareGet(request, reply, await openCountedVisit(request, deps), handler, path);
        return send();
      });
    },

    getOptimistic(path, handler) {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        await countPage(request, deps);
        const send = await withCachedSettings(deps.db, shopOf(request), async (settings, verifySettings) => {
          const visit = await openVisit(request, deps, { settings, verifySettings });
          return prepareGet(request, reply, visit, handler, path);
        });
        return send();
      });
    },

    post(path, handler, { perHour, hasSecretPath = false, ignoresBody = false, limits } = {}) {
      const toForm = formRequests(limits);
      const register = (scope: FastifyInstance) =>
        scope.post(
          `/shop/:shopId${path}`,
          { schema: { hide: true, body: Form }, config: { takesForm: true } },
          async (request, reply) => {
            const visit = await openCountedVisit(request, deps);
            if (!isAtHome(request, visit)) return redirectToHome(request, reply, visit);
            if (visit.settings.isSuspended) return sendPaused(reply, visit);
            if (!visit.settings.publicCatalogue) throw notFound();
            if (isClosed(visit, path)) {
              return sendPage(reply, visit, { ...shutPage(visit), status: 403 });
            }
            // Browsers do not send the origin of a page with a secret address. No other site knows that address.
            if (!hasSecretPath)
              requireOwnForm(request, visit.pageOrigin, 'The form does not come from this shop');
            await countForm(request, path, perHour);
            const before = visit.session;
            const form = {
              ...toForm(request, limitCheck(limiter, config, `page/${visit.shopId}/`)),
              referrerPath: referrerPath(request.headers.referer, visit),
              limitFailures: failureLimiter(request),
            };
            return respond(reply, visit, before, await handler(visit, form));
          },
        );
      if (!ignoresBody) return void register(app);
      app.register(async (scope) => {
        ignoreBodies(scope);
        register(scope);
      });
    },

    file(path, handler, { movesWithShop = true, perHour } = {}) {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        const visit = await openCountedVisit(request, deps);
        if (movesWithShop && !isAtHome(request, visit)) return redirectToHome(request, reply, visit);
        if (!visit.settings.publicCatalogue) throw notFound();
        if (isClosed(visit, path)) throw notFound();
        const { status = 200, type, content, etag, headers } = await handler(visit, toPageRequest(request));
        reply.headers({ 'cache-control': 'private, no-cache', ...headers });
        if (visit.access !== 'public') reply.headers(UNSEEN);
        if (etag !== undefined) {
          reply.header('etag', `"${etag}"`);
          if (matchesEtag(request.headers['if-none-match'], `"${etag}"`)) return reply.code(304).send();
        }
        if (perHour !== undefined) await countFile(request, visit, path, perHour);
        return reply.code(status).type(type).send(content);
      });
    },
  };
}

const MARKDOWN_ENDING = /\.md$/;

/** The page of an address that ends with `.md`, to be sent as Markdown. A page with that very name comes first. */
async function markdownOf(
  visit: Visit,
  handler: PageHandler,
  request: PageRequest,
): Promise<PageResponse | undefined> {
  const named = Object.entries(request.params).find(
    ([name, value]) => name !== 'shopId' && MARKDOWN_ENDING.test(value),
  );
  if (!named) return undefined;
  const [name, value] = named;
  const params = { ...request.params, [name]: value.replace(MARKDOWN_ENDING, '') };
  try {
    const page = await handler(visit, { ...request, params });
    if (page instanceof Redirect || page.markdown !== undefined) {
      return page instanceof Redirect ? page : { ...page, isMarkdown: true };
    }
  } catch (error) {
    if (!(error instanceof HttpError && error.status === 404)) throw error;
  }
  return undefined;
}

/** Reads bodies of any type, within the limit of all bodies, and drops them. */
function ignoreBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => done(null, null));
}

function referrerPath(referer: string | undefined, { base, pageOrigin }: Visit): string {
  const front = base || '/';
  if (!referer || !URL.canParse(referer)) return front;
  const { pathname, search, host } = new URL(referer);
  const isOurs =
    host === new URL(pageOrigin).host &&
    (pathname === base || pathname.startsWith(`${base}/`)) &&
    // A browser redirected to `//name/path` goes to another host.
    !pathname.startsWith('//');
  return isOurs ? pathname + search : front;
}

const PATH_OF_SHOP = /^(?:https?:\/\/[^/?#]*)?\/shop\/[^/?#]+/i;

/**
 * Redirects to the address where the page belongs: a shop with a domain shows its pages there only, and on its own
 * host they need no `/shop/ID`, which old links still have. A form is not sent again there: the visitor is redirected
 * to the page that contained it.
 */
function redirectToHome(request: FastifyRequest, reply: FastifyReply, visit: Visit): FastifyReply {
  const target = visit.base === '' ? visit.pageOrigin : visit.home;
  // Browsers must not cache the redirect, because the shop may lose its domain.
  reply.header('cache-control', 'no-cache');
  if (request.method === 'POST') {
    const formPage = referrerPath(request.headers.referer, visit).replace(PATH_OF_SHOP, '');
    return reply.redirect(absolutePath(target, formPage), 303);
  }
  return reply.redirect(absolutePath(target, request.url.replace(PATH_OF_SHOP, '')), 308);
}

/** The path and the query of a request, without `/shop/ID`. */
const addressInShop = ({ url }: FastifyRequest) => absolutePath('', url.replace(PATH_OF_SHOP, ''));

/** Browsers must not remember it for ever, because the merchant may change it. */
function sendMoved(reply: FastifyReply, visit: Visit, { href }: MovedPage): FastifyReply {
  reply.header('cache-control', visit.access === 'public' ? 'no-cache' : 'no-store');
  return reply.redirect(href, 301);
}

/** On its own host an address without `/shop/ID` was given one for the router. */
function isAtHome({ originalUrl, url }: FastifyRequest, { base, settings }: Visit): boolean {
  return base === '' ? !originalUrl.endsWith(url) : settings.domainsInUse.length === 0;
}

const absolutePath = (origin: string, path: string) => origin + (path.startsWith('/') ? path : `/${path}`);

function writeSession(reply: FastifyReply, sessions: Sessions, visit: Visit, session: Session): void {
  const text = sessions.write(visit.shopId, session, visit.db.now);
  writeCookie(reply, shopCookie('visit', visit), text, SESSION_SECONDS);
}

/** For pages and files of a shop that is not open: no cache may keep one visitor's view for another. */
const UNSEEN = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' };

export function sendPage(reply: FastifyReply, visit: Visit, page: Page): FastifyReply {
  const isSecret = page.hasSecretAddress === true;
  if (page.markdown !== undefined) {
    reply.header('vary', 'Accept');
    const { accept } = reply.request.headers;
    if (page.isMarkdown || prefersMarkdown(accept)) return sendMarkdown(reply, visit, page, page.markdown);
  }
  const shown = isSecret || isShut(visit) ? { ...visit, loadsScripts: false } : visit;
  const { bytes, policy } = documentOf(shown, page);
  reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy': policy,
      'cache-control': cacheControl(reply.request.headers, visit, page),
      // The pages of the service have another value, so that neither can reach the other's window.
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      // Elsewhere not no-referrer: with it, browsers would not send the origin of our own forms.
      'referrer-policy': isSecret ? 'no-referrer' : 'same-origin',
    });
  if (visit.access !== 'public') reply.headers(UNSEEN);
  // Old browsers know this header only, which can't name an origin.
  if (page.framedBy !== undefined) reply.removeHeader('x-frame-options');
  const { method, headers } = reply.request;
  // Clients that support neither compression nor revalidation are spared the hash of the page.
  const isTagged = headers['accept-encoding'] !== undefined || headers['if-none-match'] !== undefined;
  const mayBeKnown =
    isTagged &&
    visit.access === 'public' &&
    !isPersonal(page) &&
    reply.statusCode === 200 &&
    method !== 'POST';
  return reply.send(mayBeKnown ? unlessKnown(reply.request, reply, bytes) : bytes);
}

/** The canonical address is that of the page, so that search engines show nothing twice. */
function sendMarkdown(reply: FastifyReply, visit: Visit, page: Page, markdown: string): FastifyReply {
  const { path, paths, query } = page;
  const canonical = absoluteUrl(visit, paths?.[visit.locale] ?? path, query);
  reply
    .code(page.status ?? 200)
    .type('text/markdown; charset=utf-8')
    .headers({
      link: `<${canonical}>; rel="canonical"`,
      'cache-control': cacheControl(reply.request.headers, visit, page),
    });
  if (visit.access !== 'public') return reply.headers(UNSEEN).send(markdown);
  const bytes = Buffer.from(markdown);
  return reply.send(isPersonal(page) ? bytes : unlessKnown(reply.request, reply, bytes));
}

/**
 * A CDN may cache the page of an unknown visitor and revalidates it by its ETag: the page of a visitor with a cart has
 * another one. Pages that contain typed input are not compressed in transit.
 */
function cacheControl({ cookie }: IncomingHttpHeaders, visit: Visit, page: Page): string {
  if (isPersonal(page)) return 'no-store';
  if (page.isPrivate) return 'private, no-cache, no-transform';
  const isKnown =
    cookie !== undefined || visit.accountToken !== undefined || Object.keys(visit.session).length > 0;
  return isKnown ? 'private, no-cache' : 'no-cache';
}

const isPersonal = ({ hasSecretAddress = false, hasPersonalData = false }: Page) =>
  hasSecretAddress || hasPersonalData;

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { forbidden, isRefusal, notFound, tooManyRequests } from '../http/errors.ts';
import { originOf } from '../http/links.ts';
import { readingCurrency, readingLocale } from '../http/locale.ts';
import { Nullable } from '../http/schemas.ts';
import { addressCaller, type RateLimiter } from '../http/rate-limit.ts';
import { findSettings, keptSettings } from '../shop/settings.ts';
import { closedPage } from './error-page.ts';
import { frameOf, NO_FRAME } from './frame.ts';
import { pageBytes } from './layout.ts';
import { Redirect, type Page } from './page.ts';
import { policyOf } from './scripts.ts';
import { SESSION_COOKIE, SESSION_SECONDS, type Session, type Sessions } from './session.ts';
import type { Visit } from './visit.ts';

export interface PageDeps {
  db: Database;
  config: Config;
  limiter: RateLimiter;
  sessions: Sessions;
}

/** What the address says beside its path; of a parameter that is repeated, all values. */
export interface Asked {
  params: Readonly<Record<string, string>>;
  /** The first value of a parameter. */
  query: (name: string) => string | undefined;
  queries: (name: string) => string[];
}

export interface Sent extends Asked {
  /** What was typed into a field, without blanks around it; '' when it is missing. */
  field: (name: string) => string;
  /** A path of this shop that the form was sent from; the front page when the browser does not say. */
  cameFrom: string;
}

type Answer = Page | Redirect;

export interface FormOptions {
  /** Forms of this kind per hour and client address. */
  perHour?: number;
}

const MOST_FORMS = 1_000;
const SHOP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** A form; other fields than those a page knows are ignored. A button alone sends none. */
const Form = Nullable(Type.Object({}));

/** What pages are registered with: `pages.show('/cart', ...)` is at `/shop/ID/cart`. */
export function storefrontPages(app: FastifyInstance, deps: PageDeps) {
  const { db, config, limiter, sessions } = deps;
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');

  /** With the settings in memory, if there are any and they will do; else with those of the database. */
  const visitOf = async (request: FastifyRequest, { fromMemory = false } = {}) => {
    const { shopId } = request.params as { shopId: string };
    delete request.visit;
    if (!SHOP_ID.test(shopId) || request.url.includes('%00')) throw notFound();
    const settings = (fromMemory && keptSettings(db, shopId)) || (await findSettings(db, shopId));
    if (!settings) throw notFound();
    // A shop that shows nothing to callers without a token shows nothing here either.
    const frame = settings.publicCatalogue ? await frameOf(db, settings) : NO_FRAME;
    const session: Session = sessions.read(shopId, request.cookies[SESSION_COOKIE]);
    const query = request.query as Record<string, string | string[]>;
    const visit: Visit = {
      db,
      config,
      shopId,
      settings,
      frame,
      locale: localeOf([query['locale'] ?? []].flat()[0], settings),
      currency: readingCurrency(session.currency, settings),
      origin: originOf(request, publicUrl),
      session,
      remember: (changes) => {
        visit.session = { ...visit.session, ...changes } as Session;
      },
    };
    request.visit = visit;
    return visit;
  };

  const answer = (reply: FastifyReply, visit: Visit, before: Session, given: Answer) => {
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
    handler: (visit: Visit, asked: Asked) => Promise<Answer>,
  ) => {
    if (!visit.settings.publicCatalogue) return sendPage(reply, visit, closedPage(visit));
    const before = visit.session;
    return answer(reply, visit, before, await handler(visit, askedOf(request)));
  };

  const countForm = async (request: FastifyRequest, kind: string, perHour: number) => {
    if (config.RATE_LIMIT_ANONYMOUS === 0) return;
    const caller = `form/${kind}/${addressCaller(request.ip)}`;
    let allowance;
    while (!(allowance = limiter.count(caller))) await limiter.load(caller);
    if (allowance.used > perHour) throw tooManyRequests(perHour, allowance.secondsLeft);
  };

  return {
    /** A page that is read. */
    show(path: string, handler: (visit: Visit, asked: Asked) => Promise<Answer>): void {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) =>
        showPage(request, reply, await visitOf(request), handler),
      );
    },

    /**
     * A page whose own statement names the version of the settings: `requireVersion` compares it with that of the
     * visit. That is one round trip instead of two for almost everybody.
     */
    showQuickly(path: string, handler: (visit: Visit, asked: Asked) => Promise<Answer>): void {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        const visit = await visitOf(request, { fromMemory: true });
        try {
          return await showPage(request, reply, visit, handler);
        } catch (error) {
          // What is refused with old settings may be there with those of now.
          if (!(error instanceof OldSettings || isRefusal(error))) throw error;
          const fresh = await visitOf(request);
          if (fresh.settings === visit.settings) throw error;
          return showPage(request, reply, fresh, handler);
        }
      });
    },

    /** A form that is sent to it. Only forms of our own pages are taken. */
    take(
      path: string,
      { perHour = MOST_FORMS }: FormOptions,
      handler: (visit: Visit, sent: Sent) => Promise<Answer>,
    ): void {
      app.post(
        `/shop/:shopId${path}`,
        { schema: { hide: true, body: Form }, config: { takesForm: true } },
        async (request, reply) => {
          const visit = await visitOf(request);
          if (!visit.settings.publicCatalogue) throw notFound();
          requireOwnForm(request, visit.origin);
          await countForm(request, path, perHour);
          const before = visit.session;
          return answer(reply, visit, before, await handler(visit, sentOf(request, visit)));
        },
      );
    },

    /** Something that is not a page, such as suggestions or a sitemap. */
    file(
      path: string,
      handler: (visit: Visit, asked: Asked) => Promise<{ type: string; content: string; headers?: object }>,
    ): void {
      app.get(`/shop/:shopId${path}`, { schema: { hide: true } }, async (request, reply) => {
        const visit = await visitOf(request);
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

class OldSettings extends Error {
  override name = 'OldSettings';
}

/** For pages that are shown quickly: they are made anew when the settings have changed. */
export function requireVersion({ settings }: Visit, version: number | undefined): void {
  if (version !== undefined && version !== settings.version) throw new OldSettings();
}

export type Pages = ReturnType<typeof storefrontPages>;

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
    params: request.params as Record<string, string>,
    queries,
    query: (name) => queries(name)[0],
  };
}

function sentOf(request: FastifyRequest, visit: Visit): Sent {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return {
    ...askedOf(request),
    field: (name) => {
      const value: unknown = [Object.hasOwn(body, name) ? body[name] : []].flat()[0];
      return typeof value === 'string' ? value.trim() : '';
    },
    cameFrom: placeOf(request.headers.referer, visit),
  };
}

function placeOf(referer: string | undefined, { shopId, origin }: Visit): string {
  const front = `/shop/${shopId}`;
  if (!referer || !URL.canParse(referer)) return front;
  const { pathname, search, host } = new URL(referer);
  const isOurs = host === new URL(origin).host && (pathname === front || pathname.startsWith(`${front}/`));
  return isOurs ? pathname + search : front;
}

/**
 * Another site can send a form to us in the visitor's name, but it can't say that the form is ours: browsers say
 * themselves where a form comes from. One that does not is refused.
 */
function requireOwnForm({ headers, host }: FastifyRequest, origin: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs =
    site === undefined
      ? [new URL(origin).host, host].includes(hostOf(headers.origin) ?? '')
      : site === 'same-origin';
  if (!isOurs) throw forbidden('The form does not come from this shop');
}

function hostOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
}

function writeSession(reply: FastifyReply, sessions: Sessions, visit: Visit, session: Session): void {
  reply.setCookie(SESSION_COOKIE, sessions.write(visit.shopId, session), {
    path: `/shop/${visit.shopId}`,
    httpOnly: true,
    sameSite: 'lax',
    secure: visit.origin.startsWith('https:'),
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
      // Not no-referrer: with it, browsers would not say where our own forms come from.
      'referrer-policy': 'same-origin',
    })
    .send(pageBytes(visit, page));
}

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { FORM_TYPE } from '../http/body.ts';
import { forbidden, notFound } from '../http/errors.ts';
import { refusalOf } from '../http/failures.ts';
import type { SupportSession } from '../host/support.ts';
import { FormLimitError } from '../http/form-fields.ts';
import {
  formRequests,
  limitCheck,
  requireOwnForm,
  toPageRequest,
  writeCookie,
  type FormRequest,
  Redirect,
  type Notice,
} from '../http/page-kit.ts';
import { addressCaller, countCall } from '../http/rate-limit.ts';
import { Nullable } from '../http/schemas.ts';
import { createTurns } from '../http/turns.ts';
import { registerUploadParser, withUpload, type Upload } from '../http/upload.ts';
import { DEVICE_LIFETIME } from '../people/accounts/device-cookie.ts';
import { problemsByField, refusalText } from './components/validation.ts';
import { adminCookie, deviceCookieName, openShopVisit, openVisit, type OpenDeps } from './open-visit.ts';
import type { AdminFile, AdminPage } from './page.ts';
import type { Draft, Form, FormOptions, Options, Pages, ShopPages } from './pages.ts';
import { sendFile, sendPage } from './responses.ts';
import type { Permission } from './users/permissions.ts';
import { ADMIN_SESSION_LIFETIME, type SignedInUser } from './users/queries.ts';
import type { PageAudience, ShopVisit, Visit } from './visit.ts';

/** Unknown fields are ignored, and a form that is only a button has none. */
const FormBody = Nullable(Type.Object({}));

const MINUTE = 60_000;
/** How long a typed password counts for a dangerous page; for its form a little longer. */
const CONFIRMED_FOR = { page: 15 * MINUTE, form: 45 * MINUTE };

const MAX_REQUESTS_PER_HOUR = 20_000;

/**
 * Concurrent requests of one session: a page with its fragments makes several, and a hundred slow ones must not crowd
 * out other users.
 */
const AT_THE_SAME_TIME = { running: 4, waiting: 50 };

type AnyVisit = Visit<'anybody'> | ShopVisit;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The users who may open a page of the admin. */
    admin?: { audience: PageAudience } | { permission: Permission | 'member' };
    /** The labels by which the error page of a form names its fields. */
    formLabels?: FormOptions['labels'] | undefined;
  }
}

/** The pages of the admin, as modules register them. Each declares who may open it. */
export function createPages(app: FastifyInstance, deps: OpenDeps): { pages: Pages; shopPages: ShopPages } {
  const { limiter, config } = deps;
  const inTurn = createTurns(AT_THE_SAME_TIME);

  // A page is served when fewer than this many others of the same session are in progress.
  app.addHook('onRoute', (route) => {
    const { config: { admin } = {}, handler } = route;
    if (!admin) return;
    route.handler = (request, reply) =>
      inTurn(sessionKey(request), async () => handler.call(app, request, reply));
  });

  const countRequest = async ({ ip }: FastifyRequest) => {
    if (config.RATE_LIMIT_ANONYMOUS === 0) return;
    await countCall(limiter, `admin/${addressCaller(ip)}`, MAX_REQUESTS_PER_HOUR);
  };

  const isWithinLimit = limitCheck(limiter, config, 'admin-form/');

  /** undefined: the caller is sent to sign in, or to reauthenticate. */
  const admitted = async (
    request: FastifyRequest,
    reply: FastifyReply,
    audience: PageAudience | 'shop',
    needsReauthentication: boolean | undefined,
  ): Promise<Visit<'anybody'> | undefined> => {
    await countRequest(request);
    const visit = await openVisit(request, deps);
    if (request.method === 'POST')
      requireOwnForm(request, visit.origin, 'The form does not come from the admin');
    if (audience === 'anybody') return visit;
    const { user } = visit;
    const way = request.method === 'GET' ? request.url : backToForm(request);
    if (!user) {
      await reply.redirect(`/admin/sign-in?${new URLSearchParams({ to: way }).toString()}`, 303);
      return undefined;
    }
    if (audience === 'host' && !user.isHost) throw notFound();
    if (user.support && audience !== 'shop') return turnedAway(reply, visit, user.support);
    if (needsReauthentication && !user.support && !isConfirmed(user, request, deps.db.now)) {
      await reply.redirect(`/admin/confirm?${new URLSearchParams({ to: way }).toString()}`, 303);
      return undefined;
    }
    return visit;
  };

  /** People of the host have no account here: no password, no other shop, nothing of the installation. */
  const turnedAway = async (reply: FastifyReply, visit: Visit<'anybody'>, { shopId }: SupportSession) => {
    if (reply.request.method !== 'GET') throw forbidden(visit.messages.support.notAllowed);
    await reply.redirect(`/admin/shops/${shopId}`, 303);
    return undefined;
  };

  const respond = (
    request: FastifyRequest,
    reply: FastifyReply,
    visit: AnyVisit,
    answer: AdminPage | AdminFile | Redirect,
  ) => {
    if ('content' in answer) return sendFile(reply, answer);
    writeToken(request, reply, visit);
    writeDevice(request, reply, visit);
    if (answer instanceof Redirect) {
      if (answer.notice) writeNotice(reply, visit, answer.notice);
      return reply.redirect(answer.href, 303);
    }
    if (visit.notice) writeNotice(reply, visit, null);
    return sendPage(reply, visit, answer);
  };

  const writeDevice = (request: FastifyRequest, reply: FastifyReply, { origin }: AnyVisit) => {
    if (!request.adminDevice) return;
    const cookie = { ...adminCookie(origin), name: deviceCookieName(origin) };
    writeCookie(reply, cookie, deps.devices.write(request.adminDevice), DEVICE_LIFETIME);
  };

  /** null: it was shown. */
  const writeNotice = (reply: FastifyReply, { origin, user }: AnyVisit, notice: Notice | null) => {
    const cookie = { ...adminCookie(origin), name: deps.notices.nameAt(origin) };
    writeCookie(reply, cookie, notice && deps.notices.write(notice, user), 60);
  };

  /** Shows the page of a refused form again, with the typed values. */
  const saveForm = async <V extends AnyVisit>(
    request: FastifyRequest,
    form: FormRequest,
    visit: V,
    { show, save }: Form<V>,
    labels: FormOptions['labels'],
  ): Promise<AdminPage | Redirect> => {
    try {
      return await save(visit, form);
    } catch (error) {
      // Input that is too large is not shown again.
      if (error instanceof FormLimitError) throw error;
      const refusal = refusalOf(error as Error, request);
      if (refusal.status >= 500 || refusal.status === 404) throw error;
      const known = labels?.(visit.messages);
      const draft: Draft = {
        field: form.field,
        fieldList: form.fieldList,
        problem: refusalText(visit, refusal, known),
        problems: problemsByField(visit, refusal, known),
      };
      return { ...(await show(visit, form, draft)), status: refusal.status };
    }
  };

  type Admission = NonNullable<FastifyContextConfig['admin']>;
  const pageRoute = (admin: Admission) => ({ schema: { hide: true }, config: { admin } });
  const formRoute = (admin: Admission, { limits, labels }: FormOptions) => ({
    schema: { hide: true, body: FormBody },
    config: { admin, takesForm: true, maxFormValues: limits?.values, formLabels: labels },
  });

  const pages: Pages = {
    get(path, audience, handler, { needsReauthentication }: Options = {}) {
      app.get(`/admin${path}`, pageRoute({ audience }), async (request, reply) => {
        const visit = await admitted(request, reply, audience, needsReauthentication);
        if (!visit) return reply;
        return respond(request, reply, visit, await handler(visit as never, toPageRequest(request)));
      });
    },
    post(path, audience, handler, options: FormOptions = {}) {
      const { needsReauthentication, limits } = options;
      const toFormRequest = formRequests(limits);
      app.post(`/admin${path}`, formRoute({ audience }, options), async (request, reply) => {
        const visit = await admitted(request, reply, audience, needsReauthentication);
        if (!visit) return reply;
        return respond(
          request,
          reply,
          visit,
          await handler(visit as never, toFormRequest(request, isWithinLimit)),
        );
      });
    },
    form(path, audience, form, options: FormOptions = {}) {
      const { needsReauthentication = false, limits, labels } = options;
      const toFormRequest = formRequests(limits);
      pages.get(path, audience, form.show, { needsReauthentication });
      app.post(`/admin${path}`, formRoute({ audience }, options), async (request, reply) => {
        const visit = await admitted(request, reply, audience, needsReauthentication);
        if (!visit) return reply;
        const answer = await saveForm(
          request,
          toFormRequest(request, isWithinLimit),
          visit,
          form as Form<Visit<'anybody'>>,
          labels,
        );
        return respond(request, reply, visit, answer);
      });
    },
  };

  const admittedToShop = async (
    request: FastifyRequest,
    reply: FastifyReply,
    permission: Permission | 'member',
    needsReauthentication?: boolean,
  ) => {
    const visit = await admitted(request, reply, 'shop', needsReauthentication);
    if (!visit) return undefined;
    const shopVisit = await openShopVisit(request, visit as Visit<'signed in'>, permission, deps);
    // People of the host have no password that could be asked for: what needs one is not theirs to do.
    if (shopVisit.user.support && needsReauthentication) {
      throw forbidden(visit.messages.support.notAllowed);
    }
    return shopVisit;
  };

  const shopPages: ShopPages = {
    get(path, permission, handler, { needsReauthentication }: Options = {}) {
      app.get(`/admin/shops/:shopId${path}`, pageRoute({ permission }), async (request, reply) => {
        const visit = await admittedToShop(request, reply, permission, needsReauthentication);
        if (!visit) return reply;
        return respond(request, reply, visit, await handler(visit, toPageRequest(request)));
      });
    },
    post(path, permission, handler, options: FormOptions = {}) {
      const { needsReauthentication, limits } = options;
      const toFormRequest = formRequests(limits);
      app.post(`/admin/shops/:shopId${path}`, formRoute({ permission }, options), async (request, reply) => {
        const visit = await admittedToShop(request, reply, permission, needsReauthentication);
        if (!visit) return reply;
        return respond(request, reply, visit, await handler(visit, toFormRequest(request, isWithinLimit)));
      });
    },
    form(path, { read, write }, form, options: FormOptions = {}) {
      const { needsReauthentication = false, limits, labels } = options;
      const toFormRequest = formRequests(limits);
      shopPages.get(path, read, form.show, { needsReauthentication });
      app.post(
        `/admin/shops/:shopId${path}`,
        formRoute({ permission: write }, options),
        async (request, reply) => {
          const visit = await admittedToShop(request, reply, write, needsReauthentication);
          if (!visit) return reply;
          const answer = await saveForm(request, toFormRequest(request, isWithinLimit), visit, form, labels);
          return respond(request, reply, visit, answer);
        },
      );
    },
    fileForm(path, permission, { field, limit, show, save }) {
      shopPages.get(path, permission, show);
      void app.register(async (scope) => {
        await registerUploadParser(scope, limit);
        // So that a user who may not send a file is told that, and not that the type is wrong.
        scope.addContentTypeParser(FORM_TYPE, (_request, payload, done) => {
          payload.resume();
          done(null, undefined);
        });
        scope.post(`/admin/shops/:shopId${path}`, pageRoute({ permission }), async (request, reply) => {
          const visit = await admittedToShop(request, reply, permission);
          if (!visit) return reply;
          const page = toPageRequest(request);
          try {
            const take = () => save(visit, page, (request.body as Record<string, Upload>)[field]!);
            const answer = await withUpload(request, field, config, take, limit);
            return await respond(request, reply, visit, answer);
          } catch (error) {
            const refusal = refusalOf(error as Error, request);
            const { status } = refusal;
            if (status >= 500 || status === 404) throw error;
            const problem = refusalText(visit, refusal);
            const draft: Draft = { field: () => '', fieldList: () => [], problem };
            return respond(request, reply, visit, { ...(await show(visit, page, draft)), status });
          }
        });
      });
    },
    file(path, permission, handler, { needsReauthentication }: Options = {}) {
      app.get(`/admin/shops/:shopId${path}`, pageRoute({ permission }), async (request, reply) => {
        const visit = await admittedToShop(request, reply, permission, needsReauthentication);
        if (!visit) return reply;
        return sendFile(reply, await handler(visit, toPageRequest(request)));
      });
    },
    upload(path, permission, field, handler) {
      void app.register(async (scope) => {
        await registerUploadParser(scope);
        // Another type is refused after the user is known: a stranger who sends one is told to sign in.
        scope.addContentTypeParser('*', (_request, payload, done) => {
          payload.resume();
          done(null, undefined);
        });
        scope.post(`/admin/shops/:shopId${path}`, pageRoute({ permission }), async (request, reply) => {
          const visit = await admittedToShop(request, reply, permission);
          if (!visit) return reply;
          const take = () =>
            handler(visit, toPageRequest(request), (request.body as Record<string, Upload>)[field]!);
          return sendFile(reply, await withUpload(request, field, config, take));
        });
      });
    },
  };
  return { pages, shopPages };
}

/** Used before the caller is known: an invalid cookie does not share its turns with other sessions. */
function sessionKey(request: FastifyRequest): string {
  return request.cookies['admin'] ?? request.cookies['__Host-admin'] ?? addressCaller(request.ip);
}

function isConfirmed({ confirmedAt }: SignedInUser, { method }: FastifyRequest, now: Date): boolean {
  const limit = method === 'GET' ? CONFIRMED_FOR.page : CONFIRMED_FOR.form;
  return now.getTime() - confirmedAt.getTime() < limit;
}

function writeToken(request: FastifyRequest, reply: FastifyReply, { origin }: AnyVisit): void {
  const token = request.adminToken;
  if (token !== undefined) writeCookie(reply, adminCookie(origin), token, ADMIN_SESSION_LIFETIME / 1000);
}

/** The page that contained a form, if it is one of the admin. */
function backToForm({ headers }: FastifyRequest): string {
  const { referer } = headers;
  if (referer === undefined || !URL.canParse(referer)) return '/admin';
  const { pathname, search } = new URL(referer);
  return pathname.startsWith('/admin/') ? pathname + search : '/admin';
}

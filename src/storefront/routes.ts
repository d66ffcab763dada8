import cookie from '@fastify/cookie';
import type { FastifyError, FastifyInstance } from 'fastify';
import { installationKey } from '../apps/sealing.ts';
import { refusalOf } from '../http/failures.ts';
import { sendPage as sendStartPage } from '../start-page/page.ts';
import { notFoundPage, startingPage } from '../start-page/start-view.ts';
import { assetRoutes } from './assets.ts';
import { consent } from './consent.ts';
import { currency } from './currency.ts';
import { errorPage } from './error-page.ts';
import { home } from './home.ts';
import { sendPage, storefrontPages, type PageDeps } from './pages.ts';
import { sessionsOf } from './session.ts';

export interface StorefrontDeps extends Omit<PageDeps, 'sessions'> {
  isMigrated: () => boolean;
}

/** The pages of the shops, below `/shop/ID`: where the addresses in the API's answers and in mails lead. */
export async function storefrontRoutes(app: FastifyInstance, deps: StorefrontDeps): Promise<void> {
  const sessions = sessionsOf(await installationKey(deps.config));
  await app.register(async (scope) => {
    await scope.register(cookie);
    scope.decorateRequest('visit');
    scope.addHook('onRequest', async (_request, reply) => {
      if (!deps.isMigrated()) {
        return sendStartPage(reply.code(503).headers({ 'retry-after': '1', refresh: '1' }), startingPage);
      }
    });
    scope.setErrorHandler<FastifyError>((error, request, reply) => {
      const { visit } = request;
      const refusal = refusalOf(error, request);
      if (refusal.status >= 500) request.log.error({ err: error, requestId: request.id }, 'request failed');
      if (!visit) return sendStartPage(reply.code(refusal.status), notFoundPage('such shop'));
      return sendPage(reply.headers(refusal.headers), visit, errorPage(visit, refusal));
    });
    assetRoutes(scope);
    const pages = storefrontPages(scope, { ...deps, sessions });
    home(pages);
    currency(pages);
    consent(pages);
  });
}

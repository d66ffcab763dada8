import cookie from '@fastify/cookie';
import type { FastifyError, FastifyInstance } from 'fastify';
import { installationKey } from '../shops/apps/sealing.ts';
import { refusalOf } from '../http/failures.ts';
import { newsletterTokens } from '../people/newsletters/links.ts';
import { sendPage as sendStartPage } from './start-page/page.ts';
import { busyPage, notFoundPage, startingPage } from './start-page/start-view.ts';
import { assetRoutes } from './assets.ts';
import { category } from './category.ts';
import { cart } from './cart.ts';
import { checkout } from './checkout.ts';
import { confirmation } from './confirmation.ts';
import { consent } from './consent.ts';
import { currency } from './currency.ts';
import { errorPage, lost } from './error-page.ts';
import { home } from './home.ts';
import { legal } from './legal.ts';
import { newsletter } from './newsletter.ts';
import { notify } from './notify.ts';
import { sendPage, storefrontPages, type PageDeps } from './pages.ts';
import { product } from './product.ts';
import { worker } from './scripts.ts';
import { search } from './search.ts';
import { sessionsOf } from './session.ts';
import { robotsRoutes, sitemap } from './sitemap.ts';
import { wishlist } from './wishlist.ts';

export interface StorefrontDeps extends Omit<PageDeps, 'sessions'> {
  isMigrated: () => boolean;
}

/** The pages of the shops, below `/shop/ID`: where the addresses in the API's answers and in mails lead. */
export async function storefrontRoutes(app: FastifyInstance, deps: StorefrontDeps): Promise<void> {
  const key = await installationKey(deps.config);
  const sessions = sessionsOf(key);
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
      if (!visit) {
        const page = refusal.status === 429 ? busyPage : notFoundPage('such shop');
        return sendStartPage(reply.code(refusal.status).headers(refusal.headers), page);
      }
      return sendPage(reply.headers(refusal.headers), visit, errorPage(visit, refusal));
    });
    assetRoutes(scope);
    robotsRoutes(scope);
    const pages = storefrontPages(scope, { ...deps, sessions });
    home(pages);
    category(pages);
    product(pages);
    search(pages);
    currency(pages);
    cart(pages);
    checkout(pages);
    confirmation(pages);
    legal(pages);
    newsletter(pages, newsletterTokens(key));
    notify(pages);
    wishlist(pages);
    sitemap(pages);
    consent(pages);
    worker(pages);
    lost(pages);
  });
}

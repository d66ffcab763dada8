import cookie from '@fastify/cookie';
import type { FastifyError, FastifyInstance } from 'fastify';
import { brandOf } from '../platform/brand.ts';
import type { MediaStorage } from '../platform/media/storage.ts';
import { installationKey } from '../platform/sealing.ts';
import { logFailure, refusalOf } from '../http/failures.ts';
import { orderTokens } from '../orders/order-link.ts';
import { newsletterTokens } from '../people/newsletters/links.ts';
import { guaranteeFiles as guaranteeFilesOf } from '../shops/legal/guarantee-files.ts';
import { previewTokens } from '../shops/shop/preview.ts';
import { sendPage as sendStartPage } from '../site/start-page/page.ts';
import { busyPage, notFoundPage, startingPage } from '../site/start-page/start-view.ts';
import { signInCodes } from '../people/accounts/sign-in-codes.ts';
import { pagePreviews } from '../content/pages/preview.ts';
import type { PersonalData } from '../platform/personal-data.ts';
import { accessPages } from './account/access.ts';
import { accountAddresses } from './account/addresses.ts';
import { accountData } from './account/data.ts';
import { accountDevices } from './account/devices.ts';
import { accountNewsletters } from './account/newsletters.ts';
import { accountOrders } from './account/orders.ts';
import { passkeyPages } from './account/passkeys.ts';
import { signInPages } from './account/sign-in.ts';
import {
  CONTENT_STYLESHEET,
  PERSONAL_STYLESHEET,
  PAGE_TOOLS_SCRIPT,
  PASSKEY_SCRIPT,
  SCRIPT,
  STYLESHEET,
} from './layout/assets.ts';
import { category } from './listing/category.ts';
import { cart } from './cart/cart.ts';
import { checkout } from './checkout/checkout.ts';
import { confirmation } from './checkout/confirmation.ts';
import { consent } from './scripts/consent.ts';
import { contactPages } from './content/contact.ts';
import { ownPagePages } from './content/own-page.ts';
import { postPages } from './content/posts.ts';
import { previewPages } from './content/preview.ts';
import { currency } from './cart/currency.ts';
import { netPrices } from './cart/net-prices.ts';
import { quickOrder } from './cart/quick-order.ts';
import { language } from './layout/language.ts';
import { ownStyle } from './layout/own-style.ts';
import { errorPage, missingPages, shutPage } from './error-page.ts';
import { feedPages } from './feeds/feeds.ts';
import { giftCardBalancePages } from './gift-card.ts';
import { homePages } from './listing/home.ts';
import { accessibility } from './legal/accessibility.ts';
import { legalPages } from './legal/legal.ts';
import { newsletter } from './newsletter/newsletter.ts';
import { llmsPage } from './markdown/llms.ts';
import { notify } from './product/notify.ts';
import { orderForms } from './order/order-forms.ts';
import { orderPage } from './order/order-page.ts';
import { withdrawal } from './order/withdrawal.ts';
import type { PageDeps } from './open-visit.ts';
import { createPages, sendPage } from './page-routes.ts';
import { demoPayment } from './payment/demo-page.ts';
import { payment } from './payment/payment.ts';
import { preview } from './preview.ts';
import { productDetailPages } from './product/product-page.ts';
import { serviceWorker } from './scripts/scripts.ts';
import { searchPages } from './listing/search.ts';
import { createDeviceCookie } from '../people/accounts/device-cookie.ts';
import { createSessions } from './session.ts';
import { robotsRoutes, sitemap } from './listing/sitemap.ts';
import { downloadLinks } from '../downloads/links.ts';
import { reviewTokens } from '../reviews/links.ts';
import { orderDownloads } from './downloads/order-downloads.ts';
import { ownReviewPages } from './reviews/own-reviews.ts';
import { productReviewPages } from './reviews/product-reviews.ts';
import { isShut } from './visit.ts';
import { wishlist } from './wishlist/wishlist.ts';
import { assetRoutes } from '../http/assets.ts';

export interface StorefrontDeps extends Omit<
  PageDeps,
  'sessions' | 'devices' | 'previewToken' | 'guaranteeFiles'
> {
  isMigrated: () => boolean;
  /** All sources of data that is exported and erased for a person. */
  personalData: readonly PersonalData[];
  media: MediaStorage;
}

/** Serves the pages of the shops below `/shop/ID`, where the addresses in responses of the API and in emails lead. */
export async function storefrontRoutes(app: FastifyInstance, deps: StorefrontDeps): Promise<void> {
  const key = await installationKey(deps.config);
  const brand = brandOf(deps.config);
  const sessions = createSessions(key);
  const devices = createDeviceCookie(key, 'shop');
  const tokens = orderTokens(key);
  const previewToken = previewTokens(key);
  await app.register(async (scope) => {
    await scope.register(cookie);
    scope.decorateRequest('visit');
    scope.addHook('onRequest', async (_request, reply) => {
      if (!deps.isMigrated()) {
        return sendStartPage(
          reply.code(503).headers({ 'retry-after': '1', refresh: '1' }),
          startingPage(brand),
        );
      }
    });
    scope.setErrorHandler<FastifyError>((error, request, reply) => {
      const { visit } = request;
      const refusal = refusalOf(error, request);
      logFailure(error, refusal, request);
      if (!visit) {
        const page = refusal.status === 429 ? busyPage(brand) : notFoundPage(brand, 'such shop');
        return sendStartPage(reply.code(refusal.status).headers(refusal.headers), page);
      }
      const page =
        visit.access === 'closed' || (isShut(visit) && refusal.status === 404)
          ? { ...shutPage(visit), status: refusal.status }
          : errorPage(visit, refusal);
      return sendPage(reply.headers(refusal.headers), visit, page);
    });
    const guaranteeFiles = guaranteeFilesOf(deps.config);
    assetRoutes(scope, [
      STYLESHEET,
      CONTENT_STYLESHEET,
      PERSONAL_STYLESHEET,
      SCRIPT,
      PASSKEY_SCRIPT,
      PAGE_TOOLS_SCRIPT,
      ...guaranteeFiles.values(),
    ]);
    robotsRoutes(scope, deps.config);
    const pages = createPages(scope, { ...deps, guaranteeFiles, sessions, devices, previewToken });
    preview(pages, previewToken);
    giftCardBalancePages(pages);
    homePages(pages);
    category(pages);
    productDetailPages(pages);
    searchPages(pages);
    currency(pages);
    netPrices(pages);
    language(pages);
    cart(pages);
    quickOrder(pages);
    checkout(pages, tokens, newsletterTokens(key));
    payment(pages, tokens);
    demoPayment(pages);
    confirmation(pages, tokens);
    orderPage(pages, tokens);
    orderForms(pages, tokens);
    orderDownloads(pages, { tokens, key, links: downloadLinks(key), media: deps.media });
    withdrawal(pages, tokens);
    ownReviewPages(pages, reviewTokens(key), tokens);
    productReviewPages(pages);
    ownStyle(pages);
    postPages(pages);
    ownPagePages(pages);
    contactPages(pages);
    previewPages(pages, pagePreviews(key));
    legalPages(pages);
    accessibility(pages);
    newsletter(pages, newsletterTokens(key));
    notify(pages);
    wishlist(pages);
    signInPages(pages, signInCodes(key));
    accountOrders(pages, tokens);
    accessPages(pages);
    accountAddresses(pages);
    accountNewsletters(pages);
    accountDevices(pages);
    passkeyPages(pages);
    accountData(pages, deps.personalData);
    sitemap(pages);
    feedPages(pages);
    llmsPage(pages);
    consent(pages);
    serviceWorker(pages);
    missingPages(pages);
  });
}

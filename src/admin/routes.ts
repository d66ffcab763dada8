import cookie from '@fastify/cookie';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { isDemo } from '../config.ts';
import { isRefusedInDemo } from '../http/demo-mode.ts';
import { notFound } from '../http/errors.ts';
import { limitCheck } from '../http/page-kit.ts';
import { brandOf } from '../platform/brand.ts';
import { installationKey } from '../platform/sealing.ts';
import { sendPage as sendStartPage } from '../site/start-page/page.ts';
import { startingPage } from '../site/start-page/start-view.ts';
import type { ReceiverPolicy } from '../apps/webhooks/receiver-address.ts';
import { appPages } from './apps/apps.ts';
import { connectPages } from './apps/connect.ts';
import type { ConnectDeps } from './apps/connect-request.ts';
import { categoryPages } from './categories/category-page.ts';
import { categoryTreePages } from './categories/tree-page.ts';
import { account } from './account/account.ts';
import { contentPages } from './content/page-list.ts';
import { pageEditor } from './content/page-editor.ts';
import { customerPages } from './customers/customers.ts';
import { createDeviceCookie } from '../people/accounts/device-cookie.ts';
import { exportPages } from './import/export.ts';
import { importPages } from './import/import-page.ts';
import { importFiles } from './import/import.ts';
import { refusedRows } from './import/refused-rows.ts';
import type { CreationDeps } from '../host/shops.ts';
import { host } from './host/host.ts';
import { dashboardPages } from './home/home.ts';
import { ASSETS } from './layout/assets.ts';
import { hostMessagePages } from './layout/host-messages.ts';
import { marketing } from './marketing/marketing.ts';
import { createNoticeCookie } from './notice-cookie.ts';
import { openVisit, type AdminDeps } from './open-visit.ts';
import { openingPages } from './opening/opening.ts';
import { bankPages } from './orders/bank.ts';
import { bulkOrders } from './orders/bulk.ts';
import { orderDocuments } from './orders/documents.ts';
import { editPages } from './orders/edit.ts';
import { accountingPages } from './orders/accounting.ts';
import { orderFiles } from './orders/files.ts';
import { newOrderPages } from './orders/new-order.ts';
import { orderPages } from './orders/order-page.ts';
import { businessPages } from './orders/business.ts';
import { orderTagPages } from './orders/data-actions.ts';
import { orderListPages } from './orders/orders.ts';
import { printPages } from './orders/print.ts';
import { createPages } from './page-routes.ts';
import { sendFailure } from './responses.ts';
import { attributes } from './products/attributes.ts';
import { moveInPages } from './move-in/move-in.ts';
import { rulePages } from './automation/rule-pages.ts';
import { ruleLogPages } from './automation/log-pages.ts';
import { taskPages } from './automation/task-pages.ts';
import { fieldDefinitionPages } from './fields/definition-pages.ts';
import { fieldValuePages } from './fields/value-pages.ts';
import { accessRequestPages } from './customers/access-requests.ts';
import { priceListPages } from './pricelists/price-list.ts';
import { redirectPages } from './redirects/redirects.ts';
import { keyPages } from './downloads/keys.ts';
import { orderDeliveryPages } from './downloads/order-deliveries.ts';
import { productDownloadPages } from './downloads/product-downloads.ts';
import { giftCardPages } from './giftcards/gift-cards.ts';
import { reviewPages } from './reviews/review-pages.ts';
import { reportPages } from './reports/reports.ts';
import { taxReportPages } from './reports/taxes.ts';
import { sandboxesPages } from './sandbox/sandboxes.ts';
import { sandboxPages } from './sandbox/sandbox.ts';
import { settings, type SettingsDeps } from './settings/settings.ts';
import { adminSearchPages } from './search/search.ts';
import { bulk } from './products/bulk.ts';
import { newProduct } from './products/new-product.ts';
import { pictures } from './products/pictures.ts';
import { priceHistory } from './products/price-history.ts';
import { productEditorPages } from './products/product.ts';
import { productTypePages } from './product-types/product-types.ts';
import { productListPages } from './products/products.ts';
import { bundle } from './products/bundle.ts';
import { related } from './products/related.ts';
import { stockTake } from './products/stock-take.ts';
import { variationPages } from './products/variations.ts';
import { confirm } from './sign-in/confirm.ts';
import { forgotten } from './sign-in/forgotten.ts';
import { hostLink } from './sign-in/host-link.ts';
import { link } from './sign-in/link.ts';
import { adminSignInPages } from './sign-in/sign-in.ts';
import { supportPages } from './support/support.ts';
import { users } from './users/users.ts';
import { views } from './views/views.ts';
import { assetRoutes } from '../http/assets.ts';

/** A page, and the users who may open it. */
export type AdminRoute = { method: string; url: string } & NonNullable<FastifyContextConfig['admin']>;

/** Descriptions of assistants that the links of one person make us read. */
const FETCHES_PER_HOUR = 60;

/** Serves the pages of merchants below `/admin`, on the host of the service. Returns all of them. */
export async function adminRoutes(
  app: FastifyInstance,
  deps: AdminDeps &
    SettingsDeps & { isMigrated: () => boolean; creation: CreationDeps; policy: ReceiverPolicy },
): Promise<readonly AdminRoute[]> {
  const key = await installationKey(deps.config);
  const adminPages: AdminRoute[] = [];
  await app.register(async (scope) => {
    await scope.register(cookie);
    scope.addHook('onRoute', ({ method, url, config }) => {
      if (config?.admin) adminPages.push({ method: String(method), url, ...config.admin });
    });
    scope.decorateRequest('adminVisit');
    scope.decorateRequest('adminToken');
    scope.decorateRequest('adminDevice');
    scope.addHook('onRequest', async (_request, reply) => {
      if (!deps.isMigrated()) {
        return sendStartPage(
          reply.code(503).headers({ 'retry-after': '1', refresh: '1' }),
          startingPage(brandOf(deps.config)),
        );
      }
    });
    scope.setErrorHandler<Error>(sendFailure);
    assetRoutes(scope, ASSETS);
    const openDeps = {
      ...deps,
      key,
      notices: createNoticeCookie(key),
      devices: createDeviceCookie(key, 'admin'),
    };
    if (isDemo(deps.config)) {
      // So that a refused form is answered by a page in the visitor's language.
      scope.addHook('onRequest', async (request) => {
        if (isRefusedInDemo(request)) await openVisit(request, openDeps);
      });
    }
    const mayFetch = limitCheck(deps.limiter, deps.config, 'oauth-client/');
    const { pages, shopPages } = createPages(scope, openDeps);
    adminSignInPages(pages);
    link(pages);
    hostLink(pages);
    forgotten(pages);
    confirm(pages);
    account(pages);
    host(pages, deps.creation);
    dashboardPages(shopPages, deps.providers);
    openingPages(shopPages, deps.providers);
    sandboxPages(shopPages);
    sandboxesPages(shopPages);
    categoryTreePages(shopPages);
    categoryPages(shopPages);
    priceListPages(shopPages);
    accessRequestPages(shopPages);
    redirectPages(shopPages);
    fieldDefinitionPages(shopPages);
    rulePages(shopPages);
    ruleLogPages(shopPages);
    taskPages(shopPages);
    fieldValuePages(shopPages);
    moveInPages(shopPages);
    orderListPages(shopPages);
    accountingPages(shopPages);
    bankPages(shopPages);
    orderPages(shopPages);
    orderTagPages(shopPages);
    businessPages(shopPages);
    newOrderPages(shopPages);
    editPages(shopPages);
    orderDocuments(shopPages);
    orderFiles(shopPages);
    bulkOrders(shopPages);
    printPages(shopPages);
    contentPages(shopPages);
    pageEditor(shopPages);
    customerPages(shopPages);
    const connectDeps: ConnectDeps = {
      policy: deps.policy,
      isOwnOrigin: (origin) => isOwnOrigin(deps, origin),
      mayFetch: (userId) => mayFetch(`user/${userId}`, FETCHES_PER_HOUR),
    };
    connectPages(pages, connectDeps);
    appPages(shopPages, connectDeps);
    marketing(shopPages);
    giftCardPages(shopPages);
    reviewPages(shopPages);
    productDownloadPages(shopPages, deps.config);
    keyPages(shopPages);
    orderDeliveryPages(shopPages);
    reportPages(shopPages);
    taxReportPages(shopPages);
    settings(shopPages, deps);
    hostMessagePages(shopPages);
    adminSearchPages(shopPages);
    productListPages(shopPages);
    bulk(shopPages);
    importFiles(shopPages);
    importPages(shopPages);
    refusedRows(shopPages);
    exportPages(shopPages);
    productTypePages(shopPages);
    productEditorPages(shopPages);
    pictures(shopPages);
    newProduct(shopPages);
    variationPages(shopPages);
    attributes(shopPages);
    bundle(shopPages);
    related(shopPages);
    priceHistory(shopPages);
    stockTake(shopPages);
    views(shopPages);
    users(shopPages);
    supportPages(shopPages);
    pages.get('/*', 'signed in', () => {
      throw notFound();
    });
  });
  return adminPages;
}

/**
 * Of the service or of a shop. Cookies do not know ports, so an app on another port of the service's host would be sent
 * those of the admin; in a private installation, all of them are the same person's.
 */
function isOwnOrigin({ config, hosts }: Pick<AdminDeps, 'config' | 'hosts'>, origin: string): boolean {
  const { hostname } = new URL(origin);
  if (config.PUBLIC_URL !== undefined && new URL(config.PUBLIC_URL).hostname === hostname) return true;
  return hosts.isKnownOrigin(origin) || hosts.shopOf(hostname) !== undefined;
}

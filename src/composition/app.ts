import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { AdminRoute } from '../admin/routes.ts';
import { staffOf } from '../admin/users/staff.ts';
import { permissionsOfUser } from '../admin/users/permissions-of-user.ts';
import { createAppUseCounter } from '../apps/app-use.ts';
import { createAppCalls, type AppCalls } from '../apps/calls/calls.ts';
import { appCallLog } from '../apps/calls/routes.ts';
import { oauthRoutes } from '../apps/oauth/routes.ts';
import { appOperations } from '../apps/routes.ts';
import { createAssistantCalls } from '../assistants/calls.ts';
import { createPlatformProfiles } from '../assistants/profiles.ts';
import { assistantRoutes } from '../assistants/routes.ts';
import { audit } from '../apps/audit-log/routes.ts';
import { addresses } from '../carts/addresses.ts';
import { cartBuyer } from '../carts/buyer.ts';
import { createCartStore, type CartStoreOptions } from '../carts/cart-store.ts';
import { coupon } from '../carts/coupon.ts';
import { cartGiftCards } from '../carts/gift-cards.ts';
import { giftCards } from '../giftcards/routes.ts';
import { lineItems } from '../carts/line-items.ts';
import { createPlaceOrder } from '../checkout/order-cart.ts';
import { order } from '../checkout/routes.ts';
import { paymentAndShipping } from '../carts/payment-and-shipping.ts';
import { deliveryOptions } from '../carts/delivery-options.ts';
import { createAppTerms } from '../carts/app-terms.ts';
import { carts } from '../carts/routes.ts';
import { assignments } from '../catalogue/categories/assignments.ts';
import { moveCategories } from '../catalogue/categories/move.ts';
import { categories } from '../catalogue/categories/routes.ts';
import { cleanupSteps, COUNTING_STEPS } from './cleanup-steps.ts';
import type { Config } from '../config.ts';
import { countries } from '../shops/countries/routes.ts';
import { managedCouponCampaigns } from '../coupons/manage-routes.ts';
import { newsletterBounces } from '../content/mailings/bounces.ts';
import { mailings } from '../content/mailings/routes.ts';
import { pages } from '../content/pages/routes.ts';
import { couponCampaigns } from '../coupons/routes.ts';
import { currencies } from '../shops/currencies/routes.ts';
import { customerFields } from '../people/customers/customer-fields.ts';
import { productFieldRoutes } from '../catalogue/products/product-fields.ts';
import { categoryFields } from '../catalogue/categories/category-fields.ts';
import { orderFields } from '../orders/order-fields.ts';
import { cartFields } from '../carts/cart-fields.ts';
import { findFieldsOfShop, shopFields } from '../fields/shop-fields.ts';
import { customFields } from '../fields/definitions.ts';
import { accessRequests } from '../people/access/routes.ts';
import { managedCustomers } from '../people/customers/manage-routes.ts';
import { customerNotes } from '../people/customers/notes.ts';
import { segments } from '../people/customers/segments.ts';
import { customerTags } from '../people/customers/tags.ts';
import { customerOperations } from '../people/customers/routes.ts';
import type { Database } from '../db/database.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { hostBackupMetrics } from '../host/backups/metrics.ts';
import { hostBackups } from '../host/backups/routes.ts';
import { hostDomains } from '../host/domains.ts';
import { hostLinks } from '../host/link-routes.ts';
import { createCurrentMessages } from '../host/current-messages.ts';
import { hostEmails } from '../host/emails.ts';
import { hostMessages } from '../host/messages.ts';
import { statusPage } from '../host/status-page.ts';
import { hostLog } from '../host/log.ts';
import { hostMetrics } from '../host/metrics.ts';
import { hostOwners } from '../host/owners.ts';
import { hostShops, type HostDeps } from '../host/routes.ts';
import { hostUsage } from '../host/usage.ts';
import type { CreationDeps } from '../host/shops.ts';
import { docsRoutes } from '../site/docs/routes.ts';
import { documents } from '../orders/documents/routes.ts';
import { API_HEADERS, COMMON_HEADERS, EXPOSED_HEADERS, finishAnswer } from '../http/answer-headers.ts';
import { BODY_LIMIT, registerBodyParsers } from '../http/body.ts';
import { createCallerDirectory, selectHostCaller, type Caller } from '../http/callers.ts';
import { compressAnswer, negotiateEncoding } from '../http/compression.ts';
import { deferRoutes, isDeferred } from '../http/deferred-routes.ts';
import { createDemoAccess } from '../http/demo-access.ts';
import { registerDemoMode } from '../http/demo-mode.ts';
import { demoTokenCheck } from '../http/demo-tokens.ts';
import { EMAIL_KINDS } from './email-kinds.ts';
import { errorBody, unavailable } from '../http/errors.ts';
import { answerFailure } from '../http/failures.ts';
import { proxyWarning } from '../http/forwarded.ts';
import { createAuthentication } from '../http/authentication.ts';
import { routeAsGet, showAsHead, withoutBody } from '../http/head.ts';
import { operations } from '../http/operations.ts';
import { createOtherMethods } from '../http/other-methods.ts';
import { rateLimiter } from '../http/rate-limit.ts';
import { requestHostReader } from '../http/request-host.ts';
import { buildSerializer } from '../http/serialisation.ts';
import { compileBody, compileParameters } from '../http/validation.ts';
import { legalOperations } from '../shops/legal/routes.ts';
import { locales } from '../shops/locales/routes.ts';
import { openBackupStore } from '../platform/backup/store.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { mediaRoutes } from '../platform/media/routes.ts';
import { events } from '../platform/events/routes.ts';
import { createEventWaiting } from '../platform/events/waiting.ts';
import { newsletterOperations } from '../people/newsletters/routes.ts';
import { registerOpenapi } from '../openapi/routes.ts';
import { brandOf } from '../platform/brand.ts';
import { planNamed, plansOf } from '../platform/plans/plans.ts';
import { registerHealth } from '../platform/health.ts';
import { requestLog } from '../platform/log.ts';
import { createShopCallCounter, type ShopCallCounter } from '../platform/plans/shop-days.ts';
import { createMetrics, observeRoutes, registerMetrics } from '../platform/metrics.ts';
import type { Tracing } from '../platform/tracing.ts';
import { managedShipments, shipmentUndo } from '../orders/manage-shipments.ts';
import { managedBuyers } from '../orders/manage-buyer.ts';
import { managedLines } from '../orders/manage-lines.ts';
import { managedEmails } from '../orders/manage-emails.ts';
import { managedPayments } from '../orders/manage-payments.ts';
import { managedReturns } from '../orders/manage-returns.ts';
import { managedOrders } from '../orders/manage.ts';
import { orderOperations } from '../orders/routes.ts';
import { readiness } from '../orders/readiness.ts';
import { appPayments } from '../orders/payments/app-payment-routes.ts';
import type { PaymentDeps } from '../orders/payments/calls.ts';
import { createProviders, type Providers } from '../orders/payments/providers.ts';
import { paymentWebhooks } from '../orders/payments/webhook-route.ts';
import { PERSONAL_DATA } from './personal-data.ts';
import { privacyOperations } from '../people/privacy/routes.ts';
import { availabilityNotifications } from '../catalogue/products/availability-notifications.ts';
import { crossSelling } from '../catalogue/products/cross-selling.ts';
import { customAttributes } from '../catalogue/products/custom-attributes.ts';
import { productExport } from '../catalogue/products/export.ts';
import { lowestPrice } from '../catalogue/products/lowest-price.ts';
import { productOperations } from '../catalogue/products/routes.ts';
import { productManagement } from '../catalogue/products/manage-routes.ts';
import { productWrites } from '../catalogue/products/write-routes.ts';
import { pictureTexts } from '../catalogue/products/picture-texts.ts';
import { slideshow } from '../catalogue/products/slideshow.ts';
import { updatedProducts } from '../catalogue/products/updated.ts';
import { variationOperations } from '../catalogue/products/variations.ts';
import { watchedProducts } from '../catalogue/products/watched-products.ts';
import { createMissedAddresses } from '../catalogue/redirects/missed.ts';
import { priceLists } from '../catalogue/pricelists/routes.ts';
import { redirects } from '../catalogue/redirects/routes.ts';
import { productTypeOperations } from '../catalogue/producttypes/routes.ts';
import { bringRulesForward } from '../rules/queries.ts';
import { rules } from '../rules/routes.ts';
import { tasks } from '../rules/tasks.ts';
import { orderTags } from '../orders/tags.ts';
import { licenceKeys } from '../downloads/key-routes.ts';
import { digitalDeliveries } from '../downloads/order-routes.ts';
import { digitalProducts } from '../downloads/product-routes.ts';
import { managedReviews } from '../reviews/routes.ts';
import { sales } from '../orders/sales/routes.ts';
import { settingsFormat } from './settings-format.ts';
import { appSettings } from '../apps/manifest/settings.ts';
import { publicKeys } from '../apps/manifest/signing-keys.ts';
import { scriptTagOperations } from '../apps/script-tags/routes.ts';
import { searchOperations } from '../catalogue/search/routes.ts';
import { shippingMethods } from '../shops/shipping-methods/routes.ts';
import { domainPolicy } from '../shops/shop/domain-policy.ts';
import { domainOperations } from '../shops/domains/routes.ts';
import { createServiceAddresses } from '../shops/domains/service-addresses.ts';
import { createShopHosts } from '../shops/shop/hosts.ts';
import { findSettings } from '../shops/settings/settings.ts';
import { shop } from '../shops/shop/routes.ts';
import { securityContact } from '../site/security-contact.ts';
import { bringJobsForward } from '../platform/jobs/queries.ts';
import { bringMailingsForward } from '../content/mailings/queries.ts';
import { startReadingClocks } from '../shops/sandbox/clocks.ts';
import { sandboxOperations } from '../shops/sandbox/routes.ts';
import { startPageRoutes } from '../site/start-page/routes.ts';
import { pathOnShopHost } from '../storefront/shop-host.ts';
import { storefrontRoutes } from '../storefront/routes.ts';
import { taxOperations } from '../shops/taxes/routes.ts';
import { CHECK_BUDGET, createVatRegister } from '../shops/vat-numbers/register.ts';
import { MAX_ANSWER_BYTES } from '../shops/vat-numbers/vies.ts';
import { createAnswerSeal, installationKey } from '../platform/sealing.ts';
import { managedWebhooks } from '../apps/webhooks/manage-routes.ts';
import { receiverPolicy } from '../apps/webhooks/receiver-address.ts';
import { createSender } from '../apps/webhooks/sending.ts';
import { webhookOperations } from '../apps/webhooks/routes.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The calls of shops that are not written yet. */
    shopCalls: ShopCallCounter;
    /** Calls of apps while a customer waits. */
    appCalls: AppCalls;
    /** All pages of the admin, for the tests that request each of them. */
    adminPages: () => Promise<readonly AdminRoute[]>;
  }
}

/** The pages of merchants, and their styles and scripts: those of other pages have routes of their own. */
const ADMIN_PATHS = ['/admin', '/admin/*', '/assets/*'];

export interface AppDeps {
  config: Config;
  db: Database;
  log: FastifyBaseLogger;
  /** false while the schema is still being brought up to date. */
  isMigrated?: () => boolean;
  /** Speeds up carts; without it they behave the same. */
  cartStoreOptions?: CartStoreOptions;
  /** undefined: traces are not collected. */
  tracing?: Tracing | undefined;
  /** Payment providers that replace built-in ones. */
  providers?: Partial<Providers> | undefined;
}

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** The only constructor of the service; tests use the same. */
export async function buildApp({
  config,
  db,
  log,
  isMigrated = () => true,
  cartStoreOptions = { cache: true, batch: true },
  tracing,
  providers,
}: AppDeps): Promise<FastifyInstance> {
  // A wrong file ends the start.
  plansOf(config);
  brandOf(config);
  const logRequest = requestLog(log);
  const hosts = createShopHosts({ db, config, log, isMigrated, port: () => portOf(app) });
  const demoAccess = createDemoAccess({ db, config, log, isMigrated });
  const clocks = startReadingClocks(db, { log, isMigrated });
  db.caches.isCacheableOrigin = (origin) => hosts.isKnownOrigin(origin);
  const hostOf = requestHostReader(config.TRUST_PROXY);
  const callers = createCallerDirectory(db);
  const limiter = rateLimiter(db, (error) => log.warn({ err: error }, 'rate limits could not be shared'));
  const appUse = createAppUseCounter(db, (error) =>
    log.warn({ err: error }, 'calls of apps are not counted'),
  );
  const shopCalls = createShopCallCounter(db, (error) =>
    log.warn({ err: error }, 'calls of shops are not counted'),
  );
  const missed = createMissedAddresses(db, (error) =>
    log.warn({ err: error }, 'missed addresses are not counted'),
  );
  const assistantCalls = createAssistantCalls(db, (error) =>
    log.warn({ err: error }, 'calls of assistants are not noted'),
  );
  const isRefusedDemoToken = demoTokenCheck(demoAccess);
  const warnOfProxy = proxyWarning();
  const authentication = createAuthentication({
    config,
    callers,
    hostCallers: createCallerDirectory(db, selectHostCaller),
    planLimitOf: (plan) => planNamed(config, plan)?.requestsPerHour,
    limiter,
    isRefusedDemoToken,
    now: () => db.now,
  });

  const otherMethods = createOtherMethods(authentication);
  const metrics = createMetrics(db);

  const openInstance = () =>
    Fastify({
      loggerInstance: log,
      logController: new LogController({ disableRequestLogging: true }),
      // Every line names its request itself; a child logger per request would be made for nothing.
      childLoggerFactory: (logger) => logger,
      bodyLimit: BODY_LIMIT,
      trustProxy: config.TRUST_PROXY ?? false,
      // The host of a shop serves only its pages: neither the API nor another shop can be reached there.
      rewriteUrl: (request) => {
        routeAsGet(request);
        const shopId = hosts.shopOf(hostOf(request));
        return shopId === undefined ? request.url! : pathOnShopHost(request.url!, shopId);
      },
      exposeHeadRoutes: false,
      // Fastify would set two timers for each route.
      pluginTimeout: 0,
      requestIdHeader: false,
      genReqId: (request) => {
        const given = request.headers['x-request-id'];
        return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
      },
      schemaController: { compilersFactory: { buildSerializer } },
      // An id of any length reaches its route, which answers 404 as in the contract; Node bounds the whole address.
      routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
      // Against clients that trickle: headers within 10 s, the whole request within 30 s. Node checks these times only
      // every 30 s by default.
      http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      forceCloseConnections: 'idle',
      // An address that can't be decoded reaches none of the hooks below.
      frameworkErrors: (error, request, reply) => {
        setHeaders(request, reply);
        answerFailure(error, request, reply);
        logRequest(request, reply, 0);
      },
      clientErrorHandler: answerBrokenRequest,
    });

  /** What every request goes through, whichever of the two apps has its route. */
  const addFrame = (app: FastifyInstance) => {
    app.decorateRequest('operationPath');
    app.addHook('onRequest', (request, _reply, done) => {
      showAsHead(request);
      if (request.is404) otherMethods.findPath(request);
      done();
    });
    tracing?.traceRequests(app);
    app.setNotFoundHandler((request, reply) => otherMethods.sendOptions(request, reply));
    app.setValidatorCompiler<object>(({ schema, httpPart }) =>
      httpPart === 'body' ? compileBody(schema) : compileParameters(schema),
    );
    app.setErrorHandler(answerFailure);
    registerBodyParsers(app);

    app.decorateRequest('caller');
    registerDemoMode(app, config);
    app.addHook('onRequest', (request, reply, done) => {
      setHeaders(request, reply);
      demoAccess.observe(request);
      warnOfProxy(request);
      // First of all, because the tables of shops and tokens may not exist yet.
      if (!isMigrated() && isApi(request.url)) done(unavailable());
      // An unknown path ends here, before its body is read.
      else if (request.is404) otherMethods.refuseUnrouted(request, reply, done);
      else done();
    });
    app.addHook('onSend', (request, reply, payload, done) => {
      if (isApi(request.url)) finishAnswer(request, reply, payload, done);
      else done(null, payload);
    });
    app.addHook('onSend', (request, reply, payload, done) => {
      const encoding = negotiateEncoding(request, reply, payload);
      if (encoding === undefined) {
        done(null, withoutBody(request, reply, payload));
        return;
      }
      const bytes = typeof payload === 'string' ? Buffer.from(payload) : (payload as Buffer);
      compressAnswer(db.caches, request, reply, bytes, encoding).then(
        (bytes) => done(null, withoutBody(request, reply, bytes)),
        (error: unknown) => done(error as Error),
      );
    });
    app.addHook('onResponse', (request, reply, done) => {
      if (isDeferred(request)) {
        done();
        return;
      }
      logRequest(request, reply, reply.elapsedTime);
      const caller = request.caller as Caller | undefined;
      if (caller && isApi(request.url) && !isHostApi(request.url)) {
        const { shopId } = request.params as { shopId: string };
        shopCalls.count(shopId);
        if (caller.app) appUse.count(shopId, caller.app.appId, reply.statusCode);
      }
      done();
    });
    observeRoutes(app, metrics);
  };

  const app = openInstance();
  const admin = deferRoutes(app, ADMIN_PATHS, () => openAdmin());
  addFrame(app);
  app.addHook('onRoute', ({ url, method, config: facts, schema }) => {
    const isOpen = schema?.hide === true || method === 'OPTIONS';
    if (isApi(url) && !isOpen && facts?.operation?.access === undefined) {
      throw new Error(`${String(method)} ${url} declares no access: name its scope, or 'public'`);
    }
  });
  app.decorate('shopCalls', shopCalls);
  app.decorate('missedAddresses', missed);
  app.decorate('assistantCalls', assistantCalls);
  app.decorate('shopHosts', hosts);
  app.decorate('demoAccess', demoAccess);
  app.addHook('onReady', () => hosts.refreshQuietly());
  app.addHook('onReady', () => demoAccess.refreshQuietly());
  app.addHook('onReady', () => clocks.refreshQuietly());
  app.decorate('adminPages', async () => (await admin.open()).pages);
  registerMetrics(app, metrics, config);
  hostMetrics(app.metrics, db, log);
  if (config.BACKUP_URL !== undefined) hostBackupMetrics(app.metrics, db, log);
  registerHealth(app, db, isMigrated);
  registerOpenapi(app);

  const media = openMediaStorage(config);
  const service = createServiceAddresses(config);
  const policy = receiverPolicy(config, demoAccess);
  const vatSender = createSender(policy, { timeout: CHECK_BUDGET, maxStored: MAX_ANSWER_BYTES });
  const vatRegister = createVatRegister({
    post: (...call) => vatSender.send(...call),
    url: config.VIES_URL,
    now: () => db.now,
    isOff: async (shopId) => Boolean((await findSettings(db, shopId))?.sandbox),
  });
  let key: Promise<Buffer> | undefined;
  const loadKey = () => (key ??= installationKey(config));
  const appCalls = createAppCalls({
    db,
    policy,
    loadKey,
    metrics: app.metrics,
    onLogFailure: (error) => log.warn({ err: error }, 'calls of apps are not recorded'),
  });
  app.decorate('appCalls', appCalls);
  const appTerms = createAppTerms(db, appCalls);
  const cartStore = createCartStore(db, cartStoreOptions, { vatRegister, appTerms });
  const placeOrder = createPlaceOrder(db, cartStore, {
    ...cartStoreOptions,
    config,
    calls: appCalls,
    appTerms,
  });
  const eventWaiting = createEventWaiting(db, log);
  const payments: PaymentDeps = {
    db,
    providers: createProviders(db, demoAccess, { calls: appCalls, ...providers }),
    loadKey,
    log,
  };
  const answerSeal = createAnswerSeal(loadKey);
  const api = operations(app, {
    config,
    db,
    callers,
    authentication,
    otherMethods,
    limiter,
    isRefusedDemoToken,
    demoAccess,
    answerSeal,
    checkCart: (request) => cartStore.find(request),
  });
  shop(api, { findFields: findFieldsOfShop });
  shopFields(api);
  customFields(api);
  sandboxOperations(api, {
    db,
    steps: [...cleanupSteps(config, log), ...COUNTING_STEPS],
    bringForward: [bringJobsForward, bringMailingsForward, bringRulesForward],
    refreshClocks: () => clocks.refresh(),
  });
  countries(api);
  couponCampaigns(api);
  managedCouponCampaigns(api);
  carts(api, cartStore);
  lineItems(api, cartStore);
  coupon(api, cartStore);
  cartGiftCards(api, { carts: cartStore, db });
  addresses(api, cartStore);
  paymentAndShipping(api, { carts: cartStore, calls: appCalls, db });
  deliveryOptions(api, { carts: cartStore, calls: appCalls });
  cartBuyer(api, cartStore);
  cartFields(api, cartStore);
  order(api, cartStore, placeOrder);
  orderOperations(api);
  sales(api);
  managedOrders(api);
  managedLines(api);
  orderFields(api);
  orderTags(api);
  managedReviews(api);
  digitalProducts(api, media);
  licenceKeys(api, { loadKey });
  digitalDeliveries(api);
  rules(api, policy);
  tasks(api);
  managedBuyers(api, vatRegister);
  managedShipments(api);
  shipmentUndo(api);
  managedEmails(api);
  managedPayments(api);
  managedReturns(api);
  documents(api);
  readiness(api, payments);
  domainOperations(api, { config, demoAccess, service, loadKey });
  currencies(api);
  locales(api);
  taxOperations(api);
  shippingMethods(api);
  categories(api);
  redirects(api);
  priceLists(api);
  moveCategories(api);
  categoryFields(api);
  assignments(api);
  productTypeOperations(api);
  customerOperations(api);
  managedCustomers(api);
  customerFields(api);
  customerTags(api);
  customerNotes(api);
  segments(api);
  accessRequests(api);
  giftCards(api);
  privacyOperations(api, PERSONAL_DATA);
  legalOperations(api);
  pages(api, { loadKey });
  newsletterOperations(api);
  mailings(api);
  newsletterBounces(api);
  searchOperations(api);
  scriptTagOperations(api);
  productOperations(api);
  productWrites(api, media);
  productManagement(api);
  productFieldRoutes(api);
  updatedProducts(api);
  productExport(api);
  variationOperations(api);
  customAttributes(api);
  crossSelling(api);
  lowestPrice(api);
  slideshow(api, media);
  pictureTexts(api);
  availabilityNotifications(api);
  watchedProducts(api);
  audit(api);
  events(api, eventWaiting);
  appOperations(api);
  appSettings(api, { loadKey });
  appCallLog(api);
  appPayments(api);
  const webhookDeps = { policy, loadKey };
  webhookOperations(api, webhookDeps);
  managedWebhooks(api, webhookDeps);
  const creation: CreationDeps = {
    config,
    media,
    format: settingsFormat,
    policy: domainPolicy(config, demoAccess),
    readiness: { providers: payments.providers, loadKey },
  };
  const hostDeps: HostDeps = { ...creation, hosts, staff: staffOf(config), loadKey };
  hostShops(api, hostDeps);
  hostDomains(api, hostDeps);
  hostOwners(api, hostDeps);
  hostLinks(api, hostDeps);
  hostLog(api);
  hostUsage(api);
  hostEmails(api);
  const hostNews = createCurrentMessages(db, { log, isMigrated });
  app.addHook('onReady', () => hostNews.refreshQuietly());
  hostMessages(api, hostNews);
  hostBackups(api, { config, store: openBackupStore(config) });
  otherMethods.registerHidden(app);
  await docsRoutes(app, { config, demoAccess });
  mediaRoutes(app, { media });
  securityContact(app, { db, config });
  statusPage(app, { db, config, messages: hostNews, isMigrated });
  publicKeys(app, { db });
  startPageRoutes(app, { db, config, hosts, demoAccess, isMigrated });
  await paymentWebhooks(app, { payments, config, limiter, isMigrated });
  await storefrontRoutes(app, {
    db,
    carts: cartStore,
    vatRegister,
    placeOrder,
    appCalls,
    payments,
    config,
    limiter,
    hosts,
    missed,
    isMigrated,
    personalData: PERSONAL_DATA,
    media,
  });
  await assistantRoutes(app, {
    db,
    config,
    hosts,
    limiter,
    profiles: createPlatformProfiles(db, policy),
    calls: assistantCalls,
    carts: cartStore,
    appCalls,
    placeOrder,
    payments,
    answerSeal,
    loadKey,
    isMigrated,
  });
  await oauthRoutes(app, { db, config, limiter, isMigrated });
  await mcpRoutes(app, {
    db,
    config,
    limiter,
    authentication,
    callAs: api.callAs,
    loadKey,
    permissionsOf: (shopId, userId) => permissionsOfUser(db.ofShop(shopId), shopId, userId),
    appUse,
    shopCalls,
    isMigrated,
  });
  const openAdmin = async () => {
    const { adminRoutes } = await import('../admin/routes.ts');
    const instance = openInstance();
    addFrame(instance);
    const pages = await adminRoutes(instance, {
      db,
      config,
      limiter,
      hosts,
      demoAccess,
      callAs: api.callAs,
      vatRegister,
      isMigrated,
      settingsFormat,
      emailKinds: EMAIL_KINDS,
      providers: payments.providers,
      media,
      creation,
      service,
      hostNews,
      policy,
    });
    await instance.ready();
    return { instance, pages };
  };

  // Waiting readers would keep the service from ending.
  app.addHook('preClose', async () => eventWaiting.close());
  app.addHook('onClose', async () => {
    vatSender.close();
    await admin.close();
    await appCalls.close();
    await hosts.close();
    await demoAccess.close();
    await clocks.close();
    await hostNews.close();
    limiter.close();
    await limiter.flush();
    await appUse.close();
    await shopCalls.close();
    await missed.close();
    await assistantCalls.close();
  });
  return app;
}

function portOf({ server }: FastifyInstance): number | undefined {
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

/** The contract's paths, those beside it for the shop's own back office, and those of the host. */
function isApi(url: string): boolean {
  return url.startsWith('/rs/') || url.startsWith('/manage/') || isHostApi(url);
}

function isHostApi(url: string): boolean {
  return url.startsWith('/host/');
}

function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(isApi(request.url) ? API_HEADERS : COMMON_HEADERS).header('x-request-id', request.id);
  if (request.headers.origin !== undefined) reply.header('access-control-expose-headers', EXPOSED_HEADERS);
}

/** A request that is not HTTP, is too slow or has too large headers never reaches a route. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // Browsers open connections in advance, and take the data on one as the answer to their next request.
  const hasAskedNothing = socket.bytesRead === 0;
  if (!socket.writable || error.code === 'ECONNRESET' || hasAskedNothing) {
    socket.destroy();
    return;
  }
  const text =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'The request took too long'
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? 'The headers are too large'
        : 'The request is not valid HTTP';
  const body = JSON.stringify(errorBody(400, text, '-', '-'));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

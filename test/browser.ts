import type { Browser, BrowserContext, Page, Request, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { seriousProblems } from './accessibility.ts';
import { isBrowserRequired, sharedBrowser } from './chromium.ts';
import { startDemo } from './demo.ts';
import { findOwnBrowser, NO_BROWSER } from './find-browser.ts';
import type { Service } from './service.ts';
import { loadAppScripts } from './storefront.ts';

export interface Visitor {
  screen?: 'wide' | 'phone';
  /** False: the browser runs no JavaScript. */
  runsScripts?: boolean;
  locale?: string;
  /** Has allowed everything, scripts of apps too. */
  consents?: boolean;
}

export interface Browsing {
  service: Service;
  /** Scheme, host and port of the pages: the service's, or the demo shop's own. */
  origin: string;
  /** Those of the service. */
  serviceOrigin: string;
  /** What went wrong so far on the pages of this test; it fails if something is left when it ends. */
  problems: string[];
  /** The origins beside it that the pages of this test may ask for; those of apps and attackers are added to it. */
  otherSites: string[];
  /** A page of a new visitor, who has no cookies yet. */
  open(visitor?: Visitor): Promise<Page>;
}

export interface BrowsingOptions {
  /** Making the pictures takes some seconds. */
  hasImages?: boolean;
  /** The demo shop's own host, where it loads the scripts of its apps; else the one of the service. */
  onOwnHost?: boolean;
  /** The service under a name instead of an address: passkeys belong to a name. */
  onLocalhost?: boolean;
  /** Variables of the service, of what the file has started before. */
  environment?: () => Record<string, string>;
}

/** Where the scripts of the demo shop's apps are. */
const APPS = 'https://cdn.example';

/**
 * For the tests of a file: a demo service that listens, and a browser. On a machine without a browser the tests are
 * skipped, unless the run must be complete.
 */
export function browsing({
  hasImages = false,
  onOwnHost = false,
  onLocalhost = false,
  environment = () => ({}),
}: BrowsingOptions = {}): Browsing {
  const problems: string[] = [];
  const otherSites = [APPS];
  const contexts: BrowserContext[] = [];
  let browser: Browser | undefined;
  let service: Service | undefined;
  let origin: string;
  let serviceOrigin: string;
  const isSkipped = !isBrowserRequired && findOwnBrowser() === undefined;
  beforeEach((test) => test.skip(isSkipped, NO_BROWSER));
  beforeAll(async () => {
    if (isSkipped) return;
    browser = await sharedBrowser();
    service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0', ...environment() }, undefined, { hasImages });
    if (onOwnHost) await loadAppScripts(service);
    serviceOrigin = await service.app.listen({ host: '127.0.0.1', port: 0 });
    if (onLocalhost) serviceOrigin = serviceOrigin.replace('127.0.0.1', 'localhost');
    origin = onOwnHost ? serviceOrigin.replace('127.0.0.1', 'demoshop.localhost') : serviceOrigin;
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    otherSites.splice(1);
    expect(problems.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await service?.close();
  });
  const shop: Browsing = {
    get service() {
      return service!;
    },
    get origin() {
      return origin;
    },
    get serviceOrigin() {
      return serviceOrigin;
    },
    problems,
    otherSites,
    open: async ({ screen = 'wide', runsScripts = true, locale = 'en-GB', consents = false } = {}) => {
      const context = await browser!.newContext({
        baseURL: origin,
        locale,
        javaScriptEnabled: runsScripts,
        // Every frame of an animation is painted, and a click waits for its end.
        reducedMotion: 'reduce',
        ...(screen === 'wide'
          ? { viewport: { width: 1280, height: 900 } }
          : { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }),
      });
      contexts.push(context);
      watch(context, shop);
      // A test that wants more of an app's script routes it itself.
      if (onOwnHost) await context.route(`${APPS}/*`, script(''));
      const page = await context.newPage();
      if (consents) await allowAll(page, onOwnHost ? '' : '/shop/DemoShop');
      return page;
    },
  };
  return shop;
}

/** Of what is in the page, or in the browser itself: a whole one shows PDFs with an extension. */
const OWN_SCHEMES = ['about:', 'blob:', 'chrome:', 'chrome-extension:', 'data:'];

/**
 * Collects what must not happen on any page: errors, refusals of the policy, missing files, calls to strangers. These are
 * heard of and not intercepted: a browser whose requests are intercepted loads all files anew for each page.
 */
function watch(context: BrowserContext, { origin, otherSites, problems }: Browsing): void {
  const hear = (request: Request) => {
    const url = new URL(request.url());
    const isExpected = url.origin === origin || otherSites.includes(url.origin);
    // What the policy of the page refuses is not asked for.
    const isRefused = request.failure()?.errorText === 'csp';
    const isOwn = OWN_SCHEMES.includes(url.protocol);
    if (!isExpected && !isRefused && !isOwn) problems.push(`asked for ${url.href}`);
  };
  context.on('requestfinished', hear);
  context.on('requestfailed', hear);
  context.on('weberror', (error) => problems.push(String(error.error())));
  context.on('console', (message) => {
    // Missing files are told below, by their address.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) problems.push(message.text());
  });
  context.on('response', (response) => {
    const isPage = response.request().isNavigationRequest();
    if (response.status() >= (isPage ? 500 : 400)) problems.push(`${response.status()} ${response.url()}`);
  });
}

/** Answers the question about cookies of a shop: everything is allowed. `base` is where its pages are. */
export async function allowAll(page: Page, base = ''): Promise<void> {
  await page.goto(`${base}/consent`);
  await page.locator('main button[value=all]').click();
  await page.locator('.notice').waitFor();
}

/** Answers with a script: `page.route('https://cdn.example/chat.js', script('...'))`. */
export function script(body: string): (route: Route) => Promise<void> {
  return (route) => route.fulfill({ contentType: 'text/javascript', body });
}

/**
 * Lets the reference of the API have the operations of carts alone, here and in what the page opens: for all of them a
 * browser needs as much of the processor as for twenty other pages.
 */
export async function shortenReference({ service }: Browsing, page: Page): Promise<void> {
  await page.context().route('**/openapi.json', async (route) => {
    const { paths, ...others } = (await service.app.inject('/openapi.json')).json<{ paths: object }>();
    const ofCarts = Object.entries(paths).filter(([path]) => path.includes('/carts'));
    await route.fulfill({ json: { ...others, paths: Object.fromEntries(ofCarts) } });
  });
}

/** No page is wider than its screen, and none hinders anybody. Without scripts axe does not run. */
export async function look(page: Page, isScripted = true): Promise<void> {
  await page.waitForLoadState();
  const fits = await page.evaluate('document.documentElement.scrollWidth <= innerWidth');
  const problems = isScripted ? await seriousProblems(page) : [];
  expect({ at: page.url(), fits, problems }).toEqual({ at: page.url(), fits: true, problems: [] });
}

/** Gives the browser a device with a fingerprint reader, which says yes. */
export async function addPasskeyDevice(page: Page, isUserVerified = true): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
}

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page, Request, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest';
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
    service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' }, undefined, { hasImages });
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
    if (!isExpected && !isRefused && !OWN_SCHEMES.includes(url.protocol))
      problems.push(`asked for ${url.href}`);
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

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * What hinders people who use a page by screen reader, by keyboard or with weak eyes: a line for each place. Elements that
 * are like those of a page that was found fine in this run, on a screen of the same width, are not looked at again: axe
 * takes several times as long as the page itself.
 */
export async function seriousProblems(page: Page): Promise<string[]> {
  // A page without its stylesheet is another one.
  await page.waitForLoadState();
  const kinds = await describeElements(page);
  const file = path.join(inject('folder'), 'accessible-elements');
  const fine = existsSync(file) ? new Set((await readFile(file, 'utf8')).split('\n')) : new Set<string>();
  const unknown = kinds.filter(({ digest }) => !fine.has(digest));
  if (unknown.length === 0) return [];
  // What is below an unknown element is unknown too.
  const parts = unknown.filter(({ parent }) => parent === -1 || fine.has(kinds[parent]!.digest));
  await page.evaluate(axe.source);
  // Only the violations leave the page: the results name every rule that was kept, too.
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(
      { include: ${JSON.stringify(parts.map(({ index }) => index))}.map((index) => window.examples[index]) },
      { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'], preload: false, iframes: false },
    ).then((results) => results.violations)`,
  );
  const problems = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help} ${target.join(' ')} ${failureSummary ?? ''}`),
    );
  // The workers of a run share the file.
  if (problems.length === 0) await appendFile(file, unknown.map(({ digest }) => `${digest}\n`).join(''));
  return problems;
}

interface ElementKind {
  index: number;
  /** The index of the kind that it is in; -1 for the whole document. */
  parent: number;
  digest: string;
}

/**
 * The kinds of elements on a page, as far as the rules of axe can tell them apart: what an element is, what is around it,
 * the stylesheets and the width of the screen, whether it has a text and a label, and whether what it refers to is there.
 * Texts and addresses do not count, so that a list of ten products is the same as one of two others.
 */
async function describeElements(page: Page): Promise<ElementKind[]> {
  const { screen, kinds } = await page.evaluate<{ screen: string; kinds: [parent: number, kind: unknown][] }>(
    DESCRIBE_ELEMENTS,
  );
  const described: ElementKind[] = [];
  for (const [index, [parent, kind]] of kinds.entries()) {
    const around = described[parent]?.digest ?? screen;
    const digest = createHash('sha256')
      .update(`${around} ${JSON.stringify(kind)}`)
      .digest('base64url');
    described.push({ index, parent, digest: digest.slice(0, 20) });
  }
  return described;
}

/** It runs in the page, and leaves an element of each kind in `window.examples`. */
const DESCRIBE_ELEMENTS = `(() => {
  const VALUES = /^(class|style|type|role|tabindex|autocomplete|scope|aria-(checked|current|disabled|expanded|haspopup|hidden|invalid|live|modal|pressed|selected|sort))$/;
  const REFERENCES = /^(for|list|headers|aria-(activedescendant|controls|describedby|details|errormessage|labelledby|owns))$/;
  const ids = new Map();
  for (const { id } of document.querySelectorAll('[id]')) ids.set(id, (ids.get(id) ?? 0) + 1);
  const describe = ({ name, value }) => {
    if (VALUES.test(name)) return name + '=' + value;
    if (REFERENCES.test(name)) return name + '=' + value.split(' ').every((id) => ids.has(id));
    if (name === 'id') return name + (ids.get(value) === 1 ? '' : ' twice');
    return value.trim() === '' ? name + '=' : name;
  };
  const hasText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '';
  const kinds = new Map();
  window.examples = [];
  const visit = (element, parent) => {
    const attributes = [...element.attributes].map(describe).toSorted();
    const { localName, labels, childNodes, textContent } = element;
    const kind = [localName, attributes, labels?.length > 0, [...childNodes].some(hasText), textContent.trim() === ''];
    const key = JSON.stringify([parent, kind]);
    if (!kinds.has(key)) {
      kinds.set(key, kinds.size);
      window.examples.push(element);
    }
    const index = kinds.get(key);
    for (const child of element.children) visit(child, index);
  };
  visit(document.documentElement, -1);
  const styles = [...document.querySelectorAll('style, link[rel=stylesheet]')];
  return {
    screen: JSON.stringify([
      innerWidth,
      document.title.trim() !== '',
      document.querySelector('meta[name=viewport]')?.content,
      styles.map((style) => style.textContent || new URL(style.href).pathname + style.media),
    ]),
    kinds: [...kinds.keys()].map((key) => JSON.parse(key)),
  };
})()`;

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

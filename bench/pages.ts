import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { attachEmbedded } from '../src/db/embedded.ts';
import { openBrowser } from '../test/chromium.ts';
import { atEnd, startServer } from './processes.ts';
import { median, type Verdict } from './report.ts';

/** A product with pictures, bulk prices and more of its kind. */
const PAGE = '/shop/DemoShop/Products/AP-100';
const SLOWER = 4;
const PICTURES_WITHIN = 30_000;

/** How fast and how heavy the page of a product is for somebody who comes for the first time. */
export async function measurePages(
  installation: string,
  workFolder: string,
  visits: number,
): Promise<Verdict[]> {
  const data = await mkdtemp(path.join(workFolder, 'data-'));
  atEnd(() => attachEmbedded(data, { log: () => {} }).then((embedded) => embedded.stop()));
  const { origin } = await startServer({
    name: 'Kontor',
    words: ['bin/kontor.js', 'serve'],
    folder: installation,
    environment: { KONTOR_DATA: data },
    logFile: path.join(workFolder, 'pages.log'),
    probe: PAGE,
  });
  await picturesDrawn(origin);
  const browser = await openBrowser();
  atEnd(() => browser.close());
  const seen = [];
  for (let count = 0; count < visits; count++) seen.push(await visit(browser, origin));
  const paint = Math.round(median(seen.map(({ paintMs }) => paintMs)));
  const weight = Math.round(median(seen.map(({ kilobytes }) => kilobytes)) * 10) / 10;
  return [
    {
      name: `product page: largest paint, CPU ${SLOWER} x slower, ms`,
      value: paint,
      goal: 1_000,
      ok: paint < 1_000,
    },
    { name: 'product page: first load without images, KB', value: weight, goal: 60, ok: weight < 60 },
  ];
}

/** They are drawn after the first start. */
export async function picturesDrawn(origin: string): Promise<void> {
  const began = performance.now();
  while (!(await (await fetch(origin + PAGE)).text()).includes('/media/DemoShop/')) {
    if (performance.now() - began > PICTURES_WITHIN) throw new Error('The demo shop has no pictures');
    await sleep(200);
  }
}

/** A browser without anything in its cache. */
async function visit(browser: Browser, origin: string): Promise<{ paintMs: number; kilobytes: number }> {
  const context = await browser.newContext({ baseURL: origin, viewport: { width: 390, height: 844 } });
  // The scripts of the demo's apps are on a host that does not exist.
  await context.route(/^https:/, (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await session.send('Network.enable');
  let bytes = 0;
  const types = new Map<string, string>();
  session.on('Network.responseReceived', ({ requestId, type }) => void types.set(requestId, type));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (types.get(requestId) !== 'Image') bytes += encodedDataLength;
  });
  await page.goto(PAGE, { waitUntil: 'networkidle' });
  const paintMs = await page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
      .observe({ type: 'largest-contentful-paint', buffered: true });
  })`);
  await context.close();
  return { paintMs, kilobytes: bytes / 1024 };
}

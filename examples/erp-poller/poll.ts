/**
 * Copies every order of a shop into a folder, as an ERP imports them, and goes on where it stopped:
 *
 *     ACCESS_TOKEN=demo-all npx tsx examples/erp-poller/poll.ts
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient, type ClientOptions } from '@kontor/client';

export async function poll(options: ClientOptions, folder: string, signal: AbortSignal): Promise<void> {
  const shop = createClient(options);
  const position = path.join(folder, 'position');
  await mkdir(folder, { recursive: true });
  const stored = await readFile(position, 'utf8').catch(() => undefined);
  const pages = shop.eventPages({
    types: ['ORDER_CREATE', 'ORDER_UPDATE'],
    ...(stored !== undefined && { after: Number(stored) }),
    signal,
    onInterruption: (error) => console.error(`The shop does not answer, trying again: ${String(error)}`),
  });
  for await (const { items, next } of pages) {
    for (const orderId of new Set(items.map((event) => event.resourceId!))) {
      const order = await shop.GET('/rs/shops/{shopId}/orders/{orderId}', { params: { path: { orderId } } });
      // An order that comes again, after a crash or a change, replaces its file.
      await writeWhole(path.join(folder, `${orderId}.json`), JSON.stringify(order, null, 2));
      console.log(`${order.orderNumber} ${order.grandTotal} ${order.currencyId}`);
    }
    // Behind the orders: a crash in between copies them again, but misses none.
    await writeWhole(position, String(next));
  }
}

/** A file is complete or not there, whenever the process ends. */
async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { KONTOR_URL = 'http://localhost:8080', SHOP = 'DemoShop', ACCESS_TOKEN = '' } = process.env;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  await poll({ baseUrl: KONTOR_URL, shopId: SHOP, accessToken: ACCESS_TOKEN }, 'orders', stop.signal);
}

/**
 * `npx tsx bench/move-in.ts [PRODUCTS] [ORDERS]`: how long an import of a shop from files takes (default: 20,000 products
 * and 50,000 orders with two lines each, in the files of Shopify), the same again, and the most memory of the process.
 * Needs nothing but `npm ci`. No picture is fetched.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/db/database.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { importShop, type Imported } from '../src/imports/import-shop.ts';
import { shopifySource } from '../src/imports/shopify/shopify.ts';
import { withSourceFiles } from '../src/imports/source-files.ts';
import { openMediaStorage } from '../src/platform/media/open-storage.ts';
import { createBareShop } from './shop.ts';

const PRODUCTS = Number(process.argv[2] ?? 20_000);
const ORDERS = Number(process.argv[3] ?? 50_000);
const CUSTOMERS = Math.max(1, Math.round(ORDERS / 4));

const folder = await mkdtemp(path.join(tmpdir(), 'kontor-bench-'));
const files = path.join(folder, 'files');
await mkdir(files);
const write = (name: string, lines: Iterable<string>) =>
  pipeline(Readable.from(lines), createWriteStream(path.join(files, name)));

function* products() {
  yield 'Handle,Title,Body (HTML),Vendor,Type,Option1 Name,Option1 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Price,Status\n';
  for (let index = 0; index < PRODUCTS; index++) {
    yield `thing-${index},Thing ${index},<p>${'A text about it. '.repeat(20)}</p>,Maker ${index % 50},Type ${index % 40},Title,Default Title,T-${index},300,shopify,12,9.50,active\n`;
  }
}

function* orders() {
  yield 'Name,Email,Financial Status,Paid at,Currency,Subtotal,Shipping,Taxes,Total,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Billing Address1,Billing City,Billing Zip,Billing Country,Id,Tax 1 Name,Tax 1 Value\n';
  for (let index = 0; index < ORDERS; index++) {
    const email = `buyer${index % CUSTOMERS}@mail.example`;
    const moment = new Date(Date.UTC(2024, 0, 1) + index * 600_000).toISOString();
    const sku = (line: number) => `T-${(index * 7 + line) % PRODUCTS}`;
    yield `#${index + 1},${email},paid,${moment},EUR,28.50,4.90,5.33,33.40,Parcel,${moment},2,Thing,9.50,${sku(0)},Ada Brennan,Speicherweg 4,Hamburg,20457,DE,${index + 1},VAT 19%,5.33\n`;
    yield `#${index + 1},${email},,,,,,,,,,1,Thing,9.50,${sku(1)},,,,,,,,\n`;
  }
}

await write('products.csv', products());
await write('orders.csv', orders());
const postgres = await startEmbedded(path.join(folder, 'data'), { log: () => {} });
const db = openDatabase({ connection: postgres.connection });
const config = readConfig({ KONTOR_DATA: path.join(folder, 'data') });
let most = 0;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 100);
try {
  await migrate(db, () => {});
  await createBareShop(db, 'Full');
  for (const run of ['first', 'again']) {
    for (const [only, count] of [
      ['products', PRODUCTS],
      ['orders', ORDERS],
    ] as [Imported, number][]) {
      most = 0;
      const began = performance.now();
      const report = await withSourceFiles(files, (tables) =>
        importShop({
          db,
          config,
          media: openMediaStorage(config),
          shopId: 'Full',
          source: shopifySource(tables),
          only: [only],
          isCheck: false,
          onProgress: () => {},
        }),
      );
      const seconds = (performance.now() - began) / 1_000;
      const { created = 0, unchanged = 0 } =
        report.counts.get(only === 'products' ? 'product' : 'order') ?? {};
      process.stdout.write(
        `${run}: ${count.toLocaleString('en')} ${only} in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} per second, ` +
          `at most ${Math.round(most / 1_048_576)} MB (${created} new, ${unchanged} unchanged)\n`,
      );
    }
  }
} finally {
  clearInterval(watch);
  await db.close();
  await postgres.stop();
  await rm(folder, { recursive: true });
}

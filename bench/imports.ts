import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CsvColumn } from '../src/catalogue/products/csv-columns.ts';
import { knownColumns } from '../src/catalogue/products/csv-mapping.ts';
import { productText } from '../src/catalogue/products/export.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import type { Verdict } from './report.ts';
import { LOCALES, timedImport } from './scale.ts';
import { createBareShop } from './shop.ts';
import { openClient, percentile } from './timing.ts';

/**
 * An import of products by the command line, beside a service in which other shops sell: new products, the same file
 * with another stock in every hundredth row, and a file of new prices.
 */
export interface ImportOptions {
  products: number;
  /** For how long the other shop is asked while nothing is imported. */
  quietSeconds: number;
}

export interface ImportShops {
  /** The shop that others visit meanwhile. */
  root: string;
  token: string;
  productIds: string[];
  files: { kind: string; file: string }[];
}

const OTHER_PRODUCTS = 1_000;

export async function createImportShops(
  db: Database,
  { products }: ImportOptions,
  workFolder: string,
): Promise<ImportShops> {
  for (const shopId of ['Source', 'Copy']) {
    await createBareShop(db, shopId);
    await db.transaction((tx) => applySettings(tx, shopId, { locales: LOCALES }));
  }
  await generateProducts(db, { shopId: 'Source', products, seed: 7 }, () => {});
  const token = await createBareShop(db, 'Other');
  await generateProducts(db, { shopId: 'Other', products: OTHER_PRODUCTS, seed: 8 }, () => {});
  const visible = await db.many<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = 'Other' and kind = 'regular' and visible and stock > 0 limit 500`);
  const files = await writeFiles(db, workFolder);
  await db.pool.query('vacuum analyze');
  return { root: '/rs/shops/Other', token, productIds: visible.map(({ id }) => id), files };
}

async function writeFiles(db: Database, workFolder: string): Promise<ImportShops['files']> {
  const settings = await shopSettings(db, 'Source');
  const known = knownColumns(settings);
  // Generated texts have no line breaks. Some have semicolons, but they come after the stock.
  const exported = async (columns: readonly CsvColumn[]) => {
    const pieces: string[] = [];
    for await (const piece of productText(db, settings, { columns, titleOf: ({ key }) => key }))
      pieces.push(piece);
    const lines = pieces.join('').trimEnd().split('\n');
    return lines.map((line) => line.split(';'));
  };
  const all = await exported([...known.values()]);
  const stock = [...known.keys()].indexOf('StockLevel');
  const restocked = all.map((cells, index) =>
    index % 100 === 1 ? cells.with(stock, String(Number(cells[stock]) + 1)) : cells,
  );
  const prices = await exported(
    ['Alias', 'SuperProduct', 'ListPrices/EUR/gross'].map((key) => known.get(key)!),
  );
  const priced = prices.map(([number, master, price], index) => {
    const isPrice = index > 0 && price !== '';
    return [number!, master!, isPrice ? (Number(price) * (index % 2 === 0 ? 0.9 : 1.1)).toFixed(2) : price!];
  });
  const tables = [
    { kind: 'new products', table: all },
    { kind: 'rows of which one in a hundred has another stock', table: restocked },
    { kind: 'new prices', table: priced },
  ];
  return Promise.all(
    tables.map(async ({ kind, table }, index) => {
      const file = path.join(workFolder, `import-${index}.csv`);
      await writeFile(file, `${table.map((cells) => cells.join(';')).join('\n')}\n`);
      return { kind, file };
    }),
  );
}

export async function measureImportKinds(
  origin: string,
  shops: ImportShops,
  { quietSeconds }: ImportOptions,
  { installation, environment }: { installation: string; environment: NodeJS.ProcessEnv },
): Promise<Verdict[]> {
  await visitUntil(origin, shops, sleep(2_000));
  const quiet = await visitUntil(origin, shops, sleep(1_000 * quietSeconds));
  const verdicts: Verdict[] = [];
  for (const { kind, file } of shops.files) {
    const importing = timedImport(installation, environment, 'Copy', file);
    const beside = await visitUntil(origin, shops, importing);
    const { seconds, megabytes, output } = await importing;
    const [created, changed, unchanged] = (output.match(/\d+/g) ?? []).map(Number);
    const perRow = Math.round((1e5 * seconds) / (created! + changed! + unchanged!)) / 100;
    const verdict = (name: string, value: number, goal: number, ok: boolean) =>
      verdicts.push({ name: `import of ${kind}, ${name}`, value, goal, ok });
    verdict('ms a row', perRow, 0.1, perRow <= 0.1);
    verdict('memory of Node, MB', Math.round(megabytes), 250, megabytes < 250);
    for (const call of ['product', 'cart'] as const) {
      const ratio = Math.round((100 * beside[call]) / quiet[call]) / 100;
      const p95s = `${quiet[call].toFixed(1)} -> ${beside[call].toFixed(1)} ms`;
      verdict(`p95 of a ${call} of another shop: ${p95s}, times`, ratio, 1.5, ratio < 1.5);
    }
  }
  return verdicts;
}

const VISITORS = 4;
const PAUSE = 20;

/** Visitors of the other shop look at products and put them into new carts; the p95 of each, in ms. */
async function visitUntil(
  origin: string,
  { root, token, productIds }: ImportShops,
  ended: Promise<unknown>,
): Promise<{ product: number; cart: number }> {
  const times: { product: number[]; cart: number[] } = { product: [], cart: [] };
  const end = new AbortController();
  const over = ended.finally(() => end.abort());
  const visit = async (place: number) => {
    const client = openClient(origin, token);
    for (let index = place; !end.signal.aborted; index += VISITORS) {
      const productId = productIds[index % productIds.length];
      times.product.push(await client.time({ method: 'GET', path: `${root}/products/${productId}` }));
      const body = JSON.stringify({ lineItems: [{ productId, quantity: 1 }] });
      times.cart.push(await client.time({ method: 'POST', path: `${root}/carts`, body }));
      await sleep(PAUSE);
    }
    client.close();
  };
  await Promise.all([over, ...Array.from({ length: VISITORS }, (_, place) => visit(place))]);
  return { product: percentile(times.product, 0.95), cart: percentile(times.cart, 0.95) };
}

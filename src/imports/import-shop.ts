import { raiseCounter } from '../platform/counters.ts';
import type { ImportSource } from './source.ts';
import { findRecords } from './queries.ts';
import { ImportReport, type ImportRun } from './run.ts';
import { writeCategories } from './write/categories.ts';
import { writeCoupons } from './write/coupons.ts';
import { writeCustomers } from './write/customers.ts';
import { writeLegal } from './write/legal.ts';
import { writeOrders } from './write/orders.ts';
import { writeProducts } from './write/products.ts';
import { writeRedirects } from './write/redirects.ts';

/** What can be imported, as people name it, in the order in which it is: orders need their customers and products. */
export const IMPORTED = [
  'categories',
  'products',
  'customers',
  'orders',
  'coupons',
  'legal',
  'redirects',
] as const;
export type Imported = (typeof IMPORTED)[number];

export interface ShopImport extends Omit<ImportRun, 'report' | 'source'> {
  source: ImportSource;
  /** Where it is written; absent: a new one. */
  report?: ImportReport | undefined;
  only: readonly Imported[];
  /** The numbers with which this shop goes on; undefined: behind the last imported order. */
  nextOrderNumber?: number | undefined;
  nextInvoiceNumber?: number | undefined;
}

/**
 * Brings the things of another shop into this one. It can be run again: what has not changed there is left alone, and
 * what was edited here is reported. Each batch of records is written by itself, so an import that ends early goes on
 * where it was.
 */
export async function importShop({
  source,
  only,
  nextOrderNumber,
  nextInvoiceNumber,
  report = new ImportReport(),
  ...given
}: ShopImport): Promise<ImportReport> {
  const { db, shopId, isCheck } = given;
  const run: ImportRun = { ...given, source: source.name, report };
  const takes = (kind: Imported) => only.includes(kind);
  if (takes('categories') && source.category) await writeCategories(run, source.category());
  if (takes('products') && source.product) await writeProducts(run, source.product());
  if (takes('customers') && source.customer) await writeCustomers(run, source.customer());
  if (takes('orders') && source.order)
    await writeOrders(
      run,
      source.order((sourceIds) => knownOrders(run, sourceIds)),
    );
  if (takes('coupons') && source.coupon) await writeCoupons(run, source.coupon());
  if (takes('legal') && source.legal) await writeLegal(run, source.legal());
  if (takes('redirects') && source.redirect) {
    await writeRedirects(run, source.redirect(), async (tx, target) =>
      source.resolve ? source.resolve(tx, shopId, target) : { kind: 'address', target },
    );
  }
  if (!isCheck) {
    await db.transaction(async (tx) => {
      if (nextOrderNumber !== undefined) await raiseCounter(tx, shopId, 'order', nextOrderNumber - 1);
      if (nextInvoiceNumber !== undefined) await raiseCounter(tx, shopId, 'Invoice', nextInvoiceNumber - 1);
    });
  }
  return run.report;
}

/** Orders that were imported before. They are history: what is there is right. */
async function knownOrders(run: ImportRun, sourceIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { db, shopId, source, report, onProgress } = run;
  const known = await findRecords(db, shopId, { source, kind: 'order', sourceIds });
  report.count('order', 'unchanged', known.size);
  onProgress(known.size);
  return new Set(known.keys());
}

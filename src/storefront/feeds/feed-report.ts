import { dayAt } from '../../catalogue/products/backorders.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import { wrongGtinOf, gtinOf } from '../../catalogue/products/gtin.ts';
import { isForSale, ORDER_UNIT } from '../../catalogue/products/orderable.ts';
import type { CacheKind } from '../../db/cache.ts';
import type { ShopDatabase } from '../../db/database.ts';
import { newPauses } from '../../http/pauses.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import {
  feedAvailability,
  feedCategory,
  feedDescription,
  offerOf,
  pictureUrls,
  type FeedContext,
} from './feed-item.ts';
import { findCatalogueStamp, findCategoryPaths, findFeedProducts, type FeedRow } from './queries.ts';

/** What keeps a product out of the feeds, or makes channels show it less. */
export const FEED_PROBLEMS = [
  'noPicture',
  'noPrice',
  'wrongGtin',
  'noIdentifier',
  'noBrand',
  'noDescription',
  'noCategory',
  'noDeliveryPeriod',
] as const;
export type FeedProblem = (typeof FEED_PROBLEMS)[number];

/** Channels take no product with one of these. */
const LEAVES_OUT: readonly FeedProblem[] = ['noPicture', 'noPrice'];

interface Example {
  productId: string;
  productNumber: string;
}

export interface FeedReport {
  checked: number;
  /** How many of the checked ones are in the feeds. */
  listed: number;
  /** False: the catalogue is larger than a report. */
  isWhole: boolean;
  /** With the first products of each. */
  problems: { problem: FeedProblem; count: number; examples: Example[] }[];
}

const MAX_CHECKED = 5_000;
const MAX_EXAMPLES = 5;

const reportCache: CacheKind<FeedReport> = { name: 'feed reports', limit: { entries: 200 } };

/** What the feeds of a shop lack, in its default language and currency. It is computed again when the catalogue changes. */
export async function loadFeedReport(
  db: ShopDatabase,
  settings: Settings,
  home: string,
): Promise<FeedReport> {
  const { shopId, defaultLocale: locale, defaultCurrency: currency } = settings;
  const cache = db.caches.of(reportCache);
  const key = `${shopId} ${settings.version} ${await findCatalogueStamp(db, shopId, dayAt(db.now, settings.deliveryTimes.timeZone))}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const context: FeedContext = {
    visit: { shopId, settings, locale, home },
    currency,
    categoryPath: await findCategoryPaths(db, shopId, locale, locale),
    now: db.now,
  };
  const report = await checkProducts(findFeedProducts(db, shopId), context);
  cache.set(key, report);
  return report;
}

async function checkProducts(
  pages: AsyncIterable<readonly FeedRow[]>,
  context: FeedContext,
): Promise<FeedReport> {
  const found = new Map(FEED_PROBLEMS.map((problem) => [problem, { count: 0, examples: [] as Example[] }]));
  let [checked, listed, isWhole] = [0, 0, true];
  const pause = newPauses();
  for await (const rows of pages) {
    if (checked >= MAX_CHECKED) {
      isWhole = false;
      break;
    }
    for (const row of rows) {
      const problems = feedProblems(row, context);
      // Products that are not sold today lack nothing.
      if (!problems) continue;
      checked++;
      if (!problems.some((problem) => LEAVES_OUT.includes(problem))) listed++;
      for (const problem of problems) {
        const entry = found.get(problem)!;
        entry.count++;
        const { productId, productNumber } = row.row;
        if (entry.examples.length < MAX_EXAMPLES) entry.examples.push({ productId, productNumber });
      }
      await pause();
    }
  }
  const problems = [...found].flatMap(([problem, entry]) => (entry.count > 0 ? [{ problem, ...entry }] : []));
  return { checked, listed, isWhole, problems };
}

/** Undefined: it is not for sale today. */
export function feedProblems({ row, pictures }: FeedRow, context: FeedContext): FeedProblem[] | undefined {
  const { visit, now } = context;
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  // Any price: whether there is one is a problem of its own.
  if (!isForSale(row, facts, 1, now)) return undefined;
  const { orderUnit = ORDER_UNIT } = facts;
  const quantity = orderUnit.minimum || orderUnit.interval || 1;
  const { manufacturer, manufacturerProductNumber, deliveryPeriod } = facts;
  const isWrong = wrongGtinOf(facts) !== undefined;
  const hasIdentifier = gtinOf(facts) !== undefined || !!(manufacturer && manufacturerProductNumber);
  const is: Record<FeedProblem, boolean> = {
    noPicture: pictureUrls(pictures, visit.shopId, visit.home).length === 0,
    noPrice: !((offerOf(row, facts, quantity, context)?.amount ?? 0) > 0),
    wrongGtin: isWrong,
    noIdentifier: !isWrong && !hasIdentifier,
    noBrand: !manufacturer,
    noDescription: feedDescription(facts, visit) === undefined,
    noCategory: feedCategory(row, context) === undefined,
    noDeliveryPeriod:
      visit.settings.sellBeyondStock &&
      !deliveryPeriod &&
      feedAvailability(row, facts, quantity, context).availability === 'out_of_stock',
  };
  return FEED_PROBLEMS.filter((problem) => is[problem]);
}

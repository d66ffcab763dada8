import { dayAt } from '../../catalogue/products/backorders.ts';
import { Readable } from 'node:stream';
import { notFound } from '../../http/errors.ts';
import { readingCurrency } from '../../http/locale.ts';
import { newPauses } from '../../http/pauses.ts';
import { etagOf } from '../../http/raw-json.ts';
import { deliverySpan } from '../../pricing/delivery-span.ts';
import type { PageName } from '../../shops/legal/schema.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { Pages } from '../pages.ts';
import { absoluteUrl, legalNames, shopName, type Visit } from '../visit.ts';
import { agenticCommerceFeed } from './agentic-commerce.ts';
import type { FeedFormat, FeedShop } from './feed-format.ts';
import { findFeedFields } from './feed-fields.ts';
import { cut, feedItem } from './feed-item.ts';
import { googleFeed } from './google.ts';
import { findCatalogueStamp, findCategoryPaths, findFeedProducts } from './queries.ts';

/** The feeds by the name of their setting, with the last part of their address. */
export const FEEDS = [
  { setting: 'google', file: 'google.xml', format: googleFeed },
  { setting: 'agenticCommerce', file: 'acp.jsonl', format: agenticCommerceFeed },
] as const satisfies readonly { setting: keyof Settings['feeds']; file: string; format: FeedFormat }[];

/** A channel fetches a feed a few times a day; creating one reads the whole catalogue. */
const FEEDS_PER_HOUR = 60;

/**
 * Serves the product feeds, which channels such as Google fetch: `/feeds/google.xml?locale=de_DE&currency=EUR`. A
 * channel that sends the ETag of its last fetch gets the file only if something has changed.
 */
export function feedPages(pages: Pages): void {
  for (const { setting, file, format } of FEEDS) {
    pages.file(
      `/feeds/${file}`,
      async (visit, { query, isHead }) => {
        if (!visit.settings.feeds[setting] || visit.access !== 'public') throw notFound();
        const currency = readingCurrency(query('currency'), visit.settings);
        return {
          type: format.type,
          etag: await feedEtag(visit, file, currency),
          content: isHead
            ? ''
            : Readable.from(feedText(visit, format, currency), { objectMode: false, highWaterMark: 65_536 }),
        };
      },
      { perHour: FEEDS_PER_HOUR },
    );
  }
}

async function feedEtag(visit: Visit, file: string, currency: string): Promise<string> {
  const { db, shopId, settings, locale, home } = visit;
  const stamp = await findCatalogueStamp(db, shopId, dayAt(db.now, settings.deliveryTimes.timeZone));
  // Products ordered for a customer are available this many days from today.
  const ready = { from: 0, to: 0 };
  const { to: today } = deliverySpan(db.now, settings.deliveryTimes, ready, ready);
  return etagOf([file, home, locale, currency, settings.version, today, stamp].join(' '));
}

/** Characters: other requests are served between the pieces. */
const PIECE = 100_000;

async function* feedText(visit: Visit, format: FeedFormat, currency: string): AsyncGenerator<string> {
  const { db, shopId, settings, locale } = visit;
  const shop = feedShop(visit);
  const categoryPath = await findCategoryPaths(db, shopId, locale, settings.defaultLocale);
  const context = { visit, currency, categoryPath, now: db.now };
  const pause = newPauses();
  let piece = format.head(shop);
  for await (const rows of findFeedProducts(db, shopId)) {
    const products = rows.map(({ row }) => row);
    const fieldsOf = await findFeedFields(db, settings, locale, products);
    for (const row of rows) {
      const item = feedItem(row, fieldsOf(row.row), context);
      if (item) piece += format.item(item, shop);
      if (piece.length < PIECE) continue;
      yield piece;
      piece = '';
      await pause();
    }
    await pause();
  }
  yield piece + format.foot;
}

const MAX_NAME_LENGTH = 70;

function feedShop(visit: Visit): FeedShop {
  const { settings, home, db } = visit;
  const { withdrawal, orderPage, defaultCountry, countries, country } = settings;
  const names = legalNames(visit);
  const legalPage = (page: PageName) =>
    names[page] === undefined ? undefined : absoluteUrl(visit, `/legal/${page}`);
  return {
    name: cut(shopName(visit), MAX_NAME_LENGTH),
    home,
    now: db.now,
    privacyPolicy: legalPage('privacy-policy'),
    terms: legalPage('terms-and-conditions'),
    returnPolicy: legalPage('rights-of-withdrawal') ?? legalPage('terms-and-conditions'),
    returnDays: Math.max(withdrawal.days, orderPage.returnDays),
    country,
    targetCountries: [defaultCountry, ...countries.filter((one) => one !== defaultCountry)],
  };
}

import type { FastifyInstance } from 'fastify';
import { isDemo, type Config } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { notFound } from '../../http/errors.ts';
import { pathOfPage } from '../../content/pages/page.ts';
import { findPageAddresses } from '../../content/pages/queries.ts';
import { MAX_PAGES } from '../../content/pages/schema.ts';
import { html, safe, type Markup } from '../../http/html.ts';
import { newPauses } from '../../http/pauses.ts';
import { PAGES } from '../../shops/legal/schema.ts';
import { countListed } from '../../catalogue/products/listing-page.ts';
import type { Pages } from '../pages.ts';
import { absoluteUrl, categoryPath, productPath, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';

/** The addresses that search engines accept in one file; each page has one per language. */
const MAX_ADDRESSES = 50_000;

/** A file of products is small enough that creating it does not delay other visitors. */
const MAX_PRODUCT_ADDRESSES = 3_000;

/** The sitemap is a list of files: the first has all pages but those of products, which follow. */
export function sitemap(pages: Pages): void {
  pages.file('/sitemap.xml', async (visit) => {
    requirePublic(visit);
    const { db, shopId, home } = visit;
    const files = 1 + Math.ceil((await countListed(db, shopId)) / perFile(visit));
    const addresses = Array.from({ length: files }, (_, index) => `${home}/sitemap/${index}.xml`);
    return document(
      'sitemapindex',
      addresses.map((address) => html`<sitemap><loc>${address}</loc></sitemap>`),
    );
  });

  // On the shop's own host this is /robots.txt.
  pages.file('/robots.txt', async (visit) => {
    requirePublic(visit);
    const { base, home } = visit;
    return {
      type: 'text/plain; charset=utf-8',
      content: `${robots(NOT_INDEXED.map((path) => base + path))}Sitemap: ${home}/sitemap.xml\n`,
      headers: { 'cache-control': 'public, max-age=86400' },
    };
  });

  pages.file('/sitemap/:file', async (visit, { params }) => {
    requirePublic(visit);
    const [, digits] = /^(0|[1-9]\d{0,5})\.xml$/.exec(params['file']!) ?? [];
    if (digits === undefined) throw notFound();
    const number = Number(digits);
    const listed = number === 0 ? await mainPages(visit) : await productPages(visit, number);
    if (listed.length === 0) throw notFound();
    const content: Markup[] = [];
    const pause = newPauses();
    for (const page of listed) {
      content.push(...entries(visit, page));
      await pause();
    }
    return document('urlset', content);
  });
}

/** Search engines get nothing of a shop that is not open yet, not even in the browser of a visitor who may see it. */
function requirePublic({ access }: Visit): void {
  if (access !== 'public') throw notFound();
}

/** Search engines should not open pages of one visitor and endless lists. */
const NOT_INDEXED = ['/cart', '/checkout', '/wishlist', '/search', '/suggest', '/newsletter/'];

/** On the service's host the API is excluded as well. */
const ROBOTS = robots(['/rs/', '/manage/', ...NOT_INDEXED.map((path) => `/shop/*${path}`)]);

function robots(disallowed: readonly string[]): string {
  return ['User-agent: *', ...disallowed.map((path) => `Disallow: ${path}`), ''].join('\n');
}

export function robotsRoutes(app: FastifyInstance, config: Config): void {
  app.get('/robots.txt', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .headers({ 'cache-control': 'public, max-age=86400' })
      .send(isDemo(config) ? robots(['/']) : ROBOTS),
  );
}

const perFile = ({ settings }: Visit) => Math.floor(MAX_PRODUCT_ADDRESSES / settings.locales.length);

interface SitemapPage {
  path: string;
  /** Where the languages have paths of their own. */
  paths?: Readonly<Record<string, string>>;
  /** The locales in which the page has a text; absent: all. */
  locales?: readonly string[];
}

async function mainPages(visit: Visit): Promise<SitemapPage[]> {
  const { db, shopId, settings, layout } = visit;
  const maxCategories = Math.floor(MAX_ADDRESSES / settings.locales.length) - PAGES.length - 2 - MAX_PAGES;
  const aliases = await findVisibleAliases(db, shopId, maxCategories);
  return [
    { path: '' },
    ...aliases.map((alias) => ({ path: categoryPath(alias) })),
    ...PAGES.map(({ page }) => ({
      path: `/legal/${page}`,
      locales: settings.locales.filter((locale) => layout.legalNames[locale]?.[page] !== undefined),
    })),
    ...(settings.newsletterCampaigns.length > 0 ? [{ path: '/newsletter' }] : []),
    ...(await findPageAddresses(db, shopId)).map(({ kind, slugs }) => ({
      path: '',
      paths: Object.fromEntries(
        Object.entries(slugs).map(([locale, slug]) => [locale, pathOfPage(kind, slug)!]),
      ),
      locales: settings.locales.filter((locale) => Object.hasOwn(slugs, locale)),
    })),
  ];
}

async function productPages(visit: Visit, number: number): Promise<SitemapPage[]> {
  const { db, shopId, settings } = visit;
  const limit = perFile(visit);
  const numbers = await findListedNumbers(db, shopId, settings.defaultLocale, limit, (number - 1) * limit);
  return numbers.map((productNumber) => ({ path: productPath(productNumber) }));
}

/** Each language has an entry, which names the addresses of all languages. */
function entries(visit: Visit, { path, paths, locales = visit.settings.locales }: SitemapPage): Markup[] {
  const addresses = locales.map((locale) => ({
    language: languageTag(locale),
    address: absoluteUrl({ ...visit, locale }, paths?.[locale] ?? path),
  }));
  const others =
    addresses.length > 1 &&
    addresses.map(
      ({ language, address }) =>
        html`<xhtml:link rel="alternate" hreflang="${language}" href="${address}" />`,
    );
  return addresses.map(({ address }) => html`<url><loc>${address}</loc>${others}</url>`);
}

function document(root: 'sitemapindex' | 'urlset', content: readonly Markup[]) {
  const open = `<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">`;
  const text = html`${safe(open)}${content}${safe(`</${root}>`)}`.text;
  return {
    type: 'application/xml; charset=utf-8',
    content: `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`,
  };
}

/** The root category is left out, because it is the front page. */
async function findVisibleAliases(db: Queries, shopId: string, limit: number): Promise<string[]> {
  const rows = await db.many<{ alias: string }>(sql`
    select alias from category
    where shop_id = ${shopId} and visible and parent_id is not null order by number limit ${limit}`);
  return rows.map(({ alias }) => alias);
}

/** Masters and products without variations, read from the index by name. */
async function findListedNumbers(
  db: Queries,
  shopId: string,
  locale: string,
  limit: number,
  offset: number,
): Promise<string[]> {
  const rows = await db.many<{ productNumber: string }>(sql`
    select (
        select product_number from product where shop_id = ${shopId} and product.product_id = listed.product_id
      ) as "productNumber"
    from (
      select product_id from listing where shop_id = ${shopId} and locale = ${locale} and visible
      order by name, product_id limit ${limit} offset ${offset}
    ) as listed`);
  return rows.map(({ productNumber }) => productNumber);
}

import { findCategoryCards } from '../../catalogue/categories/queries.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { html, plainText, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { parseVersions } from '../../catalogue/products/listing-page.ts';
import { findProducts } from '../../catalogue/products/queries.ts';
import { renderProduct } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { categoryCards } from './category-cards.ts';
import { findOrRender, pageCache, visitorOptions, type RenderedPage } from '../page-cache.ts';
import { messages } from '../../kernel/messages.ts';
import { merchantHtml } from '../merchant-html/merchant-html.ts';
import { pageLength, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { priceNote, productCards } from '../product/product-card.ts';
import { shopName, type Visit } from '../visit.ts';

/** How many offers are shown, and how many new products. */
const MAX_PRODUCTS = 8;

/** A shop with more products shows offers among those that were created or changed last. */
const MAX_CANDIDATES = 500;

const homeCache = pageCache<Page>('front pages', 16);

export function home(pages: Pages): void {
  pages.get('', async (visit) => {
    const { versionStamp } = await findHome(visit, visit.db);
    const page = await findOrRender(homeCache, visit, 'home', versionStamp, (snapshot) =>
      renderHome(visit, snapshot),
    );
    return page!;
  });
}

interface Featured {
  /** `<id>:<version>,...` */
  offers: string | null;
  fresh: string | null;
}

async function findHome({ shopId, locale }: Visit, db: Queries) {
  const cards = await findCategoryCards(db, shopId, locale, undefined);
  const { offers, fresh } = (await findFeatured(db, shopId))!;
  const pictures = cards.map(({ image }) => image?.imageKey ?? '').join();
  return {
    cards,
    offers: parseVersions(offers ?? ''),
    fresh: parseVersions(fresh ?? ''),
    versionStamp: `${offers} ${fresh} ${pictures}`,
  };
}

/** Whether a product is still new depends on the time, which moves no version, so the statement decides it. */
export function findFeatured(db: Queries, shopId: string) {
  return db.one<Featured>(sql`
    with changed as materialized (
      select product_id from product
      where shop_id = ${shopId} and attributes_changed_at is not null
      order by attributes_changed_at desc limit ${MAX_CANDIDATES}
    ), created as materialized (
      select product_id from product where shop_id = ${shopId} order by product_id desc limit ${MAX_CANDIDATES}
    ), featured as materialized (
      select product.product_id, product.version || coalesce('/' || product.stock, '') as version,
        product.facts -> 'specialOffer' = 'true' as is_offer,
        product.facts -> 'isNew' = 'true'
          and coalesce((product.facts ->> 'newUntil')::timestamptz > ${db.now}, true) as is_new
      from product
      where product.shop_id = ${shopId} and product.visible and product.kind <> 'variation'
        and product.product_id in (select product_id from changed union select product_id from created)
    )
    select (
      select string_agg(product_id || ':' || version, ',' order by product_id desc) from (
        select * from featured where is_offer order by product_id desc limit ${MAX_PRODUCTS}
      ) as entry
    ) as offers, (
      select string_agg(product_id || ':' || version, ',' order by product_id desc) from (
        select * from featured where is_new order by product_id desc limit ${MAX_PRODUCTS}
      ) as entry
    ) as fresh`);
}

async function renderHome(visit: Visit, db: Queries): Promise<RenderedPage<Page>> {
  const { shopId, settings, locale } = visit;
  const words = messages(locale).storefront.listing;
  const { cards, offers, fresh, versionStamp } = await findHome(visit, db);
  const rows = await findProducts(
    db,
    shopId,
    [...offers, ...fresh].map(({ productId }) => productId),
  );
  const rendered = rows.map((row) => renderProduct(row, settings, visitorOptions(visit, 'list'), db.now));
  const productsOf = (refs: readonly { productId: string }[]) =>
    refs.flatMap(({ productId }) =>
      rendered.flatMap(({ product }) => (product.productId === productId ? [product] : [])),
    );
  const slogan = textIn(settings.slogan, locale, settings.defaultLocale);
  const content: Page = {
    title: shopName(visit),
    ...(slogan && { description: plainText(slogan, 300) }),
    path: '',
    main: html`<div class="hero">
        <h1>${shopName(visit)}</h1>
        ${slogan && html`<div class="prose">${merchantHtml(visit, slogan)}</div>`}
      </div>
      ${
        cards.length > 0 &&
        html`<section>
          <h2>${words.range}</h2>
          ${categoryCards(visit, cards)}
        </section>`
      }
      ${row(visit, words.offers, productsOf(offers))} ${row(visit, words.newProducts, productsOf(fresh))}
      ${rendered.length > 0 && priceNote(visit)}`,
  };
  const expires = rendered.map(({ until }) => until);
  return { content, versionStamp, expires, length: pageLength(content) };
}

function row(visit: Visit, title: string, products: readonly Product[]): Markup | false {
  if (products.length === 0) return false;
  return html`<section>
    <h2>${title}</h2>
    ${productCards(visit, products, { heading: 'h3', isBelow: true })}
  </section>`;
}

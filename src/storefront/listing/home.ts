import { findCategoryCards } from '../../catalogue/categories/queries.ts';
import { findLibraryPicture } from '../../catalogue/media/queries.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { isPrivate } from '../../config.ts';
import { html, plainText, webAddress, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { parseVersions } from '../../catalogue/products/listing-page.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findProductRows, findVersions } from '../../catalogue/products/queries.ts';
import { renderProduct } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { categoryTiles } from './category-cards.ts';
import { findOrRender, pageCache, visitorOptions, type RenderedPage } from '../page-cache.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { merchantHtml } from '../merchant-html/merchant-html.ts';
import { pageLength, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { priceNote, productCards } from '../product/product-card.ts';
import { shopName, shopPath, type Visit } from '../visit.ts';

/** The maximum number of offers, and of new products. */
const MAX_PRODUCTS = 8;

/** As many cards as a row has on a wide screen. */
const ROW = 4;

const MAX_VIEWED = 8;

/** A shop with more products shows offers among those that were created or changed last. */
const MAX_CANDIDATES = 500;

const homeCache = pageCache<Page>('front pages', 16);

export function homePages(pages: Pages): void {
  pages.get('', async (visit) => {
    const { versionStamp } = await findHome(visit, visit.db);
    const page = await findOrRender(homeCache, visit, 'home', versionStamp, (snapshot) =>
      renderHome(visit, snapshot),
    );
    return page!;
  });

  // The browser stores the viewed products, and the script puts this below the rows of the front page.
  pages.get('/viewed', async (visit, { queryList }) => {
    const { title } = messagesIn(visit.locale).storefront.front.viewed;
    const ids = queryList('id').filter(isId).slice(0, MAX_VIEWED);
    const refs = ids.length > 0 ? await findVersions(visit.db, visit.shopId, ids) : [];
    const products = await productValues(
      visit.db,
      visit.settings,
      refs.filter(({ visible }) => visible),
      visitorOptions(visit, 'list'),
    );
    return { title, path: '/viewed', isPrivate: true, main: html`${row(visit, title, products)}` };
  });
}

interface Featured {
  /** `<id>:<version>,...` */
  offers: string | null;
  /** Products marked as new, then the newest others. */
  fresh: string | null;
  /** How many are marked as new. */
  marked: number;
}

async function findHome({ shopId, locale, settings }: Visit, db: Queries) {
  const cards = await findCategoryCards(db, shopId, locale, undefined);
  const { offers, fresh, marked } = (await findFeatured(db, shopId))!;
  const pictureText = await findPictureText(db, shopId, settings, locale);
  const pictures = cards.map(({ image }) => image?.imageKey ?? '').join();
  return {
    cards,
    offers: parseVersions(offers ?? ''),
    fresh: parseVersions(fresh ?? ''),
    marked,
    pictureText,
    versionStamp: `${offers} ${fresh} ${marked} ${pictures} ${pictureText}`,
  };
}

/** The alternative text of the cover image, where it is a picture of the shop's media library. */
async function findPictureText(
  db: Queries,
  shopId: string,
  { home, defaultLocale }: Visit['settings'],
  locale: string,
): Promise<string> {
  const [, imageKey] = /^\/media\/[^/]+\/([\dA-F-]{36})\//.exec(home.picture ?? '') ?? [];
  const picture =
    imageKey !== undefined && isId(imageKey) && (await findLibraryPicture(db, shopId, imageKey));
  return (picture && textIn(picture.altTexts, locale, defaultLocale)) || '';
}

/** Whether a product is still new depends on the time, which changes no version, so the statement decides it. */
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
      select string_agg(product_id || ':' || version, ',' order by is_new desc nulls last, product_id desc) from (
        select * from featured order by is_new desc nulls last, product_id desc limit ${MAX_PRODUCTS}
      ) as entry
    ) as fresh, (select count(*) from featured where is_new) as marked`);
}

async function renderHome(visit: Visit, db: Queries): Promise<RenderedPage<Page>> {
  const { shopId, settings, locale } = visit;
  const messages = messagesIn(locale).storefront.listing;
  const { cards, offers, fresh, marked, pictureText, versionStamp } = await findHome(visit, db);
  const rows = await findProductRows(
    db,
    shopId,
    [...offers, ...fresh].map(({ productId }) => productId),
  );
  const rendered = rows.map((row) => renderProduct(row, settings, visitorOptions(visit, 'list'), db.now));
  const productsOf = (refs: readonly { productId: string }[]) =>
    refs.flatMap(({ productId }) =>
      rendered.flatMap(({ product }) => (product.productId === productId ? [product] : [])),
    );
  // At least one whole row: the newest products for sale fill it.
  const newest = productsOf(fresh)
    .filter(
      ({ isNew, forSale, productVariationType }) => isNew || forSale || productVariationType === 'master',
    )
    .slice(0, Math.max(marked, ROW));
  const text = introduction(visit);
  const isEmpty = cards.length === 0 && rendered.length === 0;
  const content: Page = {
    isShared: true,
    title: shopName(visit),
    ...(text && { description: plainText(text.text, 300) }),
    path: '',
    main: html`${hero(visit, text, pictureText)} ${promises(visit)}
      ${
        cards.length > 0 &&
        html`<section>
          <h2>${messages.range}</h2>
          ${categoryTiles(visit, cards)}
        </section>`
      }
      ${row(visit, messages.offers, productsOf(offers))} ${row(visit, messages.newProducts, newest)}
      <div data-viewed-here></div>
      ${rendered.length > 0 && priceNote(visit)} ${isEmpty && emptyShop(visit)}`,
  };
  const expires = rendered.map(({ until }) => until);
  return { content, versionStamp, expires, length: pageLength(content) };
}

/** The slogan may have markup; the text of the setting is plain. */
function introduction(visit: Visit): Markup | null {
  const { settings, locale } = visit;
  const { defaultLocale, home } = settings;
  const text = textIn(home.text, locale, defaultLocale);
  if (text !== null) return html`<p>${text}</p>`;
  const slogan = textIn(settings.slogan, locale, defaultLocale);
  return slogan === null ? null : merchantHtml(visit, slogan);
}

function hero(visit: Visit, text: Markup | null, pictureText: string): Markup {
  const { settings, locale } = visit;
  const { picture, title, link, linkText } = settings.home;
  const messages = messagesIn(locale).storefront.front;
  const href = link?.startsWith('/') ? shopPath(visit, link === '/' ? '' : link) : webAddress(link);
  return html`<section class="hero ${picture && 'pictured'}">
    ${picture && html`<img src="${picture}" alt="${pictureText}" width="800" height="600" fetchpriority="high" />`}
    <div>
      <h1>${textIn(title, locale, settings.defaultLocale) ?? shopName(visit)}</h1>
      ${text && html`<div class="prose">${text}</div>`}
      ${
        href !== undefined &&
        html`<p>
          <a class="button" href="${href}"
            >${textIn(linkText, locale, settings.defaultLocale) ?? messages.discover}</a
          >
        </p>`
      }
    </div>
  </section>`;
}

function promises({ settings, locale }: Visit): Markup | false {
  const texts = settings.home.promises.flatMap(
    (promise) => textIn(promise, locale, settings.defaultLocale) ?? [],
  );
  return (
    texts.length > 0 &&
    html`<ul class="promises">
      ${texts.map((text) => html`<li>${text}</li>`)}
    </ul>`
  );
}

/** Only a user at the machine itself is told how to fill the shop. */
function emptyShop({ shopId, locale, config, origin }: Visit): Markup {
  const messages = messagesIn(locale).storefront.front;
  return html`<section class="empty">
    <span class="no-picture" aria-hidden="true"></span>
    <h2>${messages.emptyTitle}</h2>
    <p>${messages.empty}</p>
    ${
      isPrivate(config) &&
      html`<p>${messages.owner}</p>
        <p>
          <a class="button" href="${origin}/admin/shops/${shopId}/products/new">${messages.addProduct}</a>
        </p>`
    }
  </section>`;
}

function row(visit: Visit, title: string, products: readonly Product[]): Markup | false {
  if (products.length === 0) return false;
  return html`<section>
    <h2>${title}</h2>
    ${productCards(visit, products, { heading: 'h3', isBelow: true, row: products.length < ROW ? 'few' : 'full' })}
  </section>`;
}

import { findCategoryPath } from '../../catalogue/categories/queries.ts';
import type { Queries } from '../../db/database.ts';
import { notFound } from '../../http/errors.ts';
import { textIn } from '../../http/locale.ts';
import { selectedValue, type Selection } from '../../catalogue/products/combinations.ts';
import { parseVersions } from '../../catalogue/products/listing-page.ts';
import { findProducts } from '../../catalogue/products/queries.ts';
import { renderProduct } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { findCart } from '../cart/visitor-cart.ts';
import { cartForApps } from '../scripts/events.ts';
import { findOrRender, pageCache, visitorOptions, type RenderedPage } from '../page-cache.ts';
import { prepareMerchantHtml } from '../merchant-html/merchant-html.ts';
import { pageLength, Redirect, type Page } from '../page.ts';
import { requireVersion, type PageRequest, type Pages } from '../pages.ts';
import { toPictures } from './pictures.ts';
import { productEvent, renderProductPage, type RejectedSelection } from './product-view.ts';
import { findPageProduct, findPageVariations, findPictures, productVersionStamp } from './queries.ts';
import { hasListeners } from '../scripts/scripts.ts';
import { selectedVariation } from './variations.ts';
import { messages } from '../../kernel/messages.ts';
import { categoryPath, productPath, to, type Visit } from '../visit.ts';
import { findWishedIds } from '../wishlist/queries.ts';

/** The product pages, where the `sfUrl` of products leads. */
export function product(pages: Pages): void {
  pages.getOptimistic('/Products/:productNumber', async (visit, request) => {
    const productNumber = request.params['productNumber']!;
    const found = await findPageProduct(visit.db, visit.shopId, productNumber, stampOptions(visit));
    if (!found?.visible) throw notFound();
    requireVersion(visit, found.settingsVersion);
    const content = await findOrRender(
      productPages,
      visit,
      productNumber,
      productVersionStamp(found),
      (snapshot) => renderContent(visit, snapshot, productNumber),
    );
    if (!content) throw notFound();
    const selection = requestedSelection(content.attributes, request);
    if (Object.keys(selection).length > 0) return selectionPage(visit, content, selection);
    return withVisitorEvents(visit, content);
  });
}

/** The event for the scripts of apps contains the exact stock. */
const stampOptions = (visit: Visit) => ({ isExact: hasListeners(visit) });

/** What all visitors share. */
interface Content {
  /** Its event is that of visitors who have neither a cart nor a wish list, which are most of them. */
  page: Page;
  product: Product;
  /** The attributes by which the variations of a master are selected. */
  attributes: string[];
}

const productPages = pageCache<Content>('product pages', 64);

async function withVisitorEvents(visit: Visit, { page, product }: Content): Promise<Page> {
  const { cart, wishlistCount = 0 } = visit.session;
  if ((!cart && wishlistCount === 0) || !hasListeners(visit)) return page;
  const { productId } = product;
  const [wished, visitorCart] = await Promise.all([findWishedIds(visit, [productId]), findCart(visit)]);
  const eventCart = visitorCart ? cartForApps(visit, visitorCart.view) : null;
  return {
    ...page,
    events: [productEvent({ ...product, isInWishlist: wished.has(productId) }, eventCart)],
  };
}

function requestedSelection(attributes: readonly string[], { query }: PageRequest): Selection {
  return Object.fromEntries(
    attributes.flatMap((attribute) => {
      const value = query(attribute);
      return value === undefined || value === '' ? [] : [[attribute, value]];
    }),
  );
}

/** Answers the form of a master: leads to the selected variation, or shows the form again with a message. */
async function selectionPage(
  visit: Visit,
  { product, attributes }: Content,
  selection: Selection,
): Promise<Page | Redirect> {
  const { db, shopId, locale } = visit;
  const words = messages(locale).storefront.product;
  const variations = await findPageVariations(db, shopId, product.productId);
  const variation = selectedVariation(variations, selection);
  if (variation) return new Redirect(to(visit, productPath(variation.productNumber)));
  const isComplete = attributes.every((name) => selectedValue(selection, name) !== undefined);
  const problem = isComplete ? words.noSuchVariation : words.incomplete;
  const rendered = await renderContent(visit, db, product.productNumber, { selection, problem });
  if (!rendered) throw notFound();
  const { content } = rendered;
  return withVisitorEvents(visit, { ...content, page: { ...content.page, isPrivate: true } });
}

async function renderContent(
  visit: Visit,
  db: Queries,
  productNumber: string,
  rejected?: RejectedSelection,
): Promise<RenderedPage<Content> | undefined> {
  const { shopId, settings } = visit;
  const found = await findPageProduct(db, shopId, productNumber, stampOptions(visit));
  if (!found?.visible) return undefined;
  const { productId, masterId } = found;
  const others = [...new Set(parseVersions(found.crossSelling ?? '').map((ref) => ref.productId))];
  const rows = await findProducts(db, shopId, [productId, ...others]);
  const row = rows.find((one) => one.productId === productId);
  if (!row) return undefined;
  const variations =
    row.kind === 'regular' ? [] : await findPageVariations(db, shopId, masterId ?? productId);
  const pictures = toPictures(visit, await findPictures(db, shopId, productId, masterId));
  const path = row.mainCategory ? await findCategoryPath(db, shopId, row.mainCategory.categoryId) : [];

  const { product, until } = renderProduct(row, settings, visitorOptions(visit, 'full'), db.now);
  const crossSelling = others.flatMap((id) => {
    const other = rows.find((one) => one.productId === id);
    return other ? [renderProduct(other, settings, visitorOptions(visit, 'list'), db.now)] : [];
  });
  await prepareMerchantHtml(visit, product.shortDescription, product.description);
  const page = renderProductPage(visit, {
    row,
    product,
    pictures,
    variations,
    rejected,
    breadcrumbs: path.map(({ alias, name }) => ({
      name: textIn(name, visit.locale, settings.defaultLocale) ?? alias,
      path: categoryPath(alias),
    })),
    crossSelling: crossSelling.map((one) => one.product),
  });
  const attributes = row.kind === 'master' ? (row.facts.variationAttributes ?? []).map(({ key }) => key) : [];
  return {
    content: { page, product, attributes },
    versionStamp: productVersionStamp(found),
    expires: [until, ...crossSelling.map((one) => one.until)],
    length: pageLength(page) + JSON.stringify(product).length,
  };
}

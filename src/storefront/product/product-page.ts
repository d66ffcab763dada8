import { installedApps } from '../../apps/manifest/installed.ts';
import { findCategoryPath } from '../../catalogue/categories/queries.ts';
import type { Queries } from '../../db/database.ts';
import { notFound } from '../../http/errors.ts';
import { textIn } from '../../http/locale.ts';
import type { Selection } from '../../catalogue/products/combinations.ts';
import { dayAt } from '../../catalogue/products/backorders.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import { spanExpiry, type DeliveredProduct } from '../../pricing/delivery-span.ts';
import { taxClassFor } from '../../pricing/tax.ts';
import { parseVersions } from '../../catalogue/products/listing-page.ts';
import { findProductRows } from '../../catalogue/products/queries.ts';
import { renderProduct } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { findDigitalProduct } from '../../downloads/queries.ts';
import { findVisitorCart } from '../cart/visitor-cart.ts';
import { cartForApps } from '../scripts/events.ts';
import { findOrRender, pageCache, visitorOptions, type RenderedPage } from '../page-cache.ts';
import { prepareMerchantHtml } from '../../content/merchant-html/merchant-html.ts';
import { productBlocks } from '../content/app-frame.ts';
import { productMarkdown } from '../markdown/product-markdown.ts';
import { pageLength, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { findShownParts } from './bundle-parts.ts';
import { deliveryPlaces, smallestOrder } from './delivery-places.ts';
import { productDelivery } from './delivery-span.ts';
import { toPictures } from './pictures.ts';
import { productEvent, renderProductPage, type ProductPageModel } from './product-view.ts';
import {
  findPageProduct,
  findPageVariations,
  findDescribedPictures,
  productVersionStamp,
} from './queries.ts';
import { hasListeners, mayHaveListeners } from '../scripts/scripts.ts';
import { preferredVariation, selectedVariation } from './variations.ts';
import { categoryPath, productPath, shopPath, type Visit } from '../visit.ts';
import { findProductReviews } from '../reviews/review-view.ts';
import { findWishedIds } from '../wishlist/queries.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

/** The product pages, where the `sfUrl` of products leads. */
export function productDetailPages(pages: Pages): void {
  pages.getOptimistic('/Products/:productNumber', async (visit, request) => {
    const productNumber = request.params['productNumber']!;
    const found = await findPageProduct(visit.db, visit.shopId, productNumber, stampOptions(visit));
    if (!found) throw notFound();
    visit.verifySettings(found.settingsVersion);
    if (!found.visible) throw notFound();
    const load = (isWished: boolean) =>
      findOrRender(
        productPages,
        visit,
        // No product number can contain this character.
        isWished ? `${productNumber}\u0000wished` : productNumber,
        productVersionStamp(found),
        (snapshot) => renderContent(visit, snapshot, productNumber, { isWished }),
      );
    const content = await load(false);
    if (!content) throw notFound();
    const selection = requestedSelection(content.attributes, request);
    const redirect =
      Object.keys(selection).length > 0 && (await redirectToVariation(visit, content, selection));
    if (redirect) return redirect;
    const wished = await findWishedIds(visit, [content.offerId]);
    return withVisitorEvents(visit, (wished.size > 0 && (await load(true))) || content);
  });
}

/** The event for the scripts of apps contains the exact stock. */
const stampOptions = (visit: Visit) => ({ isExact: mayHaveListeners(visit) });

/** The content that all visitors share. */
interface Content {
  /** Its event is that of visitors with neither a cart nor a wish list, which most are. */
  page: Page;
  product: Product;
  /** The product that the page puts into the cart: the product itself, or a variation of it. */
  offerId: string;
  /** The attributes by which the variations of a master are selected. */
  attributes: string[];
}

const productPages = pageCache<Content>('product pages', 32);

async function withVisitorEvents(visit: Visit, { page, product }: Content): Promise<Page> {
  const { cart, wishlistCount = 0 } = visit.session;
  if ((!cart && wishlistCount === 0) || !hasListeners(visit)) return page;
  const { productId } = product;
  const [wished, visitorCart] = await Promise.all([
    findWishedIds(visit, [productId]),
    findVisitorCart(visit),
  ]);
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

/** Older links name the values of a variation in the address of its master. */
async function redirectToVariation(
  visit: Visit,
  { product }: Content,
  selection: Selection,
): Promise<Redirect | undefined> {
  const variations = await findPageVariations(visit.db, visit.shopId, product.productId, today(visit));
  const variation = selectedVariation(variations, selection);
  return variation && new Redirect(shopPath(visit, productPath(variation.productNumber)));
}

async function renderContent(
  visit: Visit,
  db: Queries,
  productNumber: string,
  { isWished }: { isWished: boolean },
): Promise<RenderedPage<Content> | undefined> {
  const { shopId, settings } = visit;
  const found = await findPageProduct(db, shopId, productNumber, stampOptions(visit));
  if (!found?.visible) return undefined;
  const { productId, masterId } = found;
  const isRegular = found.variations === null;
  const variations = isRegular
    ? []
    : await findPageVariations(db, shopId, masterId ?? productId, today(visit));
  const chosen =
    masterId === null
      ? preferredVariation(visit, variations)
      : variations.find((variation) => variation.productId === productId);
  const offerId = chosen?.productId ?? productId;
  const others = [...new Set(parseVersions(found.crossSelling ?? '').map((ref) => ref.productId))];
  const withFields = settings.customFields.some(
    ({ resource, readableBy }) =>
      readableBy === 'public' && (resource === 'product' || resource === 'variation'),
  );
  const rows = await findProductRows(db, shopId, [...new Set([productId, offerId, ...others])], {
    withFields,
  });
  const row = rows.find((one) => one.productId === productId);
  const offerRow = rows.find((one) => one.productId === offerId);
  if (!row || !offerRow) return undefined;
  const pictures = toPictures(visit, await findDescribedPictures(db, shopId, offerId, offerRow.masterId));
  const path = row.mainCategory ? await findCategoryPath(db, shopId, row.mainCategory.categoryId) : [];

  const options = visitorOptions(visit, 'full');
  const { product, until } = renderProduct(row, settings, options, db.now);
  const offer = row === offerRow ? { product, until } : renderProduct(offerRow, settings, options, db.now);
  const crossSelling = others.flatMap((id) => {
    const other = rows.find((one) => one.productId === id);
    return other ? [renderProduct(other, settings, visitorOptions(visit, 'list'), db.now)] : [];
  });
  await prepareMerchantHtml(visit, product.shortDescription, product.description);
  const delivered = {
    facts: inheritedFacts(offerRow.facts, offerRow.master?.facts ?? null),
    ...stockOf(offer.product),
    isDigital: taxClassFor(offerRow.taxClassId ?? offerRow.master?.taxClassId ?? null, settings).digital,
  };
  const delivery = productDelivery(visit, delivered, db.now);
  // A product becomes digital content with its first file or key, so the others are not looked up.
  const digital =
    delivered.facts.withdrawalExcluded === 'digitalContent'
      ? await findDigitalProduct(db, shopId, offerRow.productId)
      : undefined;
  const currency = offer.product.priceInfo.price?.currency ?? settings.defaultCurrency;
  const goods = smallestOrder(offerRow, currency, settings);
  const places = goods ? deliveryPlaces(goods, delivered, settings) : [];
  const model: ProductPageModel = {
    delivery,
    digital,
    places: { list: places, currency, now: db.now },
    row,
    product,
    offer: offer.product,
    offerRow,
    isWished,
    pictures,
    variations,
    chosen,
    breadcrumbs: path.map(({ alias, name }) => ({
      name: textIn(name, visit.locale, settings.defaultLocale) ?? alias,
      path: categoryPath(alias),
    })),
    crossSelling: crossSelling.map((one) => one.product),
    parts: await findShownParts(visit, db, row),
    reviews: await findProductReviews(visit, db, masterId ?? productId),
    appBlocks: productBlocks(await installedApps(db, settings)),
  };
  const page: Page = {
    ...renderProductPage(visit, model),
    markdown: productMarkdown(visit, model),
    isShared: true,
    takesOwnStyle: true,
  };
  const attributes = row.kind === 'master' ? (row.facts.variationAttributes ?? []).map(({ key }) => key) : [];
  return {
    content: { page, product, offerId, attributes },
    versionStamp: productVersionStamp(found),
    expires: [
      delivery || places.some(({ days }) => days) ? spanExpiry(db.now) : null,
      until,
      offer.until,
      ...crossSelling.map((one) => one.until),
    ],
    length: pageLength(page) + JSON.stringify(product).length,
  };
}

/** Whether it can be dispatched, and from when on. */
function stockOf({
  availability,
  backorder,
}: Product): Pick<DeliveredProduct, 'isInStock' | 'availableFrom'> {
  const expectedOn = backorder?.isOpen ? (backorder.expectedOn ?? undefined) : undefined;
  return availability === 'OutStock'
    ? { isInStock: expectedOn !== undefined, availableFrom: expectedOn }
    : { isInStock: true };
}

const today = ({ db, settings }: Visit) => dayAt(db.now, settings.deliveryTimes.timeZone);

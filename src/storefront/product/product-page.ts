import type { Cart } from '../../carts/schema.ts';
import { findCategoryPath } from '../../catalogue/categories/queries.ts';
import type { Queries } from '../../db/database.ts';
import { notFound } from '../../http/errors.ts';
import { escapeHtml, html, plainText, safe, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { selectedValue, type Selection } from '../../catalogue/products/combinations.ts';
import { crossSellingTitle } from '../../catalogue/products/cross-selling-title.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import { refsOf } from '../../catalogue/products/listing.ts';
import { findProducts, type ProductRow } from '../../catalogue/products/queries.ts';
import { renderProduct } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { unitSign } from '../../catalogue/products/units.ts';
import { cartOf } from '../cart/cart-shown.ts';
import { toldCart } from '../scripts/events.ts';
import { compacted, PageCache, viewOf, type Made } from '../page-cache.ts';
import { breadcrumbList, crumbs } from '../listing/listing-view.ts';
import { merchantHtml, prepareMerchantHtml } from '../merchant-html/merchant-html.ts';
import { JsonText, Redirect, type Page, type PageEvent } from '../page.ts';
import { requireVersion, type Asked, type Pages } from '../page-registration.ts';
import {
  availability,
  badges,
  number,
  percentText,
  priceBlock,
  productCards,
  shippingLink,
} from './product-card.ts';
import { bulkPrices, detailsView, labelLinks, videoLinks } from './details.ts';
import { picturePreload, pictureView, shownPictures } from './pictures.ts';
import {
  findPictures,
  findShownProduct,
  findShownVariations,
  PLENTY,
  stampOf,
  type ShownVariation,
} from './queries.ts';
import { hasListeners } from '../scripts/scripts.ts';
import { structuredProduct } from './structured-data.ts';
import { chosenVariation, variationForm } from './variations.ts';
import { messages, type Messages } from '../../kernel/messages.ts';
import { categoryPath, productPath, to, type Visit } from '../visit.ts';
import { findWished } from '../wishlist/queries.ts';

/** The product pages: where the `sfUrl` of products leads. */
export function product(pages: Pages): void {
  pages.getOptimistic('/Products/:productNumber', async (visit, asked) => {
    const productNumber = asked.params['productNumber']!;
    const found = await findShownProduct(visit.db, visit.shopId, productNumber, stampOptions(visit));
    if (!found?.visible) throw notFound();
    requireVersion(visit, found.settingsVersion);
    const content = await kept.find(visit, productNumber, stampOf(found), (snapshot) =>
      makeContent(visit, snapshot, productNumber),
    );
    if (!content) throw notFound();
    const selection = askedSelection(content.choices, asked);
    if (Object.keys(selection).length > 0) return chosenPage(visit, content, selection);
    return toldPage(visit, content);
  });
}

/** Apps hear of the stock in numbers. */
const stampOptions = (visit: Visit) => ({ isExact: hasListeners(visit) });

/** Without anything that belongs to a visitor. */
interface Content {
  /** Its event is what visitors are told of who have neither a cart nor wishes: most of them. */
  page: Page;
  product: Product;
  /** Of a master: what its variations are chosen by. */
  choices: string[];
}

const kept = new PageCache<Content>('product pages', 64);

async function toldPage(visit: Visit, { page, product }: Content): Promise<Page> {
  const { cart, wishes = 0 } = visit.session;
  if ((!cart && wishes === 0) || !hasListeners(visit)) return page;
  const { productId } = product;
  const [wished, shown] = await Promise.all([findWished(visit, [productId]), cartOf(visit)]);
  const told = shown ? toldCart(visit, shown.shown) : null;
  return {
    ...page,
    events: [productEvent({ ...product, isInWishlist: wished.has(productId) }, told)],
  };
}

function productEvent(product: Product, cart: Partial<Cart> | null): PageEvent {
  return { name: 'product:view', detail: new JsonText({ product, cart }) };
}

function askedSelection(choices: readonly string[], { query }: Asked): Selection {
  return Object.fromEntries(
    choices.flatMap((choice) => {
      const value = query(choice);
      return value === undefined || value === '' ? [] : [[choice, value]];
    }),
  );
}

/** Where the form of a master leads: to the variation, or back with what is wrong. */
async function chosenPage(
  visit: Visit,
  { product, choices }: Content,
  selection: Selection,
): Promise<Page | Redirect> {
  const { db, shopId, locale } = visit;
  const words = messages(locale).storefront.product;
  const variations = await findShownVariations(db, shopId, product.productId);
  const variation = chosenVariation(variations, selection);
  if (variation) return new Redirect(to(visit, productPath(variation.productNumber)));
  const isWhole = choices.every((choice) => selectedValue(selection, choice) !== undefined);
  const problem = isWhole ? words.noSuchVariation : words.incomplete;
  const made = await makeContent(visit, db, product.productNumber, { selection, problem });
  if (!made) throw notFound();
  return toldPage(visit, { ...made.content, page: { ...made.content.page, isPrivate: true } });
}

interface Chosen {
  selection: Selection;
  problem: string;
}

async function makeContent(
  visit: Visit,
  db: Queries,
  productNumber: string,
  chosen?: Chosen,
): Promise<Made<Content> | undefined> {
  const { shopId, settings } = visit;
  const found = await findShownProduct(db, shopId, productNumber, stampOptions(visit));
  if (!found?.visible) return undefined;
  const { productId, masterId } = found;
  const others = [...new Set(refsOf(found.goesWith ?? '').map((ref) => ref.productId))];
  const rows = await findProducts(db, shopId, [productId, ...others]);
  const row = rows.find((one) => one.productId === productId);
  if (!row) return undefined;
  const variations =
    row.kind === 'regular' ? [] : await findShownVariations(db, shopId, masterId ?? productId);
  const pictures = shownPictures(visit, await findPictures(db, shopId, productId, masterId));
  const path = row.mainCategory ? await findCategoryPath(db, shopId, row.mainCategory.categoryId) : [];

  const { product, until } = renderProduct(row, settings, viewOf(visit, 'full'), db.now);
  const goesWith = others.flatMap((id) => {
    const other = rows.find((one) => one.productId === id);
    return other ? [renderProduct(other, settings, viewOf(visit, 'list'), db.now)] : [];
  });
  await prepareMerchantHtml(product.shortDescription, product.description);
  const page = productPage(visit, {
    row,
    product,
    pictures,
    variations,
    chosen,
    places: path.map(({ alias, name }) => ({
      name: textIn(name, visit.locale, settings.defaultLocale) ?? alias,
      path: categoryPath(alias),
    })),
    goesWith: goesWith.map((one) => one.product),
  });
  const choices = row.kind === 'master' ? (row.facts.variationAttributes ?? []).map(({ key }) => key) : [];
  return {
    stamp: stampOf(found),
    until: [until, ...goesWith.map((one) => one.until)],
    content: { page, product, choices },
    length: page.main.text.length + page.head!.text.length + 2 * JSON.stringify(product).length,
  };
}

interface Parts {
  row: ProductRow;
  product: Product;
  pictures: ReturnType<typeof shownPictures>;
  variations: readonly ShownVariation[];
  chosen: Chosen | undefined;
  places: { name: string; path: string }[];
  goesWith: Product[];
}

/** Characters that search engines read of a description; Google takes no more. */
const LONGEST_SUMMARY = 5_000;

function productPage(visit: Visit, parts: Parts): Page {
  const { locale, settings } = visit;
  const { row, product, pictures, variations, goesWith } = parts;
  const words = messages(locale).storefront.product;
  const { name, shortDescription, description, essentialFeatures } = product;
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  const path = productPath(product.productNumber);
  const places = [...parts.places, { name, path }];
  const summaryText = plainText(shortDescription ?? description ?? '', LONGEST_SUMMARY);
  const features = (essentialFeatures ?? '').split(/\r?\n/).filter((line) => line.trim() !== '');
  return {
    title: (facts.title && textIn(facts.title, locale, settings.defaultLocale)) ?? name,
    ...(summaryText !== '' && { description: summaryText.replaceAll('\n', ' ').slice(0, 300) }),
    path,
    events: [productEvent(product, null)],
    ...(pictures[0] && { image: visit.pageOrigin + pictures[0].large }),
    head: html`${picturePreload(pictures)} ${breadcrumbList(visit, places)}
    ${structuredProduct(
      visit,
      product,
      pictures.map(({ large }) => visit.pageOrigin + large),
      variations.length,
      summaryText,
    )}`,
    main: compacted(
      html`${crumbs(visit, places)}
        <article class="product">
          <div class="columns halves">
            ${pictureView(visit, pictures, name)}
            <div class="offer">
              <h1>${name}</h1>
              ${badges(product, words)} ${identity(product, words)}
              ${shortDescription && html`<div class="prose">${merchantHtml(shortDescription)}</div>`}
              <div class="prices">
                ${priceBlock(visit, product)} ${taxNote(visit, product, facts.isVatInfoVisible ?? true)}
              </div>
              ${labelLinks(visit, product)} ${bulkPrices(visit, product)}
              ${variationForm(visit, {
                masterNumber: row.master?.productNumber ?? row.productNumber,
                row,
                variations,
                selection: row.selection ?? parts.chosen?.selection ?? {},
                problem: parts.chosen?.problem,
              })}
              ${availability(product)}
              ${
                product.availability === 'WarnStock' &&
                html`<p>
                  <strong>${words.fewLeft({ amount: number(product.stocklevel!, locale) })}</strong>
                </p>`
              }
              ${buyForm(visit, product)} ${wishForm(visit, product)} ${notifyForm(visit, product)}
            </div>
          </div>
          ${
            description &&
            html`<section>
              <h2>${words.description}</h2>
              <div class="prose">${merchantHtml(description)}</div>
            </section>`
          }
          ${
            features.length > 0 &&
            html`<section>
              <h2>${words.features}</h2>
              <ul>
                ${safe(features.map((line) => `<li>${escapeHtml(line)}</li>`).join(''))}
              </ul>
            </section>`
          }
          ${detailsView(visit, row, product)} ${videoLinks(visit, product)}
        </article>
        ${
          goesWith.length > 0 &&
          html`<section>
            <h2>${crossSellingTitle(settings, locale)}</h2>
            ${productCards(visit, goesWith, { heading: 'h3', isBelow: true })}
          </section>`
        }`,
    ),
  };
}

function identity(product: Product, words: Messages['storefront']['product']): Markup | false {
  const { manufacturer, isProductNumberVisible, productNumber } = product;
  if (!manufacturer && !isProductNumberVisible) return false;
  return html`<dl class="identity">
    ${
      manufacturer &&
      html`<div>
        <dt>${words.manufacturer}</dt>
        <dd>${manufacturer}</dd>
      </div>`
    }
    ${
      isProductNumberVisible &&
      html`<div>
        <dt>${words.productNumber}</dt>
        <dd>${productNumber}</dd>
      </div>`
    }
  </dl>`;
}

/** The law wants tax and shipping next to the price. */
function taxNote(
  visit: Visit,
  { priceInfo, isShippingLinkVisible }: Product,
  hasVat: boolean,
): Markup | false {
  const { settings, locale } = visit;
  const words = messages(locale).storefront.product;
  const percent = percentText(priceInfo.taxClass.percentage, locale);
  const tax = !settings.displayTaxes
    ? settings.noTaxesMessage
    : hasVat &&
      (settings.taxModel === 'GROSS'
        ? words.includesVat({ rate: percent })
        : words.excludesVat({ rate: percent }));
  const shipping = isShippingLinkVisible && shippingLink(visit);
  if (!tax && !shipping) return false;
  return html`<p><small>${tax}${tax && shipping && ', '}${shipping}</small></p>`;
}

function canBeBought({ settings }: Visit, { forSale, availability }: Product): boolean {
  return forSale && (availability !== 'OutStock' || settings.sellBeyondStock);
}

function buyForm(visit: Visit, product: Product): Markup | false {
  const { locale, settings } = visit;
  const words = messages(locale).storefront.product;
  const { minOrder, intervalOrder, productId } = product;
  if (product.productVariationType === 'master') return false;
  if (!product.forSale) return html`<p>${words.notForSale}</p>`;
  if (!canBeBought(visit, product)) return false;
  const isPlain = minOrder === 1 && intervalOrder === 1;
  const { stocklevel, maxOrder = Infinity } = product;
  const isPlenty = stocklevel === null || stocklevel > PLENTY || settings.sellBeyondStock;
  // The least order can always be had.
  const most = Math.min(isPlenty ? Infinity : stocklevel, Math.max(minOrder, maxOrder));
  return html`<form class="buy" method="post" action="${to(visit, '/cart/add')}" data-cart-add>
    <input type="hidden" name="productId" value="${productId}" />
    <div class="field">
      <label for="quantity">${words.quantity}</label>
      <input
        id="quantity"
        name="quantity"
        type="number"
        inputmode="decimal"
        value="${minOrder}"
        min="${minOrder}"
        ${most < Infinity && html`max="${most}"`}
        step="${intervalOrder === 0 ? 'any' : intervalOrder}"
        required
        ${!isPlain && html`aria-describedby="quantity.rule"`}
      />
      ${
        !isPlain &&
        html`<p id="quantity.rule" class="hint">
          ${words.quantityRule({
            least: amountText(visit, product, minOrder),
            step: amountText(visit, product, intervalOrder),
          })}
        </p>`
      }
    </div>
    <button class="button">${words.addToCart}</button>
  </form>`;
}

/** Pieces need no unit. */
function amountText({ locale, settings }: Visit, { priceInfo }: Product, amount: number): string {
  const { unit } = priceInfo.quantity;
  const text = number(amount, locale);
  return unit === unitSign('piece', locale, settings) ? text : `${text} ${unit}`;
}

function wishForm(visit: Visit, { productId, productVariationType }: Product): Markup | false {
  if (productVariationType === 'master') return false;
  return html`<form method="post" action="${to(visit, '/wishlist/add')}" data-wish-add>
    <input type="hidden" name="productId" value="${productId}" />
    <button class="quiet">${messages(visit.locale).storefront.product.addToWishList}</button>
  </form>`;
}

function notifyForm(visit: Visit, product: Product): Markup | false {
  if (product.availability !== 'OutStock' || canBeBought(visit, product)) return false;
  const words = messages(visit.locale).storefront.notify;
  return html`<form
    class="notify"
    method="post"
    action="${to(visit, `${productPath(product.productNumber)}/notify`)}"
  >
    <h2>${words.title}</h2>
    <p id="notify.text">${words.text}</p>
    <div class="field">
      <label for="notify.email">${words.email}</label>
      <input
        id="notify.email"
        name="email"
        type="email"
        maxlength="254"
        required
        autocomplete="email"
        aria-describedby="notify.text"
      />
    </div>
    <button class="button">${words.send}</button>
  </form>`;
}

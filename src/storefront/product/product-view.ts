import type { Cart } from '../../carts/schema.ts';
import { escapeHtml, html, plainText, safe, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { crossSellingTitle } from '../../catalogue/products/cross-selling-title.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { unitSign } from '../../catalogue/products/units.ts';
import type { DigitalProduct } from '../../downloads/queries.ts';
import { breadcrumbData, breadcrumbNavigation, type Breadcrumb } from '../listing/listing-view.ts';
import { merchantHtml } from '../../content/merchant-html/merchant-html.ts';
import { appFrame, originsOf, type AppBlock } from '../content/app-frame.ts';
import { PageEvent, type Page } from '../page.ts';
import {
  availability,
  badges,
  isAvailable,
  percentText,
  priceBlock,
  productCards,
  shownTaxType,
  shippingInformationLink,
} from './product-card.ts';
import { amountWithUnit, formatNumber } from '../../http/amount-text.ts';
import { priceText } from '../../http/price-text.ts';
import { partChoices, shownParts, type ShownPart } from './bundle-parts.ts';
import { customTextField } from './customisation.ts';
import { giftCardFields } from './gift-card-fields.ts';
import { bulkPrices, detailsView, environmentView, labelLinks, videoLinks } from './details.ts';
import { isGoods } from '../../pricing/goods.ts';
import { taxClassFor, taxVariesByCountry } from '../../pricing/tax.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { garanDetails, legalGuaranteeNotice } from './guarantee.ts';
import { safetyView } from './safety.ts';
import { productWithdrawalNote } from './withdrawal-note.ts';
import { picturePreload, pictureView, type ResponsivePicture } from './pictures.ts';
import { PLENTY, type PageVariation } from './queries.ts';
import { deliveryPlacesView, type DeliveryPlace } from './delivery-places.ts';
import type { ProductDelivery } from './delivery-span.ts';
import { structuredProduct } from './structured-data.ts';
import { ratingLink, reviewSection, type ProductReviews } from '../reviews/review-view.ts';
import { variationChoices } from './variations.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';

export interface ProductPageModel {
  row: ProductRow;
  /** The product that the page describes. */
  product: Product;
  /**
   * The product that its button puts into the cart: the product itself, or the variation that a master's page offers.
   */
  offer: Product;
  offerRow: ProductRow;
  /** The visitor has it on the wish list. */
  isWished: boolean;
  /** When the offer arrives if ordered now; undefined: unknown. */
  delivery: ProductDelivery | undefined;
  /** It is delivered as files or licence keys. */
  digital: Pick<DigitalProduct, 'hasFiles' | 'hasKeys'> | undefined;
  /** Where the shop delivers the offer to, with prices in this currency. */
  places: { list: readonly DeliveryPlace[]; currency: string; now: Date };
  pictures: readonly ResponsivePicture[];
  variations: readonly PageVariation[];
  /** The variation that is the offer. */
  chosen: PageVariation | undefined;
  /** The categories above the product. */
  breadcrumbs: Breadcrumb[];
  crossSelling: Product[];
  /** What a bundle consists of; none: it is one thing. */
  parts: readonly ShownPart[];
  /** undefined: there are none to show. */
  reviews: ProductReviews | undefined;
  /** What apps show on pages of products. */
  appBlocks: readonly AppBlock[];
}

export function productEvent(product: Product, cart: Partial<Cart> | null): PageEvent {
  return new PageEvent('product:view', { product, cart });
}

/** Google reads no more characters of a description. */
const MAX_SUMMARY_LENGTH = 5_000;

export function renderProductPage(visit: Visit, model: ProductPageModel): Page {
  const { locale, settings } = visit;
  const { row, product, offer, isWished, pictures, variations, chosen, crossSelling, reviews } = model;
  // A gift card is sent by email.
  const isDelivered = offer.giftCard === undefined;
  const delivery = isDelivered && offer.forSale ? model.delivery : undefined;
  const { list, currency, now } = model.places;
  const places = isDelivered ? list : [];
  const messages = messagesIn(locale).storefront.product;
  const { name, shortDescription, description, essentialFeatures } = product;
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  const path = productPath(product.productNumber);
  const breadcrumbs = [...model.breadcrumbs, { name, path }];
  const summaryText = plainText(shortDescription ?? description ?? '', MAX_SUMMARY_LENGTH);
  const features = (essentialFeatures ?? '').split(/\r?\n/).filter((line) => line.trim() !== '');
  return {
    title: (facts.title && textIn(facts.title, locale, settings.defaultLocale)) ?? name,
    ...(summaryText !== '' && { description: summaryText.replaceAll('\n', ' ').slice(0, 300) }),
    path,
    frames: originsOf(model.appBlocks),
    events: [productEvent(product, null)],
    ...(pictures[0] && { image: visit.pageOrigin + pictures[0].large }),
    head: html`${picturePreload(pictures)} ${breadcrumbData(visit, breadcrumbs)}
    ${structuredProduct(visit, {
      ...model,
      images: pictures.map(({ large }) => visit.pageOrigin + large),
      description: summaryText,
      places,
    })}`,
    main: html`${breadcrumbNavigation(visit, breadcrumbs)}
      <article class="product" data-viewed-product="${product.productId}">
        ${pictureView(visit, pictures, name)}
        <div class="offer">
          <h1>${name}</h1>
          ${reviews && ratingLink(visit, reviews)} ${badges(product, messages)} ${identity(offer, messages)}
          ${shortDescription && html`<div class="prose">${merchantHtml(visit, shortDescription)}</div>`}
          <div class="prices">
            ${priceBlock(visit, offer)} ${taxNote(visit, offer, facts.isVatInfoVisible ?? true)}
          </div>
          ${labelLinks(visit, offer)} ${garanDetails(visit, offer.legalInfo?.durabilityGuarantee)}
          ${productWithdrawalNote(visit, offer)}
          ${chosen && variationChoices(visit, { row, variations, chosen })}
          ${availability(visit, offer, { isShort: delivery !== undefined })}
          ${delivery && html`<p class="arrival">${delivery.text}</p>`}
          ${offer.forSale && digitalDelivery(visit, model)} ${shownParts(visit, model.parts)}
          ${offer.forSale && deliveryPlacesView(visit, places, currency, now)} ${buyForm(visit, offer, model)}
          ${wishlistForm(visit, offer, isWished)} ${notifyForm(visit, offer)} ${bulkPrices(visit, offer)}
        </div>
        <div class="more">
          ${
            description &&
            html`<section>
              <h2>${messages.description}</h2>
              <div class="prose">${merchantHtml(visit, description)}</div>
            </section>`
          }
          ${
            features.length > 0 &&
            html`<section>
              <h2>${messages.features}</h2>
              <ul>
                ${featureItems(features)}
              </ul>
            </section>`
          }
          ${detailsView(visit, row, product)} ${environmentView(visit, offer)} ${safetyView(visit, offer)}
          ${videoLinks(visit, product)} ${isGoods(offer) && legalGuaranteeNotice(visit)}
          ${model.appBlocks.map((block) => appFrame(visit, block, product.productId))}
        </div>
        ${buyBar(visit, offer)}
      </article>
      ${reviews && reviewSection(visit, product.productNumber, reviews)}
      ${
        crossSelling.length > 0 &&
        html`<section>
          <h2>${crossSellingTitle(settings, locale)}</h2>
          ${productCards(visit, crossSelling, { heading: 'h3', isBelow: true })}
        </section>`
      }`,
  };
}

/** Escaped as one text, because a template per line is too slow for the many lines that a client may send. */
/** Nothing is sent by a carrier. */
function digitalDelivery({ locale }: Visit, { digital }: ProductPageModel): Markup | false {
  const messages = messagesIn(locale).storefront.downloads;
  if (digital?.hasFiles) return html`<p class="arrival">${messages.atOnce}</p>`;
  return digital?.hasKeys === true && html`<p class="arrival">${messages.keyAtOnce}</p>`;
}

function featureItems(lines: readonly string[]): Markup {
  return safe(lines.map((line) => `<li>${escapeHtml(line)}</li>`).join(''));
}

function identity(product: Product, messages: Messages['storefront']['product']): Markup | false {
  const { manufacturer, isProductNumberVisible, productNumber } = product;
  if (!manufacturer && !isProductNumberVisible) return false;
  return html`<dl class="identity">
    ${
      manufacturer &&
      html`<div>
        <dt>${messages.manufacturer}</dt>
        <dd>${manufacturer}</dd>
      </div>`
    }
    ${
      isProductNumberVisible &&
      html`<div>
        <dt>${messages.productNumber}</dt>
        <dd>${productNumber}</dd>
      </div>`
    }
  </dl>`;
}

/** The tax that the price has; nothing where the shop says nothing of it. */
export function taxText(visit: Visit, { priceInfo }: Product, hasVat: boolean): string | false | null {
  const { settings, locale } = visit;
  const messages = messagesIn(locale).storefront.product;
  const { percentage, taxClassId } = priceInfo.taxClass;
  const vatText = () => {
    if (percentage === 0) return messages.noVat;
    const isGross = shownTaxType(visit) === 'GROSS';
    const rate = percentText(percentage, locale);
    if (!taxVariesByCountry(settings, [taxClassFor(taxClassId, settings)])) {
      return isGross ? messages.includesVat({ rate }) : messages.excludesVat({ rate });
    }
    const country = countryName(settings.country, languageTag(locale));
    const home = { country, rate };
    return isGross ? messages.includesVatByCountry(home) : messages.excludesVatByCountry(home);
  };
  return !settings.displayTaxes ? settings.noTaxesMessage : hasVat && vatText();
}

/** The law requires tax and shipping next to the price. */
function taxNote(visit: Visit, product: Product, hasVat: boolean): Markup | false {
  // A gift card is taxed when it is redeemed, and sent by email.
  if (product.giftCard) return false;
  const tax = taxText(visit, product, hasVat);
  const shipping = product.isShippingLinkVisible && shippingInformationLink(visit);
  if (!tax && !shipping) return false;
  return html`<p><small>${tax}${tax && shipping && ', '}${shipping}</small></p>`;
}

const BUY_FORM = 'buy';
const NOTIFY_FORM = 'notify';

function buyForm(
  visit: Visit,
  product: Product,
  { parts, row }: Pick<ProductPageModel, 'parts' | 'row'>,
): Markup | false {
  const { locale, settings } = visit;
  const messages = messagesIn(locale).storefront.product;
  const { minOrder, intervalOrder, productId } = product;
  if (!product.forSale) return html`<p>${messages.notForSale}</p>`;
  if (!isAvailable(visit, product)) return false;
  const isPlain = minOrder === 1 && intervalOrder === 1;
  const { stocklevel, maxOrder = Infinity, backorder } = product;
  const isBeyondStock = backorder ? backorder.isOpen : settings.sellBeyondStock;
  const isPlenty = stocklevel === null || stocklevel > PLENTY || isBeyondStock;
  // The smallest order is always possible, even if the shop allows less per order.
  const largest = Math.min(isPlenty ? Infinity : stocklevel, Math.max(minOrder, maxOrder));
  return html`<form
    id="${BUY_FORM}"
    class="buy"
    method="post"
    action="${shopPath(visit, '/cart/add')}"
    data-cart-add
  >
    <input type="hidden" name="productId" value="${productId}" />
    ${partChoices(visit, parts, { hasPriceOfParts: row.facts.partsDiscount !== undefined })}
    ${customTextField(visit, product)} ${giftCardFields(visit, product)}
    <div class="field">
      <label for="quantity">${messages.quantity}</label>
      <input
        id="quantity"
        name="quantity"
        type="number"
        inputmode="decimal"
        value="${minOrder}"
        min="${minOrder}"
        ${largest < Infinity && html`max="${largest}"`}
        step="${intervalOrder === 0 ? 'any' : intervalOrder}"
        required
        ${!isPlain && html`aria-describedby="quantity.rule"`}
      />
      ${
        !isPlain &&
        html`<p id="quantity.rule" class="hint">
          ${messages.quantityRule({
            least: orderedAmount(visit, product, minOrder),
            step: orderedAmount(visit, product, intervalOrder),
          })}
        </p>`
      }
    </div>
    <button class="button">${messages.addToCart}</button>
  </form>`;
}

/** A number of pieces is printed without a unit. */
function orderedAmount({ locale, settings }: Visit, { priceInfo }: Product, amount: number): string {
  const { unit } = priceInfo.quantity;
  return unit === unitSign('piece', locale, settings)
    ? formatNumber(amount, locale)
    : amountWithUnit(amount, unit, locale);
}

/** Stays in view on phones, where its button takes the place of the one in the form. It repeats the content above. */
function buyBar(visit: Visit, product: Product): Markup | false {
  const messages = messagesIn(visit.locale).storefront;
  if (!product.forSale) return false;
  return html`<div class="buy-bar">
    <div aria-hidden="true">
      ${barPrice(visit, product)} ${availability(visit, product, { isShort: true })}
    </div>
    ${
      isAvailable(visit, product)
        ? html`<button class="button" form="${BUY_FORM}">${messages.product.addToCart}</button>`
        : html`<a class="button" href="#${NOTIFY_FORM}">${messages.notify.send}</a>`
    }
  </div>`;
}

function barPrice({ locale }: Visit, { priceInfo }: Product): Markup | false {
  return priceInfo.price !== null && html`<span class="price">${priceText(priceInfo.price, locale)}</span>`;
}

function wishlistForm(
  visit: Visit,
  { productId, productVariationType }: Product,
  isWished: boolean,
): Markup | false {
  if (productVariationType === 'master') return false;
  const messages = messagesIn(visit.locale).storefront;
  const path = isWished ? '/wishlist/remove' : '/wishlist/add';
  return html`<form class="wish" method="post" action="${shopPath(visit, path)}">
    <input type="hidden" name="productId" value="${productId}" />
    <button class="quiet heart" ${isWished && html`data-wished`}>
      ${isWished ? messages.choosing.removeFromWishList : messages.product.addToWishList}
    </button>
  </form>`;
}

function notifyForm(visit: Visit, product: Product): Markup | false {
  if (product.availability !== 'OutStock' || isAvailable(visit, product)) return false;
  const messages = messagesIn(visit.locale).storefront.notify;
  return html`<form
    id="${NOTIFY_FORM}"
    class="notify"
    method="post"
    action="${shopPath(visit, `${productPath(product.productNumber)}/notify`)}"
  >
    <h2>${messages.title}</h2>
    <p id="notify.text">${messages.text}</p>
    <div class="field">
      <label for="notify.email">${messages.email}</label>
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
    <button class="button">${messages.send}</button>
  </form>`;
}

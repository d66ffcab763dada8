import { formatsOf } from '../../http/formats.ts';
import { html, type Markup } from '../../http/html.ts';
import { imagePath } from '../../platform/media/images.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { basePriceText, shownPrice } from '../../catalogue/products/shown-price.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import { legalNames, productPath, shopPath, type Visit } from '../visit.ts';
import type { Price } from '../../http/price.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { priceText } from '../../http/price-text.ts';
import { listRating, type ListRatings } from '../reviews/review-view.ts';
import { garanLabel } from './guarantee.ts';

/** The cards of the first row on wide screens. Pictures further down are loaded when they come into sight. */
const FIRST_ROW = 4;

export interface CardOptions {
  /** The names are headings one level below the one above the cards. */
  heading: 'h2' | 'h3';
  /** The cards are far down on any screen. */
  isBelow?: boolean;
  /** One row that fills the page: few wide cards, or cards of which only whole rows are shown. */
  row?: 'few' | 'full';
  /** What buyers say of them; absent: it is not shown. */
  ratings?: ListRatings | undefined;
  /** Buttons instead of the usual ones. */
  actions?: (product: Product) => Markup;
}

/** `data-product` and `data-index` tell the script which card was clicked. */
export function productCards(visit: Visit, products: readonly Product[], options: CardOptions): Markup {
  return html`<ul class="${options.row === 'few' ? 'few' : options.row === 'full' ? 'grid full' : 'grid'}">
    ${products.map((product, index) => productCard(visit, product, index, options))}
  </ul>`;
}

function productCard(visit: Visit, product: Product, index: number, options: CardOptions): Markup {
  const messages = messagesIn(visit.locale).storefront.product;
  const link = html`<a href="${shopPath(visit, productPath(product.productNumber))}">${product.name}</a>`;
  return html`<li class="card" data-product="${product.productId}" data-index="${index}">
    ${cardPicture(product, options.isBelow === true || index >= FIRST_ROW)}
    ${options.heading === 'h2' ? html`<h2>${link}</h2>` : html`<h3>${link}</h3>`} ${badges(product, messages)}
    ${listRating(visit, options.ratings?.get(product.productId))} ${priceBlock(visit, product)}
    ${availability(visit, product, { isShort: true })}
    ${garanLabel(visit, product.legalInfo?.durabilityGuarantee)}
    ${options.actions?.(product) ?? quickForm(visit, product)}
  </li>`;
}

/** There is some, or more than that is promised: what a product says of itself comes before what the shop says. */
export const canBeOrdered = (
  { availability, backorder }: Pick<Product, 'availability' | 'backorder'>,
  { sellBeyondStock }: Pick<Visit['settings'], 'sellBeyondStock'>,
): boolean => availability !== 'OutStock' || (backorder ? backorder.isOpen : sellBeyondStock);

export function isAvailable(
  { settings }: Pick<Visit, 'settings'>,
  product: Pick<Product, 'forSale' | 'availability' | 'backorder'>,
): boolean {
  return product.forSale && canBeOrdered(product, settings);
}

/**
 * Adds the smallest quantity to the cart, or the product to the wish list. A product with a choice links to its page.
 */
function quickForm(visit: Visit, product: Product): Markup {
  const messages = messagesIn(visit.locale).storefront;
  const { productId, productNumber, name, minOrder } = product;
  const hasChoice =
    product.productVariationType === 'master' || product.isCustomizable || product.giftCard !== undefined;
  return html`<form class="quick" method="post" action="${shopPath(visit, '/cart/add')}" data-cart-add>
    <input type="hidden" name="productId" value="${productId}" />
    <input type="hidden" name="quantity" value="${minOrder}" />
    ${
      hasChoice
        ? html`<a class="button quiet" href="${shopPath(visit, productPath(productNumber))}"
            >${messages.wishList.choose}<span class="visually-hidden">: ${name}</span></a
          >`
        : isAvailable(visit, product) &&
          html`<button class="quiet">
            ${messages.product.addToCart}<span class="visually-hidden">: ${name}</span>
          </button>`
    }
    <button class="heart" formaction="${shopPath(visit, '/wishlist/add')}">
      <span class="visually-hidden">${messages.product.addToWishList}: ${name}</span>
    </button>
  </form>`;
}

/** The picture has no text of its own, because the name stands next to it. */
function cardPicture({ images }: Product, isLazy: boolean): Markup {
  const image = images.find(({ classifier }) => classifier === 'Medium') ?? images[0];
  if (!image) return html`<span class="no-picture" aria-hidden="true"></span>`;
  return html`<img
    src="${imagePath(image.url)}"
    width="${image.width}"
    height="${image.height}"
    alt=""
    ${isLazy && html`loading="lazy"`}
  />`;
}

export function badges(product: Product, messages: Messages['storefront']['product']): Markup | false {
  if (!product.isNew && !product.specialOffer) return false;
  return html`<p class="badges">
    ${product.isNew && html`<span class="badge">${messages.new}</span>`}
    ${product.specialOffer && html`<span class="badge">${messages.offer}</span>`}
  </p>`;
}

/** The price, the former price, and the price per litre or kilogram. */
export function priceBlock({ locale, settings }: Visit, product: Product): Markup {
  const messages = messagesIn(locale).storefront.product;
  const { priceInfo } = product;
  const { manufacturerPrice, lowestPrice30Days } = priceInfo;
  const shown = shownPrice(product, settings, locale);
  if (!shown) return html`<p class="price">${messages.onRequest}</p>`;

  const { price, isFrom, unit, base } = shown;
  return html`<p class="price">
      ${isFrom && html`${messages.from} `}${priceText(price, locale)}${unit !== undefined && html` <small>${messages.per({ unit })}</small>`}
    </p>
    ${
      manufacturerPrice &&
      manufacturerPrice.amount > price.amount &&
      html`<p>
        <span class="visually-hidden">${messages.insteadOf}</span>
        ${product.isManufacturerPriceRRP && messages.recommendedPrice}
        <s class="price was">${priceText(manufacturerPrice, locale)}</s>
        ${percentOff(manufacturerPrice.amount, price.amount, locale)}
      </p>`
    }
    ${
      lowestPrice30Days &&
      html`<p>
        <small
          >${messages.lowest30Days({ price: priceText(lowestPrice30Days, locale) })}${
            lowestPrice30Days.amount > price.amount &&
            html` (${percentOff(lowestPrice30Days.amount, price.amount, locale)})`
          }</small
        >
      </p>`
    }
    ${base && html`<p><small>${isFrom && `${messages.from} `}${basePriceText(base, locale)}</small></p>`}
    ${surcharges(product, locale)}`;
}

/** Deposits and fees that are paid on top of the price. */
function surcharges({ priceInfo }: Product, locale: string): Markup | false {
  const messages = messagesIn(locale).storefront.product;
  const text = (price: Price | null) => (price ? priceText(price, locale) : '');
  const { depositPrice, ecoParticipationPrice, priceWithDeposits } = priceInfo;
  if (!depositPrice && !ecoParticipationPrice) return false;
  return html`<p>
    <small>
      ${depositPrice && html`${messages.deposit({ price: text(depositPrice) })}, `}
      ${ecoParticipationPrice && html`${messages.ecoParticipation({ price: text(ecoParticipationPrice) })}, `}
      ${messages.total({ price: text(priceWithDeposits) })}
    </small>
  </p>`;
}

/** Whether the prices on the visitor's pages contain tax. */
export function shownTaxType({ priceView, settings }: Visit): 'GROSS' | 'NET' {
  return priceView.taxType ?? settings.taxModel;
}

/** The note about tax and shipping below a list. */
export function priceNote(visit: Visit): Markup {
  const { settings, locale } = visit;
  const messages = messagesIn(locale).storefront.product;
  const tax = !settings.displayTaxes
    ? settings.noTaxesMessage
    : shownTaxType(visit) === 'GROSS'
      ? messages.pricesIncludeVat
      : messages.pricesExcludeVat;
  return html`<p>
    <small>${tax && `${tax}, `}${shippingInformationLink(visit)}</small>
  </p>`;
}

/** A link if the shop has a page about shipping. */
export function shippingInformationLink(visit: Visit): Markup | string {
  const { shipping } = messagesIn(visit.locale).storefront.product;
  return legalNames(visit)['shipping-information'] === undefined
    ? shipping
    : html`<a href="${shopPath(visit, '/legal/shipping-information')}">${shipping}</a>`;
}

/** Rounds down, so that the discount is never overstated. */
function percentOff(before: number, now: number, locale: string): string {
  const percent = Math.floor(((before - now) / before) * 100 + 1e-9);
  return `−${percentText(percent, locale)}`;
}

export function percentText(percent: number, locale: string): string {
  return formatsOf(locale).percent.format(percent / 100);
}

/**
 * The API separates the lines of this text by `<br />`. The first says whether there is any stock, the second how soon
 * it is dispatched: a page that says when it arrives leaves that out.
 */
export function availability(
  { locale }: Pick<Visit, 'locale'>,
  { availabilityText, availability, stocklevel, backorder }: Product,
  { isShort = false } = {},
): Markup | false {
  if (availability === null) return false;
  const lines = availabilityText.split('<br />').slice(0, isShort ? 1 : undefined);
  // The colour alone would not tell everybody.
  if (availability === 'WarnStock') {
    const amount = formatNumber(stocklevel!, locale);
    lines[0] = messagesIn(locale).storefront.product.fewLeft({ amount });
  }
  const state = availability === 'OutStock' && backorder?.isOpen ? 'Backorder' : availability;
  return html`<p class="availability" data-state="${state}">
    ${lines.map((line, index) => html`${index > 0 && html`<br />`}${line}`)}
  </p>`;
}

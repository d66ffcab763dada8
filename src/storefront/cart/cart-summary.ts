import { recipientLine } from '../product/gift-card-fields.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { formatsOf } from '../../http/formats.ts';
import { taxesByRate, type Content, type ContentLine } from '../../pricing/content.ts';
import { partsOfLine, shownLines, untaxedReasons } from '../../pricing/shown-lines.ts';
import { discountParts } from '../../pricing/cart-promotions.ts';
import type { Cart } from '../../carts/schema.ts';
import { html, plainText, type Markup } from '../../http/html.ts';
import { waitText } from '../../pricing/waiting-text.ts';
import { lineText, typedText } from '../../orders/line-text.ts';
import { imagePath } from '../../platform/media/images.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { garanLabel } from '../product/guarantee.ts';
import { withdrawalNote } from '../product/withdrawal-note.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';
import type { Price } from '../../http/price.ts';
import { amountWithUnit } from '../../http/amount-text.ts';
import { moneyText, priceText } from '../../http/price-text.ts';

/** The fields that carts and orders have in common. */
export type Sums = Pick<Cart, 'lineItemContainer' | 'shippingData' | 'paymentData'>;
export type Line = Sums['lineItemContainer']['productLineItems'][number];

/** The amounts from the subtotal to the total. */
export function summary(visit: Visit, sums: Sums, content: Content): Markup {
  const { lineItemContainer, shippingData, paymentData } = sums;
  const { locale } = visit;
  const messages = messagesIn(locale).storefront.cart;
  const text = (price: Price) => priceText(price, locale);
  const row = (name: string, price: string, kind?: 'total') =>
    html`<dt ${kind && html`class="total"`}>${name}</dt>
      <dd ${kind && html`class="total"`}>${price}</dd>`;
  const { couponLineItem, deposits, ecoParticipations } = lineItemContainer;
  return html`<dl class="summary">
    ${row(messages.subTotal, text(lineItemContainer.lineItemsSubTotal))} ${discountRows(visit, content, row)}
    ${
      couponLineItem &&
      couponLineItem.lineItemPrice.amount !== 0 &&
      row(
        content.coupon?.codeKey ? messages.couponWithCode({ code: content.coupon.codeKey }) : messages.coupon,
        text(couponLineItem.lineItemPrice),
      )
    }
    ${[...deposits, ...ecoParticipations].map(({ name, lineItemPrice }) => row(name, text(lineItemPrice)))}
    ${shippingData && row(deliveryName(visit, content, shippingData.shippingMethod.name), text(shippingData.price))}
    ${
      paymentData &&
      paymentData.price.amount !== 0 &&
      row(
        paymentData.paymentMethod
          ? messages.payment({ name: paymentData.paymentMethod.name })
          : messages.agreedPayment,
        text(paymentData.price),
      )
    }
    ${taxRows(visit, content, 'NET', row)} ${row(messages.total, text(lineItemContainer.grandTotal), 'total')}
    ${taxRows(visit, content, 'GROSS', row)}
    ${untaxedReasons(content, locale).map((reason) => row(reason, moneyText(0, content.currency, locale)))}
  </dl>`;
}

/** The promotions by their names, and the rest of the discount. */
function discountRows(
  { locale, settings }: Visit,
  content: Content,
  row: (name: string, price: string) => Markup,
): Markup[] {
  const messages = messagesIn(locale).storefront.cart;
  return discountParts(content).map(({ name, amount }) =>
    row(
      name ? anyText(name, locale, settings.defaultLocale)! : messages.discount,
      moneyText(amount, content.currency, locale),
    ),
  );
}

/** With the promotions that have made it cheaper. */
function deliveryName({ locale, settings }: Visit, { promotions = [] }: Content, method: string): string {
  const names = promotions
    .filter(({ deliveryAmount }) => deliveryAmount !== 0)
    .map(({ name }) => anyText(name, locale, settings.defaultLocale)!);
  const name = names.length === 0 ? method : `${method} (${names.join(', ')})`;
  return messagesIn(locale).storefront.cart.delivery({ name });
}

/** Taxes come before the total when they are added to it, and after it when they are included. */
function taxRows(
  { locale, settings }: Visit,
  { taxes, taxType, currency, totalBeforeTax }: Content,
  place: 'NET' | 'GROSS',
  row: (name: string, price: string) => Markup,
): Markup[] {
  if (taxType !== place) return [];
  const messages = messagesIn(locale).storefront.cart;
  const money = (minor: number) => moneyText(minor, currency, locale);
  const isAdded = place === 'NET';
  // Added taxes are always shown, included ones only where the shop shows them.
  if (!isAdded && !settings.displayTaxes) return [];
  const { percent } = formatsOf(locale);
  return [
    ...(isAdded ? [row(messages.totalNet, money(totalBeforeTax))] : []),
    ...taxesByRate(taxes)
      .filter(({ tax }) => tax !== 0)
      .map(({ rate, tax }) => {
        const text = percent.format(rate / 10_000);
        return row(
          isAdded ? messages.addedTax({ rate: text }) : messages.includedTax({ rate: text }),
          money(tax),
        );
      }),
  ];
}

/** The picture has no text of its own, because the name of the line stands beside it. */
export function cartLinePicture({ images }: Line): Markup | false {
  const image = images.find(({ classifier }) => classifier === 'HotDeal') ?? images[0];
  return (
    image !== undefined &&
    html`<img
      src="${imagePath(image.url)}"
      alt=""
      width="${image.width}"
      height="${image.height}"
      loading="lazy"
    />`
  );
}

/** Characters of the features that a line shows; the rest is on the product page. */
const MAX_FEATURES_LENGTH = 2_000;

/** The name of a line with its variation, features, number and price. */
export function cartLineText(visit: Visit, line: Line, { hasFeatures = false } = {}): Markup {
  const { locale } = visit;
  const messages = messagesIn(locale).storefront.cart;
  // A measured product has a unit: 2.40 € per 1 m.
  const isMeasured = line.priceQuantity !== '1' || line.orderUnitShort !== line.orderUnit;
  const unit = amountWithUnit(Number(line.priceQuantity), line.orderUnitShort, locale);
  const price = isMeasured
    ? messages.per({ price: priceText(line.quantityPrice, locale), amount: unit })
    : messages.each({ price: priceText(line.singleItemPrice, locale) });
  return html`<a href="${shopPath(visit, productPath(line.sku))}">${line.name}</a>
    ${line.variationString !== null && html`<br /><span>${line.variationString}</span>`}
    ${
      line.customText !== undefined &&
      html`<br /><span class="custom-text"
          >${typedText(line.customText, line.customTextHeadline, locale)}</span
        >`
    }
    ${recipientLine(line, locale)}
    ${
      hasFeatures &&
      line.essentialFeatures !== null &&
      html`<br /><span>${plainText(line.essentialFeatures, MAX_FEATURES_LENGTH)}</span>`
    }
    <br /><small>${messages.itemNumber} ${line.sku}</small> <br /><small>${price}</small>`;
}

/** What of a line waits for stock, of a cart or an order. */
export interface ShownWait {
  /** An exact decimal as text. */
  quantity: string;
  expectedOn?: string | null | undefined;
}

export function waitNote({ locale }: Pick<Visit, 'locale'>, wait: ShownWait | undefined): Markup | false {
  return (
    wait !== undefined && html`<p class="availability" data-state="Backorder">${waitText(wait, locale)}</p>`
  );
}

/** What a bundle consists of, and what of it waits for stock. */
export function partList(
  visit: Visit,
  parts: readonly ContentLine[],
  waits: ReadonlyMap<string, ShownWait> = new Map(),
): Markup | false {
  const { locale, settings } = visit;
  if (parts.length === 0) return false;
  return html`<ul class="parts">
    ${parts.map(
      (part) =>
        html`<li>
          <small>${lineText(part, part.quantity, locale, settings)}</small>
          ${waitNote(visit, waits.get(part.lineItemId))}
        </li>`,
    )}
  </ul>`;
}

/** The lines in compact form and without links, where the cart is not the page's subject. */
export function shortLines({ locale }: Visit, lines: readonly Line[]): Markup {
  return html`<ul class="lines short">
    ${lines.map(
      (line) =>
        html`<li>
          ${cartLinePicture(line)}
          <div class="what">
            ${line.name}
            ${line.variationString !== null && html`<br /><small>${line.variationString}</small>`}
            ${
              line.customText !== undefined &&
              html`<br /><small class="custom-text"
                  >${typedText(line.customText, line.customTextHeadline, locale)}</small
                >`
            }
            ${recipientLine(line, locale)}
            <br /><small>${amountWithUnit(line.quantity.amount, line.orderUnitShort, locale)}</small>
          </div>
          <span class="price">${priceText(line.lineItemPrice, locale)}</span>
        </li>`,
    )}
  </ul>`;
}

/** The law requires a note before the purchase that there is no right of withdrawal. */
export function orderLines(
  visit: Visit,
  { lineItemContainer }: Sums,
  content: Content,
  waits: ReadonlyMap<string, ShownWait>,
): Markup {
  const shown = shownLines(content);
  return html`<ul class="lines">
    ${lineItemContainer.productLineItems.map(
      (line, index) =>
        html`<li>
          ${cartLinePicture(line)}
          <div class="what">
            ${cartLineText(visit, line, { hasFeatures: true })}
            ${partList(visit, partsOfLine(content, line.lineItemId))}
            ${goodsOf(content, shown[index]!).map(
              (goods) =>
                html`${waitNote(visit, waits.get(goods.lineItemId))}
                ${garanLabel(visit, goods.durabilityGuarantee)} ${withdrawalNote(visit, goods)}`,
            )}
          </div>
          <span>${amountWithUnit(line.quantity.amount, line.orderUnitShort, visit.locale)}</span>
          <span class="price">${priceText(line.lineItemPrice, visit.locale)}</span>
        </li>`,
    )}
  </ul>`;
}

/** A customer may withdraw from some parts of a bundle and not from others. */
function goodsOf(content: Content, line: ContentLine): readonly ContentLine[] {
  const parts = partsOfLine(content, line.lineItemId);
  return parts.length === 0 ? [line] : parts;
}

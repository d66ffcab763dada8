import type { Content } from '../../pricing/content.ts';
import type { Cart } from '../../carts/schema.ts';
import { html, plainText, type Markup } from '../../http/html.ts';
import { imagePath } from '../../platform/media/images.ts';
import { formatMoney } from '../../kernel/money.ts';
import { messages } from '../../kernel/messages.ts';
import { withdrawalNote } from '../product/withdrawal-note.ts';
import { productPath, to, type Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';

/** The fields that carts and orders have in common. */
export type Sums = Pick<Cart, 'lineItemContainer' | 'shippingData' | 'paymentData'>;
export type Line = Sums['lineItemContainer']['productLineItems'][number];

/** The amounts from the subtotal to the total. */
export function summary(visit: Visit, sums: Sums, content: Content): Markup {
  const { lineItemContainer, shippingData, paymentData } = sums;
  const words = messages(visit.locale).storefront.cart;
  const row = (name: string, price: string, kind?: 'total') =>
    html`<dt ${kind && html`class="total"`}>${name}</dt>
      <dd ${kind && html`class="total"`}>${price}</dd>`;
  const { basketDiscount, couponLineItem, deposits, ecoParticipations } = lineItemContainer;
  return html`<dl class="summary">
    ${row(words.subTotal, lineItemContainer.lineItemsSubTotal.formatted)}
    ${basketDiscount.lineItemPrice && row(words.discount, basketDiscount.lineItemPrice.formatted)}
    ${
      couponLineItem &&
      couponLineItem.lineItemPrice.amount !== 0 &&
      row(words.coupon, couponLineItem.lineItemPrice.formatted)
    }
    ${[...deposits, ...ecoParticipations].map(({ name, lineItemPrice }) => row(name, lineItemPrice.formatted))}
    ${shippingData && row(words.delivery({ name: shippingData.shippingMethod.name }), shippingData.price.formatted)}
    ${
      paymentData &&
      paymentData.price.amount !== 0 &&
      row(
        paymentData.paymentMethod
          ? words.payment({ name: paymentData.paymentMethod.name })
          : words.agreedPayment,
        paymentData.price.formatted,
      )
    }
    ${taxRows(visit, content, 'NET', row)}
    ${row(words.total, lineItemContainer.grandTotal.formatted, 'total')}
    ${taxRows(visit, content, 'GROSS', row)}
  </dl>`;
}

/** Taxes come before the total when they are added to it, and after it when they are included. */
function taxRows(
  { locale, settings }: Visit,
  { taxes, taxType, currency, totalBeforeTax }: Content,
  place: 'NET' | 'GROSS',
  row: (name: string, price: string) => Markup,
): Markup[] {
  if (taxType !== place) return [];
  const words = messages(locale).storefront.cart;
  const money = (minor: number) => formatMoney(minor, currency, locale);
  const isAdded = place === 'NET';
  // Added taxes are always shown, included ones only where the shop shows them.
  if (!isAdded && !settings.displayTaxes) return [];
  const percent = new Intl.NumberFormat(languageTag(locale), { style: 'percent', maximumFractionDigits: 2 });
  return [
    ...(isAdded ? [row(words.totalNet, money(totalBeforeTax))] : []),
    ...taxes
      .filter(({ tax }) => tax !== 0)
      .map(({ rate, tax }) => {
        const text = percent.format(rate / 10_000);
        return row(isAdded ? words.addedTax({ rate: text }) : words.includedTax({ rate: text }), money(tax));
      }),
  ];
}

/** `7,5 m` */
export function amountText({ locale }: Pick<Visit, 'locale'>, amount: number, unit: string): string {
  return `${new Intl.NumberFormat(languageTag(locale), { maximumFractionDigits: 6 }).format(amount)} ${unit}`;
}

/** The picture has no text of its own, because the name of the line stands beside it. */
export function linePicture({ images }: Line): Markup | false {
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

/** A line shows so many characters of the features; the rest is on the product page. */
const MAX_FEATURES_LENGTH = 2_000;

/** The name of a line with its variation, features, number and price. */
export function lineText(visit: Visit, line: Line, { hasFeatures = false } = {}): Markup {
  const words = messages(visit.locale).storefront.cart;
  // A measured product has a unit: 2.40 € per 1 m.
  const isMeasured = line.priceQuantity !== '1' || line.orderUnitShort !== line.orderUnit;
  const unit = amountText(visit, Number(line.priceQuantity), line.orderUnitShort);
  const price = isMeasured
    ? words.per({ price: line.quantityPrice.formatted, amount: unit })
    : words.each({ price: line.singleItemPrice.formatted });
  return html`<a href="${to(visit, productPath(line.sku))}">${line.name}</a>
    ${line.variationString !== null && html`<br /><span>${line.variationString}</span>`}
    ${
      hasFeatures &&
      line.essentialFeatures !== null &&
      html`<br /><span>${plainText(line.essentialFeatures, MAX_FEATURES_LENGTH)}</span>`
    }
    <br /><small>${words.itemNumber} ${line.sku}</small> <br /><small>${price}</small>`;
}

/** The law wants it said before the purchase that there is no right of withdrawal. */
export function orderLines(visit: Visit, { lineItemContainer }: Sums, content: Content): Markup {
  return html`<ul class="lines">
    ${lineItemContainer.productLineItems.map(
      (line, index) =>
        html`<li>
          ${linePicture(line)}
          <div class="what">
            ${lineText(visit, line, { hasFeatures: true })} ${withdrawalNote(visit, content.lines[index]!)}
          </div>
          <span>${amountText(visit, line.quantity.amount, line.orderUnitShort)}</span>
          <span class="price">${line.lineItemPrice.formatted}</span>
        </li>`,
    )}
  </ul>`;
}

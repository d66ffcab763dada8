import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { unitSign } from '../../catalogue/products/units.ts';
import { typedText } from '../../orders/line-text.ts';
import { findOrderWithActivity, type PartLine } from '../../orders/manage-queries.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import type { CustomerOrder } from '../../orders/withdrawal-period.ts';
import { amountWithUnit, unitText } from '../../http/amount-text.ts';
import type { Page } from '../page.ts';
import type { ShopFormRequest } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import type { PageRequest } from '../../http/page-kit.ts';

/** The order of a page below `/order/:token`, for anyone with its token. */
export interface OpenedOrder extends CustomerOrder {
  token: string;
  /** `/order/{token}` */
  path: string;
}

/** An order whose customer was erased no longer has an owner. */
export async function openOrderByToken(
  { db, shopId, settings }: Visit,
  { params }: Pick<PageRequest, 'params'>,
  tokens: OrderTokens,
): Promise<OpenedOrder> {
  const token = params['token']!;
  const orderId = tokens.orderId(shopId, token);
  if (orderId === undefined) throw notFound();
  const order = await findOrderWithActivity(db, shopId, orderId);
  if (!order || order.erasedAt) throw notFound();
  return { order, activity: order, settings, token, path: `/order/${token}` };
}

/** The parts that all pages about an order share. */
export function orderPageWith(
  opened: OpenedOrder,
  subPath: string,
  page: Pick<Page, 'title' | 'main' | 'status'>,
): Page {
  return { ...page, path: opened.path + subPath, isPrivate: true, hasSecretAddress: true };
}

/** `2 pieces Harbour Tea (Size: small)` */
export function describePart(
  visit: Visit,
  { order }: Pick<CustomerOrder, 'order'>,
  { lineItemId, quantity }: PartLine,
): string {
  const { locale, settings } = visit;
  const line = order.content.lines.find((one) => one.lineItemId === lineItemId)!;
  const text = (texts: Localised) => textIn(texts, locale, settings.defaultLocale) ?? line.productNumber;
  const amount = amountWithUnit(Number(quantity), unitSign(line.orderUnit.unit, locale, settings), locale);
  const more = [
    line.variation && text(line.variation),
    line.customText &&
      typedText(line.customText, line.customTextHeadline && text(line.customTextHeadline), locale),
  ].filter(Boolean);
  return `${amount} ${text(line.name)}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
}

/** `others` are no longer in the order, and have their texts with them. */
export function quantityList(
  visit: Visit,
  opened: Pick<CustomerOrder, 'order'>,
  parts: readonly PartLine[],
  others: readonly { text: string }[] = [],
): Markup | false {
  const texts = [
    ...parts.map((part) => describePart(visit, opened, part)),
    ...others.map(({ text }) => text),
  ];
  return (
    texts.length > 0 &&
    html`<ul class="parts">
      ${texts.map((text) => html`<li>${text}</li>`)}
    </ul>`
  );
}

const fieldOf = (lineItemId: string) => `quantity-${lineItemId}`;

/** A quantity field for each of these lines; `quantities` are the prefilled values. */
export function quantityFields(
  visit: Visit,
  { order }: Pick<CustomerOrder, 'order'>,
  available: readonly PartLine[],
  quantities: (part: PartLine) => string,
): Markup {
  const { locale, settings } = visit;
  return html`<ul class="lines choose">
    ${available.map((part) => {
      const { lineItemId, quantity } = part;
      const line = order.content.lines.find((one) => one.lineItemId === lineItemId)!;
      const id = fieldOf(lineItemId);
      const unit = unitText(Number(quantity), unitSign(line.orderUnit.unit, locale, settings), locale);
      return html`<li>
        <label class="what" for="${id}">${describePart(visit, { order }, part)}</label>
        <span class="amount"
          ><input
            id="${id}"
            name="${id}"
            type="number"
            inputmode="decimal"
            min="0"
            max="${quantity}"
            step="any"
            value="${quantities(part)}"
          />
          ${unitText(Number(quantity), unit, locale)}</span
        >
      </li>`;
    })}
  </ul>`;
}

/** The parts that a form names; undefined: a quantity is not a number, or exceeds the available one. */
export function parseParts(
  field: ShopFormRequest['field'],
  available: readonly PartLine[],
): PartLine[] | undefined {
  const parts: PartLine[] = [];
  for (const { lineItemId, quantity } of available) {
    const text = field(fieldOf(lineItemId)).replace(',', '.') || '0';
    if (!/^\d{1,7}(?:\.\d{1,6})?$/.test(text) || Number(text) > Number(quantity)) return undefined;
    if (Number(text) > 0) parts.push({ lineItemId, quantity: String(Number(text)) });
  }
  return parts;
}

/** Carries the parts from one page of a form to the next. */
export function hiddenParts(parts: readonly PartLine[]): Markup {
  return html`${parts.map(
    ({ lineItemId, quantity }) =>
      html`<input type="hidden" name="${fieldOf(lineItemId)}" value="${quantity}" />`,
  )}`;
}

export function backLink(visit: Visit, { path }: OpenedOrder, label: string): Markup {
  return html`<a class="quiet" href="${shopPath(visit, path)}">${label}</a>`;
}

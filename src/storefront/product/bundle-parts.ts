import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import { findProductRows, type ProductRow } from '../../catalogue/products/queries.ts';
import { nameOf, selectionOf } from '../../catalogue/products/render.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { lineText } from '../../orders/line-text.ts';
import { ORDER_UNIT } from '../../catalogue/products/orderable.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';

/** A part of a bundle, as its page shows it. */
export interface ShownPart {
  quantity: number;
  row: ProductRow;
  /** The variations of which the customer chooses one; none: there is no choice. */
  choices: readonly { productId: string; text: string }[];
}

/** The parts of a bundle; none of any other product. Two statements, however many there are. */
export async function findShownParts(
  { shopId, settings, locale }: Visit,
  db: Queries,
  { facts: { parts = [] } }: ProductRow,
): Promise<ShownPart[]> {
  if (parts.length === 0) return [];
  const partIds = parts.map(({ productId }) => productId);
  const variations = await findVisibleVariations(db, shopId, partIds);
  const ids = [...partIds, ...variations.map(({ productId }) => productId)];
  const rows = await findProductRows(db, shopId, ids);
  return parts.flatMap(({ productId, quantity }): ShownPart[] => {
    const row = rows.find((one) => one.productId === productId);
    if (!row) return [];
    const choices = variations
      .filter(({ masterId }) => masterId === productId)
      .map((variation) => {
        const chosen = rows.find((one) => one.productId === variation.productId)!;
        const values = selectionOf(chosen, settings, locale) ?? [];
        return {
          productId: variation.productId,
          text: values.map(({ displayValue }) => displayValue).join(', '),
        };
      });
    return [{ quantity, row, choices }];
  });
}

function findVisibleVariations(db: Queries, shopId: string, masterIds: readonly string[]) {
  return db.many<{ productId: string; masterId: string | null }>(sql`
    select upper(product_id::text) as "productId", upper(master_id::text) as "masterId" from product
    where shop_id = ${shopId} and master_id = any (${masterIds}::uuid[]) and visible
    order by product_id`);
}

/** What a bundle consists of, with links to what is also sold by itself. */
export function shownParts(visit: Visit, parts: readonly ShownPart[]): Markup | false {
  if (parts.length === 0) return false;
  const { settings, locale } = visit;
  return html`<section class="bundle">
    <h2>${messagesIn(locale).storefront.product.contains}</h2>
    <ul>
      ${parts.map(({ quantity, row }) => {
        const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
        const name = { [locale]: nameOf(row, settings, locale) };
        const orderUnit = facts.orderUnit ?? ORDER_UNIT;
        const text = lineText({ orderUnit, name, variation: null }, String(quantity), locale, settings);
        return html`<li>
          ${row.visible ? html`<a href="${shopPath(visit, productPath(row.productNumber))}">${text}</a>` : text}
        </li>`;
      })}
    </ul>
  </section>`;
}

/** The fields of the purchase form for the parts of which there are variations. */
export function partChoices(
  { settings, locale }: Visit,
  parts: readonly ShownPart[],
  { hasPriceOfParts }: { hasPriceOfParts: boolean },
): Markup | false {
  const chosen = parts.filter(({ choices }) => choices.length > 0);
  if (chosen.length === 0) return false;
  const messages = messagesIn(locale).storefront.product;
  return html`${chosen.map(
    ({ row, choices }, index) =>
      html`<div class="field">
        <label for="choice.${index}">${messages.choosePart({ name: nameOf(row, settings, locale) })}</label>
        <select id="choice.${index}" name="choice.${index}" required>
          ${choices.map(({ productId, text }) => html`<option value="${productId}">${text}</option>`)}
        </select>
      </div>`,
  )}
  ${hasPriceOfParts && html`<p class="hint">${messages.priceByChoice}</p>`}`;
}

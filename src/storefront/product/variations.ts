import { html, type Markup } from '../../http/html.ts';
import { selectedValue, selectionText, type Selection } from '../../catalogue/products/combinations.ts';
import { shownDimension } from '../../catalogue/products/dimensions.ts';
import { priceIn } from '../../catalogue/products/prices.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { typeOf } from '../../catalogue/products/render.ts';
import { imagesOf } from '../../platform/media/images.ts';
import type { PageVariation } from './queries.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';

export function selectedVariation(
  variations: readonly PageVariation[],
  selection: Selection,
): PageVariation | undefined {
  const text = selectionText(selection);
  return variations.find((variation) => selectionText(variation.selection) === text);
}

type PricedVariation = Pick<PageVariation, 'prices' | 'hasStock' | 'backorder' | 'hasTerms' | 'isOnSale'>;

/** The cheapest variation that can be bought; the cheapest of all if none can. */
export function preferredVariation<Variation extends PricedVariation>(
  visit: Pick<Visit, 'settings' | 'currency'>,
  variations: readonly Variation[],
): Variation | undefined {
  const { settings, currency } = visit;
  const priced = variations.map((variation) => ({
    variation,
    isAvailable: isAvailable(visit, variation),
    // A price of 0 means no price.
    price: priceIn(variation.prices, currency, settings) || Infinity,
  }));
  return priced.toSorted(
    (left, right) => Number(right.isAvailable) - Number(left.isAvailable) || compare(left.price, right.price),
  )[0]?.variation;
}

/** Not by subtraction, because infinity minus infinity is not a number. */
const compare = (left: number, right: number) => (left < right ? -1 : left > right ? 1 : 0);

function isAvailable(
  { settings }: Pick<Visit, 'settings'>,
  { hasStock, backorder, hasTerms, isOnSale, prices }: PricedVariation,
): boolean {
  const isBeyondStock = hasTerms ? backorder !== null : settings.sellBeyondStock;
  return prices !== null && isOnSale && (hasStock || isBeyondStock);
}

export interface VariationChoice {
  row: ProductRow;
  variations: readonly PageVariation[];
  chosen: PageVariation;
}

/**
 * A group of links for each attribute. A value leads to the variation that differs from the chosen one in this value
 * alone, and where there is none, to the best one with this value. Sold-out variations can still be chosen, because
 * their page has the notification form.
 */
export function variationChoices(visit: Visit, { row, variations, chosen }: VariationChoice): Markup {
  const { settings, locale } = visit;
  const messages = messagesIn(locale).storefront.choosing;
  const facts = row.master?.facts ?? row.facts;
  const bySelection = new Map(variations.map((one) => [selectionText(one.selection), one]));
  const dimensions = (facts.variationAttributes ?? []).map((dimension) =>
    shownDimension(dimension, typeOf(row, settings), settings, locale),
  );
  return html`${dimensions.map(({ name, displayName, values }, index) => {
    const current = selectedValue(chosen.selection, name);
    const options = values.flatMap(({ value, displayValue }) => {
      const having = variations.filter(({ selection }) => selectedValue(selection, name) === value);
      const same = bySelection.get(selectionText({ ...chosen.selection, [name]: value }));
      const target = same ?? preferredVariation(visit, having);
      return target ? [{ value, displayValue, target, isSame: same !== undefined }] : [];
    });
    // Pictures help where visitors choose by them, which is the case for the first attribute.
    const hasPictures = index === 0 && options.every(({ target }) => target.image !== null);
    return html`<div class="options" role="group" aria-labelledby="option.${index}">
      <p id="option.${index}">
        ${displayName}: <strong>${values.find(({ value }) => value === current)?.displayValue}</strong>
      </p>
      <ul>
        ${options.map(({ value, displayValue, target, isSame }) => {
          const isGone = isSame && !isAvailable(visit, target);
          const kind = isGone ? 'gone' : isSame ? undefined : 'other';
          const remark = isGone ? messages.soldOut : isSame ? undefined : messages.otherwise;
          return html`<li>
            <a
              href="${shopPath(visit, productPath(target.productNumber))}"
              ${kind && html`class="${kind}" title="${remark}"`}
              ${value === current && html`aria-current="true"`}
              >${hasPictures && optionPicture(visit, target)}${displayValue}${
                remark !== undefined && html`<span class="visually-hidden"> (${remark})</span>`
              }</a
            >
          </li>`;
        })}
      </ul>
    </div>`;
  })}`;
}

function optionPicture({ shopId }: Visit, { image }: PageVariation): Markup | false {
  const thumbnail =
    image &&
    imagesOf('', shopId, image.imageKey, image.sizes, { isZoomEnabled: false }).find(
      ({ classifier }) => classifier === 'Thumbnail',
    );
  if (!thumbnail) return false;
  const { url, width, height } = thumbnail;
  return html`<img src="${url}" width="${width}" height="${height}" alt="" />`;
}

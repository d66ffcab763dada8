import { html, type Markup } from '../../http/html.ts';
import { selectedValue, selectionText, type Selection } from '../../catalogue/products/combinations.ts';
import { shownDimension } from '../../catalogue/products/dimensions.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { typeOf } from '../../catalogue/products/render.ts';
import type { PageVariation } from './queries.ts';
import { messages, type Messages } from '../../kernel/messages.ts';
import { productPath, to, type Visit } from '../visit.ts';

export interface VariationChoice {
  /** The form leads to the page of the master. */
  masterNumber: string;
  row: ProductRow;
  variations: readonly PageVariation[];
  /** The values of a variation; of a master those that the visitor has selected so far. */
  selection: Selection;
  /** The message for a selection that no variation has. */
  problem?: string | undefined;
}

export function selectedVariation(
  variations: readonly PageVariation[],
  selection: Selection,
): PageVariation | undefined {
  const text = selectionText(selection);
  return variations.find((variation) => selectionText(variation.selection) === text);
}

/** A form with a select for each attribute, which leads to the variation. */
export function variationForm(visit: Visit, choice: VariationChoice): Markup | false {
  const { masterNumber, row, variations, selection, problem } = choice;
  const { settings, locale } = visit;
  const words = messages(locale).storefront.product;
  const facts = row.master?.facts ?? row.facts;
  const dimensions = (facts.variationAttributes ?? []).map((dimension) =>
    shownDimension(dimension, typeOf(row, settings), settings, locale),
  );
  if (variations.length === 0 || dimensions.length === 0) return false;
  const hasValue = (name: string, value: string) =>
    variations.some((one) => selectedValue(one.selection, name) === value);
  return html`${problem !== undefined && html`<p class="error" role="alert">${problem}</p>`}
    <form
      class="variations"
      action="${to({ ...visit, locale: settings.defaultLocale }, productPath(masterNumber))}"
    >
      ${locale !== settings.defaultLocale && html`<input type="hidden" name="locale" value="${locale}" />`}
      ${dimensions.map(({ name, displayName, values }, index) => {
        const chosen = selectedValue(selection, name);
        return html`<div class="field">
          <label for="variation.${index}">${displayName}</label>
          <select id="variation.${index}" name="${name}" required>
            ${chosen === undefined && html`<option value="">${words.choose}</option>`}
            ${values
              .filter(({ value }) => hasValue(name, value))
              .map(
                ({ value, displayValue }) =>
                  html`<option value="${value}" ${chosen === value && html`selected`}>
                    ${displayValue}${remark(choice, name, value, words)}
                  </option>`,
              )}
          </select>
        </div>`;
      })}
      <button class="quiet">${words.showVersion}</button>
    </form>`;
}

/** Says of a value whether a variation has it together with the other selected values, and whether that is in stock. */
function remark(
  { variations, selection }: VariationChoice,
  name: string,
  value: string,
  words: Messages['storefront']['product'],
): string {
  // The page itself shows the availability of the current selection.
  if (selectedValue(selection, name) === value) return '';
  const values = Object.entries({ ...selection, [name]: value });
  const fitting = variations.filter((one) =>
    values.every(([key, value]) => selectedValue(one.selection, key) === value),
  );
  if (fitting.length === 0) return ` (${words.unavailable})`;
  return fitting.some(({ hasStock }) => hasStock) ? '' : ` (${words.soldOut})`;
}

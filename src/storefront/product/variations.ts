import { html, type Markup } from '../../http/html.ts';
import { selectedValue, selectionText, type Selection } from '../../catalogue/products/combinations.ts';
import { shownDimension } from '../../catalogue/products/dimensions.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { typeOf } from '../../catalogue/products/render.ts';
import type { ShownVariation } from './queries.ts';
import { messages, type Messages } from '../../kernel/messages.ts';
import { productPath, to, type Visit } from '../visit.ts';

export interface Choice {
  /** The page of the master takes the form. */
  masterNumber: string;
  row: ProductRow;
  variations: readonly ShownVariation[];
  /** Of a variation its own; of a master what was chosen so far. */
  selection: Selection;
  /** Said when what was chosen does not exist. */
  problem?: string | undefined;
}

/** The variation with exactly these values. */
export function chosenVariation(
  variations: readonly ShownVariation[],
  selection: Selection,
): ShownVariation | undefined {
  const wanted = selectionText(selection);
  return variations.find((variation) => selectionText(variation.selection) === wanted);
}

/** A select for each attribute, in a form that leads to the variation. */
export function variationForm(visit: Visit, choice: Choice): Markup | false {
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

/** What choosing this value would lead to, all else being as it is. */
function remark(
  { variations, selection }: Choice,
  name: string,
  value: string,
  words: Messages['storefront']['product'],
): string {
  // Of what is chosen already, the page says it at length.
  if (selectedValue(selection, name) === value) return '';
  const wanted = Object.entries({ ...selection, [name]: value });
  const fitting = variations.filter((one) =>
    wanted.every(([key, value]) => selectedValue(one.selection, key) === value),
  );
  if (fitting.length === 0) return ` (${words.unavailable})`;
  return fitting.some(({ hasStock }) => hasStock) ? '' : ` (${words.soldOut})`;
}

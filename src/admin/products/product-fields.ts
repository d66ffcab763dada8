import { html, type Markup, type Part } from '../../http/html.ts';
import {
  choiceField,
  longTextField,
  textField,
  tickField,
  type Choice,
  type LongTextField,
  type TextField,
} from '../components/form.ts';
import { richTextField } from '../components/rich-text.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import type { ProductFormValues } from './product-values.ts';

/** The fields of a product form, by name alone: their values, and whether they can be changed, are known. */
export interface ProductFields {
  text: (name: string, label: string, more?: Partial<TextField>) => Markup;
  number: (name: string, label: string, more?: Partial<TextField>) => Markup;
  long: (
    name: string,
    label: string,
    more: Pick<LongTextField, 'maxLength'> & Partial<LongTextField>,
  ) => Markup;
  /** A text with markup. */
  rich: ProductFields['long'];
  choice: (
    name: string,
    label: string,
    choices: readonly Choice[],
    more?: { empty?: string; hint?: Part },
  ) => Markup;
  tick: (name: string, label: string, hint?: Part) => Markup;
  /** A field in a table, whose label comes from its row and column. */
  cell: (name: string, label: string, unit?: string) => Markup;
  has: (name: string) => boolean;
  /** The stored value. */
  valueOf: (name: string) => string;
}

/** `inherited` are the values of the master, which a variation uses by default. */
export function productFields(
  values: ProductFormValues,
  inherited: ProductFormValues | undefined,
  { draft, mayWrite, visit }: { draft: Draft | undefined; mayWrite: boolean; visit: ShopVisit },
): ProductFields {
  const shared = (name: string) => ({ name, value: values[name], draft, isDisabled: !mayWrite });
  const placeholder = (name: string) => {
    const text = inherited?.[name];
    return text ? { placeholder: text.slice(0, 200) } : {};
  };
  const text: ProductFields['text'] = (name, label, more) =>
    textField({ ...shared(name), label, ...placeholder(name), ...more });
  return {
    text,
    number: (name, label, more) => text(name, label, { inputMode: 'decimal', autocomplete: 'off', ...more }),
    long: (name, label, more) => longTextField({ ...shared(name), label, ...more }),
    rich: (name, label, more) => richTextField({ ...shared(name), label, ...more }, visit),
    choice: (name, label, choices, more) => choiceField({ ...shared(name), label, choices, ...more }),
    // An unchecked box sends nothing; the hidden field tells that it was present.
    tick: (name, label, hint) =>
      html`<input type="hidden" name="${name}" value="no" ${!mayWrite && html`disabled`} />${tickField({
          ...shared(name),
          label,
          value: values[name] === 'yes',
          ...(hint !== undefined && { hint }),
        })}`,
    cell: (name, label, unit) =>
      html`<span class="${unit === undefined ? 'input' : 'input with-unit'}"
        ><input
          name="${name}"
          value="${draft?.field(name) ?? values[name] ?? ''}"
          inputmode="decimal"
          autocomplete="off"
          aria-label="${label}"
          ${!mayWrite && html`disabled`}
        />${unit !== undefined && html`<span class="unit">${unit}</span>`}</span
      >`,
    has: (name) => name in values,
    valueOf: (name) => values[name] ?? '',
  };
}

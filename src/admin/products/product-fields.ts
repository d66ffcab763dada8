import { html, type Markup, type Part } from '../../http/html.ts';
import { choiceField, longTextField, textField, tickField, type Choice } from '../components/form.ts';
import { richTextField } from '../components/rich-text.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import { productFieldFinder } from './product-declaration.ts';
import type { ProductFormValues } from './product-values.ts';

/** Parts that depend on the shop or on the product. */
interface FieldParts {
  label?: string;
  hint?: Part;
  unit?: string;
  choices?: readonly Choice[];
  empty?: string;
  /** The language of a text that stands below others, for the language tabs. */
  locale?: string;
}

/** The fields of a product form, by name alone: their declarations and values, and whether they can be changed, are known. */
export interface ProductFields {
  field: (name: string, more?: FieldParts) => Markup;
  /** A field in a table, whose label comes from its row and column. */
  cell: (name: string, row: number, unit?: string) => Markup;
  has: (name: string) => boolean;
  /** The stored value. */
  valueOf: (name: string) => string;
}

/** `inherited` are the values of the master, which a variation uses by default. */
export function productFieldInputs(
  values: ProductFormValues,
  inherited: ProductFormValues | undefined,
  { draft, mayWrite, visit }: { draft: Draft | undefined; mayWrite: boolean; visit: ShopVisit },
): ProductFields {
  const find = productFieldFinder(visit.messages);
  const isDisabled = !mayWrite;
  return {
    field: (name, more) => {
      const { kind = 'text', maxLength: limit, ...declared } = find(name)!;
      const value = values[name];
      const field = { ...declared, name, value, draft, isDisabled, ...more };
      const characters = typeof limit === 'object' ? limit.characters : limit;
      const placeholder = inherited?.[name]?.slice(0, 200);
      const text = {
        ...field,
        ...(characters !== undefined && { maxLength: characters }),
        ...(placeholder && { placeholder }),
      };
      switch (kind) {
        case 'tick':
          // An unchecked box sends nothing; the hidden field tells that it was present.
          return html`<input
              type="hidden"
              name="${name}"
              value="no"
              ${isDisabled && html`disabled`}
            />${tickField({ ...field, value: value === 'yes' })}`;
        case 'choice':
          return choiceField({ choices: [], ...field });
        case 'long text':
          return longTextField({ ...field, maxLength: characters! });
        case 'rich text':
          return richTextField({ ...field, maxLength: characters! }, visit);
        case 'decimal':
          return textField({ inputMode: 'decimal', autocomplete: 'off', ...text });
        case 'text':
        case 'date':
        case 'datetime-local':
          return textField({ ...text, type: kind });
      }
    },
    cell: (name, row, unit) =>
      textField({
        name,
        label: `${find(name)!.label} ${row}`,
        value: values[name],
        unit,
        inputMode: 'decimal',
        autocomplete: 'off',
        isCell: true,
        isDisabled,
        draft,
      }),
    has: (name) => name in values,
    valueOf: (name) => values[name] ?? '',
  };
}

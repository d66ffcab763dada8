import { updateCustomAttributes } from '../../catalogue/products/custom-attributes.ts';
import { FormLimitError } from '../../http/form-fields.ts';
import { html } from '../../http/html.ts';
import { shownAttributes } from '../../catalogue/products/attributes.ts';
import { selectedValue } from '../../catalogue/products/combinations.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { typeOf } from '../../catalogue/products/render.ts';
import { problemOf, textField } from '../components/form.ts';
import { requireUnchanged, versionField, versionOf } from '../components/version.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { attributeLabels } from './attribute-labels.ts';
import type { JsonPatchOperation } from './product-form.ts';
import { localeName } from './product-cards.ts';
import { productPage, readProduct } from './product-page.ts';
import { Redirect } from '../../http/page-kit.ts';

const MAX_KEY_LENGTH = 200;
/** The values of one attribute, separated by semicolons. */
const MAX_VALUES_LENGTH = 10_000;
const MAX_VALUES = 200;

/** The attributes of the product's type, and those that only this product has. */
export function attributes(pages: ShopPages): void {
  pages.form(
    '/products/:productId/attributes',
    { read: 'products_read', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const row = await readProduct(visit, request.params['productId']!);
        const messages = visit.messages.products.attributes;
        const shown = attributeValues(visit, row);
        const type = typeOf(row, visit.settings);
        const { valueLabel } = attributeLabels(type, visit);
        const mayWrite = visit.may('products_write');
        return productPage(visit, row, 'attributes', {
          main: html`<form method="post" class="card product-form">
            ${problemOf(draft)} ${versionField(shown)}
            <p class="hint">${messages.hint({ language: localeName(visit.locale, visit) })}</p>
            <div class="row">
              ${shown.map(({ key, label, value, isChosen }, index) => {
                const values = type.attributes.find((one) => one.key === key)?.values ?? [];
                return html`${textField({
                  name: `attribute.${index}`,
                  label,
                  value,
                  maxLength: MAX_VALUES_LENGTH,
                  isDisabled: !mayWrite || isChosen,
                  draft: isChosen ? undefined : draft,
                  ...(isChosen && { hint: messages.chosen }),
                  ...(values.length > 0 && {
                    hint: messages.known({
                      values: values
                        .slice(0, 12)
                        .map((one) => valueLabel(key, one.value))
                        .join(', '),
                    }),
                  }),
                })}`;
              })}
            </div>
            ${
              mayWrite &&
              html`<h2>${messages.addTitle}</h2>
                <div class="row">
                  ${textField({ name: 'newKey', label: messages.newKey, maxLength: MAX_KEY_LENGTH, draft })}
                  ${textField({ name: 'newValue', label: messages.newValue, maxLength: MAX_VALUES_LENGTH, draft })}
                </div>
                <button class="main">${visit.messages.form.save}</button>`
            }
          </form>`,
        });
      },
      save: async (visit, form) => {
        const row = await readProduct(visit, form.params['productId']!);
        const before = attributeValues(visit, row);
        requireUnchanged(form, before, visit.messages);
        const names = new Set(form.fieldNames);
        const typed = (index: number) =>
          names.has(`attribute.${index}`) ? form.field(`attribute.${index}`) : before[index]!.value;
        const operations = before.flatMap(({ key, value, isChosen }, index) =>
          isChosen || typed(index) === value ? [] : attributeOperations(key, typed(index)),
        );
        const [newKey, newValue] = [form.field('newKey'), form.field('newValue')];
        if (newKey !== '' && newValue !== '') operations.push(...attributeOperations(newKey, newValue));
        if (operations.length > 0) {
          await visit.call(updateCustomAttributes, {
            params: { productId: row.productId },
            query: { locale: visit.locale },
            body: operations,
          });
        }
        const path = adminPath(visit, `/products/${row.productId}/attributes`);
        const after = attributeValues(visit, await readProduct(visit, row.productId));
        const fields = before.map(({ value }, index): [string, string] => [`attribute.${index}`, value]);
        return new Redirect(path, {
          text: visit.messages.form.saved,
          undo:
            after.length === before.length && operations.length > 0
              ? { action: path, fields: { version: versionOf(after), ...Object.fromEntries(fields) } }
              : undefined,
        });
      },
    },
    {
      limits: {
        texts: {
          'attribute.*': MAX_VALUES_LENGTH,
          newKey: MAX_KEY_LENGTH,
          newValue: MAX_VALUES_LENGTH,
        },
      },
    },
  );
}

interface AttributeValue {
  key: string;
  label: string;
  value: string;
  /** The variation was chosen by it. */
  isChosen: boolean;
}

function attributeValues({ settings, locale }: ShopVisit, row: ProductRow): AttributeValue[] {
  return shownAttributes(row, settings, locale).items.map(({ key, displayKey, values }) => ({
    key,
    label: displayKey,
    value: values.map(({ displayValue }) => displayValue).join('; '),
    isChosen: selectedValue(row.selection, key) !== undefined,
  }));
}

/** Emptied first, because values are added to those of an attribute with several values. */
function attributeOperations(key: string, typed: string): JsonPatchOperation[] {
  const values = typed.split(';', MAX_VALUES + 1).map((value) => value.trim());
  if (values.length > MAX_VALUES) throw new FormLimitError('values', MAX_VALUES, key);
  return [
    { op: 'remove', path: '/', value: { key } },
    ...values
      .filter((value) => value !== '')
      .map((displayValue): JsonPatchOperation => ({ op: 'add', path: '/', value: { key, displayValue } })),
  ];
}

import { AttributeRequest, updateCustomAttributes } from '../../catalogue/products/custom-attributes.ts';
import { FormLimitError } from '../../http/form-fields.ts';
import { html } from '../../http/html.ts';
import { shownAttributes } from '../../catalogue/products/attributes.ts';
import { selectedValue } from '../../catalogue/products/combinations.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { typeOf } from '../../catalogue/products/render.ts';
import { declareForm, declareRows, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { refusedPatch, type TypedOperation } from '../components/row-changes.ts';
import { requireUnchanged, versionField, versionOf } from '../components/version.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { attributeLabels } from './attribute-labels.ts';
import { localeName } from './product-cards.ts';
import { productPage, readProduct } from './product-page.ts';
import { Redirect } from '../../http/page-kit.ts';

const MAX_VALUES = 200;

/** The values of an attribute in one text, separated by semicolons. */
const VALUES = declareRows({ body: AttributeRequest }, ({ products: { attributes: messages } }) => ({
  displayValue: { label: messages.newValue, input: 'attribute' },
}));
const NEW = declareForm({ body: AttributeRequest }, ({ products: { attributes: messages } }) => ({
  key: { label: messages.newKey, input: 'newKey' },
  displayValue: { label: messages.newValue, input: 'newValue' },
}));

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
        const valueField = (row: number, value: string, isChosen: boolean) =>
          showFields(VALUES, visit, {
            row: String(row),
            values: { displayValue: value },
            draft: isChosen ? undefined : draft,
            isDisabled: !mayWrite || isChosen,
          });
        const added = showFields(NEW, visit, { draft });
        return productPage(visit, row, 'attributes', {
          main: html`<form method="post" class="card product-form">
            ${problemOf(draft)} ${versionField(shown)}
            <p class="hint">${messages.hint({ language: localeName(visit.locale, visit) })}</p>
            <div class="row">
              ${shown.map(({ key, label, value, isChosen }, index) => {
                const values = type.attributes.find((one) => one.key === key)?.values ?? [];
                return valueField(
                  index,
                  value,
                  isChosen,
                )('displayValue', {
                  label,
                  ...(isChosen && { hint: messages.chosen }),
                  ...(values.length > 0 && {
                    hint: messages.known({
                      values: values
                        .slice(0, 12)
                        .map((one) => valueLabel(key, one.value))
                        .join(', '),
                    }),
                  }),
                });
              })}
            </div>
            ${
              mayWrite &&
              html`<h2>${messages.addTitle}</h2>
                <div class="row">${added('key')} ${added('displayValue')}</div>
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
        const operations = before.flatMap(({ key, label, value, isChosen }, index) => {
          const input = `attribute.${index}`;
          if (isChosen || !names.has(input)) return [];
          const { displayValue } = readFields(VALUES, form, visit, { row: String(index) });
          const typed = String(displayValue);
          return typed === value ? [] : attributeOperations(key, typed, { input, label });
        });
        const added = readFields(NEW, form, visit);
        if (added.key !== '' && added.displayValue !== '') {
          const { newValue: label } = visit.messages.products.attributes;
          operations.push(
            ...attributeOperations(added.key, String(added.displayValue), { input: 'newValue', label }),
          );
        }
        if (operations.length > 0) {
          await visit
            .call(updateCustomAttributes, {
              params: { productId: row.productId },
              query: { locale: visit.locale },
              body: operations.map(({ operation }) => operation),
            })
            .catch((error: unknown) => {
              throw refusedPatch(error, operations, visit);
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
    optionsOf(VALUES, NEW),
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
function attributeOperations(
  key: string,
  typed: string,
  field: Pick<TypedOperation, 'input' | 'label'>,
): TypedOperation[] {
  const values = typed.split(';', MAX_VALUES + 1).map((value) => value.trim());
  if (values.length > MAX_VALUES) throw new FormLimitError('values', MAX_VALUES, key);
  return [
    { ...field, operation: { op: 'remove', path: '/', value: { key } } },
    ...values
      .filter((value) => value !== '')
      .map((displayValue): TypedOperation => ({
        ...field,
        operation: { op: 'add', path: '/', value: { key, displayValue } },
      })),
  ];
}

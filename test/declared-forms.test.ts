import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/*
 * A form of the admin declares its fields (`src/admin/components/declared-form.ts`), and its page shows and reads them by
 * that: so a field has its bound, its label and its words of a refusal in one place. These sweeps over the source find a
 * page that does it by hand.
 */

const ADMIN = new URL('../src/admin/', import.meta.url);

/** What is made for all forms. */
const isKit = (path: string) => path.startsWith('components/');

const pages = readdirSync(ADMIN, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !isKit(path))
  .map((path) => ({ path, source: readFileSync(new URL(path, ADMIN), 'utf8') }))
  .toSorted((one, other) => (one.path < other.path ? -1 : 1));

const found = (pattern: RegExp) =>
  pages.flatMap(({ path, source }) => [...source.matchAll(pattern)].map(([, part]) => `${path}: ${part}`));

test('pages read the fields of a form by its declaration, or for a reason', () => {
  expect(found(/\b(?:form|request|body)\.(field(?:List)?\b(?:\([^)]*\))?)/g)).toEqual([
    // It passes a form on, with one more action.
    'automation/rule-pages.ts: field(name)',
    // What was typed is parsed before the operation sees it.
    "fields/definition-pages.ts: field('jsonSchema')",
    // The values of custom fields follow from their definitions.
    'fields/field-inputs.ts: fieldList(input)',
    'fields/field-inputs.ts: field(input)',
    'fields/field-inputs.ts: field(input)',
    // They pass a form on, with some values replaced.
    'orders/bulk.ts: field(name)',
    'orders/bulk.ts: fieldList',
    'orders/new-order.ts: field(name)',
    'orders/new-order.ts: fieldList',
    'page-routes.ts: field',
    'page-routes.ts: fieldList',
    // The fields of a product are declared in `product-declaration.ts`, for the operations of a JSON Patch.
    "products/product.ts: field('stock')",
    'products/product.ts: fieldList(name)',
    // The fields of settings follow from the schema of their section.
    'settings/read-section.ts: fieldList(name)',
    // A password may begin or end with a blank.
    'users/password-field.ts: fieldList(name)',
  ]);
  expect(found(/(\{[^{}]*\bfield(?:List)?\b[^{}]*\}(?:: (?:Pick<)?FormRequest| = form;))/g)).toEqual([
    // The fields of a block are declared by its type, and have its place in their names.
    'content/block-forms.ts: { field }: Pick<FormRequest',
  ]);
});

test('pages show the fields of a form by its declaration', () => {
  const inputs = found(/\b((?:text|longText|richText|choice|tick)Field\()/g).map((use) => use.split(':')[0]);
  expect(new Set(inputs)).toEqual(
    new Set([
      // A button of the editor, sent with its blocks.
      'content/block-editor.ts',
      // The kit of custom fields.
      'fields/field-inputs.ts',
      // Filters and periods: their forms change nothing, and what they send is in the address.
      'giftcards/owed.ts',
      'import/export.ts',
      'orders/accounting.ts',
      'products/bulk-edit.ts',
      'reports/reports.ts',
      'settings/shipping.ts',
      // The kits of a product, and of settings.
      'products/product-fields.ts',
      'settings/map-fields.ts',
      'settings/plain-fields.ts',
      'settings/section-fields.ts',
    ]),
  );
});

import { Type } from 'typebox';
import { isDate } from '../../http/dates.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { JsonPatch, patchOf } from '../../http/json-patch.ts';
import { readingLocale, writingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, LocaleParameter } from '../../http/schemas.ts';
import { parseDecimal } from '../../kernel/money.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { attributesOf, CustomAttributes, shownAttributes } from './attributes.ts';
import { selectedValue } from './combinations.ts';
import type { AttributeType, ProductAttribute, ProductFacts } from './facts.ts';
import { findProductRows, lockProduct, type ProductRow } from './queries.ts';
import { typeOf } from './render.ts';
import { canWriteProducts } from './render-options.ts';
import { saveProduct } from './save-product.ts';

const MAX_ATTRIBUTES = 200;
const MAX_VALUES = 200;

export const AttributeRequest = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
  displayValue: Type.Unsafe<string | number | boolean>({
    type: ['string', 'number', 'boolean'],
    maxLength: 10_000,
  }),
});

const patch = patchOf({ '/': { ops: ['add', 'replace', 'remove'], value: AttributeRequest } });

const shared = {
  tag: 'products',
  path: '/products/:productId/custom-attributes',
  params: Type.Object({ productId: Id }),
  query: Type.Object({ locale: LocaleParameter }),
  answer: CustomAttributes,
} as const;

const listCustomAttributes = operation({
  ...shared,
  labels: ['Base', 'Now'],
  method: 'GET',
  name: 'listCustomAttributes',
  summary: 'List custom attributes',
  description: 'The attributes of the product type, and those of this product only.',
  access: 'products_read',
});

export const updateCustomAttributes = operation({
  ...shared,
  labels: ['Now'],
  method: 'PATCH',
  name: 'updateCustomAttributes',
  summary: 'Update custom attributes',
  description:
    'Path `/`: add sets a value in the locale of the query (one more, where an attribute has several), an ' +
    'unknown key becomes an attribute of this product; remove empties it.',
  access: 'products_write',
  body: JsonPatch,
});

export function customAttributes(api: Operations): void {
  api.read(listCustomAttributes, async (call) => {
    const { db, shopId, params, query } = call;
    const [settings, [row]] = await Promise.all([
      shopSettings(db, shopId),
      findProductRows(db, shopId, [params.productId]),
    ]);
    if (!row || !(row.visible || canWriteProducts(call))) throw notFound();
    return shownAttributes(row, settings, readingLocale(query.locale, settings));
  });

  api.write(updateCustomAttributes, async ({ tx, shopId, params, query, body }) => {
    const changes = patch(body);
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const product = await lockProduct(tx, shopId, params.productId);
    const [row] = product ? await findProductRows(tx, shopId, [params.productId]) : [];
    if (!product || !row) throw notFound();
    let attributes = attributesOf(row, settings);
    changes.forEach(({ op, value }, index) => {
      const field = `[${index}] /`;
      if (typeof value !== 'object' || value === null) throw invalid('MISSING', field);
      const { key, displayValue } = value as {
        key?: unknown;
        displayValue?: string | number | boolean;
      };
      if (typeof key !== 'string' || key.length > 200) throw invalid('MISSING', `${field}.key`);
      attributes =
        op === 'remove'
          ? attributes.map((one) => (one.key === key ? { ...one, values: [] } : one))
          : withValue(attributes, key.trim(), String(displayValue), { settings, row, locale, field });
    });
    if (attributes.length > MAX_ATTRIBUTES)
      throw new Refusal('TOO_MANY_ATTRIBUTES', { limit: MAX_ATTRIBUTES });
    const next: ProductFacts = { ...product.facts, attributes: ownAttributes(attributes, row, settings) };
    await saveProduct(tx, shopId, product, { ...product, facts: next });
    return shownAttributes({ ...row, facts: next }, settings, locale);
  });
}

/** The product's own attributes: neither empty ones of its type, nor those that the variation was chosen by. */
function ownAttributes(
  attributes: readonly ProductAttribute[],
  row: ProductRow,
  settings: Settings,
): ProductAttribute[] {
  const type = typeOf(row, settings);
  return attributes.filter(
    ({ key, values }) =>
      selectedValue(row.selection, key) === undefined &&
      (values.length > 0 || !type.attributes.some((one) => one.key === key)),
  );
}

interface Setting {
  settings: Settings;
  row: ProductRow;
  locale: string;
  field: string;
}

function withValue(
  attributes: readonly ProductAttribute[],
  key: string,
  text: string,
  { settings, row, locale, field }: Setting,
): ProductAttribute[] {
  if (selectedValue(row.selection, key) !== undefined) {
    throw new Refusal('VARIATION_ATTRIBUTE_FIXED', { attribute: key });
  }
  const known = attributes.find((one) => one.key === key);
  const attribute: ProductAttribute = known ?? {
    key,
    name: {},
    type: 'string',
    singleValue: true,
    values: [],
  };
  if (!isOfType(text, attribute.type)) throw invalid('WRONG_FORMAT', `${field}.displayValue`);
  const value = predefined(row, settings, key, text) ?? labelled(attribute, text, locale);
  const others = attribute.singleValue
    ? []
    : attribute.values.filter((one) => one.value !== value.value).slice(0, MAX_VALUES - 1);
  const next = { ...attribute, values: [...others, value] };
  return known ? attributes.map((one) => (one === known ? next : one)) : [...attributes, next];
}

/** A value of the product type, by its key or by its label in any language. */
function predefined(row: ProductRow, settings: Settings, key: string, text: string) {
  const lowered = text.toLowerCase();
  const values = typeOf(row, settings).attributes.find((one) => one.key === key)?.values ?? [];
  return (
    values.find(({ value }) => value.toLowerCase() === lowered) ??
    values.find(({ name }) => Object.values(name).some((label) => label.toLowerCase() === lowered))
  );
}

/** A single text can have several languages: the key stays that of the first. */
function labelled({ singleValue, type, values }: ProductAttribute, text: string, locale: string) {
  const [old] = values;
  const isTranslation = singleValue && type === 'string' && old && old.name[locale] === undefined;
  return isTranslation
    ? { value: old.value, name: { ...old.name, [locale]: text } }
    : { value: text, name: { [locale]: text } };
}

const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/;

function isOfType(text: string, type: AttributeType): boolean {
  switch (type) {
    case 'string':
      return true;
    case 'number':
      return parseDecimal(text) !== undefined;
    case 'bool':
      return text === 'true' || text === 'false';
    case 'datetime':
      return isDate(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
    case 'time':
      return TIME.test(text);
    case 'url':
      return /^https?:\/\/\S+$/.test(text);
  }
}

import { Type, type Static } from 'typebox';
import { aliasOf, aliasStart, freeAlias, MAX_ALIAS_LENGTH } from '../../kernel/aliases.ts';
import type { Transaction } from '../../db/database.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { JsonPatch, patchOf } from '../../http/json-patch.ts';
import { readingLocale, textIn, writingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, LocaleParameter, Nullable, Paged } from '../../http/schemas.ts';
import { check, compileBody } from '../../http/validation.ts';
import { newId } from '../../kernel/ids.ts';
import { refreshListing, refreshOrRebuild } from '../products/listing.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import {
  shopSettings,
  type ProductType as StoredType,
  type Settings,
  type TypeAttribute,
} from '../../shops/settings/settings.ts';
import {
  filtersChanged,
  labelsChanged,
  removedBetween,
  UNNUMBERED,
  withAttribute,
  withoutAttribute,
  withoutValues,
} from './attributes.ts';
import {
  findProductTypeAliases,
  findListed,
  findProductWithAttributes,
  insertProductType,
  lockProductType,
  updateAttributes,
} from './queries.ts';
import { takeNumber } from '../../platform/counters.ts';

const MAX_ATTRIBUTES = 100;
const MAX_VALUES = 2_000;
/** Products refreshed by one call when the filterable attributes of the search change. */
const BATCH = 1_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const text = { minLength: 1, maxLength: 255, pattern: '\\S' };
const words = {
  name: { description: 'Name, in the locale of the call.', examples: ['Lamp'] },
  alias: { description: 'Short name, unique in the shop.', examples: ['Lamp'] },
  attribute: { description: 'Name of the attribute.', examples: ['Colour'] },
  visible: { description: 'Shown in the shop.', examples: [true] },
  preDefined: { description: 'Its values are chosen from those listed.', examples: [true] },
  value: { description: 'The value itself, the same in every language.', examples: ['brass'] },
  label: { description: 'Label of the value in the locale of the call.', examples: ['Brass'] },
};

const ProductType = Type.Object(
  {
    name: Type.String(words.name),
    productTypeId: Id,
    attributes: Type.Array(
      Type.Object(
        {
          visible: Type.Boolean(words.visible),
          name: Type.String(words.attribute),
          values: Type.Array(
            Type.Object(
              { value: Type.String(words.value), name: Type.String(words.label) },
              { title: 'attributeSelection' },
            ),
            { description: 'What can be chosen.' },
          ),
          preDefAttribute: Type.Boolean(words.preDefined),
        },
        { title: 'attributeProductType' },
      ),
      { description: 'What products of this type say about themselves, and what variations differ in.' },
    ),
    alias: Type.String(words.alias),
  },
  { title: 'productType' },
);

const GivenValue = Type.Object(
  {
    value: Type.Optional(
      Nullable(
        Type.String({ ...words.value, ...text, description: `${words.value.description} Absent: its name.` }),
      ),
    ),
    name: Type.String({ ...words.label, ...text }),
  },
  { title: 'attributeSelection (request)' },
);

const GivenAttribute = Type.Object(
  {
    visible: Type.Optional(
      Nullable(
        Type.Boolean({ ...words.visible, description: `${words.visible.description} A new one: false.` }),
      ),
    ),
    name: Type.String({ ...words.attribute, ...text }),
    values: Type.Optional(
      Nullable(Type.Array(GivenValue, { maxItems: MAX_VALUES, description: 'What can be chosen.' })),
    ),
    preDefAttribute: Type.Optional(
      Nullable(
        Type.Boolean({
          ...words.preDefined,
          description: `${words.preDefined.description} A new one: true.`,
        }),
      ),
    ),
  },
  { title: 'attributeProductType (request)' },
);

const NewProductType = Type.Object(
  {
    name: Type.String({ ...words.name, ...text }),
    attributes: Type.Optional(
      Nullable(
        Type.Array(GivenAttribute, {
          maxItems: MAX_ATTRIBUTES,
          description: 'What products of this type say about themselves.',
        }),
      ),
    ),
    alias: Type.Optional(
      Nullable(
        Type.String({
          description: 'Short name; absent: made from the name. One that is taken gets a number.',
          examples: ['Lamp'],
          maxLength: MAX_ALIAS_LENGTH,
        }),
      ),
    ),
  },
  { title: 'productType (create request)' },
);

const patch = patchOf({
  '/attributevalues': { ops: ['add', 'remove'], value: GivenAttribute },
  '/attribute': { ops: ['remove'], value: Type.Object({ name: GivenAttribute.properties.name }) },
});

const RemovedValues = Type.Object({
  name: GivenAttribute.properties.name,
  values: Type.Optional(
    Nullable(
      Type.Array(
        Type.Object({
          value: GivenValue.properties.value,
          name: Type.Optional(Nullable(GivenValue.properties.name)),
        }),
      ),
    ),
  ),
});
const checkRemovedValues = compileBody(RemovedValues);
const checkRemovedAttribute = compileBody(Type.Object({ name: GivenAttribute.properties.name }));

const { parameters, pageOf } = paging();
const shared = { tag: 'producttypes', labels: ['Now'] } as const;
const params = Type.Object({ productTypeId: Id });

/*
 * Product types are cached with the settings: every change increments the settings' version first, so that changes are
 * serialised.
 */

const listProductTypes = operation({
  ...shared,
  method: 'GET',
  path: '/producttypes',
  name: 'listProductTypes',
  summary: 'List product types',
  description: 'Oldest first.',
  access: 'products_read',
  query: Type.Object({ locale: LocaleParameter, ...parameters }),
  answer: Paged(ProductType, 'product type list'),
});

export const createProductType = operation({
  ...shared,
  method: 'POST',
  path: '/producttypes',
  name: 'createProductType',
  summary: 'Create product type',
  description: 'Names are in the locale of the call.',
  access: 'products_write',
  query: Type.Object({ locale: LocaleParameter }),
  body: NewProductType,
  status: 201,
  answer: ProductType,
});

const getProductType = operation({
  ...shared,
  method: 'GET',
  path: '/producttypes/:productTypeId',
  name: 'getProductType',
  summary: 'Get product type',
  access: 'products_read',
  params,
  query: Type.Object({ locale: LocaleParameter }),
  answer: ProductType,
});

export const updateProductType = operation({
  ...shared,
  method: 'PATCH',
  path: '/producttypes/:productTypeId',
  name: 'updateProductType',
  summary: 'Update product type',
  description:
    'Paths: /attributevalues (add: creates the attribute, or adds values to it and labels in the locale of the call; remove: removes the values named), /attribute (remove). Attributes and values in use by a product cannot be removed. All or nothing.',
  access: 'products_write',
  params,
  query: Type.Object({ locale: LocaleParameter }),
  body: JsonPatch,
  answer: ProductType,
});

export function productTypeOperations(api: Operations): void {
  api.read(listProductTypes, async ({ db, shopId, query }) => {
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    const page = pageOf(query);
    const { productTypes } = settings;
    const shown = productTypes.slice(page.offset, page.offset + page.resultsPerPage);
    return paged(
      page,
      productTypes.length,
      shown.map((stored) => toProductType(stored, settings, locale)),
    );
  });

  api.write(createProductType, async ({ tx, shopId, query, body, created }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    await moveSettingsVersion(tx, shopId);
    const alias = body.alias?.trim() || aliasOf(body.name, 'type');
    let attributes: TypeAttribute[] = [];
    for (const attribute of body.attributes ?? []) attributes = withAttribute(attributes, attribute, locale);
    checkBounds(attributes, 'attributes');
    const stored: StoredType = {
      productTypeId: newId(tx.now),
      alias: freeAlias(alias, await findProductTypeAliases(tx, shopId, aliasStart(alias))),
      name: { [locale]: body.name },
      attributes: await numbered(tx, shopId, attributes),
    };
    await insertProductType(tx, shopId, stored);
    created({ productTypeId: stored.productTypeId });
    return toProductType(stored, settings, locale);
  });

  api.read(getProductType, async ({ db, shopId, params, query }) => {
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    const stored = settings.productTypes.find((one) => one.productTypeId === params.productTypeId);
    if (!stored) throw notFound();
    return toProductType(stored, settings, locale);
  });

  api.write(updateProductType, async ({ tx, shopId, params, query, body }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const changes = patch(body);
    await moveSettingsVersion(tx, shopId);
    const stored = await lockProductType(tx, shopId, params.productTypeId);
    if (!stored) throw notFound();
    const changed = changes.reduce(
      (attributes, change, index) => changedBy(attributes, change, `[${index}] ${change.path}`, locale),
      stored.attributes,
    );
    const gone = removedBetween(stored.attributes, changed);
    const user = gone.length > 0 ? await findProductWithAttributes(tx, shopId, stored, gone) : undefined;
    if (user) throw new Refusal('PRODUCT_TYPE_USED', { product: user.productNumber });

    const attributes = await numbered(tx, shopId, changed);
    await updateAttributes(tx, shopId, stored.productTypeId, attributes);
    await listAnew(tx, shopId, stored, filtersChanged(stored.attributes, attributes));
    const labels = labelsChanged(stored.attributes, attributes);
    if (labels.length > 0) {
      await refreshOrRebuild(tx, shopId, (limit) =>
        findListed(tx, shopId, stored, labels, BEFORE_ALL, limit),
      );
    }
    return toProductType({ ...stored, attributes }, settings, locale);
  });
}

type Change = ReturnType<typeof patch>[number];

function changedBy(attributes: TypeAttribute[], change: Change, at: string, locale: string): TypeAttribute[] {
  if (change.op !== 'remove') {
    const changed = withAttribute(attributes, change.value, locale);
    checkBounds(changed, at);
    return changed;
  }
  // The value names the entry to remove.
  if (change.value === undefined) throw invalid('MISSING', `${at}.value`);
  if (change.path === '/attribute') {
    check(checkRemovedAttribute, change.value, at);
    return withoutAttribute(attributes, (change.value as { name: string }).name, locale);
  }
  check(checkRemovedValues, change.value, at);
  const { name, values } = change.value as Static<typeof RemovedValues>;
  return withoutValues(attributes, name, values ?? [], locale);
}

function checkBounds(attributes: readonly TypeAttribute[], at: string): void {
  const isTooLong =
    attributes.length > MAX_ATTRIBUTES || attributes.some(({ values }) => values.length > MAX_VALUES);
  if (isTooLong) throw invalid('TOO_LONG', at);
}

/** Assigns numbers to new ones, which search filters use as names. */
async function numbered(
  tx: Transaction,
  shopId: string,
  attributes: readonly TypeAttribute[],
): Promise<TypeAttribute[]> {
  const count = attributes.filter(({ number }) => number === UNNUMBERED).length;
  if (count === 0) return [...attributes];
  let next = (await takeNumber(tx, shopId, 'attribute', count)) - count + 1;
  return attributes.map((attribute) =>
    attribute.number === UNNUMBERED ? { ...attribute, number: next++ } : attribute,
  );
}

/** Lists and search index a product by its filterable attributes. */
async function listAnew(
  tx: Transaction,
  shopId: string,
  type: StoredType,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  for (let last = BEFORE_ALL; ;) {
    const productIds = await findListed(tx, shopId, type, keys, last, BATCH);
    if (productIds.length === 0) return;
    await refreshListing(tx, shopId, productIds);
    last = productIds.at(-1)!;
  }
}

function toProductType(
  { productTypeId, alias, name, attributes }: StoredType,
  { defaultLocale }: Settings,
  locale: string,
): Static<typeof ProductType> {
  return {
    name: textIn(name, locale, defaultLocale) ?? alias,
    productTypeId,
    attributes: attributes.map((attribute) => ({
      visible: attribute.visible,
      name: textIn(attribute.name, locale, defaultLocale) ?? attribute.key,
      values: attribute.values.map((entry) => ({
        value: entry.value,
        name: textIn(entry.name, locale, defaultLocale) ?? entry.value,
      })),
      preDefAttribute: attribute.preDefined,
    })),
    alias,
  };
}

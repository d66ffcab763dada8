import { Type, type Static } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { audienceOf } from '../../fields/access.ts';
import { IncludeFields, ShownFields } from '../../shops/settings/shown-fields.ts';
import { findShownFields } from '../../fields/values.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { readingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paging } from '../../http/paging.ts';
import { Id, Link, Links, LocaleParameter } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import {
  shopSettings,
  type ProductType,
  type Settings,
  type TypeAttribute,
} from '../../shops/settings/settings.ts';
import {
  combinations,
  countCombinations,
  mergedDimensions,
  selectedValue,
  selectionText,
  type Dimension,
  type Selection,
} from './combinations.ts';
import { shownDimension } from './dimensions.ts';
import { refreshListing } from './listing.ts';
import { changedFields, recordChangedProducts, recordCreatedProducts } from './product-events.ts';
import { findProductRows, lockProduct, updateProductRow, type StoredProduct } from './queries.ts';
import { selectionOf, typeOf } from './render.ts';
import { refreshBundlesOf } from './save-product.ts';
import { VariationIdentifier } from './schema.ts';
import { canWriteProducts } from './render-options.ts';
import { takeNumber } from '../../platform/counters.ts';

const MAX_VARIATIONS = 5_000;
/** Bytes: the selection of a variation is the key of an index. */
const MAX_SELECTION_LENGTH = 2_000;

export const VariationValue = Type.Object(
  {
    value: Type.String({ description: 'Key of the value.', examples: ['Dark'] }),
    displayValue: Type.String({ description: 'Label of the value.', examples: ['Dark'] }),
  },
  { title: 'variationValue' },
);

const VariationList = Type.Object(
  {
    results: Type.Integer({ description: 'Variations over all pages.', examples: [4] }),
    resultsPerPage: Type.Integer({ description: 'The page size in force.', examples: [100] }),
    page: Type.Integer({ description: 'The page shown, from 1.', examples: [1] }),
    links: Links,
    variationAttributes: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Key of the attribute.', examples: ['Roast'] }),
          displayName: Type.String({ description: 'Label of the attribute.', examples: ['Roast'] }),
          values: Type.Array(VariationValue, { description: 'Its values.' }),
        },
        { title: 'variationAttribute' },
      ),
      { description: 'The attributes in which the variations differ.' },
    ),
    items: Type.Array(
      Type.Object(
        {
          link: { ...Link, description: 'The variation itself.' },
          attributeSelection: Type.Array(VariationIdentifier, { description: 'Its values.' }),
          fields: ShownFields,
        },
        { title: 'variation' },
      ),
      { description: 'The visible variations of this page.' },
    ),
  },
  { title: 'variationList' },
);

const Word = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', examples: ['Roast'] });

const NewVariations = Type.Object(
  {
    productType: { ...Word, description: 'Alias or name of the product type.', examples: ['Coffee'] },
    visibleAfterCreation: Type.Optional(
      Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        description: 'Whether new variations are shown; absent: not.',
        examples: [true],
      }),
    ),
    variationAttributes: Type.Array(
      Type.Object(
        {
          name: { ...Word, description: 'Attribute.' },
          defaultForExistingProducts: Type.Optional(
            Type.Unsafe<string | null>({
              type: ['string', 'null'],
              maxLength: 200,
              description: 'What variations get that exist already and lack the attribute.',
              examples: ['Medium'],
            }),
          ),
          values: Type.Array(
            Type.Object(
              { value: { ...Word, description: 'Value.', examples: ['Dark'] } },
              { title: 'variationValue (create request)' },
            ),
            { minItems: 1, maxItems: MAX_VARIATIONS, description: 'Values.' },
          ),
        },
        { title: 'variationAttribute (create request)' },
      ),
      { minItems: 1, maxItems: 20, description: 'The attributes in which the variations differ.' },
    ),
  },
  { title: 'variation (create request)' },
);
type RequestedAttributes = Static<typeof NewVariations>['variationAttributes'];

const { parameters, pageOf } = paging({ standard: 100, maximum: 1_000 });

export const listVariations = operation({
  tag: 'products',
  labels: ['Base'],
  method: 'GET',
  path: '/products/:productId/variations',
  name: 'listVariations',
  summary: 'List variations',
  description: 'The visible variations of a master, or of the master of a variation. 404 if there are none.',
  access: 'products_read',
  params: Type.Object({ productId: Id }),
  query: Type.Object({ locale: LocaleParameter, ...parameters, includeFields: IncludeFields }),
  answer: VariationList,
});

export const createVariations = operation({
  tag: 'products',
  labels: ['Now'],
  method: 'POST',
  path: '/products/:productId/variations',
  name: 'createVariations',
  summary: 'Create variations',
  description:
    'Creates every combination of the values that does not exist yet, including those of attributes that ' +
    'the product already has. Turns a regular product into a master. Attributes and values that the product ' +
    `type does not know are added to it. At most ${MAX_VARIATIONS} variations.`,
  access: 'products_write',
  params: Type.Object({ productId: Id }),
  body: NewVariations,
  status: 204,
});

export function variationOperations(api: Operations): void {
  api.read(listVariations, async (call) => {
    const { db, shopId, params, query, link } = call;
    const page = pageOf(query);
    const [settings, [requested]] = await Promise.all([
      shopSettings(db, shopId),
      findProductRows(db, shopId, [params.productId]),
    ]);
    if (!requested || !(requested.visible || canWriteProducts(call))) throw notFound();
    const masterId = requested.masterId ?? requested.productId;
    const master = requested.master ?? requested;
    const dimensions = master.facts.variationAttributes ?? [];
    const [results, rows] = await Promise.all([
      countVisible(db, shopId, masterId),
      findVisible(db, shopId, masterId, page.resultsPerPage, page.offset),
    ]);
    if (results === 0) throw notFound();
    const locale = readingLocale(query.locale, settings);
    const type = typeOf(requested, settings);
    const fieldsOf = query.includeFields
      ? await findShownFields(
          db,
          settings,
          ['variation'],
          rows.map(({ productId }) => productId),
          { audience: audienceOf(call.caller), locale },
        )
      : undefined;
    return {
      results,
      resultsPerPage: page.resultsPerPage,
      page: page.page,
      links: [],
      variationAttributes: dimensions.map((dimension) => shownDimension(dimension, type, settings, locale)),
      items: rows.map(({ productId, selection }) => ({
        link: { rel: 'variation', href: link(`/products/${productId}`) },
        attributeSelection: selectionOf(
          { selection, productTypeId: type.productTypeId, master: { ...master } },
          settings,
          locale,
        )!,
        ...(fieldsOf && { fields: fieldsOf(productId) }),
      })),
    };
  });

  api.write(createVariations, async ({ tx, shopId, params, body }) => {
    const settings = await shopSettings(tx, shopId);
    const product = await lockProduct(tx, shopId, params.productId);
    if (!product) throw notFound();
    if (product.kind === 'variation') throw new Refusal('VARIATION_OF_VARIATION');
    const type = findType(settings, body.productType);
    if (!type) throw invalid('UNKNOWN_VALUE', 'productType');

    const existing = await findSelections(tx, shopId, product.productId);
    const requested = requestedDimensions(body.variationAttributes, type);
    const dimensions = mergedDimensions(product.facts.variationAttributes ?? [], requested);
    if (countCombinations(dimensions) > MAX_VARIATIONS) {
      throw new Refusal('TOO_MANY_VARIATIONS', { limit: MAX_VARIATIONS });
    }
    const longest = dimensions.map(({ key, values }) => [key, longestOf(values)] as const);
    if (Buffer.byteLength(selectionText(Object.fromEntries(longest))) > MAX_SELECTION_LENGTH) {
      throw new Refusal('COMBINATION_TOO_LONG');
    }
    const completed = completedSelections(existing, body.variationAttributes, requested);
    await growType(tx, shopId, type, requested);
    const master = masterOf(product, type, dimensions);
    await updateProductRow(tx, shopId, master);
    const changedIds = await updateSelections(tx, shopId, completed);
    const taken = new Set(completed.map(({ selection }) => selectionText(selection)));
    const missing = combinations(dimensions).filter((selection) => !taken.has(selectionText(selection)));
    const createdIds = await insertVariations(
      tx,
      shopId,
      product,
      missing,
      body.visibleAfterCreation ?? false,
    );
    await refreshListing(tx, shopId, [product.productId]);
    // It may be a part of bundles, whose customers choose a variation from now on.
    await refreshBundlesOf(tx, shopId, [product.productId], { stock: true, attributes: true });
    recordChangedProducts(tx, shopId, [
      { productId: product.productId, changed: changedFields(product, master) },
      ...changedIds.map((productId) => ({ productId, changed: ['productVariationSelection'] })),
    ]);
    recordCreatedProducts(tx, shopId, createdIds);
  });
}

/** A variation that an import names: its number, and its values by attribute. */
export interface NamedVariation {
  productNumber: string;
  selection: Selection;
}

/**
 * Makes these variations of a product, which has or gets no others. Turns a regular product into a master. Variations
 * that exist keep their numbers; a number that another product has is skipped. Returns the numbers that were made.
 */
export async function addNamedVariations(
  tx: Transaction,
  settings: Settings,
  productNumber: string,
  {
    productType,
    visible,
    variations,
  }: { productType: string; visible: boolean; variations: readonly NamedVariation[] },
): Promise<string[]> {
  const { shopId } = settings;
  const row = await tx.one<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and product_number = ${productNumber}`);
  const product = row && (await lockProduct(tx, shopId, row.productId));
  const type = findType(settings, productType);
  if (!product || product.kind === 'variation' || !type) return [];
  const keys = Object.keys(variations[0]?.selection ?? {});
  const requested = requestedDimensions(
    keys.map((name) => ({
      name,
      values: [...new Set(variations.map(({ selection }) => selection[name]!))].map((value) => ({ value })),
    })),
    type,
  );
  /** In the spelling that the product type has. */
  const spelled = ({ selection }: NamedVariation): Selection =>
    Object.fromEntries(
      requested.map(({ key, values }, index) => {
        const wanted = selection[keys[index]!]!.trim().toLowerCase();
        return [key, values.find((value) => value.toLowerCase() === wanted) ?? selection[keys[index]!]!];
      }),
    );
  const existing = await findSelections(tx, shopId, product.productId);
  const taken = new Set(existing.map(({ selection }) => selectionText(selection)));
  const rows = new Map<string, NamedVariation & { productId: string }>();
  for (const variation of variations) {
    const selection = spelled(variation);
    const text = selectionText(selection);
    if (taken.has(text) || rows.has(text) || Buffer.byteLength(text) > MAX_SELECTION_LENGTH) continue;
    rows.set(text, { productId: newId(tx.now), productNumber: variation.productNumber, selection });
  }
  if (existing.length + rows.size > MAX_VARIATIONS) {
    throw new Refusal('TOO_MANY_VARIATIONS', { limit: MAX_VARIATIONS });
  }
  await growType(tx, shopId, type, requested);
  const master = masterOf(
    product,
    type,
    mergedDimensions(product.facts.variationAttributes ?? [], requested),
  );
  await updateProductRow(tx, shopId, master);
  const inserted = await tx.many<{ productId: string; productNumber: string }>(sql`
    insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
      visible, facts)
    select shop_id, "productId", "productNumber", 'variation', ${product.productId}::uuid, selection,
      ${tx.now}::timestamptz, 1, ${visible}::boolean, '{}'::jsonb
    from shop
    cross join jsonb_to_recordset(${JSON.stringify([...rows.values()])}) as entry ("productId" uuid,
      "productNumber" text, selection jsonb)
    where shop_id = ${shopId}
    on conflict (shop_id, product_number) do nothing
    returning upper(product_id::text) as "productId", product_number as "productNumber"`);
  await refreshListing(tx, shopId, [product.productId]);
  recordChangedProducts(tx, shopId, [
    { productId: product.productId, changed: changedFields(product, master) },
  ]);
  recordCreatedProducts(
    tx,
    shopId,
    inserted.map(({ productId }) => productId),
  );
  return inserted.map(({ productNumber: number }) => number);
}

function longestOf(values: readonly string[]): string {
  return values.reduce((longest, value) => (value.length > longest.length ? value : longest), '');
}

/** A master is not sold itself: its stock is that of its variations. */
function masterOf(product: StoredProduct, type: ProductType, dimensions: Dimension[]): StoredProduct {
  return {
    ...product,
    kind: 'master',
    stock: null,
    minStock: null,
    productTypeId: type.productTypeId,
    facts: { ...product.facts, variationAttributes: dimensions },
  };
}

function findType({ productTypes }: Settings, requested: string): ProductType | undefined {
  const lowered = requested.trim().toLowerCase();
  return (
    productTypes.find(({ alias }) => alias.toLowerCase() === lowered) ??
    productTypes.find(({ name }) => Object.values(name).some((text) => text.toLowerCase() === lowered))
  );
}

/** Maps the client's names in any case to the keys of the product type; new ones keep their spelling. */
function requestedDimensions(requested: RequestedAttributes, type: ProductType): Dimension[] {
  const dimensions = requested.map(({ name, values }) => {
    const attribute = named(type.attributes, name, 'key');
    return {
      key: attribute?.key ?? name.trim(),
      values: [
        ...new Set(
          values.map(({ value }) => named(attribute?.values ?? [], value, 'value')?.value ?? value.trim()),
        ),
      ],
    };
  });
  if (new Set(dimensions.map(({ key }) => key)).size < dimensions.length) {
    throw new Refusal('ATTRIBUTE_TWICE');
  }
  return dimensions;
}

function named<Key extends string, Entry extends Record<Key, string> & { name: Record<string, string> }>(
  entries: readonly Entry[],
  requested: string,
  key: Key,
): Entry | undefined {
  const lowered = requested.trim().toLowerCase();
  return (
    entries.find((entry) => entry[key].toLowerCase() === lowered) ??
    entries.find(({ name }) => Object.values(name).some((text) => text.toLowerCase() === lowered))
  );
}

interface Existing {
  productId: string;
  selection: Selection;
}

/** Variations that lack a requested attribute get the default. */
function completedSelections(
  existing: readonly Existing[],
  requested: RequestedAttributes,
  dimensions: readonly Dimension[],
) {
  const completed = existing.map(({ productId, selection }) => {
    let next: Selection = selection;
    dimensions.forEach(({ key, values }, index) => {
      if (selectedValue(next, key) !== undefined) return;
      const lowered = requested[index]!.defaultForExistingProducts?.trim().toLowerCase();
      const value = values.find((one) => one.toLowerCase() === lowered);
      if (value === undefined) {
        throw invalid(
          lowered ? 'UNKNOWN_VALUE' : 'MISSING',
          `variationAttributes[${index}].defaultForExistingProducts`,
        );
      }
      next = { ...next, [key]: value };
    });
    return {
      productId,
      selection: next,
      isChanged: Object.keys(next).length > Object.keys(selection).length,
    };
  });
  return completed;
}

/** Adds attributes and values that the type lacks. */
async function growType(
  tx: Transaction,
  shopId: string,
  { productTypeId }: ProductType,
  requested: readonly Dimension[],
): Promise<void> {
  const locked = await tx.one<{ attributes: TypeAttribute[] }>(sql`
    select attributes from product_type where shop_id = ${shopId} and product_type_id = ${productTypeId} for update`);
  const { attributes } = locked!;
  let isChanged = false;
  for (const { key, values } of requested) {
    let attribute = attributes.find((one) => one.key === key);
    if (!attribute) {
      const number = await takeNumber(tx, shopId, 'attribute');
      attribute = { number, key, name: {}, visible: true, preDefined: true, values: [] };
      attributes.push(attribute);
      isChanged = true;
    }
    for (const value of values) {
      if (attribute.values.some((one) => one.value === value)) continue;
      attribute.values.push({ value, name: {} });
      isChanged = true;
    }
  }
  if (!isChanged) return;
  await tx.run(sql`
    update product_type set attributes = ${JSON.stringify(attributes)}
    where shop_id = ${shopId} and product_type_id = ${productTypeId}`);
  await moveSettingsVersion(tx, shopId);
}

function findSelections(tx: Transaction, shopId: string, masterId: string) {
  return tx.many<Existing>(sql`
    select upper(product_id::text) as "productId", selection from product
    where shop_id = ${shopId} and master_id = ${masterId} order by product_id for update`);
}

/** Returns the ids of the changed ones. */
async function updateSelections(
  tx: Transaction,
  shopId: string,
  selections: readonly (Existing & { isChanged: boolean })[],
): Promise<string[]> {
  const changed = selections.filter(({ isChanged }) => isChanged);
  if (changed.length === 0) return [];
  await tx.run(sql`
    update product set selection = entry.selection, version = version + 1
    from jsonb_to_recordset(${JSON.stringify(changed)}) as entry ("productId" uuid, selection jsonb)
    where product.shop_id = ${shopId} and product.product_id = entry."productId"`);
  return changed.map(({ productId }) => productId);
}

/** They inherit everything; their numbers continue those of the master: CB-100-1, CB-100-2. Returns their ids. */
async function insertVariations(
  tx: Transaction,
  shopId: string,
  master: StoredProduct,
  selections: readonly Selection[],
  visible: boolean,
): Promise<string[]> {
  // Ids of one moment are unordered; sorted, they keep the order of the combinations.
  const ids = selections.map(() => newId(tx.now)).toSorted();
  let rest = selections.map((selection, index) => ({ productId: ids[index]!, selection }));
  let number = 1;
  while (rest.length > 0) {
    const rows = rest.map((row, index) => ({
      ...row,
      productNumber: `${master.productNumber.slice(0, 90)}-${number + index}`,
    }));
    const inserted = await tx.many<{ productId: string }>(sql`
      insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
        visible, facts)
      select shop_id, "productId", "productNumber", 'variation', ${master.productId}::uuid, selection,
        ${tx.now}::timestamptz, 1, ${visible}::boolean, '{}'::jsonb
      from shop
      cross join jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid, "productNumber" text,
        selection jsonb)
      where shop_id = ${shopId}
      on conflict (shop_id, product_number) do nothing
      returning upper(product_id::text) as "productId"`);
    const done = new Set(inserted.map(({ productId }) => productId));
    number += rest.length;
    rest = rest.filter(({ productId }) => !done.has(productId));
  }
  return ids;
}

async function countVisible(db: Queries, shopId: string, masterId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from product where shop_id = ${shopId} and master_id = ${masterId} and visible`);
  return row!.count;
}

function findVisible(db: Queries, shopId: string, masterId: string, limit: number, offset: number) {
  return db.many<Existing>(sql`
    select upper(product_id::text) as "productId", selection from product
    where shop_id = ${shopId} and master_id = ${masterId} and visible
    order by product_id limit ${limit} offset ${offset}`);
}

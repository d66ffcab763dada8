import type { Queries, Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import { sql } from '../db/sql.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import type { CustomField } from '../shops/settings/settings.ts';
import type { ReadValue, StoredValue } from './value.ts';

/** The things with values, and the things they are deleted with: a line belongs to its cart or order. */
export interface FieldOwner {
  resourceId: string;
  productId?: string;
  categoryId?: string;
  customerId?: string;
  cartId?: string;
  orderId?: string;
}

/** In the order of their positions. */
export function findFieldValues(db: Queries, shopId: string, resourceIds: readonly string[]) {
  return db.many<ReadValue & { resourceId: string }>(sql`
    select upper(resource_id::text) as "resourceId", upper(field_id::text) as "fieldId", locale, value
    from custom_field_value
    where shop_id = ${shopId} and resource_id = any (${resourceIds}::uuid[])
    order by resource_id, field_id, locale, position`);
}

const insertValues = insertInto('custom_field_value', {
  resourceId: 'uuid',
  fieldId: 'uuid',
  locale: 'text',
  position: 'integer',
  value: 'jsonb',
  filterKey: 'text',
  productId: 'uuid',
  categoryId: 'uuid',
  customerId: 'uuid',
  cartId: 'uuid',
  orderId: 'uuid',
  targetProductId: 'uuid',
  targetCategoryId: 'uuid',
  targetCustomerId: 'uuid',
  targetPageId: 'uuid',
  targetImageKey: 'uuid',
});

/** Replaces the values of these fields; the row of what has them is locked. */
export async function replaceFieldValues(
  tx: Transaction,
  shopId: string,
  { resourceId, productId, categoryId, customerId, cartId, orderId }: FieldOwner,
  fieldIds: readonly string[],
  values: readonly StoredValue[],
): Promise<void> {
  await tx.run(sql`
    delete from custom_field_value
    where shop_id = ${shopId} and resource_id = ${resourceId} and field_id = any (${fieldIds}::uuid[])`);
  if (values.length === 0) return;
  const owner = {
    resourceId,
    productId: productId ?? null,
    categoryId: categoryId ?? null,
    customerId: customerId ?? null,
    cartId: cartId ?? null,
    orderId: orderId ?? null,
  };
  await tx.run(
    insertValues(
      shopId,
      values.map((value) => ({ ...owner, ...value })),
    ),
  );
}

/** Replaces the values of these fields of many products, whose rows are locked. */
export async function replaceProductValues(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
  fieldIds: readonly string[],
  values: readonly (FieldOwner & StoredValue)[],
): Promise<void> {
  if (productIds.length === 0) return;
  await tx.run(sql`
    delete from custom_field_value
    where shop_id = ${shopId} and resource_id = any (${productIds}::uuid[]) and field_id = any (${fieldIds}::uuid[])`);
  if (values.length === 0) return;
  const others = { categoryId: null, customerId: null, cartId: null, orderId: null };
  await tx.run(
    insertValues(
      shopId,
      values.map((value) => ({ ...others, ...value, productId: value.productId ?? null })),
    ),
  );
}

/** The values of some fields, in the order of their positions. */
export function findValuesOfFields(
  db: Queries,
  shopId: string,
  resourceIds: readonly string[],
  fieldIds: readonly string[],
) {
  return db.many<ReadValue & { resourceId: string }>(sql`
    select upper(resource_id::text) as "resourceId", upper(field_id::text) as "fieldId", locale, value
    from custom_field_value
    where shop_id = ${shopId} and resource_id = any (${resourceIds}::uuid[]) and field_id = any (${fieldIds}::uuid[])
    order by resource_id, field_id, locale, position`);
}

/** The beginnings of the first values of some text, number and choice fields. */
export function findShortValues(
  db: Queries,
  shopId: string,
  resourceIds: readonly string[],
  fieldIds: readonly string[],
  { entries, length }: { entries: number; length: number },
) {
  return db.many<{ resourceId: string; fieldId: string; locale: string; text: string }>(sql`
    select upper(resource_id::text) as "resourceId", upper(field_id::text) as "fieldId", locale,
      left(value #>> '{}', ${length}) as text
    from custom_field_value
    where shop_id = ${shopId} and resource_id = any (${resourceIds}::uuid[]) and field_id = any (${fieldIds}::uuid[])
      and position < ${entries}
    order by resource_id, field_id, locale, position`);
}

/**
 * The values of some fields, with the characters of all values up to each. The first value beyond `maxLength` is the last one that is
 * read: things that are many together may have very long ones.
 */
export function findBoundedValues(
  db: Queries,
  shopId: string,
  resourceIds: readonly string[],
  fieldIds: readonly string[],
  maxLength: number,
) {
  return db.many<ReadValue & { resourceId: string; length: number }>(sql`
    select upper(resource_id::text) as "resourceId", upper(field_id::text) as "fieldId", locale, value, length
    from (
      select resource_id, field_id, locale, position, value, length(value::text) as own_length,
        (sum(length(value::text)) over (
          order by resource_id, field_id, locale, position rows unbounded preceding))::bigint as length
      from custom_field_value
      where shop_id = ${shopId} and resource_id = any (${resourceIds}::uuid[]) and field_id = any (${fieldIds}::uuid[])
    ) measured
    where length - own_length <= ${maxLength}
    order by resource_id, field_id, locale, position`);
}

/** The characters of the values that these things have of all other fields. No statement is sent without a field. */
export async function findLengthsOfOthers(
  db: Queries,
  shopId: string,
  resourceIds: readonly string[],
  fieldIds: readonly string[],
): Promise<Map<string, number>> {
  if (fieldIds.length === 0) return new Map();
  const rows = await db.many<{ resourceId: string; length: number }>(sql`
    select upper(resource_id::text) as "resourceId", sum(length(value::text))::bigint as length from custom_field_value
    where shop_id = ${shopId} and resource_id = any (${resourceIds}::uuid[]) and field_id <> all (${fieldIds}::uuid[])
    group by resource_id`);
  return new Map(rows.map(({ resourceId, length }) => [resourceId, length]));
}

/** The characters of all values of one thing. */
export async function lengthOfValues(tx: Transaction, shopId: string, resourceId: string): Promise<number> {
  const row = await tx.one<{ length: number }>(sql`
    select coalesce(sum(length(value::text)), 0)::bigint as length from custom_field_value
    where shop_id = ${shopId} and resource_id = ${resourceId}`);
  return row!.length;
}

/** Pictures have no foreign key. Returns the ids that are pictures of the library. */
export async function findLibraryFiles(tx: Transaction, shopId: string, imageKeys: readonly string[]) {
  const rows = await tx.many<{ imageKey: string }>(sql`
    select upper(image_key::text) as "imageKey" from library_image
    where shop_id = ${shopId} and image_key = any (${imageKeys}::uuid[])`);
  return new Set(rows.map(({ imageKey }) => imageKey));
}

export function deleteFileValues(tx: Transaction, shopId: string, imageKey: string) {
  return tx.run(sql`
    delete from custom_field_value where shop_id = ${shopId} and target_image_key = ${imageKey}`);
}

/** The files of a picture were replaced, so it has another key. Returns what shows it. */
export function moveFileValues(tx: Transaction, shopId: string, imageKey: string, newKey: string) {
  return tx.many<{ productId: string | null }>(sql`
    update custom_field_value
    set target_image_key = ${newKey}, value = to_jsonb(${newKey}::text), filter_key = lower(${newKey}::text)
    where shop_id = ${shopId} and target_image_key = ${imageKey}
    returning upper(product_id::text) as "productId"`);
}

/** Values of lines that are no longer in the cart. */
export function deleteValuesOfOtherLines(
  tx: Transaction,
  shopId: string,
  cartId: string,
  lineIds: readonly string[],
) {
  return tx.run(sql`
    delete from custom_field_value
    where shop_id = ${shopId} and cart_id = ${cartId} and resource_id <> ${cartId}
      and resource_id <> all (${lineIds}::uuid[])`);
}

/** A cart and the order that it has become; its lines keep their ids. */
export interface OrderedCart {
  cartId: string;
  orderId: string;
}

/** Hands the values of carts and of their lines over to their orders, before the carts are deleted. */
export function moveCartValues(
  tx: Transaction,
  shopId: string,
  carts: readonly OrderedCart[],
  lineIds: readonly string[],
) {
  return tx.run(sql`
    update custom_field_value
    set cart_id = null, order_id = ordered.order_id,
      resource_id = case when resource_id = ordered.cart_id then ordered.order_id else resource_id end
    from unnest(${carts.map(({ cartId }) => cartId)}::uuid[], ${carts.map(({ orderId }) => orderId)}::uuid[])
      as ordered (cart_id, order_id)
    where custom_field_value.shop_id = ${shopId} and custom_field_value.cart_id = ordered.cart_id
      and custom_field_value.cart_id = any (${carts.map(({ cartId }) => cartId)}::uuid[])
      and (resource_id = ordered.cart_id or resource_id = any (${lineIds}::uuid[]))`);
}

export interface Namespace {
  appId: string | null;
  isRemoved: boolean;
}

export function findNamespace(tx: Transaction, shopId: string, namespace: string) {
  return tx.one<Namespace>(sql`
    select upper(app_id::text) as "appId", removed_at is not null as "isRemoved" from custom_field_namespace
    where shop_id = ${shopId} and namespace = ${namespace}`);
}

/** The first field of a namespace decides whose it is; null: the merchant's. */
export async function ensureNamespace(
  tx: Transaction,
  shopId: string,
  namespace: string,
  app: { appId: string; name: string } | null,
): Promise<Namespace> {
  await tx.run(sql`
    insert into custom_field_namespace (shop_id, namespace, app_name, app_id)
    values (${shopId}, ${namespace}, ${app?.name ?? null}, ${app?.appId ?? null})
    on conflict (shop_id, namespace) do nothing`);
  return (await findNamespace(tx, shopId, namespace))!;
}

/** Hides the fields of an app that is uninstalled. */
export function removeNamespaces(tx: Transaction, shopId: string, appId: string) {
  return tx.run(sql`
    update custom_field_namespace set removed_at = ${tx.now}
    where shop_id = ${shopId} and app_id = ${appId} and removed_at is null`);
}

/**
 * Brings the fields of an app back that is installed again, also in a copy of a shop, which has no apps at first. Returns
 * how many namespaces came back.
 */
export function restoreNamespaces(tx: Transaction, shopId: string, app: { appId: string; name: string }) {
  return tx.run(sql`
    update custom_field_namespace set removed_at = null, app_id = ${app.appId}
    where shop_id = ${shopId} and app_name = ${app.name}
      and (removed_at is not null or app_id <> ${app.appId})`);
}

const insertFields = insertInto('custom_field', {
  fieldId: 'uuid',
  resource: 'text',
  namespace: 'text',
  key: 'text',
  type: 'text',
  name: 'jsonb',
  description: 'text',
  isList: 'boolean',
  isLocalised: 'boolean',
  readableBy: 'text',
  writableBy: 'text',
  isFilter: 'boolean',
  isFacet: 'boolean',
  feedAttribute: 'text',
  choices: 'jsonb',
  jsonSchema: 'jsonb',
  createdAt: 'timestamptz',
});

/** `custom_field_key` refuses a name that is taken. */
export function insertField(tx: Transaction, shopId: string, field: Omit<CustomField, 'appId'>) {
  const { fieldId, resource, namespace, key, type, name, description, isList, isLocalised } = field;
  const { readableBy, writableBy, isFilter, isFacet, feedAttribute, choices, jsonSchema } = field;
  const row = {
    fieldId,
    resource,
    namespace,
    key,
    type,
    name,
    description,
    isList,
    isLocalised,
    readableBy,
    writableBy,
    isFilter,
    isFacet,
    feedAttribute,
    choices,
    jsonSchema: jsonSchema ?? null,
    createdAt: tx.now,
  };
  return tx.run(insertFields(shopId, [row]));
}

/** What it is and what it is called in files stays as it is. */
export function updateField(tx: Transaction, shopId: string, field: CustomField) {
  return tx.run(sql`
    update custom_field
    set name = ${field.name}, description = ${field.description}, readable_by = ${field.readableBy},
      writable_by = ${field.writableBy}, is_filter = ${field.isFilter},
      is_facet = ${field.isFacet},
      feed_attribute = ${field.feedAttribute}, choices = ${jsonText(field.choices)}::jsonb, json_schema = ${jsonText(field.jsonSchema)}::jsonb
    where shop_id = ${shopId} and field_id = ${field.fieldId} and removed_at is null`);
}

const jsonText = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));

/** Hides it; the clean-up deletes its values. */
export function removeField(tx: Transaction, shopId: string, fieldId: string) {
  return tx.run(sql`
    update custom_field set removed_at = ${tx.now}
    where shop_id = ${shopId} and field_id = ${fieldId} and removed_at is null`);
}

const DAY = 86_400_000;

/** Days for which the fields of an uninstalled app can come back. */
export const KEPT_DAYS = 30;

/** Deletes removed fields, a few of their values at a time, and namespaces that nobody has come back for. */
export const fieldCleanup: CleanupStep = {
  name: 'custom fields',
  run: async (db, limit) => {
    const removed = await db.one<{ shopId: string; fieldId: string }>(sql`
      select shop_id as "shopId", field_id as "fieldId" from custom_field
      where removed_at is not null order by removed_at limit 1`);
    if (removed) {
      const { shopId, fieldId } = removed;
      const deleted = await db.run(sql`
        delete from custom_field_value
        where shop_id = ${shopId} and (resource_id, field_id, locale, position) in (
          select resource_id, field_id, locale, position from custom_field_value
          where shop_id = ${shopId} and field_id = ${fieldId} limit ${limit})`);
      if (deleted < limit) {
        await db.run(sql`
          delete from custom_field
          where shop_id = ${shopId} and field_id = ${fieldId} and removed_at is not null`);
      }
      // Others may wait.
      return limit;
    }
    const due = new Date(db.now.getTime() - KEPT_DAYS * DAY);
    const forgotten = await db.one<{ shopId: string; namespace: string }>(sql`
      select shop_id as "shopId", namespace from custom_field_namespace
      where removed_at < ${due} order by removed_at limit 1`);
    if (!forgotten) return 0;
    const { shopId, namespace } = forgotten;
    const hidden = await db.run(sql`
      update custom_field set removed_at = ${db.now}
      where shop_id = ${shopId} and namespace = ${namespace} and exists (
        select from custom_field_namespace
        where shop_id = ${shopId} and namespace = ${namespace} and removed_at < ${due})`);
    if (hidden === 0) {
      await db.run(sql`
        delete from custom_field_namespace
        where shop_id = ${shopId} and namespace = ${namespace} and removed_at < ${due}`);
    }
    return limit;
  },
};

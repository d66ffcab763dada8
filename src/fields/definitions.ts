import { Type } from 'typebox';
import { hasScope, requireScopes, type Caller } from '../http/callers.ts';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import type { Localised } from '../http/locale.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { recordEvents } from '../platform/events/log.ts';
import { moveSettingsVersion } from '../shops/shop/queries.ts';
import { shopSettings, type CustomField, type Settings } from '../shops/settings/settings.ts';
import { requestListingRebuild } from '../shops/settings/writes.ts';
import { audienceOf, isOwner, mayRead, SCOPES_OF } from './access.ts';
import { MAX_FACET_FIELDS } from './facets.ts';
import { isJsonSchema } from './json-schema.ts';
import { ensureNamespace, insertField, removeField, updateField } from './queries.ts';
import { Field, FieldChange, FieldList, NewField, Resource } from './schema.ts';

/** Fields of one kind of thing. */
export const MAX_FIELDS = 50;
const MAX_SCHEMA_LENGTH = 8_000;
const MAX_CHOICES_LENGTH = 20_000;
const MAX_NAME_LENGTH = 3_000;

const shared = { under: 'manage', tag: 'custom fields', labels: [], keepsKeyOrder: true } as const;
const params = Type.Object({ fieldId: Id });
const contradiction = (problem: string) => new Refusal('CUSTOM_FIELD_CONTRADICTORY', { problem });

/** What the schemas of a request can't say; the database checks the same. */
const constraints = {
  custom_field_rights: () =>
    contradiction(
      'who writes a field also reads it, shoppers write only public fields of carts, and customers and orders have no public ones',
    ),
  custom_field_choices: () => contradiction('a choice has choices, and nothing else has'),
  custom_field_schema: () => contradiction('only JSON has a schema'),
  custom_field_filter: () =>
    contradiction(
      'lists are filtered by text, number, boolean, date and choice only, of products, customers, orders and carts',
    ),
  custom_field_facet: () =>
    contradiction('shoppers filter by public texts, numbers, choices and yes or no of products only'),
  custom_field_feed: () =>
    contradiction('feeds have public texts, numbers and choices of products and variations only'),
  custom_field_localised: () =>
    contradiction('only text, richText, json and file have values for each language'),
};

export const listCustomFields = operation({
  ...shared,
  method: 'GET',
  path: '/custom-fields',
  name: 'listCustomFields',
  summary: 'List custom fields',
  description: 'The definitions that the caller may read. Each kind of thing needs its own scope.',
  access: 'any token',
  query: Type.Object({ resource: Type.Optional(Resource) }),
  answer: FieldList,
});

export const getCustomField = operation({
  ...shared,
  method: 'GET',
  path: '/custom-fields/:fieldId',
  name: 'getCustomField',
  summary: 'Get custom field',
  access: 'any token',
  params,
  answer: Field,
});

export const createCustomField = operation({
  ...shared,
  method: 'POST',
  path: '/custom-fields',
  name: 'createCustomField',
  summary: 'Create custom field',
  description: `Defines a field in the caller's own namespace. It needs the scope to write the thing. Of one kind of thing a shop has at most ${MAX_FIELDS}.`,
  access: 'any token',
  body: NewField,
  status: 201,
  answer: Field,
  constraints: { ...constraints, custom_field_key: () => new Refusal('CUSTOM_FIELD_TAKEN') },
});

export const updateCustomField = operation({
  ...shared,
  method: 'PUT',
  path: '/custom-fields/:fieldId',
  name: 'updateCustomField',
  summary: 'Update custom field',
  description:
    'Replaces what people read, who reads and writes it, its choices and its schema. What it is stays: its thing, its type and its key. Values that are there already stay, too.',
  access: 'any token',
  params,
  body: FieldChange,
  answer: Field,
  constraints,
});

export const deleteCustomField = operation({
  ...shared,
  method: 'DELETE',
  path: '/custom-fields/:fieldId',
  name: 'deleteCustomField',
  summary: 'Delete custom field',
  description: 'With all of its values.',
  access: 'any token',
  params,
  status: 204,
});

export function customFields(api: Operations): void {
  api.read(listCustomFields, async ({ db, shopId, caller, query }) => {
    const settings = await shopSettings(db, shopId);
    const { resource } = query;
    return {
      items: settings.customFields
        .filter((field) => seesDefinition(field, caller) && (resource ?? field.resource) === field.resource)
        .map(toField),
    };
  });

  api.read(getCustomField, async ({ db, shopId, caller, params: { fieldId } }) => {
    const settings = await shopSettings(db, shopId);
    return toField(visibleField(settings, fieldId, caller, 'read'));
  });

  api.write(createCustomField, async ({ tx, shopId, body, caller, created }) => {
    const app = caller.app!;
    requireScopes(app, [SCOPES_OF[body.resource].write]);
    // The version is the lock of all definitions of the shop.
    await moveSettingsVersion(tx, shopId);
    const settings = await shopSettings(tx, shopId);
    checkTexts(body, settings);
    const fields = settings.customFields;
    if (fields.filter(({ resource }) => resource === body.resource).length >= MAX_FIELDS) {
      throw new Refusal('TOO_MANY_CUSTOM_FIELDS', { limit: MAX_FIELDS });
    }
    const { namespace } = body;
    const owner = await ensureNamespace(tx, shopId, namespace, app.isPerson ? null : app);
    if (owner.isRemoved || !isOwner(owner.appId, audienceOf(caller))) {
      throw new Refusal('NAMESPACE_OF_OTHER', { namespace });
    }
    const field: CustomField = {
      fieldId: newId(tx.now),
      appId: owner.appId,
      description: null,
      isList: false,
      isLocalised: false,
      isFilter: false,
      isFacet: false,
      feedAttribute: null,
      choices: null,
      jsonSchema: null,
      ...withoutNulls(body),
    };
    requireRoomForFacet(field, fields);
    await insertField(tx, shopId, field);
    created({ fieldId: field.fieldId });
    recordEvents(tx, shopId, [settingsChanged()]);
    return toField(field);
  });

  api.write(updateCustomField, async ({ tx, shopId, params: { fieldId }, body, caller }) => {
    await moveSettingsVersion(tx, shopId);
    const settings = await shopSettings(tx, shopId);
    const field = ownField(settings, fieldId, caller);
    checkTexts(body, settings);
    const changed: CustomField = {
      ...field,
      description: null,
      isFilter: false,
      isFacet: false,
      feedAttribute: null,
      choices: null,
      jsonSchema: null,
      ...withoutNulls(body),
    };
    requireRoomForFacet(changed, settings.customFields);
    await updateField(tx, shopId, changed);
    if (changed.isFacet !== field.isFacet) await requestListingRebuild(tx, shopId);
    recordEvents(tx, shopId, [settingsChanged()]);
    return toField(changed);
  });

  api.write(deleteCustomField, async ({ tx, shopId, params: { fieldId }, caller }) => {
    await moveSettingsVersion(tx, shopId);
    const { isFacet } = ownField(await shopSettings(tx, shopId), fieldId, caller);
    await removeField(tx, shopId, fieldId);
    if (isFacet) await requestListingRebuild(tx, shopId);
    recordEvents(tx, shopId, [settingsChanged()]);
  });
}

export const settingsChanged = () => ({
  type: 'SETTINGS_CHANGED' as const,
  resourceId: null,
  data: { changed: ['customFields'] },
});

function withoutNulls<Body extends object>(body: Body) {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as {
    [Name in keyof Body]: NonNullable<Body[Name]>;
  };
}

function seesDefinition(field: CustomField, caller: Caller): boolean {
  return mayRead(field, audienceOf(caller)) && hasScope(caller, SCOPES_OF[field.resource].read);
}

function visibleField(
  settings: Settings,
  fieldId: string,
  caller: Caller,
  to: 'read' | 'write',
): CustomField {
  const field = settings.customFields.find((one) => one.fieldId === fieldId);
  if (!field || !mayRead(field, audienceOf(caller))) throw notFound();
  requireScopes(caller.app!, [SCOPES_OF[field.resource][to]]);
  return field;
}

/** A field that the caller has defined, or as a person of the shop may define. */
function ownField(settings: Settings, fieldId: string, caller: Caller): CustomField {
  const field = visibleField(settings, fieldId, caller, 'write');
  if (!isOwner(field.appId, audienceOf(caller))) {
    throw new Refusal('NAMESPACE_OF_OTHER', { namespace: field.namespace });
  }
  return field;
}

/** The names and choices of a filter are read with the settings; only its values are in lists, which are rebuilt. */
function requireRoomForFacet({ fieldId, isFacet }: CustomField, fields: readonly CustomField[]): void {
  if (!isFacet) return;
  const others = fields.filter((other) => other.isFacet && other.fieldId !== fieldId);
  if (others.length >= MAX_FACET_FIELDS) {
    throw new Refusal('TOO_MANY_STOREFRONT_FILTERS', { limit: MAX_FACET_FIELDS });
  }
}

/** The bounds and languages of the texts of a definition. */
function checkTexts({ name, choices, jsonSchema }: FieldChange, { locales }: Settings): void {
  checkNames(name, 'name', locales);
  if (JSON.stringify(name).length > MAX_NAME_LENGTH) throw invalid('TOO_LONG', 'name');
  if (choices) {
    choices.forEach(({ label }, index) => checkNames(label, `choices[${index}].label`, locales));
    if (new Set(choices.map(({ key }) => key)).size < choices.length) {
      throw contradiction('two choices have the same key');
    }
    if (JSON.stringify(choices).length > MAX_CHOICES_LENGTH) throw invalid('TOO_LONG', 'choices');
  }
  if (jsonSchema) {
    if (!isJsonSchema(jsonSchema)) throw invalid('WRONG_FORMAT', 'jsonSchema');
    if (JSON.stringify(jsonSchema).length > MAX_SCHEMA_LENGTH) throw invalid('TOO_LONG', 'jsonSchema');
  }
}

function checkNames(names: Localised, place: string, locales: readonly string[]): void {
  for (const locale of Object.keys(names)) {
    if (!locales.includes(locale)) throw invalid('UNKNOWN_VALUE', `${place}.${locale}`);
  }
}

export function toField(field: CustomField) {
  const { fieldId, resource, namespace, key, type, isList, isLocalised, appId, name, description } = field;
  const { readableBy, writableBy, isFilter, isFacet, feedAttribute, choices } = field;
  const jsonSchema = (field.jsonSchema ?? null) as Record<string, unknown> | null;
  return {
    fieldId,
    resource,
    namespace,
    key,
    type,
    isList,
    isLocalised,
    appId,
    name,
    description,
    readableBy,
    writableBy,
    isFilter,
    isFacet,
    feedAttribute,
    choices,
    jsonSchema,
  };
}

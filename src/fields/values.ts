import type { Static, TObject } from 'typebox';
import type { Queries, Transaction } from '../db/database.ts';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import { operation, type ReadCall, type WriteCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import type { Access } from '../http/scopes.ts';
import {
  shopSettings,
  type CustomField,
  type FieldResource,
  type Settings,
} from '../shops/settings/settings.ts';
import { audienceOf, fieldsOf, mayRead, mayWrite, type Audience } from './access.ts';
import {
  findBoundedValues,
  findFieldValues,
  findLibraryFiles,
  lengthOfValues,
  replaceFieldValues,
  type FieldOwner,
} from './queries.ts';
import { FieldValues, ValueChanges } from './schema.ts';
import { fullKey, givenValue, shownFields, storedValues, type ReadValue, type ShownField } from './value.ts';

/** Characters of all values of one thing, which an answer about it holds. */
export const MAX_LENGTH_OF_ALL = 100_000;

const unknownTarget = () => new Refusal('CUSTOM_FIELD_TARGET_UNKNOWN');

/** The two operations on the values of one kind of thing; `noun` is the product of "Get custom fields of product". */
export function fieldOperations<Params extends TObject>({
  noun,
  name,
  path,
  tag,
  params,
  read,
  write,
}: {
  noun: string;
  name: string;
  path: string;
  tag: string;
  params: Params;
  read: Access;
  write: Access;
}) {
  const shared = {
    under: 'manage',
    tag,
    labels: [],
    keepsKeyOrder: true,
    path: `${path}/custom-fields`,
    params,
    answer: FieldValues,
  } as const;
  return {
    get: operation({
      ...shared,
      method: 'GET',
      name: `get${name}Fields`,
      summary: `Get custom fields of ${noun}`,
      description: 'The values that the caller may read, in all languages.',
      access: read,
    }),
    update: operation({
      ...shared,
      method: 'PATCH',
      name: `update${name}Fields`,
      summary: `Update custom fields of ${noun}`,
      description:
        'Sets the named fields, removes those that are null, and leaves the others as they are. All or nothing.',
      access: write,
      body: ValueChanges,
      constraints: {
        custom_field_value_target_product: unknownTarget,
        custom_field_value_target_category: unknownTarget,
        custom_field_value_target_customer: unknownTarget,
        custom_field_value_target_page: unknownTarget,
      },
    }),
  };
}

/** One thing with its fields. */
export interface FieldedThing {
  resource: FieldResource;
  owner: FieldOwner;
}

/** How a module finds and locks its things; undefined: there is none, or the caller may not see it. */
interface FieldedThings<Params> {
  find(call: ReadCall<Params, {}, unknown>): Promise<FieldedThing | undefined>;
  lock(call: WriteCall<Params, {}, unknown>): Promise<FieldedThing | undefined>;
  /** Publishes that the thing has changed. */
  changed?(
    call: WriteCall<Params, {}, unknown>,
    thing: FieldedThing,
    fields: readonly CustomField[],
  ): Promise<void> | void;
}

/** Registers the operations of one kind of thing. */
export function fieldValues<Params extends TObject>(
  api: Operations,
  operations: ReturnType<typeof fieldOperations<Params>>,
  things: FieldedThings<Static<Params>>,
): void {
  api.read(operations.get, async (call) => {
    const { db, shopId, caller } = call;
    const thing = await things.find(call);
    if (!thing) throw notFound();
    return answerOf(db, await shopSettings(db, shopId), thing, audienceOf(caller));
  });

  api.write(operations.update, async (call) => {
    const { tx, shopId, caller, body } = call;
    const thing = await things.lock(call);
    if (!thing) throw notFound();
    const settings = await shopSettings(tx, shopId);
    const audience = audienceOf(caller);
    const written = await writeFieldValues(tx, settings, thing, audience, body.fields);
    await things.changed?.(call, thing, written);
    return answerOf(tx, settings, thing, audience);
  });
}

async function answerOf(
  db: Queries,
  settings: Settings,
  { resource, owner }: FieldedThing,
  audience: Audience,
): Promise<Static<typeof FieldValues>> {
  const fields = readableFields(settings, resource, audience);
  if (fields.length === 0) return { fields: {} };
  const rows = await findFieldValues(db, settings.shopId, [owner.resourceId]);
  return { fields: valuesByKey(fields, rows) };
}

export function valuesByKey(fields: readonly CustomField[], rows: readonly ReadValue[]) {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = givenValue(field, rows);
      return value === undefined ? [] : [[fullKey(field), value]];
    }),
  );
}

export function readableFields(
  { customFields }: Pick<Settings, 'customFields'>,
  resource: FieldResource,
  audience: Audience,
): readonly CustomField[] {
  return fieldsOf(customFields, resource).filter((field) => mayRead(field, audience));
}

export function writableFields(
  { customFields }: Pick<Settings, 'customFields'>,
  resource: FieldResource,
  audience: Audience,
): readonly CustomField[] {
  return fieldsOf(customFields, resource).filter((field) => mayWrite(field, audience));
}

/**
 * Writes values of a thing that this transaction has locked. Refuses what the caller may not write. Returns the fields
 * that were written.
 */
export async function writeFieldValues(
  tx: Transaction,
  settings: Settings,
  { resource, owner }: FieldedThing,
  audience: Audience,
  given: Readonly<Record<string, unknown>>,
): Promise<CustomField[]> {
  const { shopId } = settings;
  const known = new Map(readableFields(settings, resource, audience).map((field) => [fullKey(field), field]));
  const changes = Object.entries(given).map(([name, value]) => {
    const field = known.get(name);
    if (!field) throw invalid('UNKNOWN_VALUE', name.slice(0, 100));
    if (!mayWrite(field, audience)) throw new Refusal('CUSTOM_FIELD_READ_ONLY', { field: name });
    return { field, values: storedValues(field, value, settings) };
  });
  if (changes.length === 0) return [];
  const values = changes.flatMap((change) => change.values);
  const files = values.flatMap(({ targetImageKey }) => targetImageKey ?? []);
  if (files.length > 0) {
    const found = await findLibraryFiles(tx, shopId, files);
    if (!files.every((imageKey) => found.has(imageKey))) throw unknownTarget();
  }
  await replaceFieldValues(
    tx,
    shopId,
    owner,
    changes.map(({ field }) => field.fieldId),
    values,
  );
  if ((await lengthOfValues(tx, shopId, owner.resourceId)) > MAX_LENGTH_OF_ALL) {
    throw new Refusal('CUSTOM_FIELDS_TOO_LONG', { limit: MAX_LENGTH_OF_ALL });
  }
  return changes.map(({ field }) => field);
}

/** Characters of the values in one answer. */
const MAX_LENGTH_SHOWN = 1_000_000;

/**
 * What these things show beside themselves, in one language: a list by the id of each. One statement for all of them, and
 * none where they have no fields for this audience.
 */
export async function findShownFields(
  db: Queries,
  settings: Settings,
  resources: readonly FieldResource[],
  resourceIds: readonly string[],
  { audience, locale }: { audience: Audience; locale: string },
): Promise<(resourceId: string) => ShownField[]> {
  const fields = resources.flatMap((resource) => readableFields(settings, resource, audience));
  if (fields.length === 0 || resourceIds.length === 0) return () => [];
  const rows = await findBoundedValues(
    db,
    settings.shopId,
    resourceIds,
    fields.map(({ fieldId }) => fieldId),
    MAX_LENGTH_SHOWN,
  );
  if (rows.some(({ length }) => length > MAX_LENGTH_SHOWN)) {
    throw new Refusal('CUSTOM_FIELDS_OF_ANSWER_TOO_LONG', { limit: MAX_LENGTH_SHOWN });
  }
  const byThing = new Map<string, ReadValue[]>();
  for (const row of rows) {
    const others = byThing.get(row.resourceId);
    if (others) others.push(row);
    else byThing.set(row.resourceId, [row]);
  }
  const { defaultLocale } = settings;
  return (resourceId) =>
    shownFields(fields, byThing.get(resourceId.toUpperCase()) ?? [], { locale, defaultLocale });
}

/** These things with their custom fields beside them. */
export async function withFields<Item extends object>(
  { db, caller }: Pick<ReadCall<unknown, unknown, unknown>, 'db' | 'caller'>,
  settings: Settings,
  locale: string,
  resources: readonly FieldResource[],
  items: readonly Item[],
  idOf: (item: Item) => string,
): Promise<(Item & { fields: ShownField[] })[]> {
  const view = { audience: audienceOf(caller), locale };
  const fieldsOfThing = await findShownFields(db, settings, resources, items.map(idOf), view);
  return items.map((item) => ({ ...item, fields: fieldsOfThing(idOf(item)) }));
}

/** The thing that has the fields of the shop itself. */
export const SHOP_RESOURCE_ID = '00000000-0000-0000-0000-000000000000';

import { Type } from 'typebox';
import type { Queries } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { parseDecimal } from '../kernel/money.ts';
import { invalid } from '../http/errors.ts';
import type { CustomField, FieldResource, Settings } from '../shops/settings/settings.ts';
import type { Audience } from './access.ts';
import { canonicalDecimal, filterText, fullKey } from './value.ts';
import { readableFields } from './values.ts';

/*
 * Filters lists by custom fields, for people of the shop and for apps. Values are equal when their filter keys are. A field
 * with several values, or a value for each language, matches when one of them is equal.
 */

/** A value that the things of a list have. */
export interface WantedValue {
  fieldId: string;
  filterKey: string;
}

/** A parameter of the address of a list that names a field begins with this. */
const PREFIX = 'field.';

export const parameterOf = (field: CustomField) => PREFIX + fullKey(field);

/** The fields by which people of the shop, or these callers, filter the list of these things. */
export function filterFields(
  settings: Pick<Settings, 'customFields'>,
  resource: FieldResource,
  audience: Audience = 'merchant',
): readonly CustomField[] {
  return readableFields(settings, resource, audience).filter(({ isFilter }) => isFilter);
}

/** Values that one request names. */
const MAX_WANTED = 5;

export const FieldFilter = Type.Optional(
  Type.Unsafe<string | string[]>({
    type: ['array', 'string'],
    items: { type: 'string' },
    description: `Only those with this value of a custom field, \`namespace.key:value\`. The field must be a filter (\`isFilter\`). May be repeated ${MAX_WANTED} times: all must match.`,
    examples: ['care.washing:cold'],
  }),
);

/** What a request to the API asks for. Refuses a field that is no filter, or that the caller may not read. */
export function requestedValues(
  settings: Pick<Settings, 'customFields'>,
  resource: FieldResource,
  audience: Audience,
  given: string | string[] | undefined,
): readonly WantedValue[] {
  const texts = [given ?? []].flat();
  if (texts.length > MAX_WANTED) throw invalid('TOO_LONG', 'field');
  const fields = filterFields(settings, resource, audience);
  return texts.map((text) => {
    const [name = '', ...value] = text.split(':');
    const field = fields.find((one) => fullKey(one) === name);
    if (!field) throw invalid('UNKNOWN_VALUE', 'field');
    return { fieldId: field.fieldId, filterKey: keyOf(field, value.join(':')) };
  });
}

/** What the address of a list asks for. A value that no field can have finds nothing. */
export function wantedValues(
  fields: readonly CustomField[],
  valueOf: (parameter: string) => string,
): readonly WantedValue[] {
  return fields.flatMap((field) => {
    const text = valueOf(parameterOf(field));
    return text.trim() === '' ? [] : [{ fieldId: field.fieldId, filterKey: keyOf(field, text) }];
  });
}

/** Numbers are stored in one notation only: `1.50` is `1.5`. */
function keyOf({ type }: CustomField, text: string): string {
  const decimal = type === 'number' ? parseDecimal(text.trim()) : undefined;
  return filterText(decimal ? canonicalDecimal(decimal) : text);
}

/** Whether an address names a field by which the list is not filtered, perhaps no longer. */
export function namesUnknownField(fields: readonly CustomField[], search: string): boolean {
  const known = new Set(fields.map(parameterOf));
  return [...new URLSearchParams(search)].some(
    ([name, value]) => name.startsWith(PREFIX) && value.trim() !== '' && !known.has(name),
  );
}

/** Things with a value that a list looks at. */
export const MAX_WITH_VALUE = 10_000;

/** The ids of what has a value, the newest first, from the index of the filters. An id comes once for each language. */
export const idsWith = (shopId: string, { fieldId, filterKey }: WantedValue) => sql`
  select resource_id from custom_field_value
  where shop_id = ${shopId} and field_id = ${fieldId} and filter_key = ${filterKey}
  order by resource_id desc`;

/** A condition: the thing with this id has all of the values. Its text is the same for any number of them. */
export function hasValues(shopId: string, resourceId: Sql, wanted: readonly WantedValue[]): Sql {
  if (wanted.length === 0) return sql`true`;
  return sql`not exists (
    select from unnest(
      ${wanted.map(({ fieldId }) => fieldId)}::uuid[], ${wanted.map(({ filterKey }) => filterKey)}::text[]
    ) as wanted (field_id, filter_key)
    where not exists (
      select from custom_field_value own
      where own.shop_id = ${shopId} and own.resource_id = ${resourceId} and own.field_id = wanted.field_id
        and own.filter_key = wanted.filter_key collate "C"))`;
}

/** Of several values the one that the fewest things have, and how many have it: more than `limit` are not counted. */
export async function rarestValue(
  db: Queries,
  shopId: string,
  wanted: readonly WantedValue[],
  limit: number,
): Promise<{ value: WantedValue; count: number }> {
  const counted = await Promise.all(
    wanted.map(async (value) => {
      const row = await db.one<{ count: number }>(sql`
        select count(*) as count from (${idsWith(shopId, value)} limit ${limit + 1}) counted`);
      return { value, count: row!.count };
    }),
  );
  return counted.toSorted((left, right) => left.count - right.count)[0]!;
}

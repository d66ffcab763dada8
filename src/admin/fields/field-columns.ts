import { findBoundedValues } from '../../fields/queries.ts';
import { fullKey, type ReadValue } from '../../fields/value.ts';
import { readableFields, valuesByKey } from '../../fields/values.ts';
import { parameterOf } from '../../fields/filter.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import type { CustomField, FieldResource, Settings } from '../../shops/settings/settings.ts';
import type { Column } from '../components/list-state.ts';
import type { ShopVisit } from '../visit.ts';
import { customFieldName, namesOfReferences } from './field-inputs.ts';
import { cutText, shownText } from './shown-text.ts';

/** The most fields that a list or a file has columns for. */
const MAX_COLUMNS = 20;
/** Characters of the values of one page of a list; what is beyond stays empty. */
const MAX_LENGTH = 2_000_000;

/** What a text of a field is made for. */
type Reader = Pick<ShopVisit, 'db' | 'shopId' | 'locale' | 'language' | 'settings' | 'messages'>;

/** The fields with a column: all but texts with markup and JSON, which no cell has room for. */
export function columnFields(
  settings: Pick<Settings, 'customFields'>,
  resource: FieldResource,
): readonly CustomField[] {
  return readableFields(settings, resource, 'merchant')
    .filter(({ type }) => type !== 'richText' && type !== 'json')
    .slice(0, MAX_COLUMNS);
}

/** What these things have of these fields, as people read it; empty: nothing. */
export async function fieldTexts(
  visit: Reader,
  fields: readonly CustomField[],
  ids: readonly string[],
): Promise<(field: CustomField, id: string) => string> {
  if (fields.length === 0 || ids.length === 0) return () => '';
  const fieldIds = fields.map(({ fieldId }) => fieldId);
  const rows = await findBoundedValues(visit.db, visit.shopId, ids, fieldIds, MAX_LENGTH);
  const byThing = new Map<string, ReadValue[]>();
  for (const row of rows) byThing.set(row.resourceId, [...(byThing.get(row.resourceId) ?? []), row]);
  const values = new Map([...byThing].map(([id, own]) => [id, valuesByKey(fields, own)]));
  const names = await namesOfReferences(visit, fields, [...values.values()]);
  return (field, id) => {
    const value = values.get(id.toUpperCase())?.[fullKey(field)];
    return value === undefined ? '' : shownText(visit, field, value, names);
  };
}

/** The fields as columns of a list, hidden by default. Only the values of those that are chosen are read. */
export async function fieldColumns<Row>(
  visit: ShopVisit,
  request: PageRequest,
  resource: FieldResource,
  rows: readonly Row[],
  idOf: (row: Row) => string,
): Promise<Column<Row>[]> {
  const fields = columnFields(visit.settings, resource);
  const chosen = request.query('columns')?.split(',') ?? [];
  const shown = fields.filter((field) => chosen.includes(parameterOf(field)));
  const textOf = await fieldTexts(visit, shown, rows.map(idOf));
  return fields.map((field) => ({
    name: parameterOf(field),
    title: customFieldName(field, visit),
    isNumeric: field.type === 'number' && !field.isList,
    isExtra: true,
    cell: (row) => cutText(textOf(field, idOf(row))),
  }));
}

import { parameterOf } from '../../fields/filter.ts';
import { textIn } from '../../http/locale.ts';
import type { CustomField } from '../../shops/settings/settings.ts';
import type { Filter } from '../components/list-state.ts';
import type { ShopVisit } from '../visit.ts';
import { customFieldName } from './field-inputs.ts';

/** The filters of a list by custom fields, in the part that opens. */
export function fieldFilters(visit: ShopVisit, fields: readonly CustomField[]): Filter[] {
  return fields.map((field) => ({
    name: parameterOf(field),
    label: customFieldName(field, visit),
    isMore: true,
    ...inputOf(field, visit),
  }));
}

type Input =
  | Pick<Extract<Filter, { kind: 'choice' }>, 'kind' | 'choices'>
  | Pick<Extract<Filter, { kind: 'text' }>, 'kind' | 'offered'>
  | { kind: 'number' | 'date' };

function inputOf({ type, choices }: CustomField, { messages, locale, settings }: ShopVisit): Input {
  const { yes, no } = messages.customFields;
  if (type === 'boolean') {
    return {
      kind: 'choice',
      choices: [
        { value: 'true', text: yes },
        { value: 'false', text: no },
      ],
    };
  }
  if (type === 'choice') {
    return {
      kind: 'choice',
      choices: choices!.map(({ key, label }) => ({
        value: key,
        text: textIn(label, locale, settings.defaultLocale) ?? key,
      })),
    };
  }
  return type === 'number' || type === 'date' ? { kind: type } : { kind: 'text', offered: [] };
}

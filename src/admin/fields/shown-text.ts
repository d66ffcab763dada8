import { plainText } from '../../http/html.ts';
import type { CustomField } from '../../shops/settings/settings.ts';
import type { ShopVisit } from '../visit.ts';
import { entryText, type TypedFieldValues } from './field-inputs.ts';

const MAX_SHOWN = 300;

export const cutText = (text: string) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** A value in the language of the page, or the first that there is. */
export function shownText(
  visit: Pick<ShopVisit, 'locale' | 'language' | 'settings' | 'messages'>,
  field: CustomField,
  value: unknown,
  names: ReadonlyMap<string, string>,
): string {
  const { locale, settings, messages } = visit;
  const byLocale = value as TypedFieldValues;
  const own = field.isLocalised
    ? (byLocale[locale] ?? byLocale[settings.defaultLocale] ?? Object.values(byLocale)[0])
    : value;
  const entries = field.isList ? (own as unknown[]) : [own];
  return entries
    .map((entry) => {
      if (field.type === 'json') return JSON.stringify(entry);
      if (field.type === 'boolean')
        return entry === true ? messages.customFields.yes : messages.customFields.no;
      if (field.type === 'richText') return plainText(String(entry));
      const choice = field.choices?.find(({ key }) => key === entry);
      if (choice) return choice.label[locale] ?? choice.label[settings.defaultLocale] ?? choice.key;
      return entryText(visit, field, entry, names);
    })
    .join(', ');
}

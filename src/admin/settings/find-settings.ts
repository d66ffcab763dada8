import type { TSchema } from 'typebox';
import type { AdminMessages, Language } from '../messages.ts';
import { kindOf, schemaOf, shapeOf } from './field-kind.ts';
import { PAGE_SECTIONS, type SectionPageName } from './page-sections.ts';
import { settingsMessages } from './settings-messages.ts';

export interface SettingPlace {
  page: SectionPageName;
  /** The id of the element that shows it. */
  anchor: string;
  label: string;
  /** The page and the names that lead to the setting: `Shipping › Delivery times`. */
  place: string;
}

interface SearchableSetting extends SettingPlace {
  /** In lower case. */
  title: string;
  words: string;
}

/** One list per language, made at the first search. */
const lists = new Map<Language, readonly SearchableSetting[]>();

/** The settings whose name, explanation or place holds every word of the text; those that match by name come first. */
export function searchSettings(
  text: string,
  messages: AdminMessages,
  language: Language,
  limit: number,
): SettingPlace[] {
  const terms = text.toLocaleLowerCase(language).split(/\s+/).filter(Boolean);
  if (terms.length === 0) return [];
  const found = allSettings(messages, language).filter(({ words }) =>
    terms.every((term) => words.includes(term)),
  );
  const isNamed = ({ title }: SearchableSetting) => terms.every((term) => title.includes(term));
  return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))].slice(0, limit);
}

export function allSettings(messages: AdminMessages, language: Language): readonly SearchableSetting[] {
  let list = lists.get(language);
  if (!list) lists.set(language, (list = [...settingsOfPages(messages, language)]));
  return list;
}

function* settingsOfPages(messages: AdminMessages, language: Language): Generator<SearchableSetting> {
  const { label, hint } = settingsMessages(messages, language);
  for (const page of Object.keys(PAGE_SECTIONS) as SectionPageName[]) {
    for (const section of PAGE_SECTIONS[page]) {
      for (const { path, shownBy } of fieldsIn(schemaOf(section), [section])) {
        const parents = path.slice(0, -1).map((_, index) => label(path.slice(0, index + 1).join('.')));
        const title = label(path.join('.'));
        const place = [messages.settings.pages[page], ...parents].join(' › ');
        yield {
          page,
          anchor: `field-${shownBy.join('.')}`,
          label: title,
          place,
          title: title.toLocaleLowerCase(language),
          words: `${title} ${hint(path.join('.')) ?? ''} ${place}`.toLocaleLowerCase(language),
        };
      }
    }
  }
}

/** The fields below a schema. Those of a list's entries are shown by the list. */
function* fieldsIn(
  schema: TSchema,
  path: readonly string[],
  list?: readonly string[],
): Generator<{ path: readonly string[]; shownBy: readonly string[] }> {
  const kind = kindOf(schema);
  const { properties = {}, items } = shapeOf(schema);
  if (kind !== 'section') yield { path, shownBy: list ?? path };
  const inner = kind === 'entries' ? (shapeOf(items!).properties ?? {}) : properties;
  if (kind !== 'section' && kind !== 'entries') return;
  for (const [key, field] of Object.entries(inner)) {
    if (key !== 'key')
      yield* fieldsIn(field, [...path, key], list ?? (kind === 'entries' ? path : undefined));
  }
}

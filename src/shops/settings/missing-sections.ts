import type { TSchema } from 'typebox';
import { settingsAsFile } from './conversion.ts';
import { isAmount } from './fields.ts';
import type { Problem } from './problem.ts';
import { SettingsSchema, type SectionName, type SettingsFile } from './schema.ts';
import type { Settings } from './settings.ts';

/** Finds sections that the file must name as well, because their amounts or rates would change their meaning. */
export function* missingSectionProblems(file: SettingsFile, current: Settings): Generator<Problem> {
  const currency = file.currencies?.default;
  if (currency !== undefined && currency !== current.defaultCurrency) {
    const missing = sectionsWithAmounts(current).filter((section) => !file[section]);
    if (missing.length > 0) {
      yield {
        path: ['currencies', 'default'],
        text: `changes from ${current.defaultCurrency} to ${currency}, so give these sections too, with amounts in ${currency}: ${missing.join(', ')}`,
        rule: { name: 'currencyWithoutAmounts', currency, sections: missing },
      };
    }
  }
  if (file.country !== undefined && !file.taxClasses) {
    const without = current.taxClasses.filter(({ rates }) => rates[file.country!] === undefined);
    if (without.length > 0) {
      const names = without.map(({ key }) => key).join(', ');
      yield {
        path: ['country'],
        text: `is ${file.country}, for which these tax classes have no rate: ${names}; give the section taxClasses too`,
        rule: { name: 'countryWithoutRates', country: file.country, names },
      };
    }
  }
}

/** Single amounts come before lists of them. */
function sectionsWithAmounts(settings: Settings): SectionName[] {
  const document = settingsAsFile(settings);
  const sections = Object.entries(SettingsSchema.properties) as [SectionName, TSchema][];
  const names = sections.filter(([name, schema]) => hasAmount(schema, document[name])).map(([name]) => name);
  const isList = (name: SectionName) => Number(Array.isArray(document[name]));
  return names.toSorted((a, b) => isList(a) - isList(b));
}

/** Whether a part of a file holds an amount other than 0, which is the same in every currency. */
function hasAmount(schema: TSchema, written: unknown): boolean {
  if (isAmount(schema)) return Boolean(written);
  const { properties = {}, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  if (Array.isArray(written)) return written.some((item) => hasAmount(items!, item));
  return Object.entries(properties).some(([key, field]) =>
    hasAmount(field, (written as Record<string, unknown> | undefined)?.[key]),
  );
}

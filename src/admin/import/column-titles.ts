import type { CsvColumn } from '../../catalogue/products/csv-columns.ts';
import type { Choice } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import type { ShopVisit } from '../visit.ts';
import { fullKey } from '../../fields/value.ts';
import type { CustomField } from '../../shops/settings/settings.ts';
import { customFieldName } from '../fields/field-inputs.ts';

/** The title of a column: `Name (German)`, `Price (EUR)`; a single language or currency is not named. */
export function columnTitle(visit: ShopVisit, key: string): string {
  const { messages, language, settings } = visit;
  const [base, part] = key.split('/') as [string, string?];
  const titles: Readonly<Record<string, unknown>> = messages.import.columns;
  const title = titles[base];
  const field = settings.customFields.find((one) => isOfProducts(one) && base === `field.${fullKey(one)}`);
  const name = field ? customFieldName(field, visit) : typeof title === 'string' ? title : base;
  if (part === undefined) return name;
  if (settings.currencies.includes(part)) {
    return settings.currencies.length === 1 ? name : `${name} (${part})`;
  }
  if (settings.locales.length === 1) return name;
  const locale = settings.locales.find((one) => one === part || one.startsWith(`${part}_`)) ?? part;
  return `${name} (${languageName(locale, language, settings.locales)})`;
}

const isOfProducts = ({ resource }: CustomField) => resource === 'product' || resource === 'variation';

/** By name, the product number first. */
export function columnChoices(visit: ShopVisit, columns: Iterable<CsvColumn>): Choice[] {
  const choices = [...columns].map(({ key }) => ({ value: key, text: columnTitle(visit, key) }));
  const compare = new Intl.Collator(visit.language).compare;
  return choices.toSorted(
    (left, right) =>
      Number(right.value === 'Alias') - Number(left.value === 'Alias') || compare(left.text, right.text),
  );
}

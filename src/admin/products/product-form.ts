import type { ProductRow } from '../../catalogue/products/queries.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { parseLocalisedDecimal } from '../components/decimal.ts';
import type { JsonPatchOperation } from '../components/row-changes.ts';
import { refuseField } from '../components/validation.ts';
import { oneLineEnd, productFormValues, type ProductFormContext } from './product-values.ts';

/** Texts are written in its locale, prices in its currency. */
export interface Patch {
  locale: string;
  currency: string;
  operations: JsonPatchOperation[];
}

export type ProductFormReader = ReturnType<typeof productFormReader>;

/** The typed values beside the stored ones. Checking whether a field has changed also records its previous value. */
export function productFormReader(
  row: ProductRow,
  typed: (name: string) => string | undefined,
  context: ProductFormContext & { refusal: (typed: string) => string },
) {
  const { language, refusal } = context;
  const values = productFormValues(row, context);
  const before: Record<string, string> = {};
  const valueOf = (name: string) => oneLineEnd(typed(name) ?? values[name] ?? '');
  const isChanged = (name: string) => {
    if (valueOf(name) === oneLineEnd(values[name] ?? '')) return false;
    before[name] = values[name] ?? '';
    return true;
  };
  const decimal = (name: string): string => {
    const number = parseLocalisedDecimal(valueOf(name), language);
    if (number === undefined) throw refuseField(name, refusal(valueOf(name)));
    return number;
  };
  return {
    before,
    valueOf,
    isChanged,
    /** Checks each field whose name starts with this, so that all are undone together. */
    isAnyChanged: (start: string) =>
      Object.keys(values).filter((name) => name.startsWith(start) && isChanged(name)).length > 0,
    decimal,
    optionalDecimal: (name: string) => (valueOf(name) === '' ? undefined : decimal(name)),
    textOrNothing: (name: string) => valueOf(name) || undefined,
    isTicked: (name: string) => valueOf(name) === 'yes',
  };
}

export type PatchWriter = ReturnType<typeof patchWriter>;

/** Collects operations, in the default locale and currency unless others are named. */
export function patchWriter({ defaultLocale, defaultCurrency }: Settings) {
  const patches: Patch[] = [];
  const push = (operation: JsonPatchOperation, locale = defaultLocale, currency = defaultCurrency) => {
    let patch = patches.find((one) => one.locale === locale && one.currency === currency);
    if (!patch) patches.push((patch = { locale, currency, operations: [] }));
    patch.operations.push(operation);
  };
  return {
    patches,
    push,
    /** undefined removes it. */
    set: (path: string, value: unknown, { locale, currency }: { locale?: string; currency?: string } = {}) =>
      push(value === undefined ? { op: 'remove', path } : { op: 'add', path, value }, locale, currency),
  };
}

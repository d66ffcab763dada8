import { isDeepStrictEqual } from 'node:util';
import type { TypeAttribute } from '../../shops/settings/settings.ts';

/** The attribute data of a client; a missing or null key leaves it unchanged. */
export interface GivenAttribute {
  name: string;
  visible?: boolean | null;
  preDefAttribute?: boolean | null;
  values?: readonly (NamedValue & { name: string })[] | null;
}

/** A value by its key or, without one, by its name. */
export interface NamedValue {
  value?: string | null;
  name?: string | null;
}

/** The number of new attributes until they get their own. */
export const UNNUMBERED = 0;

/**
 * The attributes with this one: an unknown one is created, a known one gets its missing values, and existing values
 * get their label in this locale.
 */
export function withAttribute(
  attributes: readonly TypeAttribute[],
  given: GivenAttribute,
  locale: string,
): TypeAttribute[] {
  const known = attributeNamed(attributes, given.name, locale);
  const { visible, preDefined, ...attribute }: TypeAttribute = known ?? {
    number: UNNUMBERED,
    key: given.name,
    name: { [locale]: given.name },
    visible: false,
    preDefined: true,
    values: [],
  };
  const values = new Map(attribute.values.map((entry) => [entry.value, entry]));
  for (const one of given.values ?? []) {
    const stored = values.get(one.value ?? one.name) ?? valueNamed(attribute.values, one, locale);
    const value = stored?.value ?? one.value ?? one.name;
    values.set(value, { value, name: { ...stored?.name, [locale]: one.name } });
  }
  const changed = {
    ...attribute,
    visible: given.visible ?? visible,
    preDefined: given.preDefAttribute ?? preDefined,
    values: [...values.values()],
  };
  return known ? attributes.map((one) => (one === known ? changed : one)) : [...attributes, changed];
}

/** Without these values; missing ones are ignored. */
export function withoutValues(
  attributes: readonly TypeAttribute[],
  name: string,
  values: readonly NamedValue[],
  locale: string,
): TypeAttribute[] {
  const known = attributeNamed(attributes, name, locale);
  if (!known) return [...attributes];
  const gone = new Set(values.map((one) => valueNamed(known.values, one, locale)));
  const left = { ...known, values: known.values.filter((entry) => !gone.has(entry)) };
  return attributes.map((one) => (one === known ? left : one));
}

export function withoutAttribute(
  attributes: readonly TypeAttribute[],
  name: string,
  locale: string,
): TypeAttribute[] {
  const known = attributeNamed(attributes, name, locale);
  return attributes.filter((one) => one !== known);
}

/** The entries in the first and not in the second; without a value: the whole attribute. */
export function removedBetween(before: readonly TypeAttribute[], after: readonly TypeAttribute[]) {
  const remaining = new Map(after.map((attribute) => [attribute.key, attribute]));
  return before.flatMap(({ key, values }): { key: string; value: string | null }[] => {
    const attribute = remaining.get(key);
    if (!attribute) return [{ key, value: null }];
    const left = new Set(attribute.values.map(({ value }) => value));
    return values.flatMap(({ value }) => (left.has(value) ? [] : [{ key, value }]));
  });
}

/** The keys that search filters by now and did not before, or vice versa. */
export function filtersChanged(before: readonly TypeAttribute[], after: readonly TypeAttribute[]): string[] {
  const filters = (attributes: readonly TypeAttribute[]) =>
    new Set(attributes.filter(({ preDefined }) => preDefined).map(({ key }) => key));
  const [old, now] = [filters(before), filters(after)];
  return [...new Set([...old, ...now])].filter((key) => old.has(key) !== now.has(key));
}

/** The keys of attributes with changed value labels. A new value is not used by a product yet. */
export function labelsChanged(before: readonly TypeAttribute[], after: readonly TypeAttribute[]): string[] {
  const old = new Map(
    before.flatMap(({ key, values }) => values.map(({ value, name }) => [`${key}\n${value}`, name])),
  );
  return after.flatMap(({ key, values }) =>
    values.some(({ value, name }) => {
      const known = old.get(`${key}\n${value}`);
      return known !== undefined && !isDeepStrictEqual(known, name);
    })
      ? [key]
      : [],
  );
}

/** By its key, which is its original name, else by its label in this locale. */
function attributeNamed(attributes: readonly TypeAttribute[], name: string, locale: string) {
  return (
    attributes.find(({ key }) => key === name) ??
    attributes.find((attribute) => attribute.name[locale] === name)
  );
}

function valueNamed(values: TypeAttribute['values'], { value, name }: NamedValue, locale: string) {
  const byKey = values.find((entry) => entry.value === (value ?? name));
  return byKey ?? (value == null ? values.find((entry) => entry.name[locale] === name) : undefined);
}

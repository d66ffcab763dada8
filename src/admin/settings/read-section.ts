import type { TSchema } from 'typebox';
import { FormLimitError } from '../../http/form-fields.ts';
import { isFalseMeant, isNullable, kindOf, mapValue, shapeOf } from './field-kind.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/** The fields of a form as a tree: `shippingMethods.0.name.en_GB` is four levels deep. */
export interface FieldTree {
  values: readonly string[];
  /** In the order sent by the form, which is the order on the page. */
  children: ReadonlyMap<string, FieldTree>;
}

interface GrowingTree extends FieldTree {
  values: string[];
  children: Map<string, GrowingTree>;
}

/** Entries that a form offers for input; empty ones do not count. */
const OFFERED_ENTRIES = 10;

const NOTHING: FieldTree = { values: [], children: new Map() };
/** No setting is nested deeper. */
const DEEPEST = 8;

export function fieldTree(form: Pick<FormRequest, 'fieldNames' | 'fieldList'>): FieldTree {
  const root: GrowingTree = { values: [], children: new Map() };
  for (const name of form.fieldNames) {
    let node = root;
    for (const step of name.split('.', DEEPEST)) {
      let next = node.children.get(step);
      if (!next) node.children.set(step, (next = { values: [], children: new Map() }));
      node = next;
    }
    node.values.push(...form.fieldList(name).map(plain));
  }
  return root;
}

/** Browsers send line breaks as two characters. */
const plain = (text: string) => text.replaceAll('\r\n', '\n').trim();

export const childOf = (tree: FieldTree, name: string): FieldTree => tree.children.get(name) ?? NOTHING;

/**
 * The typed input in the form of a settings file. Nothing is checked here: an invalid number stays a text, so that the
 * checks of the file report it and the form shows it again. undefined: it is left out.
 */
export function readValue(schema: TSchema, tree: FieldTree, isNeeded: boolean): unknown {
  const [text = ''] = tree.values;
  const nothing = isNullable(schema) ? null : undefined;
  switch (kindOf(schema)) {
    case 'flag':
      return text !== '' || (isFalseMeant(schema) ? false : undefined);
    case 'number':
      return text === '' ? nothing : numberIn(text);
    case 'choice':
      return text === '' ? undefined : (shapeOf(schema).enum!.find((one) => String(one) === text) ?? text);
    case 'line':
    case 'lines':
      return text === '' ? (isNeeded && nothing === undefined ? '' : nothing) : text;
    case 'words':
      return tree.values
        .flatMap((value) => value.split('\n'))
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'choices':
      return tree.values.filter((value) => value !== '');
    case 'texts': {
      const texts = [...tree.children].flatMap(([locale, { values }]) =>
        values[0] ? [[locale, values[0]]] : [],
      );
      return texts.length > 0 || (isNeeded && nothing === undefined) ? Object.fromEntries(texts) : nothing;
    }
    case 'section':
      return readSection(schema, tree, isNeeded);
    case 'entries':
      return readEntries(schema, tree, isNeeded);
    case 'map':
      return readMap(schema, tree, isNeeded);
  }
}

function readSection(schema: TSchema, tree: FieldTree, isNeeded: boolean): object | undefined {
  const { properties, required = [] } = shapeOf(schema);
  const fields = Object.entries(properties!).flatMap(([key, field]) => {
    const value = readValue(field, childOf(tree, key), required.includes(key));
    return value === undefined ? [] : [[key, value] as const];
  });
  if (!isNeeded && fields.every(([, value]) => isBlank(value))) return undefined;
  return Object.fromEntries(fields);
}

/** Empty entries are those that the form offers for input. */
function readEntries(schema: TSchema, tree: FieldTree, isNeeded: boolean): unknown[] | undefined {
  const { items, maxItems = Infinity } = shapeOf(schema);
  const { properties = {} } = shapeOf(items!);
  // The page would show all of them again, with the problems of each.
  if (tree.children.size > maxItems + OFFERED_ENTRIES) throw new FormLimitError('values', maxItems);
  const kept = [...tree.children.values()].filter(
    (entry) => childOf(entry, 'remove').values.length === 0 && isFilled(items!, entry),
  );
  const entries = kept.map((entry) => readValue(items!, entry, true));
  if (entries.length === 0 && !isNeeded) return undefined;
  const keyName = ['key', 'identifier'].find((name) => name in properties);
  return keyName === undefined ? entries : withKeys(entries as Record<string, unknown>[], keyName);
}

function readMap(schema: TSchema, tree: FieldTree, isNeeded: boolean): object | undefined {
  const value = mapValue(schema);
  const pairs = [...tree.children].flatMap(([step, entry]): [string, unknown][] => {
    if (!step.startsWith('#')) {
      return isFilled(value, entry) ? [[step, readValue(value, entry, true)]] : [];
    }
    const [key = ''] = childOf(entry, 'key').values;
    const item = readValue(value, childOf(entry, 'value'), true);
    return key === '' && isBlank(item) ? [] : [[key, item]];
  });
  return pairs.length === 0 && !isNeeded ? undefined : Object.fromEntries(pairs);
}

/** Whether something was typed; a choice and a checkbox always have a value. */
function isFilled(schema: TSchema, tree: FieldTree): boolean {
  const kind = kindOf(schema);
  if (kind === 'flag' || kind === 'choice') return false;
  if (kind !== 'section') return hasText(tree);
  return Object.entries(shapeOf(schema).properties!).some(([key, field]) =>
    isFilled(field, childOf(tree, key)),
  );
}

const hasText = ({ values, children }: FieldTree): boolean =>
  values.some((value) => value !== '') || [...children.values()].some(hasText);

function isBlank(value: unknown): boolean {
  return (
    value === undefined || value === '' || value === null || (Array.isArray(value) && value.length === 0)
  );
}

/** Merchants enter names; the key in the file is derived from the name. */
function withKeys(entries: readonly Record<string, unknown>[], keyName: string): object[] {
  const used = new Set(entries.map((entry) => entry[keyName]));
  return entries.map((entry) => {
    if (entry[keyName] !== '' && entry[keyName] !== undefined) return entry;
    const base = keyFrom(entry['name']);
    let key = base;
    for (let number = 2; used.has(key); number++) key = `${base}-${number}`;
    used.add(key);
    return { ...entry, [keyName]: key };
  });
}

function keyFrom(name: unknown): string {
  const text = typeof name === 'string' ? name : Object.values((name ?? {}) as Record<string, string>)[0];
  const slug = (text ?? '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  return slug === '' ? 'entry' : slug;
}

/** With a comma or a point; an invalid number stays a text, which the checks of the file refuse. */
function numberIn(text: string): number | string {
  const plainNumber = text.replace(/^(-?\d+),(\d+)$/, '$1.$2');
  return /^-?\d+(?:\.\d+)?$/.test(plainNumber) ? Number(plainNumber) : text;
}

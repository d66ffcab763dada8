/**
 * SQL in plain sight: sql`select name from shop where shop_id = ${shopId}` becomes a statement with $1, $2, ...
 * Values never reach the text, so nothing a client sends can become SQL.
 *
 * Each statement has a name, so that PostgreSQL plans it once per connection. The name is cached per call site
 * (the array of strings of a tagged template is the same object on every call). A nested sql`...` is spliced in;
 * a call site that splices in the same parts again does not build its statement again.
 */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

const bySite = new WeakMap<readonly string[], { name: string; text: string }>();
const byText = new Map<string, string>();
/** What a call site spliced together lately, and from which fragments. */
const splices = new WeakMap<readonly string[], { inner: (readonly string[])[]; strings: string[] }[]>();
const MOST_SPLICES = 16;

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return values.some(isFragment) ? spliced(strings, values) : new Sql(strings, values);
}

/** Joins conditions: and([sql`a = ${1}`, sql`b = ${2}`]); `true` when there are none. */
export function and(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : conditions.reduce((left, right) => sql`${left} and ${right}`);
}

export function toStatement(query: Sql): Statement {
  let site = bySite.get(query.strings);
  if (!site) {
    const text = query.strings.reduce((left, right, index) => `${left}$${index}${right}`);
    site = { name: nameOf(text), text };
    bySite.set(query.strings, site);
  }
  return { name: site.name, text: site.text, values: query.values as unknown[] };
}

function isFragment(value: unknown): value is Sql {
  return value instanceof Sql;
}

function spliced(strings: readonly string[], values: readonly unknown[]): Sql {
  const inner: (readonly string[])[] = [];
  const flat: unknown[] = [];
  for (const value of values) {
    if (isFragment(value)) {
      inner.push(value.strings);
      flat.push(...value.values);
    } else {
      flat.push(value);
    }
  }
  let known = splices.get(strings);
  if (!known) splices.set(strings, (known = []));
  let splice = known.find((one) => hasParts(one.inner, inner));
  if (!splice) {
    splice = { inner, strings: joined(strings, values) };
    known.unshift(splice);
    known.length = Math.min(known.length, MOST_SPLICES);
  }
  return new Sql(splice.strings, flat);
}

function hasParts(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((part, at) => part === right[at]);
}

function joined(strings: readonly string[], values: readonly unknown[]): string[] {
  const parts = [strings[0]!];
  values.forEach((value, index) => {
    if (isFragment(value)) {
      parts[parts.length - 1] += value.strings[0]!;
      parts.push(...value.strings.slice(1));
      parts[parts.length - 1] += strings[index + 1]!;
    } else {
      parts.push(strings[index + 1]!);
    }
  });
  return parts;
}

/** The texts are those of the source code, so this map is bounded by it. */
function nameOf(text: string): string {
  let name = byText.get(text);
  if (!name) {
    name = `k${byText.size}`;
    byText.set(text, name);
  }
  return name;
}

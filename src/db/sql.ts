/**
 * SQL in plain sight: sql`select name from shop where shop_id = ${shopId}` becomes a statement with $1, $2, ...
 * Values never reach the text, so nothing a client sends can become SQL.
 *
 * Each statement has a name, so that PostgreSQL plans it once per connection. The name is cached per call site
 * (the array of strings of a tagged template is the same object on every call). A nested sql`...` is spliced in;
 * such a statement is named by its text.
 */
export interface Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}

export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

const fragments = new WeakSet<object>();
const bySite = new WeakMap<readonly string[], { name: string; text: string }>();
const byText = new Map<string, string>();

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  const fragment: Sql = values.some(isFragment)
    ? spliced(strings, values)
    : { strings, values };
  fragments.add(fragment);
  return fragment;
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
  return typeof value === 'object' && value !== null && fragments.has(value);
}

function spliced(strings: readonly string[], values: readonly unknown[]): Sql {
  const parts = [strings[0]!];
  const flat: unknown[] = [];
  values.forEach((value, index) => {
    if (isFragment(value)) {
      parts[parts.length - 1] += value.strings[0]!;
      parts.push(...value.strings.slice(1));
      flat.push(...value.values);
      parts[parts.length - 1] += strings[index + 1]!;
    } else {
      flat.push(value);
      parts.push(strings[index + 1]!);
    }
  });
  return { strings: parts, values: flat };
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

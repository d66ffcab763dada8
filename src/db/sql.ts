/**
 * SQL in plain sight: sql`select name from shop where shop_id = ${shopId}` becomes a statement with $1, $2, ... Values
 * never reach the text, so nothing a client sends can become SQL.
 *
 * Each statement has a name, so that PostgreSQL plans it once per connection. The name is cached per call site (the
 * array of strings of a tagged template is the same object on every call). A nested sql`...` is spliced in; a call
 * site that splices in the same parts again does not build its statement again.
 *
 * PostgreSQL keeps a named statement until its connection ends, so the number of texts must be a constant of the
 * program: values, lists and search terms are parameters, and an update always sets the same columns. A fragment may
 * be chosen among a few; client input must not decide how many there are.
 */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  readonly isNamed: boolean;

  constructor(strings: readonly string[], values: readonly unknown[], isNamed = true) {
    this.strings = strings;
    this.values = values;
    this.isNamed = isNamed;
  }
}

export interface Statement {
  /**
   * undefined: too many texts have names already, or this one is used once. PostgreSQL parses and plans it for each call.
   */
  name: string | undefined;
  text: string;
  values: unknown[];
}

/**
 * Gives each text a name, and always the same one. The number of names is bounded, and so is the memory of PostgreSQL,
 * where each connection holds its own copy of every named statement.
 */
export class StatementNames {
  readonly #byText = new Map<string, string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** undefined: too many texts have names already. */
  of(text: string): string | undefined {
    let name = this.#byText.get(text);
    if (!name && this.#byText.size < this.#most) {
      name = `k${this.#byText.size}`;
      this.#byText.set(text, name);
    }
    return name;
  }
}

/**
 * The program sends statements from some 750 places, and a test finds texts that depend on a request. This limit is a
 * safeguard in case one does.
 */
const names = new StatementNames(2_000);
const bySite = new WeakMap<readonly string[], Pick<Statement, 'name' | 'text'>>();
/** Statements that a call site assembled lately, and their fragments. */
const splices = new WeakMap<readonly string[], { inner: (readonly string[])[]; strings: string[] }[]>();
const MAX_SPLICES = 16;

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return values.some(isFragment) ? spliced(strings, values) : new Sql(strings, values);
}

/**
 * A statement whose text is made of names from the database's own catalogue, for occasional use by commands. It gets
 * no name, because the number of such texts is not a constant of the program.
 */
export function catalogueSql(strings: readonly string[], values: readonly unknown[] = []): Sql {
  return new Sql(strings, values, false);
}

export function toStatement(query: Sql): Statement {
  let site = bySite.get(query.strings);
  if (!site) {
    const text = query.strings.reduce((left, right, index) => `${left}$${index}${right}`);
    site = { name: query.isNamed ? names.of(text) : undefined, text };
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
    known.length = Math.min(known.length, MAX_SPLICES);
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

import { readdirSync } from 'node:fs';
import { readJson } from './json-file.ts';
import type english from './messages/en.json';

/**
 * The message catalogue: every text of the program for people, one JSON file per language in `messages/`. A new
 * language is a new file there. Missing texts and languages fall back to English.
 *
 * A text with placeholders names them in its key, because the type of a JSON file knows keys and not texts:
 * `"added(name)": "{name} is in your cart."` is called as `messages(locale).storefront.cart.added({ name })`. A text
 * that depends on a number has one form per plural category of its language, and that number is named `count`.
 */
export type Messages = Catalogue<typeof english>;

export type Catalogue<English> = {
  readonly [Section in keyof English]: Texts<English[Section]> & {
    /** The language that the section is in: English where the locale's own language does not have it. */
    readonly language: string;
  };
};

type Texts<Json> = {
  readonly [Key in keyof Json as Key extends `${infer Name}(${string})` ? Name : Key]: Text<Key, Json[Key]>;
};

type Text<Key, Json> = Key extends `${string}(${infer Names})`
  ? Json extends string
    ? Message<Split<Names>>
    : (values: Values<Split<Names>>) => string
  : Json extends string
    ? string
    : Texts<Json>;

type Split<Names extends string> = Names extends `${infer First}, ${infer Rest}`
  ? First | Split<Rest>
  : Names;

type Values<Name extends string> = { readonly [Key in Name]: Key extends 'count' ? number : string | number };

export interface Message<Name extends string> {
  (values: Values<Name>): string;
  /** The pieces of the text in order, for a page that puts markup such as a link where a placeholder is. */
  pieces: <Value>(values: Readonly<Record<Name, Value>>) => (string | Value)[];
}

interface Json {
  readonly [key: string]: string | Json;
}

const FALLBACK = 'en';

const storefrontMessages = openMessages<typeof english>(new URL('./messages/', import.meta.url));

/** The texts in the language of a locale such as `en_GB`. */
export const messagesIn = storefrontMessages.in;

/** Reads every language of another folder too. */
export const loadMessages = storefrontMessages.load;

/** Opens a folder of texts whose English file has the type `English`. */
export function openMessages<English>(folder: URL) {
  const files = new Map<string, URL>();
  const catalogues = new Map<string, Catalogue<English>>();

  /** Reads and compiles a language with its first text, so that later ones parse nothing. */
  const open = (language: string): Catalogue<English> => {
    const english = readJson(files.get(FALLBACK)!) as Json;
    const own = language === FALLBACK ? english : (readJson(files.get(language)!) as Json);
    const rules = new Intl.PluralRules(language);
    const sections = Object.entries(english).map(([name, section]) => {
      const compiled = compile(section as Json, own[name] as Json | undefined, rules);
      return [name, { ...compiled, language: own[name] ? language : FALLBACK }];
    });
    const catalogue = Object.fromEntries(sections) as Catalogue<English>;
    catalogues.set(language, catalogue);
    return catalogue;
  };

  const load = (from: URL): void => {
    for (const file of readdirSync(from).filter((each) => each.endsWith('.json'))) {
      files.set(file.slice(0, -'.json'.length), new URL(file, from));
    }
    // One that was opened before may have new texts.
    catalogues.clear();
  };

  load(folder);
  return {
    load,
    in: (locale: string): Catalogue<English> => {
      const asked = locale.slice(0, 2).toLowerCase();
      const language = files.has(asked) ? asked : FALLBACK;
      return catalogues.get(language) ?? open(language);
    },
  };
}

/** Takes each text from its own language if present, and the names of all texts from the English file. */
function compile(english: Json, own: Json = {}, rules: Intl.PluralRules): object {
  return Object.fromEntries(
    Object.entries(english).map(([key, value]) => {
      const text = own[key] ?? value;
      const [name, placeholders] = key.split('(') as [string, string?];
      if (typeof text === 'string') return [name, placeholders === undefined ? text : message(text)];
      return [name, placeholders === undefined ? compile(value as Json, text, rules) : plural(text, rules)];
    }),
  );
}

function message(text: string): Message<string> {
  // Every second piece is the name of a placeholder.
  const parsed = text.split(/\{(\w+)\}/);
  const pieces = <Value>(values: Readonly<Record<string, Value>>) =>
    parsed.map((piece, index) => (index % 2 === 0 ? piece : values[piece]!));
  return Object.assign((values: Values<string>) => pieces(values).join(''), { pieces });
}

function plural(forms: Json, rules: Intl.PluralRules) {
  const byCategory = Object.fromEntries(
    Object.entries(forms).map(([category, text]) => [category, message(text as string)]),
  );
  return (values: { readonly count: number }) =>
    (byCategory[rules.select(values.count)] ?? byCategory['other']!)(values);
}

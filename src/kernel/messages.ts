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
  const texts = new Map<string, Json>();
  const catalogues = new Map<string, Catalogue<English>>();

  const catalogue = (language: string): Catalogue<English> => {
    const own = texts.get(language)!;
    const rules = new Intl.PluralRules(language);
    const sections = Object.entries(texts.get(FALLBACK)!).map(([name, section]) => {
      const compiled = compile(section as Json, own[name] as Json | undefined, rules);
      return [name, { ...compiled, language: own[name] ? language : FALLBACK }];
    });
    return Object.fromEntries(sections) as Catalogue<English>;
  };

  /** The texts are compiled here, so a page that uses them parses nothing. */
  const load = (from: URL): void => {
    const languages = readdirSync(from)
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length));
    for (const language of languages) {
      texts.set(language, readJson(new URL(`${language}.json`, from)) as Json);
    }
    for (const language of languages) catalogues.set(language, catalogue(language));
  };

  load(folder);
  return {
    load,
    in: (locale: string): Catalogue<English> =>
      catalogues.get(locale.slice(0, 2).toLowerCase()) ?? catalogues.get(FALLBACK)!,
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

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { messagesIn } from './messages.ts';

const FOLDER = new URL('./messages/', import.meta.url);
const ADMIN_FOLDER = new URL('../admin/messages/', import.meta.url);

interface Json {
  readonly [key: string]: string | Json;
}

const filesOf = (folder: URL) =>
  new Map(
    readdirSync(folder).map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Json,
    ]),
  );
const files = filesOf(FOLDER);
const adminFiles = filesOf(ADMIN_FOLDER);

const cases = [
  ...[...files].map(([language, json]) => ({
    of: 'the storefront',
    language,
    json,
    english: files.get('en')!,
  })),
  ...[...adminFiles].map(([language, json]) => ({
    of: 'the admin',
    language,
    json,
    english: adminFiles.get('en')!,
  })),
];

/** Every text with its path; a plural is one text for each of its forms. */
function* textsOf(
  json: Json,
  path: readonly string[] = [],
): Generator<[path: readonly string[], text: string]> {
  for (const [key, value] of Object.entries(json)) {
    if (typeof value === 'string') yield [[...path, key], value];
    else yield* textsOf(value, [...path, key]);
  }
}

/** Without the form of a plural, of which each language has its own. */
const keyOf = (path: readonly string[]) => (path.at(-2)?.endsWith(')') ? path.slice(0, -1) : path).join('.');

const keysOf = (json: Json) => [...new Set([...textsOf(json)].map(([path]) => keyOf(path)))].toSorted();

/** Merchants may replace the words of an email, so a kind of email says which placeholders it has. */
const isEmailText = (path: readonly string[]) =>
  path[0] === 'email' && ['subject', 'text'].includes(path.at(-1)!);

const placeholdersIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).toSorted();

describe.each(cases)('the messages of $of in $language', ({ language, json, english }) => {
  test('have the sections of the English ones, each as a whole', () => {
    for (const [section, texts] of Object.entries(json)) {
      expect(keysOf(texts as Json)).toEqual(keysOf(english[section] as Json));
    }
  });

  test('are not empty, and have no blanks around them', () => {
    const wrong = [...textsOf(json)].filter(([, text]) => text === '' || text !== text.trim());
    expect(wrong).toEqual([]);
  });

  test('name the placeholders of their keys', () => {
    for (const [path, text] of textsOf(json)) {
      if (isEmailText(path)) continue;
      const key = keyOf(path);
      const [, list = ''] = /\((.*)\)$/.exec(key) ?? [];
      const named = list === '' ? [] : list.split(', ').toSorted();
      expect([key, [...new Set(placeholdersIn(text))]]).toEqual([key, named]);
      expect(text.replaceAll(/\{\w+\}/g, '')).not.toMatch(/[{}]/);
    }
  });

  test('of emails name the placeholders that the English ones name', () => {
    const named = (of: Json) =>
      [...textsOf(of)]
        .filter(([path]) => isEmailText(path))
        .map(([path, text]) => [keyOf(path), placeholdersIn(text)]);
    expect(named(json)).toEqual('email' in json ? named(english) : []);
  });

  test('have the plural forms of the language', () => {
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();
    const plurals = new Map<string, string[]>();
    for (const [path] of textsOf(json)) {
      if (keyOf(path) === path.join('.')) continue;
      plurals.set(keyOf(path), [...(plurals.get(keyOf(path)) ?? []), path.at(-1)!]);
    }
    for (const [key, forms] of plurals) expect([key, forms.toSorted()]).toEqual([key, categories]);
  });
});

test('German and French are complete', () => {
  for (const all of [files, adminFiles]) {
    for (const language of ['de', 'fr']) {
      expect(Object.keys(all.get(language)!).toSorted()).toEqual(Object.keys(all.get('en')!).toSorted());
    }
  }
});

test('French has a blank that does not break before : ; ? ! and », and its own apostrophe', () => {
  const wrong = [files, adminFiles].flatMap((all) =>
    [...textsOf(all.get('fr')!)].filter(
      ([[section], text]) =>
        // The titles of columns are recognised in files that were exported before.
        section !== 'productFile' && / [:;?!»]|« |\u202f|\w'\w|[\p{L}}][?!;»]|[\p{L}}]: /u.test(text),
    ),
  );
  expect(wrong).toEqual([]);
});

describe('a text', () => {
  test('is in the language of the locale', () => {
    expect(messagesIn('de_AT').storefront.cart.title).toBe('Ihr Warenkorb');
    expect(messagesIn('DE_DE').storefront.cart.title).toBe('Ihr Warenkorb');
  });

  test('is English where the language has no file, or leaves it out', () => {
    expect(messagesIn('fi_FI').storefront.cart.title).toBe('Your cart');
    expect(messagesIn('nl_NL').storefront.cart.title).toBe('Your cart');
    expect(messagesIn('nl_NL').products.inStock).toBe('Op voorraad');
  });

  test('knows its language by section', () => {
    const { products, documents } = messagesIn('nl_NL');
    expect([products.language, documents.language]).toEqual(['nl', 'en']);
    expect(messagesIn('fr_FR').documents.language).toBe('fr');
  });

  test('takes values, which are not searched for placeholders', () => {
    expect(messagesIn('en_GB').storefront.cart.per({ price: '{amount}', amount: '$& 2' })).toBe(
      '{amount} per $& 2',
    );
  });

  test('comes in pieces around what is no text', () => {
    const link = { href: '/terms' };
    expect(messagesIn('de_DE').storefront.checkout.terms.pieces({ link })).toEqual([
      'Mit Ihrer Bestellung akzeptieren Sie unsere ',
      link,
      '.',
    ]);
  });

  test('has the plural form of its language', () => {
    const inLanguage = (locale: string) =>
      [0, 1, 2].map((count) => messagesIn(locale).storefront.listing.products({ count }));
    expect(inLanguage('en_GB')).toEqual(['0 products', '1 product', '2 products']);
    expect(inLanguage('fr_FR')).toEqual(['0 article', '1 article', '2 articles']);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = new URL('../', import.meta.url);
const LANGUAGES = ['en', 'de', 'fr'] as const;
type Language = (typeof LANGUAGES)[number];

interface Json {
  readonly [key: string]: string | Json;
}

interface Message {
  readonly key: string;
  readonly text: string;
}

const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** Every text with its path; a plural is one text for each of its forms. */
function* messagesOf(json: Json, path: string): Generator<Message> {
  for (const [name, value] of Object.entries(json)) {
    const key = `${path} › ${name}`;
    if (typeof value === 'string') yield { key, text: value };
    else yield* messagesOf(value, key);
  }
}

/** The titles of columns and the names of lines are part of files and answers that clients know. */
const isFixed = ({ key }: Message) =>
  key.startsWith('kernel › productFile ›') || key === 'kernel › lineItems › basketDiscount';

const messagesIn = (language: Language): Message[] =>
  ['admin', 'kernel']
    .flatMap((module) => [
      ...messagesOf(JSON.parse(read(`src/${module}/messages/${language}.json`)) as Json, module),
    ])
    .filter((message) => !isFixed(message));

const messages = { en: messagesIn('en'), de: messagesIn('de'), fr: messagesIn('fr') };

const page = read('docs/terms.md');

/** The text below a heading, up to the next one of the same level or above. */
function section(heading: string): string {
  const level = heading.indexOf(' ');
  const start = page.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`docs/terms.md has no heading ${heading}`);
  const rest = page.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The rows of a table, without its head. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
    .slice(1)
    .filter(([first]) => !/^-+$/.test(first!));

const dictionary = rowsOf(section('## Dictionary')).map(([en, de, fr]) => ({
  en: en!,
  de: de!.split(' / '),
  fr: fr!.split(' / '),
}));

const forbidden: Record<Language, string[]> = {
  en: rowsOf(section('### English')).map(([phrase]) => phrase!),
  de: rowsOf(section('### German')).map(([phrase]) => phrase!),
  fr: rowsOf(section('### French')).map(([phrase]) => phrase!),
};

const names = [...section('## English in German and French').matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** A phrase as whole words: `mend` is not found in `recommended`. */
const wholeWords = (phrases: readonly string[], flags: string) =>
  new RegExp(`(?<![\\p{L}\\d])(?:${phrases.map(escaped).join('|')})(?![\\p{L}\\d])`, flags);

const plain = (text: string) => text.replaceAll('\u00a0', ' ').replaceAll(/\{\w+\}/g, '{}');

const show = ({ key, text }: Message) => `${key}: ${text}`;

test('the dictionary is not empty, and has no row twice', () => {
  expect(dictionary.length).toBeGreaterThan(80);
  expect(new Set(dictionary.map(({ en }) => en)).size).toBe(dictionary.length);
});

describe.each(LANGUAGES)('the messages in %s', (language) => {
  test('contain no phrase that the dictionary forbids', () => {
    const phrases = wholeWords(forbidden[language], 'iu');
    expect(messages[language].filter(({ text }) => phrases.test(plain(text))).map(show)).toEqual([]);
  });

  test('use every term of the dictionary', () => {
    const all = messages[language].map(({ text }) => plain(text).toLowerCase()).join('\n');
    const unused = dictionary
      .flatMap((row) => row[language])
      .filter((term) => !all.includes(term.toLowerCase()));
    expect(unused).toEqual([]);
  });
});

/** A word in any number or case: Produkte, Produkten. */
const inflected = (word: string) =>
  new RegExp(`(?<![\\p{L}\\d])${escaped(word)}(?:e|e?[ns])?(?![\\p{L}\\d])`, 'iu');

const confused = rowsOf(section('## Words in sentences')).map(([en, de, fr]) => ({
  en: inflected(en!),
  wrong: { de: de === '' ? /$^/ : inflected(de!), fr: fr === '' ? /$^/ : inflected(fr!) },
}));

const OTHER_MEANING = /\b(?:items?|parameters?)\b/i;

test.each(['de', 'fr'] as const)('the admin in %s has one word for one thing', (language) => {
  expect(confused.length).toBeGreaterThan(2);
  const translations = new Map(messages[language].map(({ key, text }) => [key, text]));
  const wrong = messages.en
    .filter(({ key, text }) => key.startsWith('admin ›') && !OTHER_MEANING.test(text))
    .map(({ key, text }) => ({ key, english: plain(text), text: plain(translations.get(key)!) }))
    .filter(({ english, text }) =>
      confused.some(({ en, wrong: words }) => en.test(english) && words[language].test(text)),
    );
  expect(wrong.map(show)).toEqual([]);
});

/** Common words and words of the trade that are in no German or French text, with the exceptions below. */
const ENGLISH_WORDS =
  'the of and or your you please with from not are this that these have has will been which when who what only is it its be by ' +
  'for to at all any none order orders ordered shipping delivery price prices customer customers product products cart checkout ' +
  'payment payments refund refunds invoice invoices tax taxes discount discounts coupon coupons settings search save saved ' +
  'delete deleted add added cancel cancelled edit view new more empty missing email emails page pages day days free paid ' +
  'unpaid shipped returned returns stock staff account address quantity amount rate rates password';
const ALSO_FRENCH = ['or', 'page', 'pages', 'stock', 'taxes'];

const englishWords = {
  de: wholeWords(ENGLISH_WORDS.split(' '), 'iu'),
  fr: wholeWords(
    ENGLISH_WORDS.split(' ').filter((word) => !ALSO_FRENCH.includes(word)),
    'iu',
  ),
};

/** Addresses, paths, placeholders, markup and the names that stay English are no prose. */
const proseOf = (text: string) =>
  names
    .reduce((rest, name) => rest.replaceAll(name, ''), text)
    .replaceAll(/https?:\S+|\S*@\S+|\/\S+|\{\w+\}|<[^>]+>/g, ' ');

const isPartlyEnglish = (language: 'de' | 'fr', text: string) => englishWords[language].test(proseOf(text));

test.each(['de', 'fr'] as const)('the messages in %s have no English words', (language) => {
  const wrong = messages[language].filter(({ text }) => isPartlyEnglish(language, text));
  expect(wrong.map(show)).toEqual([]);
});

test.each([
  ['de', 'de_DE'],
  ['fr', 'fr_FR'],
] as const)('the texts of the demo shop and of new shops in %s have no English words', (language, locale) => {
  const files = ['settings', 'catalogue', 'legal-pages', 'generated-products'].map(
    (name) => `assets/demo/${name}.yaml`,
  );
  const texts = [
    ...files.flatMap((file) => [...textsIn(locale, parse(read(file)), file)]),
    ...leavesOf(parse(read(`assets/new-shop/legal-${language}.yaml`)), 'new shop'),
  ];
  expect(texts.length).toBeGreaterThan(100);
  expect(texts.filter(({ text }) => isPartlyEnglish(language, text)).map(show)).toEqual([]);
});

/** The texts below a key such as `de_DE`, wherever it stands. */
function* textsIn(locale: string, value: unknown, path: string): Generator<Message> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const key = `${path} › ${name}`;
    if (name === locale) yield* leavesOf(inner, key);
    else yield* textsIn(locale, inner, key);
  }
}

function* leavesOf(value: unknown, key: string): Generator<Message> {
  if (typeof value === 'string') yield { key, text: value };
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) yield* leavesOf(inner, `${key} › ${name}`);
  }
}

test.each(LANGUAGES)('directions in %s name the pages of the settings as the menu does', (language) => {
  const entry = messages[language].find(({ key }) => key === 'admin › layout › menuEntries › settings')!.text;
  const pages = messages[language]
    .filter(({ key }) => key.startsWith('admin › settings › pages ›'))
    .map(({ text }) => text);
  const directions = messages[language].filter(({ text }) => plain(text).includes(`${entry} › `));
  expect(directions.length).toBeGreaterThan(1);
  const wrong = directions.filter(({ text }) => {
    const rest = plain(text).split(`${entry} › `)[1]!;
    return !pages.some((page) => rest.startsWith(page));
  });
  expect(wrong.map(show)).toEqual([]);
});

test('a label that is a term is translated as the dictionary says', () => {
  const terms = new Map(dictionary.map((row) => [row.en, row]));
  const wrong = messages.en.flatMap(({ key, text }) => {
    const row = terms.get(text);
    if (!row) return [];
    return (['de', 'fr'] as const).flatMap((language) => {
      const translated = messages[language].find((message) => message.key === key)!;
      return row[language].includes(plain(translated.text))
        ? []
        : [`${text}: ${language} ${show(translated)}`];
    });
  });
  expect(wrong).toEqual([]);
});

/** The parts of the files that hold nothing but labels. */
const LABELS =
  /^admin › (?:layout › menuEntries|roles|customers › (?:fields|states)|orders › (?:parts|columns|chips|actions|submit|totals)|settings › (?:pages|groups|labels|values|emailKinds)|import › columns|products › tabs) ›|^kernel › storefront › address › fields/;

/** A sentence ends with a full stop, and so do a few abbreviations. */
const SENTENCE = /(?<!MwSt|USt|IdNr|Nr|No|Pos|Tel|Tél|no)\.$/;

test.each(LANGUAGES)(
  'labels in %s begin with a capital letter or a name, and are no sentences',
  (language) => {
    const labels = messages[language].filter(({ key }) => LABELS.test(key));
    expect(labels.length).toBeGreaterThan(300);
    const wrong = labels.filter(({ text }) => !/^[\p{Lu}\d{]/u.test(text) || SENTENCE.test(text));
    expect(wrong.map(show)).toEqual([]);
  },
);

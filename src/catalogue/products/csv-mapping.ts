import { displayName } from '../../kernel/display-names.ts';
import { newPauses } from '../../http/pauses.ts';
import { readJson } from '../../kernel/json-file.ts';
import { editDistance } from '../../kernel/suggestion.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { columnsOf, moreColumnsOf, type CsvColumn } from './csv-columns.ts';
import { fieldColumnsOf } from './csv-fields.ts';
import { FileProblem } from './file-problem.ts';

/** The key of each column of a file; null: it is left out. */
export type Mapping = readonly (string | null)[];

/** A column of a file, in its place. */
export interface FileColumn {
  column: CsvColumn;
  place: number;
}

/** Common names of columns in other files, by the first part of the key. */
const OTHER_NAMES = readJson(new URL('./column-names.json', import.meta.url)) as Readonly<
  Record<string, readonly string[]>
>;

const TITLE_LANGUAGES = ['en', 'de', 'fr'];

/** The column with the reasons in the file of refused rows. It is not read again. */
export const PROBLEM_COLUMN = 'Problem';

/** All columns that a file of this shop can have. */
export function knownColumns(settings: Settings): Map<string, CsvColumn> {
  const columns = [...columnsOf(settings), ...moreColumnsOf(settings), ...fieldColumnsOf(settings)];
  return new Map(columns.map((column) => [column.key, column]));
}

/**
 * Finds the columns by their titles: the key in brackets, `Name/English [Name/en]`, the key alone, the title in one of
 * our languages, or a common name. Of two titles for the same column, the first one counts.
 */
export function guessMapping(header: readonly string[], settings: Settings): Mapping {
  const names = columnNames(settings);
  const taken = new Set<string>();
  return header.map((cell) => {
    const key = names.get(keyIn(cell)) ?? names.get(plain(cell));
    if (key === undefined || taken.has(key)) return null;
    taken.add(key);
    return key;
  });
}

/** `Name/English [Name/en]` is `Name/en`. */
function keyIn(cell: string): string {
  const title = cell.trim();
  return title.endsWith(']') ? title.slice(title.lastIndexOf('[') + 1, -1) : title;
}

/** Characters: no column has a longer name. */
const MAX_TITLE = 500;

/** Lower case, words alone: `Art.-Nr.` is `art nr`. */
function plain(title: string): string {
  return title
    .slice(0, MAX_TITLE)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The names of all columns, with their keys. */
function columnNames(settings: Settings): Map<string, string> {
  const columns = [...knownColumns(settings).values()];
  const names = new Map<string, string>();
  const add = (name: string, key: string) => {
    if (name !== '' && !names.has(name)) names.set(name, key);
  };
  for (const { key } of columns) add(key, key);
  for (const { key } of columns) {
    const [base, part] = key.split('/') as [string, string?];
    const texts = part === undefined || !OTHER_NAMES[base] ? [] : partTexts(part);
    for (const other of OTHER_NAMES[base] ?? []) {
      if (part === undefined || isStandard(part, settings)) add(plain(other), key);
      for (const text of texts) add(plain(`${other} ${text}`), key);
    }
  }
  for (const { key, title } of columns) {
    const [base, part] = key.split('/') as [string, string?];
    for (const language of TITLE_LANGUAGES) add(plain(title(language)), key);
    add(plain(key), key);
    if (part !== undefined && isStandard(part, settings)) add(plain(base), key);
  }
  return names;
}

/** Whether a column without a language or currency in its title means this one. */
function isStandard(part: string, { defaultCurrency, defaultLocale }: Settings): boolean {
  return part === defaultCurrency || part === defaultLocale || part === defaultLocale.slice(0, 2);
}

/** `de` is also German and Deutsch. */
function partTexts(part: string): string[] {
  if (!/^[a-z]{2}(?:_[A-Z]{2})?$/.test(part)) return [part];
  const tag = part.replace('_', '-');
  const names = [...TITLE_LANGUAGES, part.slice(0, 2)].map((language) =>
    displayName(tag, 'language', language),
  );
  return [part, ...names];
}

/** For the command line: every column must be known, or be the one with the reasons for refusals. */
export async function strictMapping(header: readonly string[], settings: Settings): Promise<Mapping> {
  const mapping = guessMapping(header, settings);
  for (const [place, cell] of header.entries()) {
    if (mapping[place] !== null || keyIn(cell) === PROBLEM_COLUMN) continue;
    const again = guessMapping([cell], settings)[0];
    if (again !== null) throw new FileProblem(`A column is there twice: ${again}`);
    const [likely] = await likelyKeys([cell], settings);
    throw new FileProblem(
      `The column ${keyIn(cell).slice(0, MAX_TITLE)} is unknown in ${settings.shopId}` +
        (likely === undefined ? '.' : `, did you mean ${likely}?`) +
        ` Its columns are: ${[...knownColumns(settings).keys()].join(', ')}`,
    );
  }
  return mapping;
}

/** Comparing takes time, and users do not read more guesses. */
const MAX_GUESSES = 30;

/** The column with the most similar name for each title; undefined: none is similar, or there are too many titles. */
export async function likelyKeys(
  titles: readonly string[],
  settings: Settings,
): Promise<(string | undefined)[]> {
  const names = [...columnNames(settings)].map(([name, key]) => [plain(name), key] as const);
  const pause = newPauses();
  const keys: (string | undefined)[] = [];
  for (const title of titles.slice(0, MAX_GUESSES)) {
    await pause();
    keys.push(likelyKey(plain(title).slice(0, 60), names));
  }
  return keys;
}

function likelyKey(
  typed: string,
  names: readonly (readonly [name: string, key: string])[],
): string | undefined {
  let best: { key: string; distance: number } | undefined;
  for (const [name, key] of names) {
    if (Math.abs(name.length - typed.length) > typed.length / 3) continue;
    const distance = editDistance(typed, name);
    if (distance <= typed.length / 3 && distance < (best?.distance ?? Infinity)) best = { key, distance };
  }
  return best?.key;
}

/** The columns that a mapping names, still unconfirmed. */
export function namedColumns(mapping: Mapping, settings: Settings): FileColumn[] {
  const known = knownColumns(settings);
  return mapping.flatMap((key, place) => {
    const column = key === null ? undefined : known.get(key);
    return column ? [{ column, place }] : [];
  });
}

/** The columns that are read. Each at most once, and the product numbers must be among them. */
export function mappedColumns(mapping: Mapping, settings: Settings): FileColumn[] {
  const columns = namedColumns(mapping, settings);
  if (new Set(columns.map(({ column }) => column)).size < columns.length) {
    throw new FileProblem('A column is there twice');
  }
  if (!columns.some(({ column }) => column.key === 'Alias')) {
    throw new FileProblem('The column Alias is missing, which holds the product numbers');
  }
  return columns;
}

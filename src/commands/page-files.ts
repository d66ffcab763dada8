import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { TObject, TSchema } from 'typebox';
import { BLOCKS } from '../content/blocks.ts';
import { hasAddress, pageOf, slugOf } from '../content/pages/page.ts';
import { findPages } from '../content/pages/queries.ts';
import { addPage, loadPage, replacePage } from '../content/pages/save-page.ts';
import { MAX_PAGES, PageBody, PageText, type PageKind } from '../content/pages/schema.ts';
import type { Queries, Transaction } from '../db/database.ts';
import { toSeconds } from '../http/dates.ts';
import { isRefusal } from '../http/errors.ts';
import { check, compileBody } from '../http/validation.ts';
import { readYaml, writeYaml } from '../shops/settings/yaml-file.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { CommandProblem } from './problem.ts';
import { readText } from './read-file.ts';

/** A page of a folder, as the API takes it. */
export interface StoredPageFile {
  file: string;
  body: PageBody;
}

const ENDING = '.yaml';
const AUTHOR = 'kontor shop apply';

const validate = compileBody(PageBody);

/** Reads the pages of a folder, one in each file. Their names say nothing: a page is known by its addresses. */
export async function readPageFolder(folder: string): Promise<StoredPageFile[]> {
  const files: StoredPageFile[] = [];
  for (const name of await namesIn(folder)) {
    const file = path.join(folder, name);
    if (!name.endsWith(ENDING))
      throw new CommandProblem(`${file} is no page: its name does not end with ${ENDING}.`);
    files.push({ file, body: parsePage(file, await readText(file)) });
  }
  return files;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted();
  } catch (error) {
    throw new CommandProblem(`${folder} can't be read: ${(error as Error).message}`, { cause: error });
  }
}

function parsePage(file: string, text: string): PageBody {
  const read = readYaml(text);
  if ('problems' in read) {
    const lines = read.problems.map(
      (problem) => `${file}${problem.line ? `, line ${problem.line}` : ''}: ${problem.text}`,
    );
    throw new CommandProblem(lines.join('\n'));
  }
  return inFile(file, () => {
    check(validate, read.value);
    const body = read.value as PageBody;
    const [unknown] = unknownKeys(body);
    // The API ignores what it does not know; in a file it is a typing mistake.
    if (unknown !== undefined) throw new CommandProblem(`${file}: ${unknown} is unknown.`);
    return body;
  });
}

function* unknownKeys(body: PageBody): Generator<string> {
  yield* keysBeside(PageBody, body, '');
  for (const [index, text] of body.texts.entries()) {
    const at = `texts.${index}.`;
    yield* keysBeside(PageText, text, at);
    for (const [place, block] of text.blocks.entries()) {
      const { type, ...fields } = block;
      yield* keysBeside(BLOCKS[type], fields, `${at}blocks.${place}.`, true);
    }
  }
}

function* keysBeside(schema: TObject, value: object, at: string, isDeep = false): Generator<string> {
  for (const [key, field] of Object.entries(value)) {
    const known: (TSchema & { items?: TObject }) | undefined = schema.properties[key];
    if (!known) yield at + key;
    else if (isDeep && known.items?.properties) {
      for (const [index, item] of (field as object[]).entries())
        yield* keysBeside(known.items, item, `${at}${key}.${index}.`, true);
    }
  }
}

/** Runs `work`, and names the file in what it refuses. */
function inFile<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw isRefusal(error) ? problemIn(file, error) : error;
  }
}

const problemIn = (file: string, error: Error) =>
  new CommandProblem(`${file}: ${error.message.trim()}`, { cause: error });

/**
 * Writes the pages of a folder, and says which are new or changed. A page of the shop that no file names stays as it is.
 */
export async function applyPageFiles(
  tx: Transaction,
  settings: Settings,
  files: readonly StoredPageFile[],
): Promise<string[]> {
  if (files.length === 0) return [];
  const { shopId } = settings;
  const known = await knownPages(tx, shopId);
  const usedBy = new Map<string, string>();
  const lines: string[] = [];
  for (const { file, body } of files) {
    try {
      const { texts } = pageOf(body, undefined, settings, tx.now);
      const names = namesOf(body.kind, body.category ?? null, texts);
      const pageIds = new Set(names.flatMap((name) => known.get(name) ?? []));
      if (pageIds.size > 1)
        throw new CommandProblem(`${file}: it has addresses of more than one page of the shop.`);
      const [found] = pageIds;
      const other = found && usedBy.get(found);
      if (other) throw new CommandProblem(`${file}: it is the same page as ${other}.`);
      const label = labelOf(body, texts[0]!.slug);
      let pageId = found;
      if (pageId === undefined) {
        pageId = await addPage(tx, shopId, body, AUTHOR);
        lines.push(`+ ${label}`);
      } else if (await isChange(tx, settings, pageId, body)) {
        await replacePage(tx, shopId, pageId, body, AUTHOR);
        lines.push(`~ ${label}`);
      }
      usedBy.set(pageId, file);
      for (const name of names) known.set(name, pageId);
    } catch (error) {
      throw isRefusal(error) ? problemIn(file, error) : error;
    }
  }
  return lines;
}

const labelOf = ({ kind, category }: Pick<PageBody, 'kind' | 'category'>, slug: string | null) =>
  kind === 'home' ? 'pages.home' : `pages.${kind}.${slug ?? category}`;

/** By what a page is known: its place, or its address in each language. */
function namesOf(
  kind: PageKind,
  category: string | null,
  texts: readonly { locale: string; slug: string | null }[],
): string[] {
  if (!hasAddress(kind)) return [`${kind} ${category ?? ''}`];
  return texts.map(({ locale, slug }) => `${kind} ${locale} ${slug}`);
}

const ALL = { offset: 0, resultsPerPage: MAX_PAGES, page: 1 };

async function knownPages(db: Queries, shopId: string): Promise<Map<string, string>> {
  const pages = await findPages(db, shopId, undefined, ALL);
  return new Map(
    pages.flatMap(({ pageId, kind, category, texts }) =>
      namesOf(kind, category, texts).map((name): [string, string] => [name, pageId]),
    ),
  );
}

async function isChange(
  tx: Transaction,
  settings: Settings,
  pageId: string,
  body: PageBody,
): Promise<boolean> {
  const stored = (await loadPage(tx, settings.shopId, pageId))!;
  const publishAt = stored.publishAt === null ? null : new Date(stored.publishAt);
  const next = pageOf(body, { publishAt }, settings, tx.now);
  const texts = stored.texts.filter(({ locale }) => settings.locales.includes(locale));
  const comparable = (
    page: { publishAt: Date | null; author: string | null; picture: string | null },
    texts: readonly { locale: string }[],
  ) => ({
    publishAt: page.publishAt && toSeconds(page.publishAt),
    author: page.author,
    picture: page.picture,
    texts: Object.fromEntries(texts.map((text) => [text.locale, { ...text }])),
  });
  return !isDeepStrictEqual(comparable({ ...stored, publishAt }, texts), comparable(next, next.texts));
}

/** Writes each page of the shop as a file, in the languages that the shop offers. Other files of the folder stay. */
export async function writePageFiles(
  db: Queries,
  { shopId, locales }: Pick<Settings, 'shopId' | 'locales'>,
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const written = new Set<string>();
  const pages = await findPages(db, shopId, undefined, ALL);
  for (const { pageId } of pages.toSorted((one, other) => (one.pageId < other.pageId ? -1 : 1))) {
    const page = await loadPage(db, shopId, pageId);
    const texts = page?.texts.filter(({ locale }) => locales.includes(locale)) ?? [];
    // It was deleted meanwhile, or has no language of the shop.
    if (!page || texts.length === 0) continue;
    const { kind, category, published, publishAt, author, picture } = page;
    const body = {
      kind,
      ...given({ category }),
      published,
      ...given({ publishAt, author, picture }),
      texts: texts.map(({ blocks, ...text }) => ({ ...given(text), blocks })),
    };
    const name = fileName(kind as PageKind, category ?? texts[0]?.slug ?? '', written);
    written.add(name);
    await writeFile(path.join(folder, name), writeYaml(body, new Set(), 0));
  }
}

/** Without the fields that have no value. */
const given = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** Bytes of a name of a file are few, and a letter may take four. */
const MAX_NAME_LENGTH = 50;

function fileName(kind: PageKind, name: string, taken: ReadonlySet<string>): string {
  const start = kind === 'home' ? 'home' : `${kind}-${slugOf(name, kind).slice(0, MAX_NAME_LENGTH)}`;
  let chosen = start;
  for (let number = 2; taken.has(chosen + ENDING); number++) chosen = `${start}-${number}`;
  return chosen + ENDING;
}

import { readdir, readFile } from 'node:fs/promises';
import { toGuide, chaptersOf, type Chapter, type Guide } from './markdown.ts';

/** At the root, where the compiled program finds it as well. */
const FOLDER = new URL('../../../docs/', import.meta.url);

/** The page whose headings are the chapters, and whose links their pages. */
const INDEX = 'README.md';

export interface Guides {
  pages: readonly Guide[];
  /** The first page. */
  index: Guide;
  chapters: readonly Chapter[];
  decisions: readonly Guide[];
  pictures: ReadonlySet<string>;
}

/** Reads and renders all guides; about 100 ms, so it is done when somebody asks for the first one. */
export async function loadGuides(): Promise<Guides> {
  const files = new Set(await findFiles());
  const texts = await Promise.all(
    [...files]
      .filter((file) => file.endsWith('.md'))
      .map(async (file) => [file, await readText(file)] as const),
  );
  const guides = texts.map(([file, text]) => toGuide(file, text, files));
  const index = guides.find(({ file }) => file === INDEX)!;
  return {
    pages: guides,
    index,
    chapters: chaptersOf(INDEX, index.markdown, files),
    decisions: guides.filter(({ file }) => file.startsWith('decisions/')),
    pictures: new Set([...files].filter((file) => file.endsWith('.png'))),
  };
}

export function readPicture(file: string): Promise<Buffer> {
  return readFile(new URL(file, FOLDER));
}

function readText(file: string): Promise<string> {
  return readFile(new URL(file, FOLDER), 'utf8');
}

async function findFiles(): Promise<string[]> {
  const names = await readdir(FOLDER, { recursive: true });
  return names
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.(?:md|png)$/.test(name))
    .toSorted();
}

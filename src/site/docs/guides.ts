import { readdir, readFile } from 'node:fs/promises';
import { newPauses } from '../../http/pauses.ts';
import { markAddresses } from './own-address.ts';
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

/**
 * Reads and renders all guides on the first request. That takes some tenths of a second, during which other requests
 * are served.
 */
export async function loadGuides(): Promise<Guides> {
  const files = new Set(await findFiles());
  const guides: Guide[] = [];
  const pause = newPauses();
  for (const file of files) {
    if (!file.endsWith('.md')) continue;
    guides.push(await toGuide(file, markAddresses(await readText(file)), { files, pause }));
  }
  const index = guides.find(({ file }) => file === INDEX)!;
  return {
    pages: guides,
    index,
    chapters: chaptersOf(INDEX, index.markdown, files),
    decisions: guides.filter(({ file }) => file.startsWith('decisions/')),
    pictures: new Set([...files].filter((file) => file.endsWith('.png'))),
  };
}

/** The guides as they were written, with marks for the address of this server. */
export async function listGuides(): Promise<{ file: string; title: string; markdown: string }[]> {
  const files = (await findFiles()).filter((file) => file.endsWith('.md'));
  return Promise.all(
    files.map(async (file) => {
      const markdown = markAddresses(await readText(file));
      return { file, title: /^# (.+)$/m.exec(markdown)?.[1] ?? file, markdown };
    }),
  );
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

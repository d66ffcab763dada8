import type { Guides } from './guides.ts';
import type { DocumentedOperation } from './operations.ts';

/** An entry that the script of the pages searches. */
export interface SearchEntry {
  url: string;
  title: string;
  /** The page it is on, or the request. */
  place: string;
  text: string;
}

/** Each section of the guides, and each operation. */
export function searchEntries(guides: Guides, operations: readonly DocumentedOperation[]): SearchEntry[] {
  const sections = guides.pages.flatMap((guide) =>
    guide.sections.map(({ anchor, title, text }) => ({
      url: anchor === '' ? guide.url : `${guide.url}#${anchor}`,
      title,
      place: title === guide.title ? 'Guide' : guide.title,
      text,
    })),
  );
  const calls = operations.map(({ url, summary, method, path, name, tag, group, description }) => ({
    url,
    title: summary,
    place: `${method} ${path}`,
    text: `${name} ${tag} ${group} ${description}`.replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' '),
  }));
  return [...sections, ...calls];
}

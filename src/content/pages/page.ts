import { invalid, Refusal } from '../../http/errors.ts';
import { parseMoment } from '../../http/dates.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import {
  knownBlock,
  MAX_PAGE_CHARACTERS,
  MAX_LISTS,
  MAX_PAGE_PICTURES,
  sizeOf,
  type Block,
} from '../blocks.ts';
import { MAX_SLUG_LENGTH, type PageKind, type PageBody } from './schema.ts';

/** A page as it is stored. */
export interface StoredPage {
  pageId: string;
  kind: PageKind;
  categoryId: string | null;
  publishAt: Date | null;
  author: string | null;
  picture: string | null;
  version: number;
  createdAt: Date;
  changedAt: Date;
}

/** A page in one language. */
export interface StoredText {
  locale: string;
  slug: string | null;
  title: string | null;
  pageTitle: string | null;
  description: string | null;
  summary: string | null;
  pictureText: string | null;
  blocks: Block[];
}

/** Pages and posts have addresses of their own. */
export const hasAddress = (kind: PageKind) => kind === 'page' || kind === 'post';

export const isPublic = ({ publishAt }: Pick<StoredPage, 'publishAt'>, now: Date) =>
  publishAt !== null && publishAt <= now;

/** The path of a page on the shop's own host; undefined: a category has an address of its own. */
export function pathOfPage(kind: PageKind, slug: string | null): string | undefined {
  if (kind === 'home') return '';
  return slug === null ? undefined : `/${kind}s/${encodeURIComponent(slug)}`;
}

/**
 * The page that a request describes, and its texts. Throws what the schema can't say: languages that the shop does not
 * offer, a page without a title, and more content than a page may have.
 */
export function pageOf(
  body: PageBody,
  stored: Pick<StoredPage, 'publishAt'> | undefined,
  { locales }: Pick<Settings, 'locales'>,
  now: Date,
): Pick<StoredPage, 'kind' | 'publishAt' | 'author' | 'picture'> & { texts: StoredText[] } {
  const { kind, published = false, publishAt, author, picture } = body;
  const seen = new Set<string>();
  const texts = body.texts.map((given, index): StoredText => {
    const { locale } = given;
    if (!locales.includes(locale))
      throw new Refusal('LOCALE_NOT_OFFERED', { locale, offered: locales.join(', ') });
    if (seen.has(locale)) throw invalid('UNKNOWN_VALUE', `texts.${index}.locale`);
    seen.add(locale);
    const title = given.title?.trim() || null;
    if (title === null && hasAddress(kind)) throw invalid('MISSING', `texts.${index}.title`);
    const blocks = given.blocks.map(knownBlock);
    requireSize(blocks);
    return {
      locale,
      title,
      slug: hasAddress(kind) ? given.slug?.trim() || slugOf(title!, kind) : null,
      pageTitle: given.pageTitle?.trim() || null,
      description: given.description?.trim() || null,
      summary: given.summary?.trim() || null,
      pictureText: given.pictureText?.trim() || null,
      blocks,
    };
  });
  return {
    kind,
    publishAt: !published
      ? null
      : publishAt
        ? parseMoment(publishAt, 'publishAt')
        : (stored?.publishAt ?? now),
    author: author?.trim() || null,
    picture: picture || null,
    texts,
  };
}

export function requireSize(blocks: readonly Block[]): void {
  const { characters, pictures, lists } = sizeOf(blocks);
  if (characters > MAX_PAGE_CHARACTERS) throw new Refusal('PAGE_TOO_LONG', { limit: MAX_PAGE_CHARACTERS });
  if (pictures > MAX_PAGE_PICTURES)
    throw new Refusal('PAGE_WITH_TOO_MANY_PICTURES', { limit: MAX_PAGE_PICTURES });
  if (lists > MAX_LISTS) throw new Refusal('PAGE_WITH_TOO_MANY_LISTS', { limit: MAX_LISTS });
}

const TRANSCRIBED: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'oe',
};

/** `Über uns` becomes `ueber-uns`; `fallback` when nothing is left. */
export function slugOf(title: string, fallback: string): string {
  const slug = title
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[äöüßæø]/g, (letter) => TRANSCRIBED[letter]!)
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^\p{Ll}\p{Lo}\p{N}]+/gu, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replaceAll(/^-+|-+$/g, '');
  return slug || fallback;
}

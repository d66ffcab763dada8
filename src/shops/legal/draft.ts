import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { escapeHtml } from '../../http/html.ts';
import type { Invoicing } from '../settings/settings.ts';
import type { LegalContent, PageName } from './schema.ts';

/** The drafts of one language, as the file holds them. */
export interface Drafts {
  /** Appended to the name of each page. */
  mark: string;
  /** Before each text. */
  note: string;
  /** What of the texts the settings say about the seller. */
  seller: Record<SellerFact, string>;
  pages: Record<PageName, LegalContent>;
}

type SellerFact = 'street' | 'place' | 'address' | 'phone' | 'vatId' | 'registration';

const FOLDER = new URL('../../../assets/new-shop/', import.meta.url);
const LANGUAGES = ['en', 'de', 'fr'] as const;

/** The language in which there are drafts for this locale. */
export function draftLanguage(locale: string): (typeof LANGUAGES)[number] {
  return LANGUAGES.find((language) => locale.startsWith(language)) ?? 'en';
}

const files = new Map<string, Drafts>();

export function draftsIn(language: (typeof LANGUAGES)[number]): Drafts {
  const read = files.get(language);
  if (read) return read;
  const drafts = parse(readFileSync(new URL(`legal-${language}.yaml`, FOLDER), 'utf8')) as Drafts;
  files.set(language, drafts);
  return drafts;
}

interface DraftParts {
  notes: string[];
  marks: string[];
  /** Texts in square brackets that the merchant replaces: `[street and number]`. */
  gaps: string[];
}

let parts: DraftParts | undefined;

/** What the drafts of all languages have and a finished text has not. */
function draftParts(): DraftParts {
  const all = LANGUAGES.map(draftsIn);
  return (parts ??= {
    notes: all.map(({ note }) => note),
    marks: all.map(({ mark }) => mark),
    gaps: [
      ...new Set(
        all.flatMap(({ pages }) =>
          Object.values(pages).flatMap((content) =>
            Object.values(content).flatMap((text) => text.match(/\[[^\]]+\]/g) ?? []),
          ),
        ),
      ),
    ],
  });
}

/** Whether a text still has a note to the merchant, or a gap that the merchant has to fill. */
export function isDraft(content: LegalContent): boolean {
  const { notes, marks } = draftParts();
  const { name = '', title = '', shortDescription = '' } = content;
  return (
    notes.some((note) => shortDescription.includes(note)) ||
    marks.some((mark) => name.endsWith(mark) || title.endsWith(mark)) ||
    gapsOf(content).length > 0
  );
}

/** The gaps that are left, each once: `[street and number]`. */
export function gapsOf(content: LegalContent): string[] {
  const texts = Object.values(content);
  return draftParts().gaps.filter((gap) => texts.some((text) => text.includes(gap)));
}

/** These fields are text; the others are markup. */
const PLAIN = new Set([
  'name',
  'title',
  'navigationCaption',
  'company',
  'contactPerson',
  'jobTitle',
  'phone',
  'email',
]);

/** A draft with what the settings already say about the seller, so that nobody types an address twice. */
export function withSeller(
  content: LegalContent,
  { street, zipCode, city, ...facts }: Invoicing,
): LegalContent {
  const place = zipCode === undefined || city === undefined ? undefined : `${zipCode} ${city}`;
  const known: Record<SellerFact, string | undefined> = {
    street,
    place,
    address: street === undefined || place === undefined ? undefined : `${street}, ${place}`,
    phone: facts.phone,
    vatId: facts.vatId,
    registration: facts.registration,
  };
  const filled = (text: string, isPlain: boolean) =>
    LANGUAGES.flatMap((language) => Object.entries(draftsIn(language).seller)).reduce((rest, [fact, gap]) => {
      const value = known[fact as SellerFact];
      return value === undefined
        ? rest
        : rest.replaceAll(
            gap,
            gap.replace(/\[[^\]]+\]/, () => (isPlain ? value : escapeHtml(value))),
          );
    }, text);
  return Object.fromEntries(
    Object.entries(content).map(([key, text]) => [key, filled(text, PLAIN.has(key))]),
  );
}

/** The text without the mark in its titles and without the note before it: what the merchant means to publish. */
export function withoutDraftMarks(content: LegalContent): LegalContent {
  const { notes, marks } = draftParts();
  const cleaned = Object.entries(content).map(([key, text]): [string, string] => {
    if (key === 'shortDescription') {
      return [key, notes.reduce((rest, note) => rest.replace(note, ''), text).trim()];
    }
    if (key !== 'name' && key !== 'title') return [key, text];
    return [
      key,
      marks.reduce((rest, mark) => (rest.endsWith(mark) ? rest.slice(0, -mark.length) : rest), text).trim(),
    ];
  });
  return Object.fromEntries(cleaned.filter(([, text]) => text !== ''));
}

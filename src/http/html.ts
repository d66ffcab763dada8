import { decodeHTMLStrict } from 'entities/decode';
import { scanMarkup } from './markup-scanner.ts';

/**
 * HTML in plain sight: html`<p>${name}</p>` escapes everything that is put in, unless it is Markup itself. What a
 * merchant or a client wrote can therefore only ever be text.
 */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What a template takes; nothing is printed for null, undefined and false, so that `condition && ...` works. */
export type Part = Markup | string | number | null | undefined | false | readonly Part[];

export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  const places = placesOf(strings);
  return new Markup(
    strings.reduce((left, right, index) => left + rendered(parts[index - 1], places[index - 1]!) + right),
  );
}

/** Our own text that holds markup already, such as a stylesheet. Never anything that came in. */
export function safe(text: string): Markup {
  return new Markup(text);
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters from which on a text is split at each sign: that is slower for few signs, and much faster for many. */
const LONG = 10_000;

export function escapeHtml(text: string): string {
  if (text.length < LONG) return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
  // The ampersand comes first, so that no entity is escaped again.
  return Object.entries(ENTITIES).reduce((escaped, [sign, entity]) => escaped.split(sign).join(entity), text);
}

function rendered(part: Part, place: Place): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (place === 'tag') throw new Error('Only html`...` may stand among the attributes of a tag');
  if (place === 'code') throw new Error('Only safe(...) may stand in a script or a stylesheet');
  if (typeof part === 'object') return part.map((inner) => rendered(inner, place)).join('');
  return escapeHtml(String(part));
}

/** `tag`: where a whole attribute may stand, as in <option ${isChosen && html`selected`}>. */
type Place = 'text' | 'attribute' | 'tag' | 'code';

/** By call site: the array of strings of a template is the same object on every call. */
const known = new WeakMap<readonly string[], Place[]>();

/**
 * Escaping protects text and quoted attributes, nothing else: in `<p class=${x}>` a blank would begin the next
 * attribute, and a script knows no entities. A template with a value in such a place fails when it first runs.
 */
function placesOf(strings: readonly string[]): Place[] {
  let places = known.get(strings);
  if (!places) {
    places = strings.slice(0, -1).map((_string, index) => placeAfter(strings.slice(0, index + 1).join('-')));
    known.set(strings, places);
  }
  return places;
}

function placeAfter(before: string): Place {
  const tag = before.slice(before.lastIndexOf('<'));
  if (!tag.startsWith('<') || tag.includes('>')) return /^<(script|style)\b/i.test(tag) ? 'code' : 'text';
  if (/=\s*(?:"[^"]*|'[^']*)$/.test(tag)) return 'attribute';
  if (/^<\w[^=]*(?:=\s*(?:"[^"]*"|'[^']*')[^=]*)*\s$/.test(tag) && !/=\s*$/.test(tag)) return 'tag';
  throw new Error(`A value stands in a tag and outside of quotes: ${tag}\${...}`);
}

/** The address if a link may lead there: `javascript:` and the like are no address. */
export function webAddress(text: string | null | undefined): string | undefined {
  if (!text || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

/** Tags that stand inside of a line; every other one begins a new line. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code del dfn em font i img ins kbd mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

/**
 * A merchant's markup as text: no tags, entities decoded, one line per block. It reads well; what makes it safe
 * is that it is escaped like any text when it is printed. Nothing is read beyond the `longest` characters of text.
 */
export function plainText(markup: string, longest = Infinity): string {
  let text = '';
  let length = 0;
  scanMarkup(markup, {
    text: (piece) => {
      text += piece.slice(0, LONGEST_ENTITY * longest);
      length += piece.length;
      return length < longest;
    },
    tag: (name) => {
      if (!INLINE.has(name)) text += LINE_END;
      return true;
    },
  });
  const lines = decoded(text).split(LINE_END);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
    .slice(0, longest);
}

/** Unicode will never make a character of it; the line breaks of the markup are blanks. */
const LINE_END = '\uffff';

/** Of the characters that a person writes as an entity: `&CounterClockwiseContourIntegral;` has more. */
const LONGEST_ENTITY = 10;

/** An ampersand that begins no entity is not handed to the decoder, which looks at each for a while. */
const ENTITY = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi;

/** A reference to a character that does not exist (`&#0;`) is decoded to U+FFFD, which nobody wants to read. */
function decoded(text: string): string {
  return text
    .replaceAll(ENTITY, (entity) => decodeHTMLStrict(entity))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\ufffd]/gu, '');
}

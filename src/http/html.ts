import { decodeHTMLStrict } from 'entities/decode';
import { scanMarkup } from './markup-scanner.ts';

/**
 * HTML in plain sight: html`<p>${name}</p>` escapes everything that is put in, unless it is Markup itself. Input of a
 * merchant or a client can therefore only ever be text.
 */
export class Markup {
  readonly text: string;
  #bytes: Buffer | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Encoded once, because a cached part of a page is sent many times. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text);
    return this.#bytes;
  }

  toString(): string {
    return this.text;
  }
}

/** A template prints nothing for null, undefined and false, so `condition && ...` works. */
export type Part = Markup | string | number | null | undefined | false | readonly Part[];

/** The indentation of a template is not printed; inserted values keep their blanks. */
export function html(template: TemplateStringsArray, ...parts: Part[]): Markup {
  const { strings, places } = parsedTemplate(template);
  return new Markup(
    strings.reduce((left, right, index) => left + printed(parts[index - 1], places[index - 1]!) + right),
  );
}

/**
 * The bytes of a whole document. Each Markup part is encoded on its own, so parts cached for all visitors are encoded
 * once.
 */
export function encodeHtml(template: TemplateStringsArray, ...parts: Part[]): Buffer {
  const { encodedStrings, places } = parsedTemplate(template);
  return Buffer.concat(
    encodedStrings.flatMap((string, index) => {
      const part = parts[index];
      if (part instanceof Markup) return [string, part.bytes];
      return index < places.length ? [string, Buffer.from(printed(part, places[index]!))] : [string];
    }),
  );
}

/** Declares our own text to be markup, such as a stylesheet. Never pass text of a client or a merchant. */
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

/** From this length on, a text is split at each sign, which is slower for few signs and much faster for many. */
const LONG = 10_000;

export function escapeHtml(text: string): string {
  if (text.length < LONG) return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
  // The ampersand comes first, so no entity is escaped twice.
  return Object.entries(ENTITIES).reduce((escaped, [sign, entity]) => escaped.split(sign).join(entity), text);
}

function printed(part: Part, place: Place): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (place === 'tag') throw new Error('Only html`...` may stand among the attributes of a tag');
  if (place === 'code') throw new Error('Only safe(...) may stand in a script or a stylesheet');
  if (typeof part === 'object') return part.map((inner) => printed(inner, place)).join('');
  return escapeHtml(String(part));
}

/**
 * The position of a value; `tag` is where a whole attribute may stand, as in <option ${isChosen && html`selected`}>.
 */
type Place = 'text' | 'attribute' | 'tag' | 'code';

interface ParsedTemplate {
  strings: readonly string[];
  encodedStrings: readonly Buffer[];
  places: readonly Place[];
}

/** The array of strings of a template is the same object on every call, so each call site is parsed once. */
const parsedTemplates = new WeakMap<readonly string[], ParsedTemplate>();

function parsedTemplate(template: readonly string[]): ParsedTemplate {
  let parsed = parsedTemplates.get(template);
  if (!parsed) parsedTemplates.set(template, (parsed = parseTemplate(template)));
  return parsed;
}

/**
 * Escaping protects text and quoted attributes, nothing else: in `<p class=${x}>` a blank would begin the next
 * attribute, and scripts have no entities. A template with a value in such a place fails when it first runs.
 */
function parseTemplate(template: readonly string[]): ParsedTemplate {
  const strings = template.map(withoutIndentation);
  const places = strings.slice(0, -1).map((_, index) => placeAfter(strings.slice(0, index + 1).join('-')));
  return { strings, encodedStrings: strings.map((string) => Buffer.from(string)), places };
}

/** Indentation is a third of the bytes of a page. A line break stays, because between words it is a blank. */
function withoutIndentation(text: string): string {
  return text.replaceAll(/\s*\n\s*(?=>)/g, '').replaceAll(/\s*\n\s*/g, '\n');
}

function placeAfter(before: string): Place {
  const tag = before.slice(before.lastIndexOf('<'));
  if (!tag.startsWith('<') || tag.includes('>')) return /^<(script|style)\b/i.test(tag) ? 'code' : 'text';
  if (/=\s*(?:"[^"]*|'[^']*)$/.test(tag)) return 'attribute';
  if (/^<\w[^=]*(?:=\s*(?:"[^"]*"|'[^']*')[^=]*)*\s$/.test(tag) && !/=\s*$/.test(tag)) return 'tag';
  throw new Error(`A value stands in a tag and outside of quotes: ${tag}\${...}`);
}

/** The address if a link may use it, which excludes `javascript:` and the like. */
export function webAddress(text: string | null | undefined): string | undefined {
  if (!text || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

/** Inline tags. Every other tag begins a new line. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code del dfn em font i img ins kbd mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

/**
 * A merchant's markup as text: no tags, entities decoded, one line per block. This is for readability; it is safe
 * because it is escaped like any text when printed. Nothing is read beyond the `maxLength` characters of text.
 */
export function plainText(markup: string, maxLength = Infinity): string {
  let text = '';
  let length = 0;
  scanMarkup(markup, {
    text: (piece) => {
      text += piece.slice(0, MAX_ENTITY_LENGTH * maxLength);
      length += piece.length;
      return length < maxLength;
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
    .slice(0, maxLength);
}

/** Stands for the end of a block, because line breaks of the markup are blanks. Unicode never assigns this code. */
const LINE_END = '\uffff';

/** The length of the entities that people write; `&CounterClockwiseContourIntegral;` is longer. */
const MAX_ENTITY_LENGTH = 10;

/** The decoder is slow for an ampersand that begins no entity, so it gets only likely entities. */
const ENTITY = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi;

/** A reference to a character that does not exist (`&#0;`) is decoded to U+FFFD, which is useless to readers. */
function decoded(text: string): string {
  return text
    .replaceAll(ENTITY, (entity) => decodeHTMLStrict(entity))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\ufffd]/gu, '');
}

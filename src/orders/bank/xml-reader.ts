import { StatementProblem } from './statement-problem.ts';

export type XmlEvent =
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string> }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string };

/** Bank statements have about fifteen levels, short tags and short texts. */
const MAX_DEPTH = 50;
const MAX_TAG_LENGTH = 10_000;
const MAX_TEXT_LENGTH = 100_000;

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const OPEN = /^([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)$/;
const CLOSE = /^\/([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)\s*$/;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Reads the elements and texts of an XML document one by one, names without their prefix. It reads the part of XML that
 * bank statements need: a document type, with which entities could be defined, is refused, so nothing is ever expanded or
 * fetched. Every character is looked at a constant number of times. Throws a StatementProblem.
 */
export function* xmlEvents(text: string): Generator<XmlEvent> {
  const path: string[] = [];
  let hasRoot = false;
  let at = text.startsWith('\u{feff}') ? 1 : 0;
  while (at < text.length) {
    const start = text.indexOf('<', at);
    const end = start === -1 ? text.length : start;
    if (end > at) {
      if (end - at > MAX_TEXT_LENGTH) throw malformed();
      const part = unescaped(text.slice(at, end));
      if (path.length > 0) yield { kind: 'text', text: part };
      else if (part.trim() !== '') throw malformed();
    }
    if (start === -1) break;
    if (text.startsWith('<!--', start)) at = after(text, '-->', start + 4);
    else if (text.startsWith('<?', start)) at = after(text, '?>', start + 2);
    else if (text.startsWith('<![CDATA[', start)) {
      at = after(text, ']]>', start + 9);
      if (path.length === 0 || at - start > MAX_TEXT_LENGTH) throw malformed();
      yield { kind: 'text', text: text.slice(start + 9, at - 3) };
    } else if (text.startsWith('<!', start)) throw new StatementProblem('doctype');
    else {
      at = after(text, '>', start + 1);
      if (at - start > MAX_TAG_LENGTH) throw malformed();
      const tag = text.slice(start + 1, at - 1);
      const closing = CLOSE.exec(tag);
      if (closing) {
        if (path.pop() !== closing[2]) throw malformed();
        yield { kind: 'close', name: closing[2]! };
        continue;
      }
      const opening = OPEN.exec(tag);
      if (!opening || path.length === MAX_DEPTH || (path.length === 0 && hasRoot)) throw malformed();
      const name = opening[2]!;
      hasRoot = true;
      yield { kind: 'open', name, attributes: attributesOf(opening[3]!) };
      if (opening[4] === '/') yield { kind: 'close', name };
      else path.push(name);
    }
  }
  if (path.length > 0 || !hasRoot) throw malformed();
}

const malformed = () => new StatementProblem('xml');

/** The place after the next `end`. */
function after(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  if (at === -1) throw malformed();
  return at + end.length;
}

function attributesOf(text: string): Map<string, string> {
  const found = [...text.matchAll(ATTRIBUTE)];
  return new Map(found.map(([, name, double, single]) => [name!, unescaped(double ?? single ?? '')]));
}

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&([^;&]{0,12};?)/g, (_whole, reference: string) => {
    const name = reference.endsWith(';') ? reference.slice(0, -1) : '';
    const character = ENTITIES[name] ?? characterOf(name);
    if (character === undefined) throw malformed();
    return character;
  });
}

function characterOf(name: string): string | undefined {
  const match = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (!match) return undefined;
  const code = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  const isCharacter = code >= 0x20 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff);
  return isCharacter || code === 9 || code === 10 || code === 13 ? String.fromCodePoint(code) : undefined;
}

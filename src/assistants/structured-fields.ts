/**
 * Dictionaries of structured fields (RFC 8941), as far as the headers of signatures and profiles need them: strings,
 * tokens, integers, booleans, bytes, and lists of items.
 */

export type BareItem = string | number | boolean | Buffer;
export type Parameters = ReadonlyMap<string, BareItem>;

export interface Item {
  value: BareItem;
  parameters: Parameters;
  /** As it was written. */
  raw: string;
}

export interface Member {
  /** An item, or a list of items. */
  value: BareItem | readonly Item[];
  parameters: Parameters;
  /** As it was written, without the key. */
  raw: string;
}

/** Members of a header. A longer one is refused: each signature costs a check. */
const MAX_MEMBERS = 8;
const MAX_ITEMS = 32;

const KEY = /[a-z*][a-z0-9_.*-]*/y;
const NUMBER = /-?\d{1,15}(?:\.\d{1,3})?/y;
const STRING = /"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const TOKEN = /[A-Za-z*][\w:/!#$%&'*+.^`|~-]*/y;
const BYTES = /:([A-Za-z0-9+/]*={0,2}):/y;
const BOOLEAN = /\?([01])/y;
const BLANKS = /[ \t]*/y;

/** The text is not a dictionary. */
class NotStructured extends Error {}

/** undefined: the text is not a dictionary, or has more members than any of these headers needs. */
export function parseDictionary(text: string): ReadonlyMap<string, Member> | undefined {
  const reader = createReader(text.trim());
  const members = new Map<string, Member>();
  try {
    while (!reader.isAtEnd()) {
      const key = reader.match(KEY)[0];
      // The last of several members with the same key counts.
      members.delete(key);
      members.set(key, readMember(reader));
      if (members.size > MAX_MEMBERS) return undefined;
      reader.match(BLANKS);
      if (reader.isAtEnd()) return members;
      reader.expect(',');
      reader.match(BLANKS);
      if (reader.isAtEnd()) return undefined;
    }
    return members;
  } catch (error) {
    if (error instanceof NotStructured) return undefined;
    throw error;
  }
}

type Reader = ReturnType<typeof createReader>;

function createReader(text: string) {
  let at = 0;
  const tryMatch = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) return undefined;
    at = pattern.lastIndex;
    return found;
  };
  return {
    isAtEnd: () => at >= text.length,
    tryMatch,
    match: (pattern: RegExp): RegExpExecArray => {
      const found = tryMatch(pattern);
      if (!found) throw new NotStructured();
      return found;
    },
    /** Reads this character if it is the next one. */
    accept: (character: string): boolean => {
      if (text[at] !== character) return false;
      at++;
      return true;
    },
    expect(character: string): void {
      if (!this.accept(character)) throw new NotStructured();
    },
    position: () => at,
    since: (start: number) => text.slice(start, at),
  };
}

function readMember(reader: Reader): Member {
  if (!reader.accept('=')) {
    const start = reader.position();
    const parameters = readParameters(reader);
    return { value: true, parameters, raw: `?1${reader.since(start)}` };
  }
  const start = reader.position();
  const value = reader.accept('(') ? readItems(reader) : readBareItem(reader);
  const parameters = readParameters(reader);
  return { value, parameters, raw: reader.since(start) };
}

function readItems(reader: Reader): Item[] {
  const items: Item[] = [];
  for (;;) {
    reader.match(BLANKS);
    if (reader.accept(')')) return items;
    if (items.length === MAX_ITEMS) throw new NotStructured();
    const start = reader.position();
    const value = readBareItem(reader);
    const parameters = readParameters(reader);
    items.push({ value, parameters, raw: reader.since(start) });
  }
}

function readParameters(reader: Reader): Parameters {
  const parameters = new Map<string, BareItem>();
  while (reader.accept(';')) {
    reader.match(BLANKS);
    const key = reader.match(KEY)[0];
    parameters.set(key, reader.accept('=') ? readBareItem(reader) : true);
  }
  return parameters;
}

function readBareItem(reader: Reader): BareItem {
  const text = reader.tryMatch(STRING);
  if (text) return text[1]!.replaceAll(/\\(["\\])/g, '$1');
  const number = reader.tryMatch(NUMBER);
  if (number) return Number(number[0]);
  const bytes = reader.tryMatch(BYTES);
  if (bytes) return Buffer.from(bytes[1]!, 'base64');
  const flag = reader.tryMatch(BOOLEAN);
  if (flag) return flag[1] === '1';
  return reader.match(TOKEN)[0];
}

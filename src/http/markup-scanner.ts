/** Handles the pieces of a markup; a function that returns false stops the reading. */
export interface MarkupHandler {
  /** A piece of text with its entities, as written; a `<` that begins no tag is text. */
  text: (piece: string) => boolean;
  /** A tag; `name` is in lower case, `attributes` is the text between the name and the end of the tag. */
  tag: (name: string, isClosing: boolean, attributes: string) => boolean;
}

/** Elements whose content is not page text, with their end. They are skipped with their content. */
const HIDDEN = new Map(
  ['script', 'style', 'template', 'textarea', 'title', 'xmp'].map((name) => [
    name,
    new RegExp(`</${name}`, 'gi'),
  ]),
);

const SLASH = 47;
const EXCLAMATION_MARK = 33;
const EQUALS_SIGN = 61;
const QUESTION_MARK = 63;

/**
 * Reads the markup of a merchant from front to back, once: the time it takes is proportional to the length of the
 * text, whatever the text holds. It finds tags where browsers find them, as far as that needs no tree. Returns the
 * position reached: the end, or the beginning of the piece that its handler did not take.
 */
export function scanMarkup(markup: string, { text, tag }: MarkupHandler): number {
  const lastBracket = markup.lastIndexOf('>');
  const endOfTag = tagEnds(markup);
  let read = 0;
  let at = markup.indexOf('<');
  while (at !== -1 && at < lastBracket) {
    const next = markup.charCodeAt(at + 1);
    const isClosing = next === SLASH;
    const begin = at + (isClosing ? 2 : 1);
    let nameEnd = begin;
    let end: number;
    if (isLetter(markup.charCodeAt(begin))) {
      nameEnd = endOfName(markup, begin);
      end = endOfTag(nameEnd);
    } else if (isClosing || next === EXCLAMATION_MARK || next === QUESTION_MARK) {
      end = endOfComment(markup, at);
    } else {
      at = markup.indexOf('<', begin);
      continue;
    }
    if (at > read && !text(markup.slice(read, at))) return read;
    read = at;
    if (nameEnd > begin) {
      const name = markup.slice(begin, nameEnd).toLowerCase();
      const hiddenUntil = isClosing ? undefined : HIDDEN.get(name);
      if (hiddenUntil) end = endOfHidden(markup, hiddenUntil, end);
      else if (!tag(name, isClosing, markup.slice(nameEnd, end - 1))) return read;
    }
    read = end;
    at = markup.indexOf('<', end);
  }
  if (read < markup.length && !text(markup.slice(read))) return read;
  return markup.length;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** Blanks, a slash or the end of the tag end its name. */
function endOfName(markup: string, from: number): number {
  let at = from + 1;
  for (let code = markup.charCodeAt(at); code > 32 && code !== SLASH && code !== 62;) {
    code = markup.charCodeAt(++at);
  }
  return at;
}

/**
 * Finds the position after a tag; a `>` in the quotes of a value does not end it. A tag that never ends takes the rest
 * of the markup, as in browsers: retrying at the next `<` would take quadratic time.
 */
function tagEnds(markup: string): (from: number) => number {
  const special = /[>"']/g;
  const last = { '"': markup.lastIndexOf('"'), "'": markup.lastIndexOf("'") };
  return (from) => {
    if (markup.charCodeAt(from) === 62) return from + 1;
    special.lastIndex = from;
    for (let found = special.exec(markup); found; found = special.exec(markup)) {
      const sign = found[0] as '>' | '"' | "'";
      if (sign === '>') return found.index + 1;
      // A quote that is never closed is a typing error and must not swallow the rest of the text.
      if (found.index < last[sign] && beginsValue(markup, found.index))
        special.lastIndex = markup.indexOf(sign, found.index + 1) + 1;
    }
    return markup.length;
  };
}

function beginsValue(markup: string, at: number): boolean {
  let before = at - 1;
  while (markup.charCodeAt(before) <= 32) before--;
  return markup.charCodeAt(before) === EQUALS_SIGN;
}

function endOfComment(markup: string, at: number): number {
  const isComment = markup.startsWith('<!--', at);
  const sign = isComment ? '-->' : '>';
  const end = markup.indexOf(sign, isComment ? at + 4 : at + 2);
  return end === -1 ? markup.length : end + sign.length;
}

function endOfHidden(markup: string, closing: RegExp, from: number): number {
  closing.lastIndex = from;
  const end = closing.test(markup) ? markup.indexOf('>', closing.lastIndex) : -1;
  return end === -1 ? markup.length : end + 1;
}

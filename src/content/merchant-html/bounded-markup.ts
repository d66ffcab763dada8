import { scanMarkup } from '../../http/markup-scanner.ts';

/** More than twice the nesting of any text written by a person. */
const MAX_DEPTH = 100;

/**
 * The sanitiser's budget for a text, in units of about a microsecond: some 500 links or images, or 4,000 elements
 * without attributes. The longest descriptions of shops are far below it.
 */
const MAX_WORK = 8_000;
const WORK = { entity: 1, element: 2, changed: 4, attributes: 10 };

/** A longer tag contains a picture in base64 or an attack, so it loses its attributes. */
const MAX_TAG_LENGTH = 5_000;

/** Tags without content, which have no end tag. */
const VOID = new Set(['br', 'hr', 'img']);

/** The sanitiser changes the first of these, and preserves attributes of the second. */
const CHANGED = new Set(['a', 'img', 'h1', 'h2', 'h3', 'h4', 'h5']);
const WITH_ATTRIBUTES = new Set(['a', 'img', 'td', 'th']);

/** The open tags that a start tag closes, because people leave out end tags: <li>one<li>two. */
const ENDED_BY: Readonly<Record<string, readonly string[]>> = {
  li: ['li'],
  dt: ['dt', 'dd'],
  dd: ['dt', 'dd'],
  td: ['td', 'th'],
  th: ['td', 'th'],
  tr: ['td', 'th', 'tr'],
  thead: ['td', 'th', 'tr', 'thead', 'tbody', 'tfoot'],
  tbody: ['td', 'th', 'tr', 'thead', 'tbody', 'tfoot'],
  tfoot: ['td', 'th', 'tr', 'thead', 'tbody', 'tfoot'],
  ...Object.fromEntries(
    'p div h1 h2 h3 h4 h5 h6 ul ol dl table hr blockquote pre'.split(' ').map((block) => [block, ['p']]),
  ),
};

/**
 * Closes every tag and drops those below 100 levels, whose text stays. `head` is as much of the markup as the sanitiser
 * can process, `tail` is the rest.
 */
export function boundedMarkup(markup: string): { head: string; tail: string } {
  const open = new OpenTags();
  let head = '';
  let work = 0;
  const read = scanMarkup(markup, {
    text: (piece) => {
      work += WORK.entity * signsIn(piece);
      if (work > MAX_WORK) return false;
      head += piece.replaceAll('<', '&lt;');
      return true;
    },
    tag: (name, isClosing, given) => {
      if (isClosing) {
        head += open.close(name);
        return true;
      }
      const takesAttributes = WITH_ATTRIBUTES.has(name) && given.trim() !== '' && isWhole(given);
      const attributes = takesAttributes ? given : '';
      work += WORK.element;
      if (takesAttributes) work += WORK.attributes + given.length / 10;
      if (CHANGED.has(name)) work += WORK.changed;
      if (work > MAX_WORK) return false;
      if (VOID.has(name)) head += `${open.closeBefore(name)}<${name}${attributes}>`;
      else head += open.open(name, attributes);
      return true;
    },
  });
  return { head: head + open.closeAll(), tail: markup.slice(read) };
}

/** Attributes with an open quote would swallow the text after their tag. */
function isWhole(attributes: string): boolean {
  return (
    attributes.length <= MAX_TAG_LENGTH &&
    !/=\s*["']/.test(attributes.replaceAll(/=\s*(?:"[^"]*"|'[^']*')/g, ''))
  );
}

/** Counts the characters that cost the sanitiser time, up to the limit. */
function signsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= MAX_WORK; at++) {
    const code = text.charCodeAt(at);
    if (code === 38 || code === 60) count++;
  }
  return count;
}

/** The tags that are open at a place of the markup. All methods return the markup to write there. */
class OpenTags {
  readonly #names: string[] = [];
  /** How many tags of each name are open, so that an unmatched end tag is detected at once. */
  readonly #counts = new Map<string, number>();
  /** How many tags of each name were too deep, so that their end tags do not close others. */
  readonly #dropped = new Map<string, number>();

  open(name: string, attributes: string): string {
    const closed = this.closeBefore(name);
    if (this.#names.length === MAX_DEPTH) {
      add(this.#dropped, name, 1);
      return closed;
    }
    this.#names.push(name);
    add(this.#counts, name, 1);
    return `${closed}<${name}${attributes}>`;
  }

  /** Closes the tags that this start tag closes. */
  closeBefore(name: string): string {
    const ended = Object.hasOwn(ENDED_BY, name) ? ENDED_BY[name]! : [];
    let closed = '';
    while (ended.includes(this.#names.at(-1) ?? '')) closed += this.#closeLast();
    return closed;
  }

  close(name: string): string {
    if ((this.#dropped.get(name) ?? 0) > 0) {
      add(this.#dropped, name, -1);
      return '';
    }
    if ((this.#counts.get(name) ?? 0) === 0) return '';
    let closed = '';
    while (this.#names.at(-1) !== name) closed += this.#closeLast();
    return closed + this.#closeLast();
  }

  closeAll(): string {
    let closed = '';
    while (this.#names.length > 0) closed += this.#closeLast();
    return closed;
  }

  #closeLast(): string {
    const name = this.#names.pop()!;
    add(this.#counts, name, -1);
    return `</${name}>`;
  }
}

function add(counts: Map<string, number>, name: string, difference: number): void {
  counts.set(name, (counts.get(name) ?? 0) + difference);
}

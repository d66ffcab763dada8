import { scanMarkup } from '../../http/markup-scanner.ts';

/** No page that a person has written is nested half as deep. */
const DEEPEST = 100;

/**
 * How much work a text may give to the sanitiser, in units of about a microsecond: some 500 links or images, or
 * 4,000 elements without attributes. The longest descriptions that shops have are far below it.
 */
const MOST_WORK = 8_000;
const WORK = { entity: 1, element: 2, changed: 4, attributes: 10 };

/** Longer ones hold no address and no title, but a picture in base64 or an attack: they lose their attributes. */
const LONGEST_TAG = 5_000;

/** Tags without content, which have no end tag. */
const VOID = new Set(['br', 'hr', 'img']);

/** Tags that the sanitiser changes, and those of which it keeps attributes. */
const CHANGED = new Set(['a', 'img', 'h1', 'h2', 'h3', 'h4', 'h5']);
const WITH_ATTRIBUTES = new Set(['a', 'img', 'td', 'th']);

/** What a tag ends that stands directly around it, so that people leave out its end tag: <li>one<li>two. */
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
 * The same markup with every tag closed, at most 100 levels deep: tags below are dropped, their text stays. `head` is
 * as much of it as the sanitiser can take, `tail` the markup behind it.
 */
export function boundedMarkup(markup: string): { head: string; tail: string } {
  const open = new OpenTags();
  let head = '';
  let work = 0;
  const read = scanMarkup(markup, {
    text: (piece) => {
      work += WORK.entity * signsIn(piece);
      if (work > MOST_WORK) return false;
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
      if (work > MOST_WORK) return false;
      if (VOID.has(name)) head += `${open.closeBefore(name)}<${name}${attributes}>`;
      else head += open.open(name, attributes);
      return true;
    },
  });
  return { head: head + open.closeAll(), tail: markup.slice(read) };
}

/** Attributes with a quote that is not closed would swallow what follows their tag. */
function isWhole(attributes: string): boolean {
  return (
    attributes.length <= LONGEST_TAG &&
    !/=\s*["']/.test(attributes.replaceAll(/=\s*(?:"[^"]*"|'[^']*')/g, ''))
  );
}

/** The sanitiser looks at each of these on its own; more of them than it can take need not be counted. */
function signsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= MOST_WORK; at++) {
    const code = text.charCodeAt(at);
    if (code === 38 || code === 60) count++;
  }
  return count;
}

/** The tags that are open at a place of the markup. All methods return the markup to write there. */
class OpenTags {
  readonly #names: string[] = [];
  /** How many of each name are open, so that an end tag without its beginning is found at once. */
  readonly #counts = new Map<string, number>();
  /** How many of each name were too deep: their end tags must not end others. */
  readonly #dropped = new Map<string, number>();

  open(name: string, attributes: string): string {
    const closed = this.closeBefore(name);
    if (this.#names.length === DEEPEST) {
      add(this.#dropped, name, 1);
      return closed;
    }
    this.#names.push(name);
    add(this.#counts, name, 1);
    return `${closed}<${name}${attributes}>`;
  }

  /** Ends what the beginning of this tag ends. */
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

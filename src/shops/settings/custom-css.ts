/**
 * The stylesheet that a shop writes itself. It is read by a small grammar, and what is sent is written anew from what was
 * understood, so nothing reaches a page that this file does not name. The grammar has no strings, no escapes, no
 * addresses, no attribute selectors, no generated content and no position: a rule can't load anything, tell what a
 * visitor types, or lie over other parts of the page. Each selector begins with `main`, so header, footer and the
 * question for consent are out of reach.
 */

export const MAX_CSS_LENGTH = 10_000;

/** The unknown parts, and where they are. */
export interface CssProblem {
  line: number;
  text: string;
}

const SCOPE = 'main ';

const PROPERTIES = new Set(
  (
    'color background-color opacity border border-top border-right border-bottom border-left border-color border-style ' +
    'border-width border-radius box-shadow margin margin-top margin-right margin-bottom margin-left padding padding-top ' +
    'padding-right padding-bottom padding-left width min-width max-width height min-height max-height aspect-ratio ' +
    'object-fit display gap row-gap column-gap columns flex flex-grow flex-shrink flex-basis flex-direction flex-wrap ' +
    'grid-template-columns grid-column order justify-content justify-items justify-self align-content align-items ' +
    'align-self font-size font-style font-weight line-height letter-spacing text-align text-decoration text-indent ' +
    'text-transform text-wrap white-space hyphens vertical-align list-style-type overflow'
  ).split(' '),
);

/** The shop's own colours and measures. */
const VARIABLES =
  'background|text|muted|surface|soft|line|border|accent|on-accent|accent-hover|link|danger|good|gap|radius';

const MAX_DEPTH = 5;

const NUMBER = String.raw`[+-]?(?:\d{1,4}(?:\.\d{1,4})?|\.\d{1,4})(?:px|rem|em|ch|fr|vw|vh|%)?(?![\w.%(-])`;
const VALUE_TOKEN = new RegExp(
  [
    String.raw`(?<blank>\s+)`,
    String.raw`(?<open>(?:rgb|rgba|hsl|hsla|calc|min|max|clamp|minmax|repeat)\(|\()`,
    String.raw`(?<close>\))`,
    String.raw`var\(\s*--(?:${VARIABLES})\s*\)`,
    String.raw`#(?:[\da-fA-F]{3,4}|[\da-fA-F]{6}|[\da-fA-F]{8})(?![\w-])`,
    NUMBER,
    String.raw`[A-Za-z]+(?:-[A-Za-z]+)*(?![\w(-])`,
    '[,/*+-]',
  ].join('|'),
  'y',
);

const COMPOUND =
  /(?:\*|[A-Za-z][A-Za-z0-9]*)?(?:\.[A-Za-z][\w-]*)*(?::(?:hover|focus|focus-visible|focus-within|first-child|last-child|nth-child\((?:odd|even|\d{1,3}|\d{0,2}n(?:\+\d{1,3})?)\)))*/y;
const COMBINATOR = /\s*[>+~]\s*|\s+/y;

const MEDIA = /@media\s*\(\s*(min-width|max-width)\s*:\s*(\d{1,4}(?:\.\d{1,4})?(?:px|rem|em))\s*\)\s*\{/y;

/** The stylesheet as it is sent, or the first thing in it that is not possible. */
export function compileCss(source: string): { css: string } | { problem: CssProblem } {
  const text = withoutComments(source);
  if (typeof text !== 'string') return { problem: problemAt(source, text.unclosed) };
  if (source.length > MAX_CSS_LENGTH) return { problem: problemAt(source, MAX_CSS_LENGTH) };
  const rules: string[] = [];
  let at = 0;
  let isInMedia = false;
  const fail = (offset: number) => ({ problem: problemAt(text, offset) });
  for (;;) {
    at = afterBlanks(text, at);
    if (at >= text.length) return isInMedia ? fail(text.length) : { css: rules.join('') };
    if (isInMedia && text[at] === '}') {
      rules.push('}');
      isInMedia = false;
      at++;
      continue;
    }
    if (text[at] === '@') {
      MEDIA.lastIndex = at;
      const media = isInMedia ? null : MEDIA.exec(text);
      if (!media) return fail(at);
      rules.push(`@media (${media[1]}:${media[2]}){`);
      isInMedia = true;
      at = MEDIA.lastIndex;
      continue;
    }
    const open = text.indexOf('{', at);
    const close = open === -1 ? -1 : text.indexOf('}', open);
    if (close === -1) return fail(at);
    const selectors = selectorList(text.slice(at, open));
    if (typeof selectors === 'number') return fail(at + selectors);
    const declarations = declarationList(text.slice(open + 1, close));
    if (typeof declarations === 'number') return fail(open + 1 + declarations);
    if (declarations !== '') rules.push(`${selectors}{${declarations}}`);
    at = close + 1;
  }
}

/** Comments become blanks, and line breaks stay, so that places in the text stay the same. */
function withoutComments(source: string): string | { unclosed: number } {
  let text = '';
  let at = 0;
  for (;;) {
    const open = source.indexOf('/*', at);
    if (open === -1) return text + source.slice(at);
    const close = source.indexOf('*/', open + 2);
    if (close === -1) return { unclosed: open };
    text += source.slice(at, open) + source.slice(open, close + 2).replaceAll(/[^\n]/g, ' ');
    at = close + 2;
  }
}

function afterBlanks(text: string, at: number): number {
  let next = at;
  while (next < text.length && /\s/.test(text[next]!)) next++;
  return next;
}

const SHOWN = 40;

function problemAt(text: string, offset: number): CssProblem {
  const [shown = ''] = text.slice(offset).trimStart().split('\n', 1);
  return {
    line: text.slice(0, offset).split('\n').length,
    text: shown.slice(0, SHOWN).toWellFormed().trim(),
  };
}

/** The selectors within the scope; else the place of the first that is not possible. */
function selectorList(text: string): string | number {
  const selectors: string[] = [];
  let at = 0;
  for (const part of text.split(',')) {
    const selector = part.trim();
    if (!isSelector(selector)) return at + (part.length - part.trimStart().length);
    selectors.push(SCOPE + selector.replaceAll(/\s+/g, ' '));
    at += part.length + 1;
  }
  return selectors.join(',');
}

function isSelector(selector: string): boolean {
  let at = 0;
  for (;;) {
    COMPOUND.lastIndex = at;
    const [compound] = COMPOUND.exec(selector)!;
    if (compound === '') return false;
    at += compound.length;
    if (at === selector.length) return true;
    COMBINATOR.lastIndex = at;
    const [combinator] = COMBINATOR.exec(selector) ?? [];
    if (combinator === undefined) return false;
    at += combinator.length;
  }
}

function declarationList(text: string): string | number {
  const declarations: string[] = [];
  let at = 0;
  for (const part of text.split(';')) {
    const start = at + afterBlanks(part, 0);
    at += part.length + 1;
    if (part.trim() === '') continue;
    const colon = part.indexOf(':');
    const property = part.slice(0, colon).trim().toLowerCase();
    const value = part.slice(colon + 1).trim();
    if (colon === -1 || !PROPERTIES.has(property) || !isValue(value)) return start;
    declarations.push(`${property}:${value.replaceAll(/\s+/g, ' ')}`);
  }
  return declarations.join(';');
}

function isValue(value: string): boolean {
  let at = 0;
  let depth = 0;
  while (at < value.length) {
    VALUE_TOKEN.lastIndex = at;
    const found = VALUE_TOKEN.exec(value);
    if (!found) return false;
    if (found.groups!['open'] !== undefined) depth++;
    if (found.groups!['close'] !== undefined) depth--;
    if (depth < 0 || depth > MAX_DEPTH) return false;
    at = VALUE_TOKEN.lastIndex;
  }
  return depth === 0 && value !== '';
}

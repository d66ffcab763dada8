import { posix } from 'node:path';
import { lexer, parser, Renderer, walkTokens, type Token, type Tokens } from 'marked';
import { escapeHtml, html, safe, type Markup } from '../../http/html.ts';

/** A page of the guides. */
export interface Guide {
  /** Its path below the folder of the guides: `operations/backup.md`. */
  file: string;
  /** Its address. */
  url: string;
  title: string;
  markdown: string;
  main: Markup;
  /** The parts between two headings, for the search. The first has the title of the page and no anchor. */
  sections: GuideSection[];
}

export interface GuideSection {
  /** The part of the address after `#`. */
  anchor: string;
  title: string;
  depth: number;
  text: string;
}

/** A heading of the index, and the pages that are linked below it. */
export interface Chapter {
  title: string;
  links: { title: string; url: string }[];
}

/** `operations/backup.md` is `/docs/operations/backup`; the README of a folder is the folder itself. */
function urlOf(file: string): string {
  const page = file.replace(/\.md$/, '').replace(/(?:^|\/)README$/, '');
  return page === '' ? '/docs' : `/docs/${page}`;
}

/**
 * The Markdown of a guide as a page. `files` lists all served files: a link to any other file becomes plain text.
 * `pause` is awaited between the parts of the work.
 */
export async function toGuide(
  file: string,
  markdown: string,
  { files, pause }: { files: ReadonlySet<string>; pause: () => Promise<void> | undefined },
): Promise<Guide> {
  const tokens = lexer(markdown);
  await pause();
  const sections = sectionsOf(tokens);
  const renderer = new GuideRenderer(file, files);
  let main = '';
  for (const token of tokens) {
    await pause();
    main += parser([token], { renderer });
  }
  return {
    file,
    url: urlOf(file),
    title: sections[0]?.title ?? file,
    markdown,
    main: safe(main),
    sections,
  };
}

/** The chapters of an index: its headings, and the pages of `files` that the text below them links. */
export function chaptersOf(file: string, markdown: string, files: ReadonlySet<string>): Chapter[] {
  const chapters: Chapter[] = [];
  for (const token of lexer(markdown)) {
    if (token.type === 'heading' && token['depth'] === 2) chapters.push({ title: textOf(token), links: [] });
    void walkTokens([token], (inner) => {
      if (inner.type !== 'link') return;
      const target = targetOf(file, String(inner['href'])).path;
      if (files.has(target)) chapters.at(-1)?.links.push({ title: textOf(inner), url: urlOf(target) });
    });
  }
  return chapters;
}

/** Renders the Markdown of one file: links lead to the pages of the guides, and headings can be linked. */
class GuideRenderer extends Renderer {
  readonly #file: string;
  readonly #files: ReadonlySet<string>;

  constructor(file: string, files: ReadonlySet<string>) {
    super();
    this.#file = file;
    this.#files = files;
  }

  override heading(token: Tokens.Heading): string {
    const inner = this.parser.parseInline(token.tokens);
    if (token.depth === 1) return `<h1>${inner}</h1>`;
    const anchor = anchorOf(token);
    return `<h${token.depth} id="${anchor}"><a href="#${anchor}">${inner}</a></h${token.depth}>`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    const inner = safe(this.parser.parseInline(tokens));
    const url = addressOf(this.#file, href, this.#files);
    return url === undefined ? inner.text : html`<a href="${url}">${inner}</a>`.text;
  }

  override image({ href, text }: Tokens.Image): string {
    const url = addressOf(this.#file, href, this.#files);
    return url === undefined ? '' : html`<img src="${url}" alt="${text}" loading="lazy" />`.text;
  }

  // Wide tables and code scroll on their own, also by keyboard.
  override table(token: Tokens.Table): string {
    const table = safe(super.table(token));
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Table">${table}</div>`.text;
  }

  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;
  }
}

/** undefined: it leads to a file that is not served. */
function addressOf(file: string, href: string, files: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:|#|\/)/.test(href)) return href;
  const { path, anchor } = targetOf(file, href);
  if (!files.has(path)) return undefined;
  return path.endsWith('.md') ? urlOf(path) + anchor : `/docs/${path}`;
}

function targetOf(file: string, href: string): { path: string; anchor: string } {
  const [path = '', anchor] = href.split('#', 2);
  return {
    path: posix.join(posix.dirname(file), path),
    anchor: anchor === undefined ? '' : `#${anchor}`,
  };
}

function sectionsOf(tokens: readonly Token[]): GuideSection[] {
  const sections: GuideSection[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = token as Tokens.Heading;
      const anchor = heading.depth === 1 ? '' : anchorOf(heading);
      sections.push({ anchor, title: textOf(heading), depth: heading.depth, text: '' });
    } else {
      const section = sections.at(-1);
      if (section) section.text = `${section.text} ${textOf(token)}`.replaceAll(/\s+/g, ' ').trim();
    }
  }
  return sections;
}

/** Uses the common rule for heading anchors, so that the links in the files work elsewhere as well. */
function anchorOf(heading: Tokens.Heading): string {
  return textOf(heading)
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}

/** Its visible text, without markup. */
function textOf(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].map((row) => row.map(textOfCell).join(' ')).join(' ');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(textOf).join(' ');
  const { tokens, text } = token as Tokens.Generic;
  return tokens ? tokens.map(textOf).join('') : String(text ?? '');
}

const textOfCell = ({ tokens }: Tokens.TableCell): string => tokens.map(textOf).join('');

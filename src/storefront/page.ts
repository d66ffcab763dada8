import { html, safe, type Markup } from '../http/html.ts';

/** A page as its handler returns it. The layout is rendered around it. */
export interface Page {
  /** The window title, followed by the shop's name. */
  title: string;
  /** The description that search engines show. */
  description?: string;
  /** Below /shop/ID: the path for the canonical address, the other languages and the language switch. */
  path: string;
  /** The parameters that belong to the address of the page, such as its number in a list. */
  query?: Readonly<Record<string, string | readonly string[]>>;
  /** Where the languages of the page have paths of their own: the path in each language that the page exists in. */
  paths?: Readonly<Record<string, string>>;
  main: Markup;
  /** The origins of frames that the visitor may open on the page. */
  frames?: readonly string[];
  /** The origin that may show the page in a frame, for previews. */
  framedBy?: string;
  /** The search query, which stays in the search field. */
  searchQuery?: string;
  /** Replaces the search, the menu and the visitor's links in the header where nothing should lead away. */
  header?: Markup;
  /** The address of the picture shown where the page is shared. */
  image?: string;
  /** What it says, for readers that ask for Markdown: at its address with `.md`, or by their Accept header. */
  markdown?: string;
  /** The address asked for Markdown. */
  isMarkdown?: boolean;
  /** Additions to the head: structured data, a preloaded image. */
  head?: Markup;
  /** A page cache holds this object, for all visitors with the same language, currency and prices. */
  isShared?: boolean;
  /** The rules of a stylesheet that the shop writes itself apply here. Cart, checkout and account are ours alone. */
  takesOwnStyle?: boolean;
  /** It shows account data, so browsers must not cache it: the back button must not show it after signing out. */
  hasPersonalData?: boolean;
  /** The path of a script of our own that only this page needs. */
  script?: string;
  /** Search engines must not index pages of one visitor, nor endless lists. */
  isPrivate?: boolean;
  /**
   * Knowing the address is enough to see the page. It is not cached anywhere, sends no referrer, and loads no scripts
   * of apps, which could read the address.
   */
  hasSecretAddress?: boolean;
  events?: readonly PageEvent[];
  /** The status of the response; 200 by default. */
  status?: number;
}

/** An event that our script dispatches on `window.eComEventTarget` when the page is loaded, for the scripts of apps. */
export class PageEvent {
  readonly name: string;
  readonly detail: unknown;
  #json: Markup | undefined;

  constructor(name: string, detail: unknown) {
    this.name = name;
    this.detail = detail;
  }

  /** Serialised once and only where a script listens, because a cached page shows its events to many visitors. */
  get json(): Markup {
    this.#json ??= scriptJson({ name: this.name, detail: this.detail });
    return this.#json;
  }
}

/** Approximate number of characters of a cached page. */
export function pageLength({ main, head, markdown = '', events = [] }: Page): number {
  return [main, head, ...events.map(({ json }) => json)].reduce(
    (length, part) => length + (part?.text.length ?? 0),
    markdown.length,
  );
}

export function eventsScript(events: readonly PageEvent[]): Markup {
  const list = html`${events.map(({ json }, index) => html`${index > 0 && ','}${json}`)}`;
  return html`<script type="application/json" id="page.events">
    [${list}]
  </script>`;
}

/** Data for scripts. The browser does not run it, because its type is not JavaScript. */
export function jsonScript(id: string, data: unknown, type = 'application/json'): Markup {
  return html`<script type="${type}" id="${id}">
    ${scriptJson(data)}
  </script>`;
}

/** Escapes `<`, which could end the element. Split and joined, because replaceAll is slow for very many matches. */
function scriptJson(data: unknown): Markup {
  return safe(
    JSON.stringify(data)
      .split('<')
      .join(String.raw`\u003c`),
  );
}

import { html, safe, type Markup } from '../http/html.ts';

/** A page as its handler returns it. The layout renders what is around it. */
export interface Page {
  /** The title of the window, which the shop's name follows. */
  title: string;
  /** The description that search engines show. */
  description?: string;
  /** Below /shop/ID: what the canonical address, the other languages and the switch of languages lead to. */
  path: string;
  /** The parameters that belong to the address of the page, such as its number in a list. */
  query?: Readonly<Record<string, string | readonly string[]>>;
  main: Markup;
  /** What was searched for, which stays in the search field. */
  searchQuery?: string;
  /** Stands in the header instead of the search, the menu and the visitor's links where nothing should lead away. */
  header?: Markup;
  /** The address of the picture that is shown where people share the page. */
  image?: string;
  /** What the page adds to the head: structured data, a preloaded image. */
  head?: Markup;
  /** It shows data of an account, so browsers must not keep it: nobody sees it with the back button after signing out. */
  hasPersonalData?: boolean;
  /** The path of a script of our own that only this page needs. */
  script?: string;
  /** Search engines must not index pages of one visitor, nor lists without end. */
  isPrivate?: boolean;
  /**
   * Whoever knows the address of the page may see what it shows. It is not stored anywhere, tells no other page where
   * the visitor came from, and loads no scripts of apps, which could read the address.
   */
  hasSecretAddress?: boolean;
  events?: readonly PageEvent[];
  /** The status of the response; 200 if it is missing. */
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

/** How many characters a cached page holds, roughly. */
export function pageLength({ main, head, events = [] }: Page): number {
  return [main, head, ...events.map(({ json }) => json)].reduce(
    (length, part) => length + (part?.text.length ?? 0),
    0,
  );
}

/** The answer to a form: the browser goes to `href`, where the next page shows the notice once. */
export class Redirect {
  readonly href: string;
  readonly notice: string | undefined;

  constructor(href: string, notice?: string) {
    this.href = href;
    this.notice = notice;
  }
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

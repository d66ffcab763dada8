import { html, safe, type Markup } from '../http/html.ts';

/** What a page says; the layout puts the rest around it. */
export interface Page {
  /** Of the window; the shop's name follows it. */
  title: string;
  /** For search engines. */
  description?: string;
  /** Below /shop/ID: what the canonical address, the other languages and the switch of languages lead to. */
  path: string;
  /** The parameters that belong to the address of the page, such as its number in a list. */
  query?: Readonly<Record<string, string | readonly string[]>>;
  main: Markup;
  /** Address of a picture that stands for the page where people share it. */
  image?: string;
  /** More for the head: structured data, a preloaded image. */
  head?: Markup;
  /** Pages of one visitor, and those that are one of many, are not for search engines. */
  isPrivate?: boolean;
  /** What happened, for the scripts of apps. */
  events?: readonly PageEvent[];
  /** Without it: 200. */
  status?: number;
}

/** Dispatched on `window.eComEventTarget` when the page is there. */
export interface PageEvent {
  name: string;
  detail: unknown;
}

/** Where the browser goes after a form was taken; `notice` is said there, once. */
export class Redirect {
  readonly href: string;
  readonly notice: string | undefined;

  constructor(href: string, notice?: string) {
    this.href = href;
    this.notice = notice;
  }
}

/** JSON that is made once and kept, where it would cost too much to make it for every visitor. */
export class JsonText {
  readonly #data: unknown;
  #text: string | undefined;

  constructor(data: unknown) {
    this.#data = data;
  }

  /** Made when a page needs it, because most shops have nobody who listens. */
  get text(): string {
    this.#text ??= scriptText(this.#data);
    return this.#text;
  }
}

/** The same as `jsonScript`, of events whose details may be kept texts. */
export function eventsScript(events: readonly PageEvent[]): Markup {
  const texts = events.map(
    ({ name, detail }) =>
      `{"name":${scriptText(name)},"detail":${detail instanceof JsonText ? detail.text : scriptText(detail)}}`,
  );
  return html`<script type="application/json" id="page.events">
    ${safe(`[${texts.join(',')}]`)}
  </script>`;
}

/** `<` can't end the element early. Split and joined, because replaceAll is slow where there are very many. */
function scriptText(data: unknown): string {
  return JSON.stringify(data)
    .split('<')
    .join(String.raw`\u003c`);
}

/** Data for scripts; what is not JavaScript is not run. */
export function jsonScript(id: string, data: unknown, type = 'application/json'): Markup {
  return html`<script type="${type}" id="${id}">
    ${safe(scriptText(data))}
  </script>`;
}

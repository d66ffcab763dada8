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

/** Data for scripts. `<` can't end the element early, and what is not JavaScript is not run. */
export function jsonScript(id: string, data: unknown, type = 'application/json'): Markup {
  return html`<script type="${type}" id="${id}">
    ${safe(JSON.stringify(data).replaceAll('<', String.raw`\u003c`))}
  </script>`;
}

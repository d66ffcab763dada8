import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { html, safe, type Markup } from '../../http/html.ts';
import { STYLE } from './style.ts';

/** No script at all, and one stylesheet, allowed by its hash. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

// The policy contains the hash of exactly these characters, so no formatter may change them.
const style = safe(`<style>${STYLE}</style>`);
const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%230b5d66'/></svg>";

export interface StartPage {
  /** Absent: English. */
  language?: string;
  title: string;
  header: Markup;
  main: Markup;
  footer?: Markup;
}

export const brand = html`<a class="brand" href="/">Kontor</a>`;

// The page's own ids contain a dot, which no shop id does: a shop may be called `main`.
function pageText({ language = 'en', title, header, main, footer }: StartPage): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${style}
      </head>
      <body>
        <a class="skip" href="#page.main">Skip to the content</a>
        <header class="top">${header}</header>
        <main id="page.main">${main}</main>
        ${footer && html`<footer>${footer}</footer>`}
      </body>
    </html> `.text;
}

export function sendPage(
  reply: FastifyReply,
  page: StartPage,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .headers({ 'content-security-policy': policy, 'cache-control': 'no-cache', ...headers })
    .send(pageText(page));
}

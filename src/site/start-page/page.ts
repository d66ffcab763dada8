import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { html, safe, type Markup } from '../../http/html.ts';
import type { Brand } from '../../platform/brand.ts';
import { STYLE } from './style.ts';

interface Look {
  policy: string;
  style: Markup;
}

/** No script at all, and one stylesheet, allowed by its hash. */
function lookOf({ stylesheet, logo }: Brand): Look {
  const styles = STYLE + (stylesheet ? stylesheet.content.toString() : '');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', styles, 'base64')}'`,
    logo ? "img-src 'self' data:" : 'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  // The policy contains the hash of exactly these characters, so no formatter may change them.
  return { policy, style: safe(`<style>${styles}</style>`) };
}

const looks = new WeakMap<Brand, Look>();

export interface StartPage {
  brand: Brand;
  /** Absent: English. */
  language?: string;
  title: string;
  header: Markup;
  main: Markup;
  footer?: Markup;
}

export const brandLink = ({ name, logo }: Brand): Markup =>
  html`<a class="brand" href="/">${logo ? html`<img src="${logo.path}" alt="${name}" />` : name}</a>`;

// The page's own ids contain a dot, which no shop id does: a shop may be called `main`.
function pageText({ brand, language = 'en', title, header, main, footer }: StartPage, style: Markup): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${brand.icon}" />
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
  let look = looks.get(page.brand);
  if (!look) looks.set(page.brand, (look = lookOf(page.brand)));
  return reply
    .type('text/html; charset=utf-8')
    .headers({ 'content-security-policy': look.policy, 'cache-control': 'no-cache', ...headers })
    .send(pageText(page, look.style));
}

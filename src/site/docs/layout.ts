import { html, type Markup } from '../../http/html.ts';
import type { Guides } from './guides.ts';
import type { Guide, GuideSection } from './markdown.ts';
import type { DocumentedOperation } from './operations.ts';
import { asset } from '../../http/assets.ts';

export const STYLESHEET = asset('docs', 'css');
export const SCRIPT = asset('docs', 'js');

/** Only scripts and styles of this service are allowed. */
export const DOCS_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%230b5d66'/></svg>";

/** The head of a documentation page; the reference has it as well. */
export const head = (title: string): Markup => html`
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="color-scheme" content="light dark" />
  <title>${title}</title>
  <link rel="icon" href="${ICON}" />
  <link rel="stylesheet" href="${STYLESHEET.path}" />
  <script src="${SCRIPT.path}" defer></script>
`;

/** The search needs a script, which makes it visible. */
export const docsHeader = (current: 'guides' | 'reference'): Markup => html`
  <header class="docs-top">
    <a class="docs-brand" href="/">Kontor</a>
    <nav aria-label="Documentation">
      <a href="/docs" ${current === 'guides' && html`aria-current="true"`}>Guides</a>
      <a href="/docs/reference" ${current === 'reference' && html`aria-current="true"`}>API reference</a>
    </nav>
    <search class="docs-search" hidden>
      <input
        type="search"
        placeholder="Search guides and operations"
        aria-label="Search guides and operations"
        autocomplete="off"
        spellcheck="false"
      />
      <p class="docs-found" role="status"></p>
      <ul class="docs-results"></ul>
    </search>
  </header>
`;

export function guidePage(guide: Guide, guides: Guides, below?: Markup): string {
  const title = guide === guides.index ? 'Kontor documentation' : `${guide.title} - Kontor`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        ${head(title)}
        <link rel="alternate" type="text/markdown" href="/docs/${guide.file}" />
      </head>
      <body>
        <a class="docs-skip" href="#content">Skip to the content</a>
        ${docsHeader('guides')}
        <div class="docs-columns">
          <main id="content">
            <p class="docs-to-contents"><a href="#contents">All guides</a></p>
            <article>${guide.main}${below}</article>
            <p class="docs-source"><a href="/docs/${guide.file}">This page as Markdown</a></p>
          </main>
          ${contents(guide, guides)} ${onThisPage(guide.sections)}
        </div>
      </body>
    </html> `.text;
}

function contents(current: Guide, { chapters, index }: Guides): Markup {
  const entry = (url: string, title: string) =>
    html`<li><a href="${url}" ${url === current.url && html`aria-current="page"`}>${title}</a></li>`;
  return html`<nav class="docs-contents" id="contents" aria-label="Guides">
    <ul>
      ${entry(index.url, 'Overview')}
    </ul>
    ${chapters.map(
      ({ title, links }) =>
        html`<h2>${title}</h2>
          <ul>
            ${links.map((link) => entry(link.url, link.title))}
          </ul>`,
    )}
  </nav>`;
}

function onThisPage(sections: readonly GuideSection[]): Markup | false {
  const shown = sections.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return false;
  return html`<nav class="docs-here" aria-label="On this page">
    <h2>On this page</h2>
    <ul>
      ${shown.map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`)}
    </ul>
  </nav>`;
}

/** All operations by group, and the decisions: the content of the search, for readers without scripts. */
export function lists(operations: readonly DocumentedOperation[], decisions: readonly Guide[]): Markup {
  const groups = [...new Set(operations.map(({ group }) => group))];
  return html`
    <h2 id="operations-of-the-api"><a href="#operations-of-the-api">Operations of the API</a></h2>
    ${groups.map(
      (group) =>
        html`<details>
          <summary>${group}</summary>
          <ul class="docs-operations">
            ${operations
              .filter((operation) => operation.group === group)
              .map(
                ({ url, method, path, summary }) =>
                  html`<li><a href="${url}">${summary}</a> <code>${method} ${path}</code></li>`,
              )}
          </ul>
        </details>`,
    )}
    <h2 id="decisions"><a href="#decisions">Decisions</a></h2>
    <details>
      <summary>Why things are as they are</summary>
      <ul>
        ${decisions.map(({ url, title }) => html`<li><a href="${url}">${title}</a></li>`)}
      </ul>
    </details>
  `;
}

export function docsNotFoundPage(guides: Guides): string {
  const main = html`<h1>There is no such page</h1>
    <p>The <a href="/docs">overview</a> lists all guides.</p>`;
  return guidePage({ ...guides.index, url: '', title: 'Not found', main, sections: [] }, guides);
}

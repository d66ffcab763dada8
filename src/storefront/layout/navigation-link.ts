import { html, type Markup } from '../../http/html.ts';
import { shopPath, type LayoutContext } from '../visit.ts';

/** A link of the header or the footer, marked for screen readers and the stylesheet where it leads to the page itself. */
export function navigationLink(
  context: LayoutContext,
  path: string,
  content: Markup | string,
  currentPath: string | undefined,
): Markup {
  const href = shopPath(context, path);
  return path === currentPath
    ? html`<a href="${href}" aria-current="page">${content}</a>`
    : html`<a href="${href}">${content}</a>`;
}

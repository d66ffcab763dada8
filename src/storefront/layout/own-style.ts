import { notFound } from '../../http/errors.ts';
import type { Pages } from '../pages.ts';

export const OWN_STYLE_PATH = '/theme.css';

const YEAR = 365 * 86_400;

/** The stylesheet that the shop writes itself. */
export function ownStyle(pages: Pages): void {
  pages.file(OWN_STYLE_PATH, async ({ layout: { style } }, { query }) => {
    if (!style.own) throw notFound();
    const { css, version } = style.own;
    return {
      type: 'text/css; charset=utf-8',
      content: css,
      etag: version,
      // A request for another version gets this one, and must ask again.
      headers: query('v') === version ? { 'cache-control': `private, max-age=${YEAR}, immutable` } : {},
    };
  });
}

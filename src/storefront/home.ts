import { html } from '../http/html.ts';
import type { Pages } from './pages.ts';
import { shopName } from './visit.ts';

/** The front page. */
export function home(pages: Pages): void {
  pages.show('', async (visit) => ({
    title: shopName(visit),
    path: '',
    main: html`<h1>${shopName(visit)}</h1>`,
  }));
}

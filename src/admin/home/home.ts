import { html } from '../../http/html.ts';
import type { ShopPages } from '../pages.ts';

export function home(pages: ShopPages): void {
  pages.get('', 'member', async ({ words }) => ({
    title: words.layout.menuEntries.home,
    menu: 'home',
    main: html``,
  }));
}

import { html, type Markup } from '../../http/html.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

type PageName = keyof ShopVisit['messages']['settings']['pages'];

/** The cards of the overview in groups, in the order in which a new shop is set up. */
const GROUPS: readonly {
  name: keyof ShopVisit['messages']['settings']['groups'];
  pages: readonly PageName[];
}[] = [
  { name: 'shop', pages: ['shop', 'invoices', 'languages', 'domains'] },
  { name: 'selling', pages: ['taxes', 'shipping', 'payments', 'orders', 'catalogue', 'customers', 'feeds'] },
  { name: 'look', pages: ['theme', 'home', 'media', 'emails', 'legal', 'privacy'] },
  { name: 'behind', pages: ['users', 'file', 'history', 'data'] },
];

export function overview(pages: ShopPages): void {
  pages.get('/settings', 'settings_read', async (visit) => {
    const messages = visit.messages.settings;
    return {
      title: visit.messages.layout.menuEntries.settings,
      menu: 'settings',
      main: html`${GROUPS.map(({ name, pages: names }) => {
        const shown = names.filter((page) => mayOpen(visit, page));
        return (
          shown.length > 0 &&
          html`<h2 class="group">${messages.groups[name]}</h2>
            <div class="cards settings-cards">${shown.map((page) => pageCard(visit, page))}</div>`
        );
      })}`,
    };
  });
}

function mayOpen({ may }: ShopVisit, page: PageName): boolean {
  if (page === 'users') return may('users_write');
  if (page === 'data') return may('shop_write');
  if (page === 'media') return may('products_read');
  if (page === 'legal') return may('legal_read');
  return true;
}

function pageCard(visit: ShopVisit, page: PageName): Markup {
  const { href, text, note } = placeOf(visit, page);
  return html`<a class="card" href="${href}"><strong>${text}</strong> <span class="quiet">${note}</span></a>`;
}

function placeOf(visit: ShopVisit, page: PageName) {
  const { pages, about } = visit.messages.settings;
  const path = page === 'users' || page === 'media' ? `/${page}` : `/settings/${page}`;
  return { href: adminPath(visit, path), text: pages[page], note: about[page] };
}

/** The pages of settings, for the search. */
export function settingsPlaces(visit: ShopVisit) {
  if (!visit.may('settings_read')) return [];
  return GROUPS.flatMap(({ pages }) => pages)
    .filter((page) => mayOpen(visit, page))
    .map((page) => placeOf(visit, page));
}

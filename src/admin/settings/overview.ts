import { html, type Markup } from '../../http/html.ts';
import { blocksOf } from '../apps/frames.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { searchSettings } from './find-settings.ts';

type PageName = keyof ShopVisit['messages']['settings']['pages'];

const MAX_TEXT_LENGTH = 100;
const MAX_FOUND = 30;

/** The cards of the overview in groups, in the order in which a new shop is set up. */
const GROUPS: readonly {
  name: keyof ShopVisit['messages']['settings']['groups'];
  pages: readonly PageName[];
}[] = [
  { name: 'shop', pages: ['opening', 'shop', 'invoices', 'languages', 'domains', 'redirects', 'moveIn'] },
  {
    name: 'selling',
    pages: [
      'taxes',
      'shipping',
      'payments',
      'orders',
      'promotions',
      'priceLists',
      'catalogue',
      'customers',
      'customFields',
      'automation',
      'feeds',
      'assistants',
    ],
  },
  { name: 'look', pages: ['theme', 'home', 'menus', 'media', 'emails', 'legal', 'law', 'privacy'] },
  { name: 'behind', pages: ['users', 'support', 'file', 'history', 'data', 'sandboxes'] },
];

export function overview(pages: ShopPages): void {
  pages.get('/settings', 'settings_read', async (visit, request) => {
    const messages = visit.messages.settings;
    const text = (request.query('q') ?? '').trim().slice(0, MAX_TEXT_LENGTH);
    const blocks = blocksOf(visit, 'settings');
    return {
      title: visit.messages.layout.menuEntries.settings,
      menu: 'settings',
      main: html`${searchForm(visit, text)} ${text !== '' && foundSettings(visit, text)}
      ${GROUPS.map(({ name, pages: names }) => {
        const shown = names.filter((page) => mayOpen(visit, page));
        return (
          shown.length > 0 &&
          html`<h2 class="group">${messages.groups[name]}</h2>
            <div class="cards settings-cards">${shown.map((page) => pageCard(visit, page))}</div>`
        );
      })}
      ${blocks.markup}`,
      frames: blocks.frames,
      scripts: blocks.scripts,
    };
  });
}

function searchForm({ messages }: ShopVisit, text: string): Markup {
  const { label } = messages.settings.find;
  return html`<form class="filters" role="search" aria-label="${label}">
    <label class="hidden" for="find-setting">${label}</label>
    <input
      type="search"
      id="find-setting"
      name="q"
      value="${text}"
      maxlength="${MAX_TEXT_LENGTH}"
      placeholder="${label}"
    />
    <button>${messages.layout.search}</button>
  </form>`;
}

function foundSettings(visit: ShopVisit, text: string): Markup {
  const found = settingHits(visit, text, MAX_FOUND);
  return html`<section class="card hits" aria-live="polite">
    ${found.length === 0 && html`<p class="quiet">${visit.messages.search.nothing({ text })}</p>`}
    ${found.map(
      ({ href, text: label, note }) =>
        html`<a href="${href}">${label} <span class="quiet">${note}</span></a>`,
    )}
  </section>`;
}

/** Single settings by their names and explanations, with the address of the very field. */
export function settingHits(visit: ShopVisit, text: string, limit: number) {
  if (!visit.may('settings_read')) return [];
  return searchSettings(text, visit.messages, visit.language, limit).map(
    ({ page, anchor, label, place }) => ({
      href: `${adminPath(visit, `/settings/${page}`)}#${anchor}`,
      text: label,
      note: place,
    }),
  );
}

function mayOpen({ may, settings }: ShopVisit, page: PageName): boolean {
  if (page === 'users' || page === 'support') return may('users_write');
  if (page === 'data') return may('shop_write');
  if (page === 'sandboxes') return may('shop_write') && !settings.sandbox;
  if (page === 'media') return may('products_read');
  if (page === 'redirects') return may('products_write');
  if (page === 'moveIn') return may('settings_write');
  if (page === 'legal') return may('legal_read');
  return true;
}

function pageCard(visit: ShopVisit, page: PageName): Markup {
  const { href, text, note } = placeOf(visit, page);
  return html`<a class="card" href="${href}"><strong>${text}</strong> <span class="quiet">${note}</span></a>`;
}

function placeOf(visit: ShopVisit, page: PageName) {
  const { pages, about } = visit.messages.settings;
  const path =
    page === 'moveIn'
      ? '/move-in'
      : page === 'customFields'
        ? '/custom-fields'
        : ['users', 'support', 'media', 'redirects', 'automation'].includes(page)
          ? `/${page}`
          : `/settings/${page}`;
  return { href: adminPath(visit, path), text: pages[page], note: about[page] };
}

/** The pages of settings, for the search. */
export function settingsPlaces(visit: ShopVisit) {
  if (!visit.may('settings_read')) return [];
  return GROUPS.flatMap(({ pages }) => pages)
    .filter((page) => mayOpen(visit, page))
    .map((page) => placeOf(visit, page));
}

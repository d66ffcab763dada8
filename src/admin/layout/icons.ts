import { html, type Markup } from '../../http/html.ts';
import type { MenuEntry } from './menu.ts';

/** Drawn in the surrounding text colour, and hidden from screen readers: there is text beside them. */
function icon(paths: Markup): Markup {
  return html`<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">${paths}</svg>`;
}

export const MENU_ICONS: Readonly<Record<MenuEntry, Markup>> = {
  home: icon(html`<path d="M4 11.5 12 4.5l8 7M6 10v9.5h4.5v-5h3v5H18V10" />`),
  orders: icon(html`<path d="M5 8h14l-1 12H6zM9 10V6.5a3 3 0 0 1 6 0V10" />`),
  products: icon(html`<path d="m12 3.5 8 4.3v8.4l-8 4.3-8-4.3V7.8zM4.2 8 12 12.2 19.8 8M12 12.2v8" />`),
  categories: icon(html`<path d="M5 4.5v13.500h6M5 9.500h6M14 7h6v5h-6zM14 15.500h6v5h-6z" />`),
  pages: icon(html`<path d="M6 3.500h8l4.500 4.500v12.500H6zM14 3.500V8h4.500M9 12h6M9 16h6" />`),
  customers: icon(
    html`<circle cx="12" cy="8.2" r="3.9" /><path d="M4.5 20c.6-4.2 3.6-6 7.5-6s6.9 1.8 7.5 6" />`,
  ),
  marketing: icon(html`<path d="M4 10v4h3l8 4.500V5.500L7 10zM18 9.500a3.5 3.5 0 0 1 0 5" />`),
  reports: icon(html`<path d="M4.5 4v15.500h15.500M8.5 16v-4M12.5 16V8M16.5 16v-6" />`),
  settings: icon(
    html`<path d="M4 7h9M17 7h3M4 17h3M11 17h9" /><circle cx="15" cy="7" r="2" /><circle
        cx="9"
        cy="17"
        r="2"
      />`,
  ),
  apps: icon(
    html`<path d="M4.5 4.500h6v6h-6zM13.5 4.500h6v6h-6zM4.5 13.500h6v6h-6zM16.5 13.500v6M13.5 16.500h6" />`,
  ),
};

export const SEARCH_ICON = icon(html`<circle cx="11" cy="11" r="6.5" /><path d="m16 16 4.5 4.5" />`);
export const USER_ICON = MENU_ICONS.customers;
export const OPEN_ICON = icon(html`<path d="M13 5h6v6M19 5l-8 8M11 6H5v13h13v-6" />`);

export const ACTION_ICONS = {
  up: icon(html`<path d="M12 19V5M6 11l6-6 6 6" />`),
  down: icon(html`<path d="M12 5v14M6 13l6 6 6-6" />`),
  out: icon(html`<path d="M19 12H5M11 6l-6 6 6 6" />`),
  in: icon(html`<path d="M5 12h14M13 6l6 6-6 6" />`),
  copy: icon(html`<path d="M8.500 8.500h11v11h-11zM15.500 8.500v-4h-11v11h4" />`),
} as const;

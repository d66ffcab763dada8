import { html, type Markup } from '../../http/html.ts';

/** Drawn in the surrounding text colour, and hidden from screen readers: there is text beside them. */
function icon(paths: Markup): Markup {
  return html`<svg class="icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">${paths}</svg>`;
}

export const SEARCH_ICON = icon(html`<circle cx="11" cy="11" r="6.5" /><path d="m16 16 4.5 4.5" />`);
export const CART_ICON = icon(
  html`<path d="M3 4h2.2l2.3 11h10l2.2-8H6" /><circle cx="9" cy="19.5" r="1.3" /><circle
      cx="16.5"
      cy="19.5"
      r="1.3"
    />`,
);
export const HEART_ICON = icon(
  html`<path
    d="M12 20S3.8 15.2 3.8 9.3A4.3 4.3 0 0 1 12 7.4a4.3 4.3 0 0 1 8.2 1.9C20.2 15.2 12 20 12 20Z"
  />`,
);
export const ACCOUNT_ICON = icon(
  html`<circle cx="12" cy="8.2" r="3.9" /><path d="M4.5 20c.6-4.2 3.6-6 7.5-6s6.9 1.8 7.5 6" />`,
);
export const GLOBE_ICON = icon(
  html`<circle cx="12" cy="12" r="8.5" /><path
      d="M3.5 12h17M12 3.5c2.4 2.5 3.5 5.4 3.5 8.5s-1.1 6-3.5 8.5c-2.4-2.5-3.5-5.4-3.5-8.5s1.1-6 3.5-8.5Z"
    />`,
);
export const MENU_ICON = icon(html`<path d="M4 7h16M4 12h16M4 17h16" />`);

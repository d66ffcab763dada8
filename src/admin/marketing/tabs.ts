import { html, type Markup } from '../../http/html.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const TABS = [
  { name: 'coupons', path: '/marketing', permission: 'coupons_read' },
  { name: 'mailings', path: '/marketing/mailings', permission: 'newsletters_read' },
  { name: 'newsletters', path: '/marketing/newsletters', permission: 'newsletters_read' },
  { name: 'carts', path: '/marketing/carts', permission: 'carts_read' },
  { name: 'giftCards', path: '/gift-cards', permission: 'giftcards_read' },
  { name: 'reviews', path: '/reviews', permission: 'orders_read' },
  { name: 'scripts', path: '/apps/scripts', permission: 'apps_read' },
] as const;

export type MarketingTab = (typeof TABS)[number]['name'];

export function marketingTabs(visit: ShopVisit, current: MarketingTab): Markup {
  const messages = visit.messages.marketing.tabs;
  return html`<nav class="tabs" aria-label="${messages.label}">
    ${TABS.filter(({ permission }) => visit.may(permission)).map(
      ({ name, path }) =>
        html`<a href="${adminPath(visit, path)}" ${name === current && html`aria-current="page"`}
          >${messages[name]}</a
        >`,
    )}
  </nav>`;
}

export const marketingStep = (visit: ShopVisit) => ({
  href: adminPath(visit, '/marketing'),
  text: visit.messages.layout.menuEntries.marketing,
});

import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import type { Providers } from '../../orders/payments/providers.ts';
import { loadReadiness, openShop } from '../../orders/readiness.ts';
import { nearLimits } from '../../platform/plans/limits.ts';
import { previewTokens } from '../../shops/shop/preview.ts';
import { renewPreview, updateOpening } from '../../shops/shop/queries.ts';
import { isShopPath } from '../../storefront/preview.ts';
import { buttonForm } from '../components/form.ts';
import { planCard } from '../home/plan-card.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { checklist } from './checklist.ts';

const OPENING = '/settings/opening';

/** Opening and closing the pages of a shop, and the link by which others see it before. */
export function openingPages(pages: ShopPages, providers: Providers): void {
  pages.get(OPENING, 'settings_read', async (visit) => {
    const messages = visit.messages.opening;
    const [readiness, near] = await Promise.all([
      loadReadiness(visit.db, visit.settings, depsOf(visit, providers)),
      nearLimits(visit, visit.shopId),
    ]);
    const { isOpen } = visit.settings;
    return {
      title: visit.messages.settings.pages.opening,
      menu: 'settings',
      breadcrumbs: settingsBreadcrumbs(visit),
      main: html`${planCard(visit, near)}
      ${
        isOpen &&
        html`<section class="card">
          <h2>${messages.isOpen}</h2>
          <p>${messages.isOpenText}</p>
          ${
            visit.may('settings_write') &&
            buttonForm({
              action: adminPath(visit, `${OPENING}/close`),
              text: messages.close,
              confirm: messages.closeQuestion,
            })
          }
        </section>`
      }
      ${(!isOpen || !readiness.ready) && checklist(visit, readiness)} ${!isOpen && previewCard(visit)}`,
    };
  });

  pages.post(`${OPENING}/open`, 'settings_write', async (visit) => {
    await visit.db.transaction(async (tx) => {
      await openShop(tx, visit.shopId, depsOf(visit, providers));
      await recordAction(tx, visit, `${OPENING}/open`);
    });
    return new Redirect(visit.base, visit.messages.opening.opened);
  });

  pages.post(`${OPENING}/close`, 'settings_write', async (visit) => {
    await visit.db.transaction(async (tx) => {
      await updateOpening(tx, visit.shopId, false);
      await recordAction(tx, visit, `${OPENING}/close`);
    });
    return new Redirect(adminPath(visit, OPENING), visit.messages.opening.closed);
  });

  pages.post(`${OPENING}/new-link`, 'settings_write', async (visit) => {
    await visit.db.transaction(async (tx) => {
      await renewPreview(tx, visit.shopId);
      await recordAction(tx, visit, `${OPENING}/new-link`);
    });
    return new Redirect(adminPath(visit, OPENING), visit.messages.opening.renewed);
  });

  // The way of the shop's people into it: the shop has a host and cookies of its own.
  pages.get('/preview', 'member', async (visit, { query }) => {
    const to = query('to') ?? '';
    const path = isShopPath(to) ? to : '';
    if (visit.settings.isOpen) return new Redirect(visit.storefront + path);
    return new Redirect(`${previewLink(visit)}${path === '' ? '' : `?to=${encodeURIComponent(path)}`}`);
  });
}

/** The link that the merchant gives to others. */
export function previewCard(visit: ShopVisit): Markup {
  const messages = visit.messages.opening;
  const link = previewLink(visit);
  return html`<section class="card" aria-labelledby="preview-link">
    <h2 id="preview-link">${messages.preview}</h2>
    <p>${messages.previewText}</p>
    <p class="address"><a href="${link}" target="_blank" rel="noopener">${link}</a></p>
    ${
      visit.may('settings_write') &&
      buttonForm({
        action: adminPath(visit, `${OPENING}/new-link`),
        text: messages.renew,
        confirm: messages.renewQuestion,
      })
    }
  </section>`;
}

const previewLink = ({ key, settings, storefront }: ShopVisit) =>
  `${storefront}/preview/${previewTokens(key)(settings)}`;

export const depsOf = ({ key }: ShopVisit, providers: Providers) => ({ providers, loadKey: async () => key });

import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { backupFile } from '../backup-file.ts';
import { buttonForm } from '../components/form.ts';
import { chip, dayText } from '../components/format.ts';
import type { Pages } from '../pages.ts';
import { findShop, updateSuspension } from '../../shops/shop/queries.ts';
import { recordAction } from '../record-action.ts';
import type { Visit } from '../visit.ts';
import { health } from './health.ts';
import { jobs } from './jobs.ts';
import { newShop } from './new-shop.ts';
import { findHostedShops, type HostedShop } from './queries.ts';
import { hostTabs, megabytes } from './tabs.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

const PER_PAGE = 50;
/** Further than users page. */
const LAST_PAGE = 2_000;

/** For the operator of the installation: its shops, its jobs, and its health. */
export function host(pages: Pages): void {
  pages.get('/host', 'host', async (visit, request) => {
    const messages = visit.messages.host;
    return {
      title: messages.title,
      actions: html`<a class="button main" href="/admin/host/shops/new">${messages.newShop}</a>`,
      main: html`${hostTabs(visit, 'shops')} ${await shopList(visit, request)}`,
    };
  });

  suspension(pages, 'suspend', (now) => now);
  suspension(pages, 'open', () => null);
  backup(pages);
  newShop(pages);
  jobs(pages);
  health(pages);
}

function suspension(pages: Pages, action: 'suspend' | 'open', suspendedAt: (now: Date) => Date | null): void {
  pages.post(
    `/host/shops/:shopId/${action}`,
    'host',
    async (visit, form) => {
      const shopId = form.params['shopId']!;
      await visit.db.transaction(async (tx) => {
        if ((await updateSuspension(tx, shopId, suspendedAt(tx.now))) === 0) throw notFound();
        await recordAction(tx, { shopId, user: visit.user }, `/admin/host/shops/:shopId/${action}`);
      });
      const messages = visit.messages.host;
      const opposite = action === 'suspend' ? 'open' : 'suspend';
      return new Redirect('/admin/host', {
        text: action === 'suspend' ? messages.suspended({ shopId }) : messages.opened({ shopId }),
        undo: { action: `/admin/host/shops/${shopId}/${opposite}`, fields: {} },
      });
    },
    { needsReauthentication: true },
  );
}

/** The same backup that the owner of the shop can download. */
function backup(pages: Pages): void {
  pages.post(
    '/host/shops/:shopId/backup',
    'host',
    async (visit, form) => {
      const shop = await findShop(visit.db, form.params['shopId']!);
      if (!shop) throw notFound();
      return backupFile(visit, shop.shopId, form, (tx) =>
        recordAction(tx, { shopId: shop.shopId, user: visit.user }, '/admin/host/shops/:shopId/backup'),
      );
    },
    { needsReauthentication: true },
  );
}

async function shopList(visit: Visit<'host'>, request: PageRequest): Promise<Markup> {
  const messages = visit.messages.host;
  const beginning = request.query('q')?.slice(0, 63) ?? '';
  const number = Number(request.query('page') ?? 1);
  const page = Number.isInteger(number) && number > 0 ? Math.min(number, LAST_PAGE) : 1;
  // One more than fits, to detect a next page.
  const found = await findHostedShops(visit.db, {
    userId: visit.user.userId,
    beginning,
    limit: PER_PAGE + 1,
    offset: (page - 1) * PER_PAGE,
  });
  const shops = found.slice(0, PER_PAGE);
  const href = (to: number) =>
    `/admin/host?${new URLSearchParams({ q: beginning, page: String(to) }).toString()}`;
  return html`<form class="filters" method="get" action="/admin/host">
      <label for="filter-q" class="hidden">${messages.search}</label>
      <input
        type="search"
        id="filter-q"
        name="q"
        value="${beginning}"
        maxlength="63"
        placeholder="${messages.search}"
      />
      <button>${visit.messages.list.filter}</button>
    </form>
    <div id="list" class="list">
      ${
        shops.length === 0
          ? html`<div class="empty">
              ${beginning === '' ? messages.noShops : visit.messages.list.nothingFound}
            </div>`
          : shopTable(visit, shops)
      }
      ${
        (page > 1 || found.length > PER_PAGE) &&
        html`<nav class="pages" aria-label="${visit.messages.list.pages}">
          ${page > 1 && html`<a class="button" rel="prev" href="${href(page - 1)}">${visit.messages.list.previous}</a>`}
          ${found.length > PER_PAGE && html`<a class="button" rel="next" href="${href(page + 1)}">${visit.messages.list.next}</a>`}
        </nav>`
      }
    </div>`;
}

function shopTable(visit: Visit<'host'>, shops: readonly HostedShop[]): Markup {
  const { host: messages } = visit.messages;
  const quota = visit.config.MEDIA_QUOTA_MB;
  return html`<table>
    <caption class="hidden">
      ${messages.shops}
    </caption>
    <thead>
      <tr>
        ${[messages.shop, messages.domain, messages.state].map((title) => html`<th scope="col">${title}</th>`)}
        ${[messages.orders, messages.lastOrder, messages.images].map(
          (title) => html`<th scope="col" class="number">${title}</th>`,
        )}
        <th scope="col"><span class="hidden">${messages.actions}</span></th>
      </tr>
    </thead>
    <tbody>
      ${shops.map(
        ({ shopId, name, domain, isMember, suspendedAt, isOpen, orders, lastOrderAt, mediaBytes }) =>
          html`<tr>
            <td data-title="${messages.shop}">
              <span
                >${isMember ? html`<a href="/admin/shops/${shopId}">${name}</a>` : name}
                ${name !== shopId && html`<span class="quiet">${shopId}</span>`}</span
              >
            </td>
            <td data-title="${messages.domain}">
              ${
                isMember
                  ? html`<a href="/admin/shops/${shopId}/settings/domains">${domain ?? messages.noDomain}</a>`
                  : (domain ?? messages.noDomain)
              }
            </td>
            <td data-title="${messages.state}">
              ${
                suspendedAt
                  ? chip(messages.isSuspended, 'warning')
                  : isOpen
                    ? chip(messages.isOpen, 'good')
                    : chip(messages.notOpen)
              }
            </td>
            <td class="number" data-title="${messages.orders}">${orders.toLocaleString(visit.language)}</td>
            <td class="number" data-title="${messages.lastOrder}">
              ${lastOrderAt ? dayText(lastOrderAt, visit.language) : '–'}
            </td>
            <td class="number" data-title="${messages.images}">
              ${
                quota === 0
                  ? megabytes(visit, mediaBytes)
                  : messages.ofQuota({
                      used: megabytes(visit, mediaBytes),
                      quota: megabytes(visit, quota * 1e6),
                    })
              }
            </td>
            <td>
              <div class="actions row-actions">
                ${buttonForm({ action: `/admin/host/shops/${shopId}/backup`, text: messages.backup })}
                ${
                  suspendedAt
                    ? buttonForm({ action: `/admin/host/shops/${shopId}/open`, text: messages.open })
                    : buttonForm({
                        action: `/admin/host/shops/${shopId}/suspend`,
                        text: messages.suspend,
                        confirm: messages.suspendQuestion({ name }),
                      })
                }
              </div>
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

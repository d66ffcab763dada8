import { dateText } from '../../http/dates.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { backupFile } from '../backup-file.ts';
import { buttonForm } from '../components/form.ts';
import { chip, dayText } from '../components/format.ts';
import type { Pages } from '../pages.ts';
import type { Transaction } from '../../db/database.ts';
import type { Cause } from '../../host/log.ts';
import { SHOP_STATES, type ShopState } from '../../host/queries.ts';
import {
  DELETION_DAYS,
  planDeletion,
  cancelShopDeletion,
  resumeShop,
  suspendShop,
  type CreationDeps,
} from '../../host/shops.ts';
import { findShop } from '../../shops/shop/queries.ts';
import { recordAction } from '../record-action.ts';
import type { Visit } from '../visit.ts';
import { health } from './health.ts';
import { jobs } from './jobs.ts';
import { causeOfPage } from './cause.ts';
import { shopEmails } from './emails.ts';
import { newShop } from './new-shop.ts';
import { findShopsAfter, findShopsBefore, type ShopWithSizes } from './queries.ts';
import { hostTabs, megabytes } from './tabs.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

const PER_PAGE = 50;

/** For the operator of the installation: its shops, its jobs, and its health. */
export function host(pages: Pages, creation: CreationDeps): void {
  pages.get('/host', 'host', async (visit, request) => {
    const messages = visit.messages.host;
    return {
      title: messages.title,
      actions: html`<a class="button main" href="/admin/host/shops/new">${messages.newShop}</a>`,
      main: html`${hostTabs(visit, 'shops')} ${await shopList(visit, request)}`,
    };
  });

  change(pages, 'suspend', suspendShop, 'open');
  change(pages, 'open', resumeShop, 'suspend');
  change(pages, 'delete', planDeletion, 'restore');
  change(pages, 'restore', cancelShopDeletion, undefined);
  backup(pages);
  shopEmails(pages);
  newShop(pages, creation);
  jobs(pages);
  health(pages);
}

type Change = 'suspend' | 'open' | 'delete' | 'restore';

const DONE: Readonly<Record<Change, 'suspended' | 'opened' | 'deletionPlanned' | 'restored'>> = {
  suspend: 'suspended',
  open: 'opened',
  delete: 'deletionPlanned',
  restore: 'restored',
};

/** A change of a shop by the host, as its API makes it. */
function change(
  pages: Pages,
  action: Change,
  run: (tx: Transaction, shopId: string, cause: Cause) => Promise<void>,
  undo: Change | undefined,
): void {
  const route = `/host/shops/:shopId/${action}`;
  pages.post(
    route,
    'host',
    async (visit, form) => {
      const shopId = form.params['shopId']!;
      await visit.db.transaction((tx) => run(tx, shopId, causeOfPage(visit, route)));
      return new Redirect('/admin/host', {
        text: visit.messages.host[DONE[action]]({ shopId }),
        undo: undo && { action: `/admin/host/shops/${shopId}/${undo}`, fields: {} },
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
  const after = request.query('after')?.slice(0, 63) ?? '';
  const before = request.query('before')?.slice(0, 63);
  const state = SHOP_STATES.find((one) => one === request.query('state'));
  // One more than fits, to detect a further page.
  const page = {
    userId: visit.user.userId,
    beginning,
    states: state === undefined ? SHOP_STATES : [state],
    limit: PER_PAGE + 1,
  };
  const found =
    before === undefined
      ? await findShopsAfter(visit.db, after, page)
      : await findShopsBefore(visit.db, before, page);
  const shops = found.slice(0, PER_PAGE);
  const isMore = found.length > PER_PAGE;
  if (before !== undefined) shops.reverse();
  const [hasPrevious, hasNext] = before === undefined ? [after !== '', isMore] : [isMore, true];
  const href = (to: { after: string } | { before: string }) =>
    `/admin/host?${new URLSearchParams({ q: beginning, ...(state && { state }), ...to }).toString()}`;
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
      <label for="filter-state" class="hidden">${messages.state}</label>
      <select id="filter-state" name="state">
        <option value="">${messages.anyState}</option>
        ${SHOP_STATES.map(
          (one) =>
            html`<option value="${one}" ${one === state && html`selected`}>
              ${stateTexts(visit)[one]}
            </option>`,
        )}
      </select>
      <button>${visit.messages.list.filter}</button>
    </form>
    <div id="list" class="list">
      ${
        shops.length === 0
          ? html`<div class="empty">
              ${beginning === '' && state === undefined ? messages.noShops : visit.messages.list.nothingFound}
            </div>`
          : shopTable(visit, shops)
      }
      ${
        shops.length > 0 &&
        (hasPrevious || hasNext) &&
        html`<nav class="pages" aria-label="${visit.messages.list.pages}">
          ${hasPrevious && html`<a class="button" rel="prev" href="${href({ before: shops[0]!.shopId })}">${visit.messages.list.previous}</a>`}
          ${hasNext && html`<a class="button" rel="next" href="${href({ after: shops.at(-1)!.shopId })}">${visit.messages.list.next}</a>`}
        </nav>`
      }
    </div>`;
}

const CHIPS: Readonly<Record<ShopState, 'good' | 'warning' | 'bad' | undefined>> = {
  open: 'good',
  notOpen: undefined,
  suspended: 'warning',
  deletionPlanned: 'bad',
};

const stateTexts = ({ messages: { host: messages } }: Visit<'host'>): Record<ShopState, string> => ({
  open: messages.isOpen,
  notOpen: messages.notOpen,
  suspended: messages.isSuspended,
  deletionPlanned: messages.isToBeDeleted,
});

function actionsOf(
  visit: Visit<'host'>,
  { shopId, name, state }: Pick<ShopWithSizes, 'shopId' | 'name' | 'state'>,
): Markup {
  const messages = visit.messages.host;
  const action = (change: Change) => `/admin/host/shops/${shopId}/${change}`;
  if (state === 'deletionPlanned') return buttonForm({ action: action('restore'), text: messages.restore });
  return html`${
    state === 'suspended'
      ? buttonForm({ action: action('open'), text: messages.open })
      : buttonForm({
          action: action('suspend'),
          text: messages.suspend,
          confirm: messages.suspendQuestion({ name }),
        })
  }
  ${buttonForm({
    action: action('delete'),
    text: messages.delete,
    kind: 'danger',
    confirm: messages.deleteQuestion({ name, days: DELETION_DAYS }),
  })}`;
}

function shopTable(visit: Visit<'host'>, shops: readonly ShopWithSizes[]): Markup {
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
        ({ shopId, name, domain, isMember, state, deletionAt, orders, lastOrderAt, mediaBytes }) =>
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
              ${chip(stateTexts(visit)[state], CHIPS[state])}
              ${deletionAt && html`<span class="quiet">${messages.deletedOn({ day: dateText(deletionAt, visit.language) })}</span>`}
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
                <a class="button" href="/admin/host/shops/${shopId}/emails">${messages.tabs.jobs}</a>
                ${actionsOf(visit, { shopId, name, state })}
              </div>
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

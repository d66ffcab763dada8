import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { redeliverOne, replayFrom, setActive, WebhookRefusal } from '../../apps/webhooks/actions.ts';
import {
  deleteWebhookRow,
  endPause,
  findDeliveries,
  findWebhookOfShop,
  lockWebhook,
  type WebhookRow,
} from '../../apps/webhooks/queries.ts';
import type { Transaction } from '../../db/database.ts';
import { buttonForm } from '../components/form.ts';
import { chip, momentText } from '../components/format.ts';
import { Redirect } from '../page.ts';
import type { FormRequest, PageRequest, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { deliveryTable } from './delivery-table.ts';
import { appsStep, appTabs } from './parts.ts';
import { findListedWebhooks, type ListedWebhook } from './queries.ts';

const PER_PAGE = 30;
const STATES = ['delivered', 'waiting', 'failed'] as const;

export function webhookPages(pages: ShopPages): void {
  pages.get('/apps/webhooks', 'apps_read', async (visit) => {
    const words = visit.words.webhooks;
    const rows = await findListedWebhooks(visit.db, visit.shopId, '');
    return {
      title: visit.words.layout.menuEntries.apps,
      menu: 'apps',
      main: html`${appTabs(visit, 'webhooks')}
        <p class="intro">${words.intro}</p>
        ${rows.length === 0 ? html`<p class="list empty">${words.empty}</p>` : webhookTable(visit, rows, true)}`,
    };
  });

  pages.get('/apps/webhooks/:webhookId', 'apps_read', async (visit, request) => {
    const { db, shopId } = visit;
    const words = visit.words.webhooks;
    const webhook = await requireWebhook(visit, request);
    const status = STATES.find((state) => state === request.query('status')) ?? 'any';
    const before = Number(request.query('before') ?? Number.MAX_SAFE_INTEGER);
    const rows = await findDeliveries(db, shopId, webhook.webhookId, {
      before: Number.isSafeInteger(before) && before > 0 ? before : Number.MAX_SAFE_INTEGER,
      status,
      limit: PER_PAGE,
    });
    const path = `/apps/webhooks/${webhook.webhookId}`;
    return {
      title: webhook.eventType,
      menu: 'apps',
      breadcrumbs: [
        appsStep(visit),
        { href: adminPath(visit, '/apps/webhooks'), text: visit.words.apps.tabs.webhooks },
      ],
      actions: visit.may('apps_write') ? webhookActions(visit, webhook, path) : undefined,
      main: html`<section class="card">
          <dl class="pairs">
            <dt>${words.state}</dt>
            <dd>
              ${webhook.active ? chip(words.on, 'good') : html`${chip(words.off, 'bad')} ${words.offHint}`}
            </dd>
            <dt>${words.address}</dt>
            <dd><code>${webhook.callbackUrl}</code></dd>
          </dl>
        </section>
        <h2 class="above-list">${words.deliveries}</h2>
        <nav class="tabs" aria-label="${words.deliveries}">
          ${(['any', ...STATES] as const).map(
            (state) =>
              html`<a
                href="${adminPath(visit, path, { status: state === 'any' ? undefined : state })}"
                ${state === status && html`aria-current="page"`}
                >${state === 'any' ? words.all : words.states[state]}</a
              >`,
          )}
        </nav>
        <div class="list">
          ${
            rows.length === 0
              ? html`<p class="empty">${words.noDeliveries}</p>`
              : deliveryTable(visit, webhook, path, rows)
          }
          ${
            rows.length === PER_PAGE &&
            html`<nav class="pages" aria-label="${visit.words.list.pages}">
              <a href="${adminPath(visit, path, { status: status === 'any' ? undefined : status })}"
                >${words.newest}</a
              >
              <a
                class="button"
                href="${adminPath(visit, path, {
                  status: status === 'any' ? undefined : status,
                  before: String(rows.at(-1)!.position),
                })}"
                >${words.older}</a
              >
            </nav>`
          }
        </div>`,
    };
  });

  /** Registers a button of a webhook. */
  const action = (
    name: string,
    said: (visit: ShopVisit, form: FormRequest) => string,
    run: (tx: Transaction, visit: ShopVisit, webhook: WebhookRow, form: FormRequest) => Promise<unknown>,
    target = (visit: ShopVisit, { webhookId }: WebhookRow) => adminPath(visit, `/apps/webhooks/${webhookId}`),
  ) =>
    pages.post(`/apps/webhooks/:webhookId/${name}`, 'apps_write', async (visit, form) => {
      const webhook = await requireWebhook(visit, form);
      const { webhookId, appId } = webhook;
      try {
        await visit.db.transaction(async (tx) => {
          const locked = await lockWebhook(tx, visit.shopId, appId!, webhookId);
          if (!locked) throw notFound();
          await run(tx, visit, locked, form);
          await recordAction(tx, visit, `/apps/webhooks/:webhookId/${name}`, { webhookId });
        });
      } catch (error) {
        if (!(error instanceof WebhookRefusal)) throw error;
        const text = visit.words.webhooks.problems[error.reason];
        return new Redirect(adminPath(visit, `/apps/webhooks/${webhookId}`), { text, isProblem: true });
      }
      return new Redirect(target(visit, webhook), said(visit, form));
    });

  action(
    'redeliver',
    ({ words }) => words.webhooks.redelivered,
    async (tx, { shopId }, webhook, form) => {
      await redeliverOne(tx, shopId, webhook, form.field('deliveryId'));
      // The button is pressed after fixing the receiver, to see the result.
      await endPause(tx, shopId, webhook.appId!);
    },
  );
  action(
    'replay',
    ({ words }) => words.webhooks.replayed,
    async (tx, { shopId }, webhook, form) => {
      const from = Number(form.field('from'));
      if (!Number.isSafeInteger(from) || from < 1) throw notFound();
      await replayFrom(tx, shopId, webhook, from);
      await endPause(tx, shopId, webhook.appId!);
    },
  );
  action(
    'active',
    ({ words }, form) => (form.field('active') === 'yes' ? words.webhooks.isOn : words.webhooks.isOff),
    async (tx, { shopId }, webhook, form) => {
      await setActive(tx, shopId, webhook, form.field('active') === 'yes');
      await endPause(tx, shopId, webhook.appId!);
    },
  );
  action(
    'delete',
    ({ words }) => words.webhooks.deleted,
    (tx, { shopId }, { webhookId }) => deleteWebhookRow(tx, shopId, webhookId),
    (visit) => adminPath(visit, '/apps/webhooks'),
  );
}

async function requireWebhook({ db, shopId }: ShopVisit, { params }: PageRequest): Promise<WebhookRow> {
  const webhookId = params['webhookId']!;
  const webhook = isId(webhookId) ? await findWebhookOfShop(db, shopId, webhookId) : undefined;
  if (!webhook) throw notFound();
  return webhook;
}

export function webhookTable(visit: ShopVisit, rows: readonly ListedWebhook[], withApp = false): Markup {
  const words = visit.words.webhooks;
  return html`<div class="${withApp ? 'list' : 'list plain'}">
    <table>
      <thead>
        <tr>
          <th scope="col">${words.event}</th>
          ${withApp && html`<th scope="col">${words.app}</th>`}
          <th scope="col">${words.address}</th>
          <th scope="col">${words.state}</th>
          <th scope="col">${words.lastDelivery}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              <td data-title="${words.event}">
                <a href="${adminPath(visit, `/apps/webhooks/${row.webhookId}`)}">${row.eventType}</a>
              </td>
              ${
                withApp &&
                html`<td data-title="${words.app}">
                  <a href="${adminPath(visit, `/apps/${row.appId}`)}">${row.appName}</a>
                </td>`
              }
              <td data-title="${words.address}"><span class="address">${row.callbackUrl}</span></td>
              <td data-title="${words.state}">${stateChip(visit, row)}</td>
              <td data-title="${words.lastDelivery}">
                ${
                  row.lastTriedAt
                    ? momentText(row.lastTriedAt, visit.language)
                    : html`<span class="quiet">${words.none}</span>`
                }
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function stateChip({ words }: ShopVisit, { active, open }: ListedWebhook): Markup {
  if (!active) return chip(words.webhooks.off, 'bad');
  return open > 0 ? chip(words.webhooks.open({ count: open }), 'warning') : chip(words.webhooks.on, 'good');
}

function webhookActions(visit: ShopVisit, { active }: WebhookRow, path: string): Markup {
  const words = visit.words.webhooks;
  return html`${buttonForm({
    action: adminPath(visit, `${path}/active`),
    text: active ? words.turnOff : words.turnOn,
    fields: { active: active ? 'no' : 'yes' },
    ...(!active && { kind: 'main' as const }),
  })}
  ${buttonForm({
    action: adminPath(visit, `${path}/delete`),
    text: words.delete,
    kind: 'danger',
    confirm: words.deleteSure,
  })}`;
}

import { Type } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { redeliverOne, replayFrom, setActive } from '../../apps/webhooks/actions.ts';
import {
  deleteWebhookRow,
  endPause,
  findWebhookDeliveries,
  findWebhookOfShop,
  lockWebhook,
  type WebhookRow,
} from '../../apps/webhooks/queries.ts';
import type { Transaction } from '../../db/database.ts';
import { declareForm, declaredButton, optionsOf, readChecked } from '../components/declared-form.ts';
import { buttonForm } from '../components/form.ts';
import { chip, momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { redirectWithNotice } from '../refused-button.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { deliveryTable, REDELIVERY, REPLAY } from './delivery-table.ts';
import { appsStep, appTabs } from './parts.ts';
import { findListedWebhooks, type ListedWebhook } from './queries.ts';
import type { FormRequest, PageRequest } from '../../http/page-kit.ts';

const PER_PAGE = 30;
const STATES = ['delivered', 'waiting', 'failed'] as const;

const ACTIVE = declareForm({ body: Type.Object({ active: Type.Boolean() }) }, ({ webhooks }) => ({
  active: { kind: 'tick', label: webhooks.on },
}));

export function webhookPages(pages: ShopPages): void {
  pages.get('/apps/webhooks', 'apps_read', async (visit) => {
    const messages = visit.messages.webhooks;
    const rows = await findListedWebhooks(visit.db, visit.shopId, '');
    return {
      title: visit.messages.layout.menuEntries.apps,
      menu: 'apps',
      main: html`${appTabs(visit, 'webhooks')}
        <p class="intro">${messages.intro}</p>
        ${rows.length === 0 ? html`<p class="list empty">${messages.empty}</p>` : webhookTable(visit, rows, true)}`,
    };
  });

  pages.get('/apps/webhooks/:webhookId', 'apps_read', async (visit, request) => {
    const { db, shopId } = visit;
    const messages = visit.messages.webhooks;
    const webhook = await requireWebhook(visit, request);
    const status = STATES.find((state) => state === request.query('status')) ?? 'any';
    const before = Number(request.query('before') ?? Number.MAX_SAFE_INTEGER);
    const rows = await findWebhookDeliveries(db, shopId, webhook.webhookId, {
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
        { href: adminPath(visit, '/apps/webhooks'), text: visit.messages.apps.tabs.webhooks },
      ],
      actions: visit.may('apps_write') ? webhookActions(visit, webhook, path) : undefined,
      main: html`<section class="card">
          <dl class="pairs">
            <dt>${messages.state}</dt>
            <dd>
              ${webhook.active ? chip(messages.on, 'good') : html`${chip(messages.off, 'bad')} ${messages.offHint}`}
            </dd>
            <dt>${messages.address}</dt>
            <dd><code>${webhook.callbackUrl}</code></dd>
          </dl>
        </section>
        <h2 class="above-list">${messages.deliveries}</h2>
        <nav class="tabs" aria-label="${messages.deliveries}">
          ${(['any', ...STATES] as const).map(
            (state) =>
              html`<a
                href="${adminPath(visit, path, { status: state === 'any' ? undefined : state })}"
                ${state === status && html`aria-current="page"`}
                >${state === 'any' ? messages.all : messages.states[state]}</a
              >`,
          )}
        </nav>
        <div class="list">
          ${
            rows.length === 0
              ? html`<p class="empty">${messages.noDeliveries}</p>`
              : deliveryTable(visit, webhook, path, rows)
          }
          ${
            rows.length === PER_PAGE &&
            html`<nav class="pages" aria-label="${visit.messages.list.pages}">
              <a href="${adminPath(visit, path, { status: status === 'any' ? undefined : status })}"
                >${messages.newest}</a
              >
              <a
                class="button"
                href="${adminPath(visit, path, {
                  status: status === 'any' ? undefined : status,
                  before: String(rows.at(-1)!.position),
                })}"
                >${messages.older}</a
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
    pages.post(
      `/apps/webhooks/:webhookId/${name}`,
      'apps_write',
      async (visit, form) => {
        const webhook = await requireWebhook(visit, form);
        const { webhookId, appId } = webhook;
        const work = async () => {
          await visit.db.transaction(async (tx) => {
            const locked = await lockWebhook(tx, visit.shopId, appId!, webhookId);
            if (!locked) throw notFound();
            await run(tx, visit, locked, form);
            await recordAction(tx, visit, `/apps/webhooks/:webhookId/${name}`, { webhookId });
          });
          return { text: said(visit, form) };
        };
        const path = adminPath(visit, `/apps/webhooks/${webhookId}`);
        return redirectWithNotice(visit, path, work, target(visit, webhook));
      },
      optionsOf(ACTIVE, REDELIVERY, REPLAY),
    );

  action(
    'redeliver',
    ({ messages }) => messages.webhooks.redelivered,
    async (tx, visit, webhook, form) => {
      const { deliveryId } = readChecked(REDELIVERY, form, visit);
      await redeliverOne(tx, visit.shopId, webhook, deliveryId);
      // The button is pressed after fixing the receiver, to see the result.
      await endPause(tx, visit.shopId, webhook.appId!);
    },
  );
  action(
    'replay',
    ({ messages }) => messages.webhooks.replayed,
    async (tx, visit, webhook, form) => {
      const { from } = readChecked(REPLAY, form, visit);
      await replayFrom(tx, visit.shopId, webhook, from);
      await endPause(tx, visit.shopId, webhook.appId!);
    },
  );
  action(
    'active',
    (visit, form) => visit.messages.webhooks[readChecked(ACTIVE, form, visit).active ? 'isOn' : 'isOff'],
    async (tx, visit, webhook, form) => {
      await setActive(tx, visit.shopId, webhook, readChecked(ACTIVE, form, visit).active);
      await endPause(tx, visit.shopId, webhook.appId!);
    },
  );
  action(
    'delete',
    ({ messages }) => messages.webhooks.deleted,
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
  const messages = visit.messages.webhooks;
  return html`<div class="${withApp ? 'list' : 'list plain'}">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.event}</th>
          ${withApp && html`<th scope="col">${messages.app}</th>`}
          <th scope="col">${messages.address}</th>
          <th scope="col">${messages.state}</th>
          <th scope="col">${messages.lastDelivery}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              <td data-title="${messages.event}">
                <a href="${adminPath(visit, `/apps/webhooks/${row.webhookId}`)}">${row.eventType}</a>
              </td>
              ${
                withApp &&
                html`<td data-title="${messages.app}">
                  <a href="${adminPath(visit, `/apps/${row.appId}`)}">${row.appName}</a>
                </td>`
              }
              <td data-title="${messages.address}"><span class="address">${row.callbackUrl}</span></td>
              <td data-title="${messages.state}">${stateChip(visit, row)}</td>
              <td data-title="${messages.lastDelivery}">
                ${
                  row.lastTriedAt
                    ? momentText(row.lastTriedAt, visit.language)
                    : html`<span class="quiet">${messages.none}</span>`
                }
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function stateChip({ messages }: ShopVisit, { active, open }: ListedWebhook): Markup {
  if (!active) return chip(messages.webhooks.off, 'bad');
  return open > 0
    ? chip(messages.webhooks.open({ count: open }), 'warning')
    : chip(messages.webhooks.on, 'good');
}

function webhookActions(visit: ShopVisit, { active }: WebhookRow, path: string): Markup {
  const messages = visit.messages.webhooks;
  return html`${declaredButton(
    ACTIVE,
    visit,
    { active: active ? 'no' : 'yes' },
    {
      action: adminPath(visit, `${path}/active`),
      text: active ? messages.turnOff : messages.turnOn,
      ...(!active && { kind: 'main' as const }),
    },
  )}
  ${buttonForm({
    action: adminPath(visit, `${path}/delete`),
    text: messages.delete,
    kind: 'danger',
    confirm: messages.deleteSure,
  })}`;
}

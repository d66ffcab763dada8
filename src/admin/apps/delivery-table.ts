import { Type } from 'typebox';
import { replayWebhook } from '../../apps/webhooks/manage-routes.ts';
import { html, type Markup } from '../../http/html.ts';
import { Id } from '../../http/schemas.ts';
import { EVENT_TYPES, type EventType } from '../../platform/events/types.ts';
import { deliveryIdOf } from '../../apps/webhooks/delivery-id.ts';
import { failureOf } from '../../apps/webhooks/failure.ts';
import type { DeliveryRow, WebhookRow } from '../../apps/webhooks/queries.ts';
import { declareForm, declaredButton } from '../components/declared-form.ts';
import { chip, momentText, type ChipKind } from '../components/format.ts';
import type { AdminMessages } from '../messages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { thingPath } from './thing-links.ts';

export const REDELIVERY = declareForm({ body: Type.Object({ deliveryId: Id }) }, ({ webhooks }) => ({
  deliveryId: { kind: 'hidden', label: webhooks.deliveries },
}));
export const REPLAY = declareForm(replayWebhook, ({ webhooks }) => ({
  from: { kind: 'integer', label: webhooks.about },
}));

const CHIPS: Readonly<Record<DeliveryRow['status'], ChipKind>> = {
  delivered: 'good',
  waiting: 'warning',
  failed: 'bad',
};

export function deliveryTable(
  visit: ShopVisit,
  webhook: WebhookRow,
  path: string,
  rows: readonly DeliveryRow[],
): Markup {
  const messages = visit.messages.webhooks;
  const mayResend = visit.may('apps_write') && webhook.active;
  return html`<table>
    <thead>
      <tr>
        <th scope="col">${messages.when}</th>
        <th scope="col">${messages.about}</th>
        <th scope="col">${messages.state}</th>
        <th scope="col">${messages.answer}</th>
        ${mayResend && html`<th scope="col"></th>`}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => {
        const href = resourcePath(visit, webhook.eventType, row.resourceId);
        return html`<tr>
          <td data-title="${messages.when}">${momentText(row.createdAt, visit.language)}</td>
          <td data-title="${messages.about}">
            ${href === undefined ? `#${row.position}` : html`<a href="${href}">#${row.position}</a>`}
          </td>
          <td data-title="${messages.state}">
            <div>
              ${chip(messages.states[row.status], CHIPS[row.status])}
              <p class="hint">
                ${messages.attempts({ count: row.attempts })}${
                  row.nextTryAt &&
                  row.status === 'waiting' &&
                  `, ${messages.nextTry({ time: momentText(row.nextTryAt, visit.language) })}`
                }
              </p>
            </div>
          </td>
          <td data-title="${messages.answer}">${answerOf(visit, row)}</td>
          ${
            mayResend &&
            html`<td>
              <div class="actions">
                ${declaredButton(
                  REDELIVERY,
                  visit,
                  { deliveryId: deliveryIdOf(visit.shopId, webhook.webhookId, row.position) },
                  { action: adminPath(visit, `${path}/redeliver`), text: messages.redeliver },
                )}
                ${declaredButton(
                  REPLAY,
                  visit,
                  { from: String(row.position) },
                  {
                    action: adminPath(visit, `${path}/replay`),
                    text: messages.replay,
                    kind: 'link',
                    confirm: messages.replaySure,
                  },
                )}
              </div>
            </td>`
          }
        </tr>`;
      })}
    </tbody>
  </table>`;
}

function answerOf({ messages }: ShopVisit, { statusCode, milliseconds, answer, error }: DeliveryRow): Markup {
  const refused = statusCode !== null && messages.webhooks.answered({ status: statusCode });
  const outcome = error === null ? statusCode : refused || notReached(messages, error);
  return html`<div>
    ${outcome}
    ${milliseconds !== null && html`<span class="quiet">${messages.webhooks.milliseconds({ count: milliseconds })}</span>`}
    ${
      answer !== null &&
      answer !== '' &&
      html`<details>
        <summary class="quiet">${messages.webhooks.answer}</summary>
        <pre class="code">${answer}</pre>
      </details>`
    }
  </div>`;
}

/** Only failures without a translation are shown as stored. */
function notReached({ webhooks: { notReached: said, failures } }: AdminMessages, error: string): Markup {
  const failure = failureOf(error);
  return html`${said} ${failures[failure]} ${failure === 'other' && html`<span class="quiet">${error}</span>`}`;
}

function resourcePath(visit: ShopVisit, type: EventType, resourceId: string | null): string | undefined {
  const { resource } = EVENT_TYPES[type];
  if (resourceId === null) return undefined;
  const name = {
    order: 'orderId',
    product: 'productId',
    customer: 'customerId',
    'coupon campaign': 'campaignId',
  }[resource as string];
  return name === undefined ? undefined : thingPath(visit, { [name]: resourceId });
}

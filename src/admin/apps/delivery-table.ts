import { html, type Markup } from '../../http/html.ts';
import { EVENT_TYPES, type EventType } from '../../platform/events/types.ts';
import { deliveryIdOf } from '../../apps/webhooks/delivery-id.ts';
import { failureOf } from '../../apps/webhooks/failure.ts';
import type { DeliveryRow, WebhookRow } from '../../apps/webhooks/queries.ts';
import { buttonForm } from '../components/form.ts';
import { chip, momentText, type ChipKind } from '../components/format.ts';
import type { Words } from '../messages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { thingPath } from './thing-links.ts';

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
  const words = visit.words.webhooks;
  const mayResend = visit.may('apps_write') && webhook.active;
  return html`<table>
    <thead>
      <tr>
        <th scope="col">${words.when}</th>
        <th scope="col">${words.about}</th>
        <th scope="col">${words.state}</th>
        <th scope="col">${words.answer}</th>
        ${mayResend && html`<th scope="col"></th>`}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => {
        const href = resourcePath(visit, webhook.eventType, row.resourceId);
        return html`<tr>
          <td data-title="${words.when}">${momentText(row.createdAt, visit.language)}</td>
          <td data-title="${words.about}">
            ${href === undefined ? `#${row.position}` : html`<a href="${href}">#${row.position}</a>`}
          </td>
          <td data-title="${words.state}">
            <div>
              ${chip(words.states[row.status], CHIPS[row.status])}
              <p class="hint">
                ${words.attempts({ count: row.attempts })}${
                  row.nextTryAt &&
                  row.status === 'waiting' &&
                  `, ${words.nextTry({ time: momentText(row.nextTryAt, visit.language) })}`
                }
              </p>
            </div>
          </td>
          <td data-title="${words.answer}">${answerOf(visit, row)}</td>
          ${
            mayResend &&
            html`<td>
              <div class="actions">
                ${buttonForm({
                  action: adminPath(visit, `${path}/redeliver`),
                  text: words.redeliver,
                  fields: { deliveryId: deliveryIdOf(visit.shopId, webhook.webhookId, row.position) },
                })}
                ${buttonForm({
                  action: adminPath(visit, `${path}/replay`),
                  text: words.replay,
                  fields: { from: String(row.position) },
                  kind: 'link',
                  confirm: words.replaySure,
                })}
              </div>
            </td>`
          }
        </tr>`;
      })}
    </tbody>
  </table>`;
}

function answerOf({ words }: ShopVisit, { statusCode, milliseconds, answer, error }: DeliveryRow): Markup {
  const refused = statusCode !== null && words.webhooks.answered({ status: statusCode });
  const outcome = error === null ? statusCode : refused || notReached(words, error);
  return html`<div>
    ${outcome}
    ${milliseconds !== null && html`<span class="quiet">${words.webhooks.milliseconds({ count: milliseconds })}</span>`}
    ${
      answer !== null &&
      answer !== '' &&
      html`<details>
        <summary class="quiet">${words.webhooks.answer}</summary>
        <pre class="code">${answer}</pre>
      </details>`
    }
  </div>`;
}

/** Only failures without a translation are shown as stored. */
function notReached({ webhooks: { notReached: said, failures } }: Words, error: string): Markup {
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

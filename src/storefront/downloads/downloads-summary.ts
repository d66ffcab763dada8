import { loadPurchase } from '../../downloads/purchase.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { OpenedOrder } from '../order/customer-order.ts';
import { shopPath, type Visit } from '../visit.ts';

/** On the page of the order: what there is, and the way to it. */
export async function downloadsSummary(visit: Visit, opened: OpenedOrder): Promise<Markup | false> {
  const { db, shopId, locale } = visit;
  const messages = messagesIn(locale).storefront.downloads;
  const { order, activity } = opened;
  const items = await loadPurchase(db, shopId, { order, activity, key: undefined });
  if (items.length === 0) return false;
  const isReady = items.some(({ isOpen }) => isOpen);
  const waits = items.some(({ delivery }) => delivery.beginsAt !== null || delivery.keysWaiting > 0);
  return html`<section class="todo" aria-labelledby="downloads">
    <h2 id="downloads">${messages.heading}</h2>
    ${isReady && html`<p>${messages.summary}</p>`} ${waits && html`<p>${messages.waits}</p>`}
    <p><a class="button" href="${shopPath(visit, `${opened.path}/downloads`)}">${messages.open}</a></p>
  </section>`;
}

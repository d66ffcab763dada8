import type { Transaction } from '../db/database.ts';
import { notFound } from '../http/errors.ts';
import { messagesIn } from '../kernel/messages.ts';
import { anyText } from '../catalogue/products/render.ts';
import { recordHistory } from '../orders/history.ts';
import { lockOrderWithActivity } from '../orders/change.ts';
import type { ContentLine } from '../pricing/content.ts';
import { shopSettings, type Settings } from '../shops/settings/settings.ts';
import { findDownloadDeliveries } from './delivery-queries.ts';
import { supplyLocked } from './supply.ts';

/** The words to which the customer agrees, the same as at the checkout. */
export function consentText(
  lines: readonly Pick<ContentLine, 'name'>[],
  { defaultLocale }: Pick<Settings, 'defaultLocale'>,
  locale: string,
): string {
  const { language, checkout } = messagesIn(locale).storefront;
  const names = lines.map(({ name }) => anyText(name, locale, defaultLocale) ?? '');
  return checkout.consents.digitalContent({
    items: new Intl.ListFormat(language).format([...new Set(names)]),
  });
}

/**
 * The customer agrees on the order page that the supply begins before the withdrawal period ends: of an order that was
 * placed without it, such as one of an app. It is stored with the lines, word for word, the supply begins at once, and
 * the email about it confirms the consent (Directive 2011/83/EU, articles 8 (7) and 16 (m)).
 */
export async function giveConsent(
  tx: Transaction,
  shopId: string,
  orderId: string,
  locale: string,
): Promise<void> {
  const locked = await lockOrderWithActivity(tx, shopId, orderId);
  if (!locked || locked.order.erasedAt) throw notFound();
  const { order } = locked;
  const settings = await shopSettings(tx, shopId);
  const waiting = (await findDownloadDeliveries(tx, shopId, [orderId])).filter(
    ({ beginsAt }) => beginsAt !== null,
  );
  const ids = waiting.map(({ lineItemId }) => lineItemId);
  const lines = order.content.lines.filter(({ lineItemId }) => ids.includes(lineItemId));
  // It was sent twice.
  if (lines.length === 0) return;
  const withdrawalConsent = { at: tx.now.toISOString(), text: consentText(lines, settings, locale) };
  const content = {
    ...order.content,
    lines: order.content.lines.map((line) => (lines.includes(line) ? { ...line, withdrawalConsent } : line)),
  };
  await recordHistory(tx, shopId, orderId, { appId: null, kind: 'consent given', details: { lines: ids } });
  await supplyLocked(tx, shopId, locked, { content });
}

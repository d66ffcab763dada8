import { anyText } from '../../catalogue/products/render.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { ContentShipping } from '../../pricing/content.ts';
import type { Visit } from '../visit.ts';

/** Where and when the customer collects the goods, line by line; false: they are sent, or the shop has not said it. */
export function pickupText(
  { locale, settings }: Pick<Visit, 'locale' | 'settings'>,
  pickup: ContentShipping['pickup'],
): Markup | false {
  if (!pickup) return false;
  const messages = messagesIn(locale).storefront.checkout;
  const rows = [
    { label: messages.pickupPlace, texts: pickup.place },
    { label: messages.openingHours, texts: pickup.hours },
  ].flatMap(({ label, texts }) => {
    const text = anyText(texts, locale, settings.defaultLocale);
    return text ? [{ label, lines: text.split('\n') }] : [];
  });
  return html`<small>
    ${rows.map(
      ({ label, lines }, index) =>
        html`${index > 0 && html`<br />`}${label}:
        ${lines.map((line, at) => html`${at > 0 && html`<br />`}${line}`)}`,
    )}
  </small>`;
}

import type { ProductFacts } from '../../catalogue/products/facts.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';

/** Says that a product is sold without the right of withdrawal, and why; nothing where it has the right. */
export function withdrawalNote(
  { locale, settings }: Pick<Visit, 'locale' | 'settings'>,
  { withdrawalExcluded }: Pick<ProductFacts, 'withdrawalExcluded'>,
): Markup | false {
  // A shop that sells to businesses only has no right of withdrawal to be excluded from.
  if (withdrawalExcluded === undefined || settings.withdrawal.days === 0) return false;
  return html`<p class="no-withdrawal">
    <small>${messagesIn(locale).storefront.withdrawal.excluded[withdrawalExcluded]}</small>
  </p>`;
}

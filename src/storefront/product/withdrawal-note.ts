import type { WithdrawalExclusion } from '../../catalogue/products/facts.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';

type NoteVisit = Pick<Visit, 'locale' | 'settings'>;

/** Says that a line of a cart is sold without the right of withdrawal, and why; nothing where it has the right. */
export function withdrawalNote(
  visit: NoteVisit,
  { withdrawalExcluded }: { withdrawalExcluded?: WithdrawalExclusion },
): Markup | false {
  return note(visit, withdrawalExcluded);
}

type Withdrawable = Pick<
  Product,
  'withdrawalExcluded' | 'isCustomizable' | 'isCustomizableTextRequired' | 'isCustomizableTextWithdrawable'
>;

/** The same for a product: one that takes a text may be sold without the right only with the text. */
export function productWithdrawalNote(visit: NoteVisit, product: Withdrawable): Markup | false {
  return note(visit, exclusionOf(product));
}

/** The same as text; undefined: it has the right. */
export function productWithdrawalText(visit: NoteVisit, product: Withdrawable): string | undefined {
  return noteText(visit, exclusionOf(product));
}

function exclusionOf(product: Withdrawable): WithdrawalExclusion | 'withText' | undefined {
  const { isCustomizable, isCustomizableTextRequired, isCustomizableTextWithdrawable } = product;
  const isPersonalised = isCustomizable && !isCustomizableTextWithdrawable;
  const withText = isCustomizableTextRequired ? 'madeToMeasure' : 'withText';
  return product.withdrawalExcluded ?? (isPersonalised ? withText : undefined);
}

function note(visit: NoteVisit, reason: WithdrawalExclusion | 'withText' | undefined): Markup | false {
  const text = noteText(visit, reason);
  if (text === undefined) return false;
  return html`<p class="no-withdrawal"><small>${text}</small></p>`;
}

function noteText(
  { locale, settings }: NoteVisit,
  reason: WithdrawalExclusion | 'withText' | undefined,
): string | undefined {
  // A shop that sells to businesses only has no right of withdrawal to be excluded from.
  if (reason === undefined || settings.withdrawal.days === 0) return undefined;
  return messagesIn(locale).storefront.withdrawal.excluded[reason];
}

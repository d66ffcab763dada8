import type { NewOrder } from '../orders/insert-orders.ts';
import { messagesIn } from '../kernel/messages.ts';
import type { Content, ContentLine } from '../pricing/content.ts';
import { anyText } from '../catalogue/products/render.ts';
import type { Settings } from '../shops/settings/settings.ts';

/**
 * The reasons by which the right of withdrawal ends only if the customer has agreed to an early beginning: Directive
 * 2011/83/EU, article 16 (a) and (m).
 */
export const CONSENT_KINDS = ['digitalContent', 'servicePerformed'] as const;
export type ConsentKind = (typeof CONSENT_KINDS)[number];

export interface AskedConsent {
  kind: ConsentKind;
  /** The text that the customer agrees to, with the names of the items. */
  text: string;
}

/** The consents that this content requires of the customer. A shop that sells only to businesses requires none. */
export function requiredConsents(
  { lines }: Pick<Content, 'lines'>,
  { withdrawal, defaultLocale }: Pick<Settings, 'withdrawal' | 'defaultLocale'>,
  locale: string,
): AskedConsent[] {
  if (withdrawal.days === 0) return [];
  const messages = messagesIn(locale).storefront.checkout.consents;
  const list = new Intl.ListFormat(messagesIn(locale).storefront.language);
  return CONSENT_KINDS.flatMap((kind) => {
    const names = lines
      .filter((line) => line.withdrawalExcluded === kind)
      .map(({ name }) => anyText(name, locale, defaultLocale) ?? '');
    return names.length === 0
      ? []
      : [{ kind, text: messages[kind]({ items: list.format([...new Set(names)]) }) }];
  });
}

/** Stores the given consents, word for word, with the lines that they are about. */
export function withConsents(order: NewOrder, consents: readonly AskedConsent[]): NewOrder {
  const at = order.createdAt.toISOString();
  const consented = (line: ContentLine): ContentLine => {
    const text = consents.find(({ kind }) => kind === line.withdrawalExcluded)?.text;
    return text === undefined ? line : { ...line, withdrawalConsent: { at, text } };
  };
  return { ...order, content: { ...order.content, lines: order.content.lines.map(consented) } };
}

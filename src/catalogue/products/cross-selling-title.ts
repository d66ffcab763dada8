import { textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Settings } from '../../shops/settings/settings.ts';

/** The heading above the products that go well with another one. */
export function crossSellingTitle(
  settings: Pick<Settings, 'crossSellingTitle' | 'defaultLocale'>,
  locale: string,
): string {
  return (
    textIn(settings.crossSellingTitle, locale, settings.defaultLocale) ??
    messagesIn(locale).products.goesWellWith
  );
}

import { languageTag } from '../http/locale.ts';
import { messagesIn } from '../kernel/messages.ts';
import type { DaySpan } from './delivery-span.ts';

/** `Expected delivery: Tue 17 November – Thu 19 November` */
export function deliveryText(days: DaySpan, locale: string): string {
  return messagesIn(locale).deliverySpan.arrives({ days: daySpanText(days, locale) });
}

/** `Tue 17 November – Thu 19 November` */
export function daySpanText({ from, to }: DaySpan, locale: string): string {
  const format = new Intl.DateTimeFormat(languageTag(locale), {
    weekday: 'short',
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  });
  return format.formatRange(new Date(from), new Date(to));
}

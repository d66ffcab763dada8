import { expectedDayText } from '../catalogue/products/availability-text.ts';
import { formatsOf } from '../http/formats.ts';
import { messagesIn } from '../kernel/messages.ts';

/** `2 not in stock yet, expected around 1 March 2027`. */
export function waitText(
  { quantity, expectedOn }: { quantity: string; expectedOn?: string | null | undefined },
  locale: string,
): string {
  const messages = messagesIn(locale).backorders;
  const amount = formatsOf(locale).quantity.format(Number(quantity));
  return expectedOn
    ? messages.waitingUntil({ quantity: amount, date: expectedDayText(expectedOn, locale) })
    : messages.waitingFor({ quantity: amount });
}

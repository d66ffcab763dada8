import { languageTag } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { countryName } from '../countries/countries.ts';
import type { Settings } from '../settings/settings.ts';

/** `Packaging register (Germany): DE1234567890123` */
export function registrationText(
  { country, kind, number }: Settings['producerRegistrations'][number],
  locale: string,
): string {
  const messages = messagesIn(locale).registrations;
  return messages.number({
    kind: messages.kinds[kind],
    country: countryName(country, languageTag(locale)),
    number,
  });
}

import { Refusal, type HttpError } from '../../http/errors.ts';
import type { RefusalValue, RefusalValues, SharedRefusalCode } from '../../http/refusals.ts';
import { formatMoney } from '../../kernel/money.ts';
import type { AdminMessages, Language } from '../messages.ts';

/** The labels of fields by the last part of their path: `city` for `billingAddress.city`. */
export type Labels = Readonly<Record<string, string>>;

/** The words of every refusal that a page can meet; a missing one, or one that names an unknown value, does not compile. */
type RefusalTexts = {
  readonly [Code in SharedRefusalCode]:
    | string
    | ((values: { readonly [Name in keyof RefusalValues<Code>]: string }) => string);
};

interface Reader {
  messages: AdminMessages;
  language: Language;
}

/** A refusal in the reader's language. Pages of the admin throw theirs in that language already. */
export function refusalText(reader: Reader, refusal: HttpError, labels: Labels = {}): string {
  if (refusal.problems.length > 0) return problemsText(reader, refusal, labels);
  return refusal instanceof Refusal ? wordsOf(reader, refusal) : refusal.message;
}

function problemsText({ messages }: Reader, { problems }: HttpError, labels: Labels): string {
  return problems
    .map(({ code, field }) => {
      const name = field
        .split(/[./]/)
        .at(-1)!
        .replace(/\[\d+\]$/, '');
      return `${labels[name] ?? name} ${messages.validation[code]}.`;
    })
    .join(' ');
}

function wordsOf({ messages, language }: Reader, { code, values }: Refusal): string {
  const { refusals } = messages;
  const texts: RefusalTexts = refusals;
  const text = Object.hasOwn(texts, code) ? texts[code as SharedRefusalCode] : refusals.other;
  if (typeof text === 'string') return text;
  const shown = Object.entries(values).map(([name, value]) => [name, shownValue(value, language)]);
  return (text as (values: Readonly<Record<string, string>>) => string)(Object.fromEntries(shown));
}

function shownValue(value: RefusalValue, language: Language): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return new Intl.NumberFormat(language).format(value);
  return 'currency' in value ? formatMoney(value.minor, value.currency, language) : value.join(', ');
}

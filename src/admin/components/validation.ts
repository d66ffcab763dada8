import { HttpError, Refusal, type FieldProblem } from '../../http/errors.ts';
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

/** A page refuses the value of a field, in the reader's language. */
export class FieldRefusal extends HttpError {
  /** The name of the input. */
  readonly field: string;

  constructor(field: string, text: string, status = 400) {
    super(status, text);
    this.field = field;
  }
}

export const refuseField = (field: string, text: string, status?: number) =>
  new FieldRefusal(field, text, status);

/** A refused operation as the problem of the input that `find` names for the place of the value: `[1] /ean.value`. */
export function refusalBeside(
  error: unknown,
  reader: Reader,
  find: (place: string) => { input: string; label: string } | undefined,
): unknown {
  if (!(error instanceof HttpError)) return error;
  const [problem] = error.problems;
  const place = problem?.field ?? (error instanceof Refusal ? error.field : undefined);
  const found = place === undefined ? undefined : find(place);
  if (!found) return error;
  const text = problem
    ? `${found.label} ${reader.messages.validation[problem.code]}.`
    : refusalText(reader, error);
  return refuseField(found.input, text, error.status);
}

/** A refusal in the reader's language. Pages of the admin throw theirs in that language already. */
export function refusalText(reader: Reader, refusal: HttpError, labels: Labels = {}): string {
  if (refusal.problems.length > 0) return problemsText(reader, refusal, labels);
  return refusal instanceof Refusal ? wordsOf(reader, refusal) : refusal.message;
}

/** The problems of a refusal by the fields that they are about, to be shown beside these. */
export function problemsByField(
  reader: Reader,
  refusal: HttpError,
  labels: Labels = {},
): Readonly<Record<string, string>> {
  const problems = refusal.problems.map((problem) => [
    nameOf(problem.field),
    problemText(reader, problem, labels),
  ]);
  const { field } = refusal as { field?: unknown };
  if (typeof field === 'string') problems.push([field, refusalText(reader, refusal, labels)]);
  return Object.fromEntries(problems);
}

const problemsText = (reader: Reader, { problems }: HttpError, labels: Labels) =>
  problems.map((problem) => problemText(reader, problem, labels)).join(' ');

export function problemText({ messages }: Reader, { code, field }: FieldProblem, labels: Labels): string {
  const name = nameOf(field);
  return `${labels[name] ?? name} ${messages.validation[code]}.`;
}

/** `city` for `billingAddress.city`, and for `cities[1]`: `cities`. */
const nameOf = (field: string) =>
  field
    .split(/[./]/)
    .at(-1)!
    .replace(/\[\d+\]$/, '');

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

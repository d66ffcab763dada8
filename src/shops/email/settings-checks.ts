import { placeholderMeanings, type EmailKind } from '../../platform/email/kind.ts';
import { LINES, placeholdersIn } from '../../platform/email/placeholders.ts';
import { shown, type Problem } from '../settings/problem.ts';
import { textProblems, type Frame } from '../settings/rules.ts';
import type { MailTexts } from '../settings/settings.ts';

/** Checks what no schema can express about a shop's own words: its locales, and the placeholders of each kind. */
export function* emailTextProblems(
  kinds: readonly EmailKind[],
  texts: MailTexts,
  frame: Frame,
): Generator<Problem> {
  for (const [name, byLocale] of Object.entries(texts)) {
    yield* textProblems(['mails', name], byLocale, frame);
    const known = Object.keys(placeholderMeanings(kinds.find((kind) => kind.name === name)!));
    // A table does not fit into a subject.
    const knownInSubject = known.filter((placeholder) => placeholder !== LINES);
    for (const [locale, { subject = '', text = '' }] of Object.entries(byLocale)) {
      const path = ['mails', name, locale];
      yield* unknownPlaceholders([...path, 'subject'], subject, knownInSubject);
      yield* unknownPlaceholders([...path, 'text'], text, known);
    }
  }
}

function* unknownPlaceholders(
  path: readonly string[],
  words: string,
  known: readonly string[],
): Generator<Problem> {
  for (const name of new Set(placeholdersIn(words))) {
    if (known.includes(name)) continue;
    const allowed = known.map((one) => `{${one}}`).join(', ');
    yield { path, text: `names ${shown(`{${name}}`)}, expected one of ${allowed}` };
  }
}

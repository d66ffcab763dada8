import { shown, type Problem } from '../../shops/settings/problem.ts';
import { textProblems, type Frame } from '../../shops/settings/rules.ts';
import type { SettingsFile } from '../../shops/settings/schema.ts';
import { LINES, namedIn } from './placeholders.ts';
import { templateGuide, type TemplateName } from './templates.ts';

/** What no schema can say about a shop's own words: its locales, and the facts that a mail has. */
export function* mailProblems(mails: NonNullable<SettingsFile['mails']>, frame: Frame): Generator<Problem> {
  for (const [template, byLocale] of Object.entries(mails)) {
    yield* textProblems(['mails', template], byLocale, frame);
    const known = Object.keys(templateGuide(template as TemplateName).meanings);
    for (const [locale, { subject = '', text = '' }] of Object.entries(byLocale)) {
      const path = ['mails', template, locale];
      // A table does not fit into a subject.
      yield* unknownPlaceholders(
        [...path, 'subject'],
        subject,
        known.filter((name) => name !== LINES),
      );
      yield* unknownPlaceholders([...path, 'text'], text, known);
    }
  }
}

function* unknownPlaceholders(
  path: readonly string[],
  words: string,
  known: readonly string[],
): Generator<Problem> {
  for (const name of new Set(namedIn(words))) {
    if (known.includes(name)) continue;
    const allowed = known.map((one) => `{${one}}`).join(', ');
    yield { path, text: `names ${shown(`{${name}}`)}, expected one of ${allowed}` };
  }
}

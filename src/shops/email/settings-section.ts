import { Type } from 'typebox';
import { placeholderMeanings, type EmailKind } from '../../platform/email/kind.ts';
import { LINES, placeholdersIn } from '../../platform/email/placeholders.ts';
import { shown, type Problem } from '../settings/problem.ts';
import { textProblems, type Frame } from '../settings/rules.ts';
import { EmailTexts, Mails, type MailTexts } from '../settings/schema.ts';
import type { SettingsSection } from '../settings/section.ts';

/**
 * The section `mails` of the settings file, with the kinds of email that there are. It keeps its first name, because
 * shops have it in their files. The texts are stored with the other settings.
 */
export function emailTextsSection(kinds: readonly EmailKind[]): SettingsSection<MailTexts> {
  const { description, examples } = Mails as { description?: string; examples?: unknown[] };
  return {
    name: 'mails',
    schema: Type.Unsafe<MailTexts>({
      type: 'object',
      properties: Object.fromEntries(kinds.map((kind) => [kind.name, textsSchema(kind)])),
      additionalProperties: false,
      description,
      examples,
    }),
    checks: (texts, frame) => emailTextProblems(kinds, texts, frame),
    // In the order of the kinds, because the database has none.
    read: async (_db, { mailTexts }) =>
      Object.fromEntries(
        kinds.flatMap(({ name }) => (mailTexts[name] === undefined ? [] : [[name, mailTexts[name]]])),
      ),
  };
}

function textsSchema(kind: EmailKind) {
  const placeholders = Object.entries(placeholderMeanings(kind)).map(([key, text]) => `{${key}}: ${text}`);
  return {
    ...EmailTexts,
    description: `${kind.occasion} Placeholders: ${placeholders.join(' ')}`,
    examples: [kind.example],
  };
}

/** Checks what no schema can express: the locales of the shop, and the placeholders of each kind. */
function* emailTextProblems(kinds: readonly EmailKind[], texts: MailTexts, frame: Frame): Generator<Problem> {
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
    const placeholder = shown(`{${name}}`);
    yield {
      path,
      text: `names ${placeholder}, expected one of ${allowed}`,
      rule: { name: 'foreignPlaceholder', placeholder, allowed },
    };
  }
}

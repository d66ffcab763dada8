import { Type } from 'typebox';
import { placeholderMeanings, type EmailKind } from '../../platform/email/kind.ts';
import { LINES, placeholdersIn } from '../../platform/email/placeholders.ts';
import { shown, type Problem } from '../settings/problem.ts';
import { textProblems, type Frame } from '../settings/rules.ts';
import { EmailTexts, Mails, type MailTexts } from '../settings/schema/texts.ts';
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
    const kind = kinds.find((one) => one.name === name)!;
    const known = Object.keys(placeholderMeanings(kind));
    // A table does not fit into a subject.
    const knownInSubject = known.filter((placeholder) => placeholder !== LINES);
    for (const [locale, { subject = '', text = '' }] of Object.entries(byLocale)) {
      const path = ['mails', name, locale];
      // Texts saved with a former placeholder must not keep the shop from saving other changes.
      const saved = frame.mailTexts?.[name]?.[locale];
      if (subject !== saved?.subject) {
        yield* placeholderProblems([...path, 'subject'], subject, knownInSubject, kind);
      }
      if (text !== saved?.text) yield* placeholderProblems([...path, 'text'], text, known, kind);
    }
  }
}

function* placeholderProblems(
  path: readonly string[],
  words: string,
  known: readonly string[],
  { formerPlaceholders = [] }: EmailKind,
): Generator<Problem> {
  for (const name of new Set(placeholdersIn(words))) {
    if (known.includes(name)) continue;
    const placeholder = shown(`{${name}}`);
    if (formerPlaceholders.includes(name)) {
      yield {
        path,
        text: `names ${placeholder}, but a link that carries a secret is never part of the words: it always stands below them`,
        rule: { name: 'secretPlaceholder', placeholder },
      };
    } else {
      const allowed = known.map((one) => `{${one}}`).join(', ');
      yield {
        path,
        text: `names ${placeholder}, expected one of ${allowed}`,
        rule: { name: 'foreignPlaceholder', placeholder, allowed },
      };
    }
  }
}

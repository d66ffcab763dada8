import { Type, type Static } from 'typebox';
import { UNIT_KEYS } from '../../../kernel/units.ts';
import {
  byLocale,
  Pattern,
  Key,
  LINES_OF_TEXT,
  LOCALE,
  MapOf,
  OneLine,
  OrNull,
  Plain,
  Section,
} from '../fields.ts';

export const Newsletter = Section({
  identifier: Key('Its name; the id belongs to it.', 'TideLetter_EN'),
  name: Plain('Name for readers.', 'The tide letter'),
  language: Pattern('^[a-z]{2}$', 'Two letters.', 'en'),
  description: OrNull(Plain('Text.', 'Once a month', 10_000)),
  subject: OrNull(Plain('Subject of the email.', 'News from the pier')),
});

/** One definition that all 57 units refer to. */
export const UnitNameTexts = MapOf(
  LOCALE,
  Section({
    long: Plain('Name.', 'Stück'),
    short: Type.Optional(Plain('Sign.', 'St.', 32)),
  }),
  'Names of the unit by locale.',
  { de_DE: { long: 'Stück', short: 'St.' } },
);

export const Units = Type.Unsafe<Record<string, Static<typeof UnitNameTexts>>>({
  type: 'object',
  properties: Object.fromEntries(
    UNIT_KEYS.map((key) => [key, byLocale('keep', { $ref: '#/definitions/unitNames' })]),
  ),
  additionalProperties: false,
  description:
    'Names of units in the languages of the shop; the English, German and French ones are built in.',
  examples: [{ piece: { de_DE: { long: 'Stück', short: 'St.' } } }],
});

/** The maximum length of a shop's own email texts. */
export const MAX_EMAIL_SUBJECT_LENGTH = 255;
export const MAX_EMAIL_TEXT_LENGTH = 10_000;

/** A shop's own texts for one kind of email, by locale. */
export const EmailTexts = byLocale(
  'copy',
  MapOf(
    LOCALE,
    Type.Object(
      {
        subject: Type.Optional(
          OneLine(
            'Subject, with placeholders. Absent: the built-in one.',
            'News on {orderNumber}',
            MAX_EMAIL_SUBJECT_LENGTH,
          ),
        ),
        text: Type.Optional(
          Pattern(
            LINES_OF_TEXT,
            'Paragraphs, with blank lines between them; no markup. A line with a placeholder that has nothing to say is left out; {lines} is a table, which stands at the end when it is not named. Absent: the built-in text.',
            'Dear customer,\n\n{shopName} thanks you.',
            MAX_EMAIL_TEXT_LENGTH,
          ),
        ),
      },
      { additionalProperties: false, minProperties: 1, description: 'Words in one locale.' },
    ),
    'Words for one kind of email.',
    { en_GB: { subject: 'News on {orderNumber}' } },
    { minProperties: 1 },
  ),
);

/** By the name of the kind, which is not known here: `shops/email/settings-section.ts` adds the kinds. */
export const Mails = MapOf(
  '^[a-z][A-Za-z]*$',
  EmailTexts,
  "The shop's own texts for emails, by locale. An email uses the texts of its locale, otherwise those of another locale of the same language, otherwise those of the default locale, otherwise the built-in texts (English, German, French).",
  { order: { en_GB: { subject: 'Order {orderNumber}' } } },
);

export type MailTexts = Static<typeof Mails>;

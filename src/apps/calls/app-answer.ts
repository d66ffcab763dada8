import { Type, type Static, type TSchema } from 'typebox';
import { AnswerProblem } from './answer.ts';
import { MANIFEST_LINE } from '../manifest/schema.ts';
import type { Localised } from '../../http/locale.ts';
import { compileBody } from '../../http/validation.ts';
import type { Settings } from '../../shops/settings/settings.ts';

/** A text of an app: one for all languages, or one for each. */
export const appText = (maxLength: number, pattern = MANIFEST_LINE) =>
  Type.Union([
    Type.String({ maxLength, pattern }),
    Type.Record(Type.String({ pattern: '^[a-z]{2}$' }), Type.String({ maxLength, pattern }), {
      minProperties: 1,
      maxProperties: 20,
      additionalProperties: false,
    }),
  ]);

/** The name of something. */
export const AppText = appText(100);

/** The answer, if it has this form. Throws an AnswerProblem. */
export function answerOf<Schema extends TSchema>(schema: Schema, answer: unknown): Static<Schema> {
  const validate = compileBody(schema);
  if (validate(answer)) return answer as Static<Schema>;
  const [error] = validate.errors ?? [];
  throw new AnswerProblem(`The answer is not valid: ${error?.instancePath ?? ''} ${error?.message ?? ''}`);
}

/** What an app says by language, in the locales of the shop: English stands in for a language that it does not have. */
export function inLocales(text: string | Localised, { locales }: Pick<Settings, 'locales'>): Localised {
  if (typeof text === 'string') return Object.fromEntries(locales.map((locale) => [locale, text]));
  const standIn = text['en'] ?? Object.values(text)[0]!;
  return Object.fromEntries(locales.map((locale) => [locale, text[locale.slice(0, 2)] ?? standIn]));
}

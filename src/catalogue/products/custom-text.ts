import type { ProblemCode } from '../../http/errors.ts';
import type { Localised } from '../../http/locale.ts';
import type { ProductFacts, WithdrawalExclusion } from './facts.ts';

/** The longest text that a product may ask for, in characters; printed or engraved texts are far shorter. */
export const MAX_CUSTOM_TEXT_LENGTH = 10_000;

/** The default length. */
const STANDARD_LENGTH = 200;

/**
 * Characters that no workshop can engrave and that would break a page or a document: controls, line breaks, halves of
 * surrogates, and marks that change the direction of the surrounding text.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/u;

/** The text that a customer has typed for a product; undefined: none. */
export function givenText(typed: string | null | undefined): string | undefined {
  const text = typed?.trim().normalize('NFC');
  return text === '' ? undefined : text;
}

type Customisation = NonNullable<ProductFacts['customisation']>;

/** The headline of the field by locale. */
export function headlineTexts(
  { headline, headlines }: Pick<Customisation, 'headline' | 'headlines'>,
  defaultLocale: string,
): Localised {
  return { ...(headline !== '' && { [defaultLocale]: headline }), ...headlines };
}

/** Sets the headline in one locale, or removes it with an empty text; those of other locales stay. */
export function withHeadline(
  old: Customisation | undefined,
  text: string,
  locale: string,
  defaultLocale: string,
): Pick<Customisation, 'headline' | 'headlines'> {
  const { [defaultLocale]: headline = '', ...headlines } = Object.fromEntries(
    Object.entries({ ...(old && headlineTexts(old, defaultLocale)), [locale]: text }).filter(
      ([, one]) => one !== '',
    ),
  );
  return { headline, ...(Object.keys(headlines).length > 0 && { headlines }) };
}

export function maxTextLength({ textLength }: Pick<Customisation, 'textLength'>): number {
  return textLength || STANDARD_LENGTH;
}

/**
 * Why a consumer can't withdraw from a product that was ordered with or without a text; undefined: it has the right.
 * Goods with a text are personalised (Consumer Rights Directive, article 16, letter c), unless the merchant takes them
 * back all the same.
 */
export function withdrawalExclusion(
  withdrawalExcluded: WithdrawalExclusion | undefined,
  customisation: ProductFacts['customisation'],
  text: string | undefined,
): WithdrawalExclusion | undefined {
  const isPersonalised = text !== undefined && !customisation?.isWithdrawable;
  return withdrawalExcluded ?? (isPersonalised ? 'madeToMeasure' : undefined);
}

export type CustomTextProblem = Extract<
  ProblemCode,
  'MISSING' | 'TOO_LONG' | 'WRONG_FORMAT' | 'UNKNOWN_VALUE'
>;

/** Why this text can't be ordered with a product; undefined: it can. */
export function customTextProblem(
  customisation: ProductFacts['customisation'],
  text: string | undefined,
): CustomTextProblem | undefined {
  if (text === undefined) return customisation?.isRequired ? 'MISSING' : undefined;
  if (!customisation) return 'UNKNOWN_VALUE';
  if (UNPRINTABLE.test(text)) return 'WRONG_FORMAT';
  return Array.from(text).length > maxTextLength(customisation) ? 'TOO_LONG' : undefined;
}

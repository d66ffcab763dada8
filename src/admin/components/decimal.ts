import type { Language } from '../messages.ts';

/** How people write decimals in a language. */
const COMMA: ReadonlySet<Language> = new Set(['de', 'fr']);

export const usesComma = (language: Language) => COMMA.has(language);

/**
 * Converts a typed number to the form that the operations accept: `1.234,50` and `1,234.50` are both 1234.50, and so
 * is `1234,5`. A single ambiguous separator is the decimal separator, unless three digits follow and the language uses
 * it for thousands. undefined: it is not a number.
 */
export function parseLocalisedDecimal(typed: string, language: Language): string | undefined {
  const text = typed.replaceAll(/[\s'’]/g, '').replace('−', '-');
  const signs = text.replaceAll(/[^.,]/g, '');
  const thousands = COMMA.has(language) ? '.' : ',';
  const last = signs.at(-1);
  const isRepeated = signs.length > 1 && new Set(signs).size === 1;
  const isThousands = last === thousands && /^-?\d{1,3}([.,]\d{3})+$/.test(text);
  const hasDecimals = last !== undefined && !isRepeated && !isThousands;
  const at = hasDecimals ? text.lastIndexOf(last) : text.length;
  const whole = text.slice(0, at).replaceAll(/[.,]/g, '');
  const decimals = text.slice(at + 1);
  const plain =
    decimals === '' ? whole : `${whole === '' || whole === '-' ? `${whole}0` : whole}.${decimals}`;
  return /^-?\d{1,12}(\.\d{1,10})?$/.test(plain) ? plain : undefined;
}

/** The same for a field whose operation refuses what is not a number: such text stays as it was typed. */
export function typedDecimal(typed: string, language: Language): string {
  return parseLocalisedDecimal(typed, language) ?? typed;
}

/** A decimal of the operations as a person types it; other text stays as it is. */
export function localisedDecimal(decimal: string, language: Language): string {
  return COMMA.has(language) && /^-?\d+\.\d+$/.test(decimal) ? decimal.replace('.', ',') : decimal;
}

/** A number as a field shows it, ready to be typed over: without thousands separators. */
export function decimalText(number: number, language: Language, digits?: number): string {
  const text = digits === undefined ? String(number) : number.toFixed(digits);
  return COMMA.has(language) ? text.replace('.', ',') : text;
}

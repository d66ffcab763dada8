import { languageTag } from './locale.ts';

/** `1,234.5` */
export function formatNumber(amount: number, locale: string): string {
  return new Intl.NumberFormat(languageTag(locale), { maximumFractionDigits: 6 }).format(amount);
}

/**
 * `7,5 m`, `1 piece`, `2 pieces`. The names of units hold the ending of the plural in parentheses, as in `piece(s)`,
 * or both forms with a slash between them, as in `foot / feet`; the space is non-breaking, so a line never ends
 * between a number and its unit.
 */
export function amountWithUnit(amount: number, unit: string, locale: string): string {
  return `${formatNumber(amount, locale)}\u00a0${unitText(amount, unit, locale)}`;
}

export function unitText(amount: number, unit: string, locale: string): string {
  const isOne = new Intl.PluralRules(languageTag(locale)).select(amount) === 'one';
  const [singular, plural = singular] = unit.split(' / ') as [string, string?];
  return (isOne ? singular : plural).replace(/\((\p{L}+)\)$/u, isOne ? '' : '$1');
}

/**
 * A decimal as people type it, in the form that the operations take: `1.234,50` and `1 234.50` are 1234.50. Of two kinds
 * of separators the last one is the decimal one, and a single comma always is. What is no number stays as it is, and is
 * refused by the operation.
 */
export function typedDecimal(text: string): string {
  const digits = text.replaceAll(/[\s\u00a0\u202f'’]/g, '');
  const comma = digits.lastIndexOf(',');
  const point = digits.lastIndexOf('.');
  if (comma > point) return digits.replaceAll('.', '').replace(',', '.');
  return digits.replaceAll(',', '');
}

/**
 * Converts a typed decimal to the form that the operations accept: `1.234,50` and `1 234.50` are 1234.50. Of two kinds
 * of separators the last one is the decimal separator, and a single comma always is. Text that is not a number stays
 * unchanged, and the operation refuses it.
 */
export function typedDecimal(text: string): string {
  const digits = text.replaceAll(/[\s\u00a0\u202f'’]/g, '');
  const comma = digits.lastIndexOf(',');
  const point = digits.lastIndexOf('.');
  if (comma > point) return digits.replaceAll('.', '').replace(',', '.');
  return digits.replaceAll(',', '');
}

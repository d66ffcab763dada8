/** Cells of other shops as values. A cell without a value is ''. */

/** `1,234.50`, `1.234,50`, `€ 12.00`, `.5` and `12` become decimals with a point. */
export function decimalIn(text: string): string {
  const plain = text.replaceAll(/[^\d.,-]/g, '');
  const [comma, point] = [plain.lastIndexOf(','), plain.lastIndexOf('.')];
  const sign = comma > point ? ',' : '.';
  const other = sign === ',' ? '.' : ',';
  const normal = plain
    .replaceAll(other, '')
    .replace(sign, '.')
    .replace(/^(?=\.)/, '0');
  return /^-?\d+(?:\.\d+)?$/.test(normal) ? normal : '';
}

/** `2026-11-15 09:30:00 +0200`, ISO 8601, and dates alone, which are UTC. */
export function momentIn(text: string): Date | undefined {
  const [, day, time, zone] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)\d*)? ?(Z|UTC|[+-]\d{2}:?\d{2})?$/.exec(
      text.trim(),
    ) ?? [];
  if (day === undefined) return undefined;
  const offset = zone === undefined || zone === 'UTC' ? 'Z' : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const moment = new Date(`${day}T${time ?? '00:00:00'}${offset}`);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

export const isYes = (text: string): boolean => /^(?:yes|true|1|y|ja|oui)$/i.test(text);

/** Texts between commas. */
export const listIn = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
];

/** `Ada Maud Brennan` as first and last name. */
export function namesIn(name: string): { firstName: string | null; lastName: string | null } {
  const parts = name.trim().split(/\s+/);
  const last = parts.pop() ?? '';
  return { firstName: parts.join(' ') || null, lastName: last || null };
}

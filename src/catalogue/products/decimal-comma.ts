/** How a file writes decimals: 1234.50 or 1234,50. */
export type DecimalSign = '.' | ',';

const WITH_COMMA = /^-?\d{1,3}(?:[. ']\d{3})*,\d+$|^-?\d+,\d+$/;
const WITH_POINT = /^-?\d{1,3}(?:[, ']\d{3})*\.\d+$|^-?\d+\.\d+$/;

/** The sign used by most numbers with decimals. `1,234` and `1.234` count little, because they may be thousands. */
export function decimalSignOf(cells: Iterable<string>): DecimalSign {
  let [commas, points] = [0, 0];
  for (const cell of cells) {
    const number = withoutCurrency(cell);
    const weight = /^-?\d{1,3}[.,]\d{3}$/.test(number) ? 0.01 : 1;
    if (WITH_COMMA.test(number)) commas += weight;
    if (WITH_POINT.test(number)) points += weight;
  }
  return commas > points ? ',' : '.';
}

/** The number in the program's notation; a cell that is not a number stays unchanged. */
export function plainNumber(cell: string, sign: DecimalSign): string {
  const number = withoutCurrency(cell);
  const [isNumber, thousands] =
    sign === ','
      ? [/^-?(?:\d+|\d{1,3}(?:[. ']\d{3})+)(?:,\d+)?$/, /[. ']/g]
      : [/^-?(?:\d+|\d{1,3}(?:[, ']\d{3})+)(?:\.\d+)?$/, /[, ']/g];
  return isNumber.test(number) ? number.replaceAll(thousands, '').replace(',', '.') : cell.trim();
}

/** `12,50 €`, `EUR 12.50`; blanks of all kinds become one kind. */
function withoutCurrency(cell: string): string {
  return cell
    .replaceAll(/\s/g, ' ')
    .replace(/^(?:\p{Sc}|[A-Z]{3}) ?/u, '')
    .replace(/ ?(?:\p{Sc}|[A-Z]{3})$/u, '')
    .trim();
}

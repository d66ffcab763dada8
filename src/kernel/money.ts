/**
 * Money is an integer in the minor unit of its currency (cents). Decimals exist only on the wire: they come in
 * through `toMinor` and go out through `toDecimal`.
 */

const digitsOf = new Map<string, number>();

/** How many decimals the currency has: 2 for EUR, 0 for JPY, 3 for KWD. */
export function currencyDigits(currency: string): number {
  let digits = digitsOf.get(currency);
  if (digits === undefined) {
    digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
      .maximumFractionDigits!;
    digitsOf.set(currency, digits);
  }
  return digits;
}

const known = new Set(Intl.supportedValuesOf('currency'));

export function isCurrency(code: string): boolean {
  return known.has(code);
}

/** Half away from zero, the commercial rule, on an exact fraction. */
export function divideRounded(numerator: bigint, denominator: bigint): bigint {
  if (denominator < 0n) return divideRounded(-numerator, -denominator);
  const sign = numerator < 0n ? -1n : 1n;
  return (sign * (2n * sign * numerator + denominator)) / (2n * denominator);
}

const EXACT = 2 ** 50;

/** `amount x factor / divisor`, rounded once; in whole numbers of any size. */
export function scaled(amount: number, factor: number, divisor: number): number {
  const product = amount * factor;
  // Within these bounds the quotient of two whole numbers is never rounded across a whole one.
  if (product >= 0 && product < EXACT && divisor < EXACT)
    return Math.floor((2 * product + divisor) / (2 * divisor));
  return Number(divideRounded(BigInt(amount) * BigInt(factor), BigInt(divisor)));
}

const MILLION = 1_000_000;

/**
 * `amount x factor / divisor`, rounded once, for decimals such as quantities and exchange rates; then the decimal
 * point is moved by `shift` digits.
 */
export function scaledByDecimals(
  amount: number,
  factor: number | string,
  divisor: number | string,
  shift = 0,
): number {
  const over = wholeMillionths(factor);
  const under = wholeMillionths(divisor);
  const [up, down] = [Math.max(shift, 0), Math.max(0 - shift, 0)];
  if (over !== undefined && under !== undefined) return scaled(amount, over * 10 ** up, under * 10 ** down);
  const times = parseDecimal(factor)!;
  const per = parseDecimal(divisor)!;
  return Number(
    divideRounded(
      BigInt(amount) * times.units * 10n ** BigInt(per.scale + up),
      per.units * 10n ** BigInt(times.scale + down),
    ),
  );
}

/** A decimal in millionths; undefined when it is too large or has too many decimals to be exact. */
function wholeMillionths(value: number | string): number | undefined {
  const number = Number(value);
  const millionths = Math.round(number * MILLION);
  // Below 100,000 a decimal has at most 15 digits, and two different ones are never the same number.
  return Math.abs(number) < 100_000 && millionths / MILLION === number ? millionths : undefined;
}

/** Percentage of an amount, rounded once. */
export function percentOf(minor: number, basisPoints: number): number {
  return scaled(minor, basisPoints, 10_000);
}

const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,10}))?$/;

/** An exact decimal as `units / 10^scale`; undefined for anything that is not a plain decimal number. */
export function parseDecimal(value: number | string): { units: bigint; scale: number } | undefined {
  const match = DECIMAL.exec(typeof value === 'number' ? decimalText(value) : value);
  if (!match) return undefined;
  const fraction = match[3] ?? '';
  const units = BigInt(match[2]! + fraction);
  return { units: match[1] ? -units : units, scale: fraction.length };
}

/** A number without an exponent and without the noise of binary fractions: 0.1 + 0.2 is 0.3. */
function decimalText(value: number): string {
  const text = String(value);
  return DECIMAL.test(text) ? text : value.toFixed(10);
}

/** 12.99 -> 1299; rounds half up when the amount has more decimals than the currency. */
export function toMinor(value: number | string, currency: string): number | undefined {
  const decimal = parseDecimal(value);
  if (!decimal) return undefined;
  const minor = divideRounded(
    decimal.units * 10n ** BigInt(currencyDigits(currency)),
    10n ** BigInt(decimal.scale),
  );
  return minor >= Number.MIN_SAFE_INTEGER && minor <= Number.MAX_SAFE_INTEGER ? Number(minor) : undefined;
}

/** 1299 -> 12.99; the division of two integers is the float nearest to the decimal, so it prints exactly. */
export function toDecimal(minor: number, currency: string): number {
  return minor / 10 ** currencyDigits(currency);
}

/**
 * An amount in another currency. Rates are decimal texts such as '0.85', from the common base currency; `fromRate` is
 * that of the amount's currency, if it is not the base itself.
 */
export function convert(minor: number, from: string, to: string, rate: string, fromRate = '1'): number {
  return scaledByDecimals(minor, rate, fromRate, currencyDigits(to) - currencyDigits(from));
}

interface Format {
  number: Intl.NumberFormat;
  sign: string;
  /** Prices repeat, and Intl is slow. */
  texts: Map<number, string>;
}

const MAX_TEXTS = 5_000;
/** By currency, then by locale. */
const formats = new Map<string, Map<string, Format>>();

function formatOf(locale: string, currency: string): Format {
  let ofCurrency = formats.get(currency);
  if (!ofCurrency) formats.set(currency, (ofCurrency = new Map()));
  let format = ofCurrency.get(locale);
  if (!format) {
    const tag = locale.replace('_', '-');
    const digits = currencyDigits(currency);
    const sign = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
      .formatToParts(0)
      .find((part) => part.type === 'currency')!.value;
    const number = new Intl.NumberFormat(tag, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      signDisplay: 'negative', // minus zero is zero
    });
    format = { number, sign, texts: new Map() };
    ofCurrency.set(locale, format);
  }
  return format;
}

/**
 * `1,234.50 €` in English, `1.234,50 €` in German: the number in the locale's format, a blank, then the sign. Blanks
 * and minus signs are plain ASCII, as the contract prints them (French groups with U+202F).
 */
export function formatMoney(minor: number, currency: string, locale: string): string {
  const { number, sign, texts } = formatOf(locale, currency);
  let text = texts.get(minor);
  if (text === undefined) {
    const amount = number
      .format(toDecimal(minor, currency))
      .replaceAll(/[\u00a0\u202f]/g, ' ')
      .replace('\u2212', '-');
    text = `${amount} ${sign}`;
    if (texts.size >= MAX_TEXTS) texts.clear();
    texts.set(minor, text);
  }
  return text;
}

/** Splits `amount` in proportion to `weights`; the parts always sum to the whole (largest remainder first). */
export function allocate(amount: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) throw new Error('allocate needs at least one weight above 0');
  const whole = Math.abs(amount);
  const shares = weights.map((weight) => divide(whole, weight, total));
  let rest = whole - shares.reduce((sum, { quotient }) => sum + quotient, 0);
  // The sort keeps the order of equal remainders.
  for (const share of shares.toSorted((a, b) => b.remainder - a.remainder)) {
    if (rest === 0) break;
    share.quotient += 1;
    rest -= 1;
  }
  return shares.map(({ quotient }) => (amount < 0 ? 0 - quotient : quotient));
}

/** `amount x factor / divisor`, rounded down, and the remainder; in whole numbers of any size. */
function divide(amount: number, factor: number, divisor: number): { quotient: number; remainder: number } {
  const product = amount * factor;
  if (product < EXACT) return { quotient: Math.floor(product / divisor), remainder: product % divisor };
  const exact = BigInt(amount) * BigInt(factor);
  return { quotient: Number(exact / BigInt(divisor)), remainder: Number(exact % BigInt(divisor)) };
}

/**
 * VAT numbers of the 27 member states, of Northern Ireland (XI), Great Britain and Switzerland: their form and their
 * check digits, without asking anybody. A number that fits may still not exist: only the tax authorities know.
 *
 * Some states give numbers that have no public check digits. Of these the form alone is checked: Czech numbers of
 * people born before 1954 (9 digits), French numbers whose key has letters, Latvian numbers of people that begin with
 * 32, and British numbers of the government and of health authorities.
 */
export interface VatNumberKind {
  /** The part after the prefix. */
  pattern: RegExp;
  /** In English, for settings files. */
  words: string;
  /** The part after the prefix, with check digits that fit. */
  example: string;
  /** Whether the check digits fit, for a number that has the form. */
  fits: (number: string) => boolean;
}

export interface VatNumber {
  /** EL for Greece. */
  prefix: string;
  /** With its prefix, in capitals, without blanks, dots and dashes. */
  number: string;
}

/** Why a text is not a VAT number. */
export type VatNumberProblem = 'form' | 'checkDigits';

/**
 * Reads a number as people write it. Without a prefix it gets the one of the country, because many write only what
 * stands on their invoices.
 */
export function parseVatNumber(text: string, country: string | null): VatNumber | VatNumberProblem {
  const written = text.toUpperCase().replaceAll(/[\s.\-/]/g, '');
  if (written.length > MAX_LENGTH) return 'form';
  const own = splitPrefix(written);
  const prefix = own?.prefix ?? (country === null ? undefined : vatPrefixOf(country));
  const kind = prefix === undefined ? undefined : VAT_NUMBER_KINDS.get(prefix);
  if (prefix === undefined || !kind) return 'form';
  const rest = withoutSuffix(prefix, own?.rest ?? written);
  if (!kind.pattern.test(rest)) return 'form';
  return kind.fits(rest) ? { prefix, number: prefix + rest } : 'checkDigits';
}

/**
 * Whether an address has a number that can't be right. Countries outside of the table have numbers of their own, which
 * are taken as they are.
 */
export function hasWrongVatNumber({ vatId, country }: { vatId: string; country: string }): boolean {
  if (typeof parseVatNumber(vatId, country) === 'object') return false;
  return vatPrefixOf(country) !== undefined || splitPrefix(vatId.toUpperCase().trimStart()) !== undefined;
}

/** More than the longest number with its blanks removed, so that no pattern meets a long text. */
const MAX_LENGTH = 24;

function splitPrefix(written: string): { prefix: string; rest: string } | undefined {
  const prefix = written.startsWith('CHE') ? 'CHE' : written.slice(0, 2).replace(/^GR$/, 'EL');
  return VAT_NUMBER_KINDS.has(prefix) ? { prefix, rest: written.slice(prefix.length) } : undefined;
}

/** The name of the tax in one of the languages ends a Swiss number. */
export const SWISS_SUFFIX = /(?:MWST|TVA|IVA|VAT)$/;

function withoutSuffix(prefix: string, rest: string): string {
  return prefix === 'CHE' ? rest.replace(SWISS_SUFFIX, '') : rest;
}

/** The prefix of the numbers of a country. Monaco belongs to the French territory of VAT, the Isle of Man to the British. */
export function vatPrefixOf(country: string): string | undefined {
  const special: Readonly<Record<string, string>> = { GR: 'EL', CH: 'CHE', LI: 'CHE', MC: 'FR', IM: 'GB' };
  const prefix = special[country] ?? country;
  return VAT_NUMBER_KINDS.has(prefix) ? prefix : undefined;
}

/** Whether VIES knows the numbers with this prefix: those of the member states and of Northern Ireland. */
export function isInVies(prefix: string): boolean {
  return VAT_NUMBER_KINDS.has(prefix) && prefix !== 'GB' && prefix !== 'CHE';
}

/** The digits of a text; other characters are left out. */
const digitsOf = (text: string): number[] =>
  Array.from(text)
    .filter((one) => one >= '0' && one <= '9')
    .map(Number);

const weighted = (number: string, weights: readonly number[]): number => {
  const digits = digitsOf(number);
  return weights.reduce((sum, weight, index) => sum + weight * digits[index]!, 0);
};

const lastDigit = (number: string): number => Number(number.at(-1));

/** Each product counts by the sum of its digits, as in the Luhn algorithm. */
const crossSum = (product: number): number => (product > 9 ? product - 9 : product);

/** ISO/IEC 7812-1: every second digit from the right is doubled, and the whole is divisible by 10. */
function fitsLuhn(number: string): boolean {
  const sum = digitsOf(number)
    .toReversed()
    .reduce((sum, digit, index) => sum + (index % 2 === 1 ? crossSum(2 * digit) : digit), 0);
  return sum % 10 === 0;
}

/** ISO 7064, MOD 11,10: Germany and Croatia. */
function fitsMod11And10(number: string): boolean {
  const product = digitsOf(number.slice(0, -1)).reduce((product, digit) => {
    const sum = (product + digit) % 10;
    return (2 * (sum === 0 ? 10 : sum)) % 11;
  }, 10);
  return (11 - product) % 10 === lastDigit(number);
}

/** The remainder of a decimal of any length. */
const remainder = (digits: string, divisor: number): number =>
  digitsOf(digits).reduce((rest, digit) => (rest * 10 + digit) % divisor, 0);

function fitsBulgarian(number: string): boolean {
  const last = lastDigit(number);
  if (number.length === 9) {
    const first = weighted(number, [1, 2, 3, 4, 5, 6, 7, 8]) % 11;
    const sum = first === 10 ? weighted(number, [3, 4, 5, 6, 7, 8, 9, 10]) % 11 : first;
    return sum % 10 === last;
  }
  // People, foreigners, and all others share the ten digits.
  const person = (weighted(number, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11) % 10;
  const foreigner = weighted(number, [21, 19, 17, 13, 11, 9, 7, 3, 1]) % 10;
  const other = (11 - (weighted(number, [4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return [person, foreigner, other].includes(last);
}

const CYPRIOT_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];

function fitsCypriot(number: string): boolean {
  const sum = digitsOf(number).reduce(
    (sum, digit, index) => sum + (index % 2 === 0 ? CYPRIOT_ODD[digit]! : digit),
    0,
  );
  return String.fromCodePoint(65 + (sum % 26)) === number.at(-1);
}

function fitsCzech(number: string): boolean {
  if (number.length === 9) return true;
  // The exception is of birth numbers from before 1985.
  if (number.length === 10) {
    return (
      remainder(number, 11) === 0 || (remainder(number.slice(0, 9), 11) === 10 && lastDigit(number) === 0)
    );
  }
  return (11 - (weighted(number, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === lastDigit(number);
}

const SPANISH_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';

function fitsSpanish(number: string): boolean {
  const last = number.at(-1)!;
  const middle = number.slice(1, -1);
  // People: 8 digits, or a letter of a foreigner (X, Y, Z) or of a person without papers (K, L, M).
  const person = /^[KLM]/.test(number)
    ? middle
    : number.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  const isPerson = /^[\dXYZKLM]/.test(number) && SPANISH_LETTERS[Number(person) % 23] === last;
  if (isPerson || /^[\dXYZ]/.test(number)) return isPerson;
  const sum = digitsOf(middle).reduce(
    (sum, digit, index) => sum + (index % 2 === 0 ? crossSum(2 * digit) : digit),
    0,
  );
  const check = (10 - (sum % 10)) % 10;
  return last === String(check) || last === 'JABCDEFGHI'[check];
}

function fitsFrench(number: string): boolean {
  if (!/^\d{2}/.test(number)) return true;
  return (12 + 3 * (Number(number.slice(2)) % 97)) % 97 === Number(number.slice(0, 2));
}

function fitsBritish(number: string): boolean {
  const branch = /^(GD|HA)(\d{3})$/.exec(number);
  if (branch) return branch[1] === 'GD' ? Number(branch[2]) < 500 : Number(branch[2]) >= 500;
  const sum = weighted(number, [8, 7, 6, 5, 4, 3, 2]) + Number(number.slice(7, 9));
  // Numbers since 2010 have an offset of 55.
  return sum % 97 === 0 || (sum + 55) % 97 === 0;
}

const IRISH_LETTERS = 'WABCDEFGHIJKLMNOPQRSTUV';

function fitsIrish(number: string): boolean {
  const old = /^(\d)[A-Z+*](\d{5})([A-Z])$/.exec(number);
  const digits = old ? `0${old[2]}${old[1]}` : number.slice(0, 7);
  const letter = old ? old[3]! : number[7]!;
  // A second letter counts nine times, W as nothing.
  const second = number.length === 9 ? IRISH_LETTERS.indexOf(number[8]!) : 0;
  if (second === -1) return false;
  return IRISH_LETTERS[(weighted(digits, [8, 7, 6, 5, 4, 3, 2]) + 9 * second) % 23] === letter;
}

function fitsLithuanian(number: string): boolean {
  const sumOf = (start: number) =>
    weighted(
      number,
      Array.from({ length: number.length - 1 }, (_, index) => ((start - 1 + index) % 9) + 1),
    ) % 11;
  const first = sumOf(1);
  return (first === 10 ? sumOf(3) % 10 : first) === lastDigit(number) && number.at(-2) === '1';
}

function fitsLatvian(number: string): boolean {
  if (number.startsWith('32')) return true;
  // Companies begin with 4 to 9; the numbers of people with their date of birth.
  if (Number(number[0]) > 3) return weighted(number, [9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1]) % 11 === 3;
  return ((1 + weighted(number, [10, 5, 8, 4, 2, 1, 6, 3, 7, 9])) % 11) % 10 === lastDigit(number);
}

/** Letters as 10 to 35, + as 36 and * as 37. */
const toDigits = (text: string): string =>
  text.replaceAll(/[A-Z+*]/g, (sign) =>
    sign === '+' ? '36' : sign === '*' ? '37' : String(sign.codePointAt(0)! - 55),
  );

function fitsDutch(number: string): boolean {
  const isOfCompany =
    /^\d{9}B\d{2}$/.test(number) && weighted(number, [9, 8, 7, 6, 5, 4, 3, 2]) % 11 === Number(number[8]);
  // Sole traders have numbers with a check of the whole since 2020.
  return isOfCompany || remainder(toDigits(`NL${number}`), 97) === 1;
}

function fitsRomanian(number: string): boolean {
  return (
    ((weighted(number.padStart(10, '0'), [7, 5, 3, 2, 1, 7, 5, 3, 2]) * 10) % 11) % 10 === lastDigit(number)
  );
}

function fitsAustrian(number: string): boolean {
  const sum = digitsOf(number)
    .slice(0, 7)
    .reduce((sum, digit, index) => sum + (index % 2 === 1 ? crossSum(2 * digit) : digit), 0);
  return (96 - sum) % 10 === lastDigit(number);
}

/** 11 less the remainder of the weighted sum; `ten` and `eleven` replace results that are no digit. */
const fitsMod11 =
  (weights: readonly number[], { ten, eleven }: { ten?: number; eleven?: number } = {}) =>
  (number: string): boolean => {
    const check = 11 - (weighted(number, weights) % 11);
    return (check === 10 ? ten : check === 11 ? eleven : check) === lastDigit(number);
  };

const british = {
  /** GD and HA belong to the government and to health authorities. */
  pattern: /^(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/,
  words: '9 or 12 digits',
  example: '434031494',
  fits: fitsBritish,
};

const KINDS: Readonly<Record<string, VatNumberKind>> = {
  AT: { pattern: /^U\d{8}$/, words: 'U and 8 digits', example: 'U12345675', fits: fitsAustrian },
  BE: {
    pattern: /^[01]\d{9}$/,
    words: '10 digits, the first 0 or 1',
    example: '0123456749',
    fits: (number) => 97 - (Number(number.slice(0, 8)) % 97) === Number(number.slice(8)),
  },
  BG: { pattern: /^\d{9,10}$/, words: '9 or 10 digits', example: '123456786', fits: fitsBulgarian },
  CHE: {
    pattern: /^\d{9}$/,
    words: '9 digits and MWST, TVA or IVA',
    example: '123456788MWST',
    fits: fitsMod11([5, 4, 3, 2, 7, 6, 5, 4], { eleven: 0 }),
  },
  CY: { pattern: /^\d{8}[A-Z]$/, words: '8 digits and a letter', example: '12345678F', fits: fitsCypriot },
  CZ: { pattern: /^\d{8,10}$/, words: '8 to 10 digits', example: '12345679', fits: fitsCzech },
  DE: { pattern: /^\d{9}$/, words: '9 digits', example: '123456788', fits: fitsMod11And10 },
  DK: {
    pattern: /^[1-9]\d{7}$/,
    words: '8 digits',
    example: '12345674',
    fits: (number) => weighted(number, [2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
  },
  EE: {
    pattern: /^\d{9}$/,
    words: '9 digits',
    example: '123456780',
    fits: (number) => weighted(number, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0,
  },
  EL: {
    pattern: /^\d{9}$/,
    words: '9 digits',
    example: '123456783',
    fits: (number) => (weighted(number, [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === lastDigit(number),
  },
  ES: {
    pattern: /^(?:[A-HJ-NP-SUVWXYZ]\d{7}[A-Z0-9]|\d{8}[A-Z])$/,
    words: '9 characters, the first or the last a letter',
    example: 'B12345674',
    fits: fitsSpanish,
  },
  FI: {
    pattern: /^\d{8}$/,
    words: '8 digits',
    example: '12345671',
    fits: fitsMod11([7, 9, 10, 5, 8, 4, 2], { eleven: 0 }),
  },
  FR: {
    pattern: /^[A-HJ-NP-Z0-9]{2}\d{9}$/,
    words: '2 characters and 9 digits',
    example: '32123456789',
    fits: fitsFrench,
  },
  GB: british,
  HR: { pattern: /^\d{11}$/, words: '11 digits', example: '12345678903', fits: fitsMod11And10 },
  HU: {
    pattern: /^\d{8}$/,
    words: '8 digits',
    example: '12345676',
    fits: (number) => (10 - (weighted(number, [9, 7, 3, 1, 9, 7, 3]) % 10)) % 10 === lastDigit(number),
  },
  IE: {
    pattern: /^(?:\d{7}[A-Z]{1,2}|\d[A-Z+*]\d{5}[A-Z])$/,
    words: '7 digits and 1 or 2 letters',
    example: '1234567T',
    fits: fitsIrish,
  },
  IT: { pattern: /^\d{11}$/, words: '11 digits', example: '12345670017', fits: fitsLuhn },
  LT: { pattern: /^(?:\d{9}|\d{12})$/, words: '9 or 12 digits', example: '123456715', fits: fitsLithuanian },
  LU: {
    pattern: /^\d{8}$/,
    words: '8 digits',
    example: '12345613',
    fits: (number) => Number(number.slice(0, 6)) % 89 === Number(number.slice(6)),
  },
  LV: { pattern: /^\d{11}$/, words: '11 digits', example: '40003521600', fits: fitsLatvian },
  MT: {
    pattern: /^\d{8}$/,
    words: '8 digits',
    example: '12345634',
    fits: (number) => weighted(number, [3, 4, 6, 7, 8, 9, 10, 1]) % 37 === 0,
  },
  NL: {
    pattern: /^[A-Z0-9+*]{10}\d{2}$/,
    words: '12 characters, the last 2 digits',
    example: '123456782B01',
    fits: fitsDutch,
  },
  PL: {
    pattern: /^\d{10}$/,
    words: '10 digits',
    example: '1234563218',
    fits: (number) => weighted(number, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === lastDigit(number),
  },
  PT: {
    pattern: /^\d{9}$/,
    words: '9 digits',
    example: '123456789',
    fits: fitsMod11([9, 8, 7, 6, 5, 4, 3, 2], { ten: 0, eleven: 0 }),
  },
  RO: { pattern: /^\d{2,10}$/, words: '2 to 10 digits', example: '123456789', fits: fitsRomanian },
  SE: {
    pattern: /^\d{12}$/,
    words: '12 digits',
    example: '123456789701',
    fits: (number) => fitsLuhn(number.slice(0, 10)),
  },
  SI: {
    pattern: /^[1-9]\d{7}$/,
    words: '8 digits',
    example: '12345679',
    fits: fitsMod11([8, 7, 6, 5, 4, 3, 2], { ten: 0 }),
  },
  SK: {
    pattern: /^[1-9]\d{9}$/,
    words: '10 digits',
    example: '1234567895',
    fits: (number) => remainder(number, 11) === 0,
  },
  XI: british,
};

/** By prefix. */
export const VAT_NUMBER_KINDS: ReadonlyMap<string, VatNumberKind> = new Map(Object.entries(KINDS));

import { compact } from './fields.ts';
import type { Problem } from './problem.ts';
import { textProblems, type Frame } from './rules.ts';
import type { SettingsFile } from './schema.ts';

/** Checks of the seller that no schema can express. */
export function* invoicingProblems(
  { vatId, taxNumber, bank, notes, electronic }: NonNullable<SettingsFile['invoicing']>,
  frame: Frame,
): Generator<Problem> {
  if (vatId !== undefined) yield* vatIdProblems(compact(vatId));
  if (bank && !isIban(compact(bank.iban))) {
    yield {
      path: ['invoicing', 'bank', 'iban'],
      text: `is ${bank.iban}, whose check digits do not fit: a character is wrong, missing or too much`,
      rule: { name: 'accountNumber' },
    };
  }
  if (notes) yield* textProblems(['invoicing', 'notes'], notes, frame);
  // EN 16931, BR-S-02: an invoice with tax names the seller's VAT id or tax number.
  if (electronic && vatId === undefined && taxNumber === undefined) {
    yield {
      path: ['invoicing', 'electronic'],
      text: 'is true, which needs vatId or taxNumber: an electronic invoice must name one of them',
      rule: { name: 'taxNumberNeeded' },
    };
  }
}

/** ISO 13616: the first four characters moved to the end, letters as 10 to 35, is 1 modulo 97. */
function isIban(iban: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(iban)) return false;
  const digits = `${iban.slice(4)}${iban.slice(0, 4)}`.replaceAll(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}

function* vatIdProblems(vatId: string): Generator<Problem> {
  const [country, rest] = [vatId.slice(0, 2), vatId.slice(2)];
  const { pattern, words, example } = VAT_IDS.get(country) ?? OTHER_VAT_ID;
  if (!pattern.test(rest)) {
    yield {
      path: ['invoicing', 'vatId'],
      text: `is ${vatId}, expected ${country} and then ${words}`,
      rule: { name: 'vatId', example: country + example },
    };
  }
}

/** GD and HA belong to the government and to health authorities. */
const BRITISH = /^(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/;

const OTHER_VAT_ID = { pattern: /^[A-Z0-9.-]{2,18}$/, words: 'letters and digits', example: '123456789' };

/**
 * The part after the country, with an example, in the European Union (Greece is EL) and the United Kingdom (Northern
 * Ireland is XI).
 */
const VAT_IDS = new Map(
  Object.entries({
    AT: [/^U\d{8}$/, 'U and 8 digits', 'U12345678'],
    BE: [/^[01]\d{9}$/, '10 digits, the first 0 or 1', '0123456789'],
    BG: [/^\d{9,10}$/, '9 or 10 digits', '123456789'],
    CY: [/^\d{8}[A-Z]$/, '8 digits and a letter', '12345678X'],
    CZ: [/^\d{8,10}$/, '8 to 10 digits', '12345678'],
    DE: [/^\d{9}$/, '9 digits', '123456789'],
    DK: [/^\d{8}$/, '8 digits', '12345678'],
    EE: [/^\d{9}$/, '9 digits', '123456789'],
    EL: [/^\d{9}$/, '9 digits', '123456789'],
    ES: [/^(?:[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z])$/, '9 characters, the first or the last a letter', 'B12345678'],
    FI: [/^\d{8}$/, '8 digits', '12345678'],
    FR: [/^[A-HJ-NP-Z0-9]{2}\d{9}$/, '2 characters and 9 digits', '12345678901'],
    GB: [BRITISH, '9 or 12 digits', '123456789'],
    HR: [/^\d{11}$/, '11 digits', '12345678901'],
    HU: [/^\d{8}$/, '8 digits', '12345678'],
    IE: [/^(?:\d{7}[A-Z]{1,2}|\d[A-Z+*]\d{5}[A-Z])$/, '7 digits and 1 or 2 letters', '1234567T'],
    IT: [/^\d{11}$/, '11 digits', '12345678901'],
    LT: [/^(?:\d{9}|\d{12})$/, '9 or 12 digits', '123456789'],
    LU: [/^\d{8}$/, '8 digits', '12345678'],
    LV: [/^\d{11}$/, '11 digits', '12345678901'],
    MT: [/^\d{8}$/, '8 digits', '12345678'],
    NL: [/^[A-Z0-9+*]{10}\d{2}$/, '12 characters, the last 2 digits', '123456789B01'],
    PL: [/^\d{10}$/, '10 digits', '1234567890'],
    PT: [/^\d{9}$/, '9 digits', '123456789'],
    RO: [/^\d{2,10}$/, '2 to 10 digits', '1234567890'],
    SE: [/^\d{12}$/, '12 digits', '123456789001'],
    SI: [/^\d{8}$/, '8 digits', '12345678'],
    SK: [/^\d{10}$/, '10 digits', '1234567890'],
    XI: [BRITISH, '9 or 12 digits', '123456789'],
  } satisfies Record<string, [RegExp, string, string]>).map(
    ([country, [pattern, words, example]]: [string, [RegExp, string, string]]) =>
      [country, { pattern, words, example }] as const,
  ),
);

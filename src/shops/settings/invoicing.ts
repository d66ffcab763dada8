import { compact } from './fields.ts';
import type { Problem } from './problem.ts';
import { textProblems, type Frame } from './rules.ts';
import type { SettingsFile } from './schema.ts';

/** What no schema can say about the seller. */
export function* invoicingProblems(
  { vatId, taxNumber, bank, notes, electronic }: NonNullable<SettingsFile['invoicing']>,
  frame: Frame,
): Generator<Problem> {
  if (vatId !== undefined) yield* vatIdProblems(compact(vatId));
  if (bank && !isIban(compact(bank.iban))) {
    yield {
      path: ['invoicing', 'bank', 'iban'],
      text: `is ${bank.iban}, whose check digits do not fit: a character is wrong, missing or too much`,
    };
  }
  if (notes) yield* textProblems(['invoicing', 'notes'], notes, frame);
  // EN 16931, BR-S-02: an invoice with tax names the seller's VAT id or tax number.
  if (electronic && vatId === undefined && taxNumber === undefined) {
    yield {
      path: ['invoicing', 'electronic'],
      text: 'is true, which needs vatId or taxNumber: an electronic invoice must name one of them',
    };
  }
}

/** ISO 13616: the first four characters moved to the end, letters as 10 to 35, is 1 modulo 97. */
export function isIban(iban: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(iban)) return false;
  const digits = `${iban.slice(4)}${iban.slice(0, 4)}`.replaceAll(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}

function* vatIdProblems(vatId: string): Generator<Problem> {
  const [country, rest] = [vatId.slice(0, 2), vatId.slice(2)];
  const form = VAT_IDS.get(country) ?? { pattern: /^[A-Z0-9.-]{2,18}$/, words: 'letters and digits' };
  if (!form.pattern.test(rest)) {
    yield { path: ['invoicing', 'vatId'], text: `is ${vatId}, expected ${country} and then ${form.words}` };
  }
}

/** GD and HA are of the government and of health authorities. */
const BRITISH = /^(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/;

/** What follows the country, in the European Union (Greece is EL) and the United Kingdom (Northern Ireland is XI). */
const VAT_IDS = new Map(
  Object.entries({
    AT: [/^U\d{8}$/, 'U and 8 digits'],
    BE: [/^[01]\d{9}$/, '10 digits, the first 0 or 1'],
    BG: [/^\d{9,10}$/, '9 or 10 digits'],
    CY: [/^\d{8}[A-Z]$/, '8 digits and a letter'],
    CZ: [/^\d{8,10}$/, '8 to 10 digits'],
    DE: [/^\d{9}$/, '9 digits'],
    DK: [/^\d{8}$/, '8 digits'],
    EE: [/^\d{9}$/, '9 digits'],
    EL: [/^\d{9}$/, '9 digits'],
    ES: [/^(?:[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z])$/, '9 characters, the first or the last a letter'],
    FI: [/^\d{8}$/, '8 digits'],
    FR: [/^[A-HJ-NP-Z0-9]{2}\d{9}$/, '2 characters and 9 digits'],
    GB: [BRITISH, '9 or 12 digits'],
    HR: [/^\d{11}$/, '11 digits'],
    HU: [/^\d{8}$/, '8 digits'],
    IE: [/^(?:\d{7}[A-Z]{1,2}|\d[A-Z+*]\d{5}[A-Z])$/, '7 digits and 1 or 2 letters'],
    IT: [/^\d{11}$/, '11 digits'],
    LT: [/^(?:\d{9}|\d{12})$/, '9 or 12 digits'],
    LU: [/^\d{8}$/, '8 digits'],
    LV: [/^\d{11}$/, '11 digits'],
    MT: [/^\d{8}$/, '8 digits'],
    NL: [/^[A-Z0-9+*]{10}\d{2}$/, '12 characters, the last 2 digits'],
    PL: [/^\d{10}$/, '10 digits'],
    PT: [/^\d{9}$/, '9 digits'],
    RO: [/^\d{2,10}$/, '2 to 10 digits'],
    SE: [/^\d{12}$/, '12 digits'],
    SI: [/^\d{8}$/, '8 digits'],
    SK: [/^\d{10}$/, '10 digits'],
    XI: [BRITISH, '9 or 12 digits'],
  } satisfies Record<string, [RegExp, string]>).map(
    ([country, [pattern, words]]: [string, [RegExp, string]]) => [country, { pattern, words }] as const,
  ),
);

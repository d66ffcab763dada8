import { compact } from './fields.ts';
import type { Problem } from './problem.ts';
import { textProblems, type Frame } from './rules.ts';
import type { SettingsFile } from './schema.ts';
import { SWISS_SUFFIX, VAT_NUMBER_KINDS } from '../vat-numbers/vat-numbers.ts';

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

/**
 * The form only: shops have entered numbers whose check digits do not fit, and each change of their settings is checked
 * as a whole.
 */
function* vatIdProblems(vatId: string): Generator<Problem> {
  const { prefix, rest } = splitVatId(vatId);
  const { pattern, words, example } = VAT_NUMBER_KINDS.get(prefix) ?? OTHER_VAT_ID;
  if (!pattern.test(rest)) {
    yield {
      path: ['invoicing', 'vatId'],
      text: `is ${vatId}, expected ${prefix} and then ${words}`,
      rule: { name: 'vatId', example: prefix + example },
    };
  }
}

/** Swiss numbers are written with dots and with the name of the tax. */
function splitVatId(vatId: string): { prefix: string; rest: string } {
  if (!vatId.startsWith('CHE')) return { prefix: vatId.slice(0, 2), rest: vatId.slice(2) };
  return { prefix: 'CHE', rest: vatId.slice(3).replaceAll(/[.-]/g, '').replace(SWISS_SUFFIX, '') };
}

const OTHER_VAT_ID = { pattern: /^[A-Z0-9.-]{2,18}$/, words: 'letters and digits', example: '123456789' };

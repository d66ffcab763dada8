import type { ElectronicFormat } from './electronic-format.ts';
import { isXRechnung } from './electronic-format.ts';

/** BT-34, BT-49: where a party receives electronic documents, with a scheme of the list EAS. */
export interface ElectronicAddress {
  scheme: string;
  id: string;
}

/** The schemes of VAT numbers in the list EAS, by the prefix of the number. Where it is missing, see `vatAddress`. */
const VAT_SCHEMES: Readonly<Record<string, string>> = {
  AT: '9914',
  BG: '9926',
  CH: '9927',
  CY: '9928',
  CZ: '9929',
  DE: '9930',
  EE: '9931',
  EL: '9933',
  ES: '9920',
  FI: '0213',
  FR: '9957',
  GB: '9932',
  HR: '9934',
  HU: '9910',
  IE: '9935',
  IT: '0211',
  LT: '9937',
  LU: '9938',
  LV: '9939',
  MT: '9943',
  NL: '9944',
  PL: '9945',
  PT: '9946',
  RO: '9947',
  SI: '9949',
  SK: '9950',
  XI: '9932',
};

/** The address in the Peppol network that follows from a VAT number; null: none does. */
function vatAddress(vatNumber: string | null): ElectronicAddress | null {
  if (vatNumber === null) return null;
  const country = vatNumber.slice(0, 2);
  const digits = vatNumber.slice(2);
  // Belgium, Denmark and Sweden use the number in their register of companies, which is part of the VAT number.
  if (country === 'BE') return { scheme: '0208', id: digits };
  if (country === 'DK') return { scheme: '0184', id: vatNumber };
  if (country === 'SE') return { scheme: '0007', id: digits.slice(0, 10) };
  const scheme = VAT_SCHEMES[country];
  return scheme === undefined ? null : { scheme, id: vatNumber };
}

/**
 * The address of a party. The Peppol network knows no email addresses, so there it follows from the VAT number, or from
 * the Leitweg-ID of a German authority. Everywhere else it is the email address, where there is one.
 */
export function electronicAddress(
  { email, vatNumber, routeId }: { email: string | null; vatNumber: string | null; routeId: string | null },
  format: ElectronicFormat,
): ElectronicAddress | null {
  const route = routeId === null ? null : { scheme: '0204', id: routeId };
  const mailbox = email === null ? null : { scheme: 'EM', id: email };
  if (format === 'peppol') return route ?? vatAddress(vatNumber);
  return (isXRechnung(format) ? route : null) ?? mailbox ?? vatAddress(vatNumber);
}

/** A VAT number with its prefix, in capitals and without blanks; null: it has none, so it can't be looked up (BR-CO-09). */
export function toVatNumber(text: string | null | undefined): string | null {
  const known = text?.replaceAll(/[\s.-]/g, '').toUpperCase() ?? '';
  return /^[A-Z]{2}[A-Z0-9+*]{2,14}$/.test(known) ? known : null;
}

/** Coarse part, fine part and two check digits: `04011000-12345-03`. */
const LEITWEG_ID = /^\d{2,12}-(?:[A-Z0-9]{1,30}-)?\d{2}$/;

/**
 * Whether a buyer reference is the Leitweg-ID of a German authority. Its check digits are those of ISO 7064, modulo 97:
 * letters count 10 to 35, and the whole without its dashes is 1.
 */
export function isLeitwegId(reference: string): boolean {
  if (reference.length > 46 || !LEITWEG_ID.test(reference)) return false;
  const digits = reference
    .replaceAll('-', '')
    .replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n === 1n;
}

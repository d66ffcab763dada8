/** The numbers of a product that may be a Global Trade Item Number. Missing ones are null or undefined. */
export interface TradeNumbers {
  ean?: string | null | undefined;
  upc?: string | null | undefined;
  productCode?: string | null | undefined;
}

const candidates = ({ ean, upc, productCode }: TradeNumbers) =>
  [ean, upc, productCode].map((code) => code?.replaceAll(/[\s-]/g, '') ?? '');

/** The first of its numbers that is a GTIN. */
export function gtinOf(product: TradeNumbers): string | undefined {
  return candidates(product).find(isGtin);
}

/** The EAN or UPC that is not one, though these two never hold anything else: a digit is wrong or missing. */
export function wrongGtinOf({ ean, upc }: TradeNumbers): string | undefined {
  return candidates({ ean, upc }).find((code) => code !== '' && !isGtin(code));
}

/** Eight, twelve, thirteen or fourteen digits; the last is the check digit. */
export function isGtin(code: string): boolean {
  if (!/^(?:\d{8}|\d{12,14})$/.test(code)) return false;
  const sum = code
    .split('')
    .reduce((total, digit, index) => total + Number(digit) * ((code.length - index) % 2 === 0 ? 3 : 1), 0);
  return sum % 10 === 0 && Number(code) > 0;
}

/**
 * The carrier of a parcel by the form of its tracking number, as `carriers.json` names it. undefined: the number is of
 * no known form, or of the form of several carriers.
 */
export function recogniseCarrier(trackingCode: string): string | undefined {
  const code = trackingCode.replaceAll(/[\s.-]/g, '').toUpperCase();
  const carriers = new Set(FORMS.filter(({ is }) => is(code)).map(({ carrier }) => carrier));
  return carriers.size === 1 ? [...carriers][0] : undefined;
}

interface NumberForm {
  carrier: string;
  is: (code: string) => boolean;
}

const FORMS: readonly NumberForm[] = [
  // The serial shipping container code with the company prefix of Deutsche Post DHL.
  { carrier: 'DHL', is: (code) => /^003404\d{14}$/.test(code) && isMod10(code, 3) },
  { carrier: 'DHL', is: (code) => /^(?:JJD\d{9,21}|JVGL\d{10,20})$/.test(code) },
  // The Identcode.
  { carrier: 'DHL', is: (code) => /^\d{12}$/.test(code) && isIdentcode(code) },
  // The waybill of DHL Express.
  { carrier: 'DHL', is: (code) => /^\d{10}$/.test(code) && Number(code.slice(0, 9)) % 7 === Number(code[9]) },
  { carrier: 'DHL', is: (code) => /^C[A-Z]\d{9}DE$/.test(code) && isS10(code) },
  { carrier: 'Deutsche Post', is: (code) => /^[ABD-Z][A-Z]\d{9}DE$/.test(code) && isS10(code) },
  // The matrix code of a letter: hexadecimal, with at least one letter.
  { carrier: 'Deutsche Post', is: (code) => /^(?=.*[A-F])[\dA-F]{20}$/.test(code) },
  { carrier: 'La Poste', is: (code) => /^[A-Z]{2}\d{9}FR$/.test(code) && isS10(code) },
  { carrier: 'Royal Mail', is: (code) => /^[A-Z]{2}\d{9}GB$/.test(code) && isS10(code) },
  // A parcel label number: four digits of the depot and ten of the parcel, without or with its check character.
  { carrier: 'DPD', is: (code) => /^\d{14}$/.test(code) },
  { carrier: 'DPD', is: (code) => /^\d{14}[\dA-Z]$/.test(code) && isMod37(code) },
  { carrier: 'Hermes', is: (code) => /^\d{14}$/.test(code) && isMod10(code, 3) },
  { carrier: 'Hermes', is: (code) => /^H\d{19}$/.test(code) },
  // Its check digit counts one more than that of others.
  { carrier: 'GLS', is: (code) => /^\d{12}$/.test(code) && isMod10(code, 3, 1) },
  // The Track ID.
  { carrier: 'GLS', is: (code) => /^(?=.*[A-Z])(?=.*\d)[\dA-Z]{8}$/.test(code) },
  { carrier: 'UPS', is: (code) => /^1Z[\dA-Z]{15}\d$/.test(code) && isUps(code) },
];

const digitsOf = (code: string) => Array.from(code, Number);

/** The last digit makes the sum a multiple of ten; the weights alternate with 1, the last but one digit has the first. */
function isMod10(code: string, weight: number, extra = 0): boolean {
  const [check, ...digits] = digitsOf(code).toReversed();
  const sum = digits.reduce((all, digit, index) => all + digit * (index % 2 === 0 ? weight : 1), extra);
  return (sum + check!) % 10 === 0;
}

/** As `isMod10`, with the weights 4 and 9 from the left. */
function isIdentcode(code: string): boolean {
  const digits = digitsOf(code);
  const sum = digits.slice(0, 11).reduce((all, digit, index) => all + digit * (index % 2 === 0 ? 4 : 9), 0);
  return (sum + digits[11]!) % 10 === 0;
}

/** The check digit of UPU standard S10: international letters and parcels of all postal services. */
function isS10(code: string): boolean {
  const weights = [8, 6, 4, 2, 3, 5, 9, 7];
  const digits = digitsOf(code.slice(2, 11));
  const sum = weights.reduce((all, weight, index) => all + weight * digits[index]!, 0);
  const check = 11 - (sum % 11);
  return digits[8] === (check === 10 ? 0 : check === 11 ? 5 : check);
}

/** Letters count as numbers: A as 2, B as 3, ... H as 9, I as 0, and so on; every second character counts twice. */
function isUps(code: string): boolean {
  const values = Array.from(code.slice(2), (sign) =>
    /\d/.test(sign) ? Number(sign) : (sign.charCodeAt(0) - 63) % 10,
  );
  const sum = values.slice(0, 15).reduce((all, value, index) => all + value * (index % 2 === 0 ? 1 : 2), 0);
  return (sum + values[15]!) % 10 === 0;
}

/** ISO 7064, mod 37, 36. */
function isMod37(code: string): boolean {
  const signs = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  let product = 36;
  for (const sign of code.slice(0, -1)) {
    const sum = (product + signs.indexOf(sign)) % 36 || 36;
    product = (sum * 2) % 37;
  }
  return (product + signs.indexOf(code.at(-1)!)) % 36 === 1;
}

/** One @, and nothing that could end an address in a header or in SMTP. Only an email shows whether it exists. */
export const MAIL_ADDRESS = '^[^\\s\\p{C}@<>]+@[^\\s\\p{C}@<>]+$';

export const LONGEST_MAIL_ADDRESS = 254;

const pattern = new RegExp(MAIL_ADDRESS, 'u');

export function isMailAddress(text: string): boolean {
  return text.length <= LONGEST_MAIL_ADDRESS && pattern.test(text);
}

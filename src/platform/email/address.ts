/** One @, and nothing that could end an address in a header or in SMTP. Only an email shows whether it exists. */
export const EMAIL_ADDRESS = '^[^\\s\\p{C}@<>]+@[^\\s\\p{C}@<>]+$';

export const LONGEST_EMAIL_ADDRESS = 254;

const pattern = new RegExp(EMAIL_ADDRESS, 'u');

export function isEmailAddress(text: string): boolean {
  return text.length <= LONGEST_EMAIL_ADDRESS && pattern.test(text);
}

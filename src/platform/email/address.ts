/** One @, and nothing that could end an address in a header or in SMTP. Only an email shows whether it exists. */
export const EMAIL_ADDRESS = '^[^\\s\\p{C}@<>]+@[^\\s\\p{C}@<>]+$';

export const MAX_EMAIL_ADDRESS_LENGTH = 254;

const pattern = new RegExp(EMAIL_ADDRESS, 'u');

export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_EMAIL_ADDRESS_LENGTH && pattern.test(text);
}

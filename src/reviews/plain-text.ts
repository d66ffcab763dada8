/** Control characters except line breaks, and those that turn the direction of the text around them. */
const UNSEEN = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu;

/** Text of one line as it is stored. */
export const singleLine = (text: string) => text.replaceAll('\n', ' ').replaceAll(UNSEEN, ' ').trim();

/** Text as it is stored; several blank lines become one. */
export const severalLines = (text: string) =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(UNSEEN, ' ')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

const MAX_LENGTH = 200;

/** A text of a client as the value of a header: visible ASCII, not too long. */
export function headerText(text: string): string {
  return text.slice(0, MAX_LENGTH).replaceAll(/[^\x20-\x7e]/g, '?');
}

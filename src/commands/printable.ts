/**
 * Characters that no name, path or address needs: control characters, half surrogate pairs, and marks that change the
 * direction of a text. On a terminal they move the cursor, change its title, or hide what a line says.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

export const isPrintable = (text: string): boolean => !UNSAFE.test(text);

/** A text possibly written by others, such as the name of a shop, for a terminal. Lines and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(new RegExp(UNSAFE, 'gu'), (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

const MAX_LINES = 100;
const MAX_CHARACTERS = 1_000;

/** The first of many problems, so that the reason does not scroll away. */
export function shortened(text: string): string {
  const lines = text.split('\n');
  const shown = lines
    .slice(0, MAX_LINES)
    .map((line) => (line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line));
  if (lines.length > MAX_LINES) shown.push(`and ${lines.length - MAX_LINES} more`);
  return shown.join('\n');
}

import { oneLine, type Row } from './letter.ts';

/** Fills words that contain placeholders such as `{orderNumber}`. */

/** The one placeholder that is not a text: the table of an email. */
export const LINES = 'lines';

const PLACEHOLDER = /\{([^{}\r\n]*)\}/g;

/** Values by the name of their placeholder; null: there is none, for example no tracking code. */
export type PlaceholderValues = ReadonlyMap<string, string | null>;

/** The names of the placeholders in a text, as they were typed. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!);
}

/** Makes a single line, because a header must not contain a line break. */
export function fillSubject(words: string, values: PlaceholderValues): string {
  return oneLine(fill(words, values));
}

/**
 * Makes paragraphs, which blank lines separate, and puts the table at the first `{lines}`, else at the end. A line
 * with a placeholder that has no value is left out. The words are split before they are filled, and filled once, so a
 * value can neither begin a paragraph nor name another placeholder.
 */
export function fillBody(
  words: string,
  values: PlaceholderValues,
  rows: readonly Row[] | undefined,
): (string | readonly Row[])[] {
  const blocks = words
    .replaceAll(/\r\n?/g, '\n')
    .split(/(\{lines\})/)
    .flatMap<string | readonly Row[]>((piece, index) => {
      if (!rows || piece !== `{${LINES}}`) return paragraphs(piece, values);
      // The table is inserted once, however often it is named: the first is the second piece.
      return index === 1 ? [rows] : [];
    });
  return rows && !blocks.includes(rows) ? [...blocks, rows] : blocks;
}

function paragraphs(words: string, values: PlaceholderValues): string[] {
  return words
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .split('\n')
        .filter((line) => !placeholdersIn(line).some((name) => values.get(name) === null))
        .map((line) => fill(line, values))
        .join('\n')
        .trim(),
    )
    .filter((paragraph) => paragraph !== '');
}

/** A value becomes a single line, whatever was typed into it. */
function fill(words: string, values: PlaceholderValues): string {
  return words.replaceAll(PLACEHOLDER, (whole, name: string) =>
    values.has(name) ? oneLine(values.get(name) ?? '') : whole,
  );
}

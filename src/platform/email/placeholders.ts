import { oneLine, type Row } from './letter.ts';

/** Words with `{orderNumber}` and the like in them, which stand for facts. */

/** The one placeholder that is no text: the table of a mail. */
export const LINES = 'lines';

const PLACEHOLDER = /\{([^{}\r\n]*)\}/g;

/** By name; null: there is nothing to say, such as a tracking code that nobody has. */
export type Values = ReadonlyMap<string, string | null>;

/** The names of the placeholders in a text, as they were typed. */
export function namedIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!);
}

/** One line, since a header must not hold two. */
export function filledSubject(words: string, values: Values): string {
  return oneLine(filled(words, values));
}

/**
 * The paragraphs, which blank lines divide, and the table where `{lines}` stands, else behind them. A line that names
 * what there is nothing to say of is left out. The words are divided before they are filled, and filled once: what a
 * value holds can neither begin a paragraph nor name another value.
 */
export function filledBody(
  words: string,
  values: Values,
  rows: readonly Row[] | undefined,
): (string | readonly Row[])[] {
  const blocks = words
    .replaceAll(/\r\n?/g, '\n')
    .split(/(\{lines\})/)
    .flatMap<string | readonly Row[]>((piece) =>
      rows && piece === `{${LINES}}` ? [rows] : paragraphs(piece, values),
    );
  return rows && !blocks.includes(rows) ? [...blocks, rows] : blocks;
}

function paragraphs(words: string, values: Values): string[] {
  return words
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .split('\n')
        .filter((line) => !namedIn(line).some((name) => values.get(name) === null))
        .map((line) => filled(line, values))
        .join('\n')
        .trim(),
    )
    .filter((paragraph) => paragraph !== '');
}

/** A value is one line, whatever was typed into it. */
function filled(words: string, values: Values): string {
  return words.replaceAll(PLACEHOLDER, (whole, name: string) =>
    values.has(name) ? oneLine(values.get(name) ?? '') : whole,
  );
}

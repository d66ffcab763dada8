/** Signs that mean something within a line of Markdown. */
const SIGNS = /[\\`*_[\]<>|~&]/g;

/**
 * Text of a merchant or a client as one line of Markdown. Nothing in it can begin a heading, a list, a link or markup:
 * it stays in its place, whatever it says.
 */
export function markdownText(text: string): string {
  return (
    text
      .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
      .trim()
      .replaceAll(SIGNS, String.raw`\$&`)
      // At the beginning of a line.
      .replace(/^[#+=-]/, String.raw`\$&`)
      .replace(/^(\d{1,9})([.)])/, String.raw`$1\$2`)
  );
}

/** Each line as a paragraph of its own. */
export function markdownParagraphs(lines: string): string[] {
  return lines
    .split('\n')
    .map(markdownText)
    .filter((line) => line !== '');
}

/** The address is one of our own, or was parsed. */
export function markdownLink(text: string, address: string): string {
  const written = address.replaceAll(
    /[\s()<>\\]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `[${markdownText(text)}](${written})`;
}

/** A document of these parts, with an empty line between them. Empty parts are left out. */
export function markdownDocument(parts: readonly (string | false | undefined)[]): string {
  return `${parts.filter((part) => part !== false && part !== undefined && part !== '').join('\n\n')}\n`;
}

export const markdownList = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');

/** Whether a client that says what it accepts would rather have Markdown than a page. */
export function prefersMarkdown(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('text/markdown')) return false;
  const types = accept.split(',', MAX_TYPES).map((entry) => {
    const [type, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
    return { type, weight: weight === undefined ? 1 : Number(weight) };
  });
  const weightOf = (name: string) => types.find(({ type }) => type === name)?.weight ?? 0;
  const markdown = weightOf('text/markdown');
  return markdown > 0 && markdown >= weightOf('text/html');
}

const MAX_TYPES = 50;

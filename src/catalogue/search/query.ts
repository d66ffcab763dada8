/** A part of a word, or a phrase whose words follow each other. */
export interface Term {
  text: string;
  isPhrase: boolean;
}

export const MAX_TERMS = 20;
const MAX_TERM_LENGTH = 100;

/** A phrase in quotes (the last quote may be missing), else the text between blanks and plus signs. */
const TERM = /"([^"]*)"?|[^\s+]+/g;

const AROUND_WORDS = /[,;:!?.()"']*(?:\s+|^|$)[,;:!?.()"']*/g;

/** The words separated by single blanks, without punctuation: the form in which queries and products are compared. */
export function separateWords(text: string): string {
  return text.replaceAll(AROUND_WORDS, ' ');
}

/** A number without the characters that people omit or vary: `LA-100`, `la 100`, `LA100`. */
export function compactNumber(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The whole query as one number; undefined if it is not a number. */
export function numberTerm(terms: readonly Term[]): Term | undefined {
  const text = compactNumber(terms.map((term) => term.text).join(''));
  const { length } = Array.from(text);
  return /\d/.test(text) && length >= 3 && length <= MAX_TERM_LENGTH ? { text, isPhrase: false } : undefined;
}

/** The terms that all must match; none: no restriction. */
export function parseQuery(query: string): Term[] {
  const terms = new Map<string, Term>();
  for (const [whole, phrase] of query.matchAll(TERM)) {
    const words = separateWords(phrase ?? whole).trim();
    const text = Array.from(words).slice(0, MAX_TERM_LENGTH).join('').trim();
    if (text !== '') terms.set(text.toLowerCase(), { text, isPhrase: text.includes(' ') });
    if (terms.size === MAX_TERMS) break;
  }
  return [...terms.values()];
}

/** The same as a client would type it. */
export function queryText(terms: readonly Term[]): string {
  return terms.map(({ text, isPhrase }) => (isPhrase ? `"${text}"` : text)).join(' ');
}

/**
 * For LIKE on ` word word `: one or two characters only match the start of a word, else almost everything would match.
 */
export function likePattern({ text, isPhrase }: Term): string {
  const isShort = !isPhrase && Array.from(text).length < 3;
  return `%${isShort ? ' ' : ''}${escapeLike(text)}%`;
}

export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}

const ONE_WORD = /^[\p{L}\p{M}\p{N}]+$/u;

/** For to_tsquery: the word, in any form if the dictionary of a language reads it. */
export function wordQuery({ text }: Term, weights = ''): string {
  const quoted = `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", "''")}'`;
  return weights === '' ? quoted : `${quoted}:${weights}`;
}

/**
 * For to_tsquery without a dictionary: a word as typed, matched as a prefix. A stem would match too much: the stem of
 * Messer (knife) is a prefix of Messing (brass). A phrase is matched exactly, and so is a word that the parser splits:
 * of `g1-0815` every part would be a prefix, and `g1...` may start a word of every product.
 */
export function beginningQuery(term: Term, weights = ''): string {
  return ONE_WORD.test(term.text) ? `${wordQuery(term)}:*${weights}` : wordQuery(term, weights);
}

const MIN_CORRECTED_LENGTH = 4;
const MAX_CORRECTED_LENGTH = 30;

const LETTERS = /^[\p{L}\p{M}-]+$/u;

/** Words in which a typo is plausible: shorter ones resemble too many others, and a number is a number. */
export function isCorrectable({ text }: Term): boolean {
  const { length } = Array.from(text);
  return LETTERS.test(text) && length >= MIN_CORRECTED_LENGTH && length <= MAX_CORRECTED_LENGTH;
}

/** The words of a text to which a mistyped word may be corrected, each once. */
export function correctWords(text: string): string[] {
  return [...new Set(text.split(' '))].filter((word) => {
    const { length } = Array.from(word);
    return LETTERS.test(word) && length >= MIN_CORRECTED_LENGTH - 1 && length <= MAX_CORRECTED_LENGTH + 1;
  });
}

/** A word that is one letter off still has this beginning, or this end. */
export function unharmedEnds(word: string): { beginning: string; end: string } {
  const letters = Array.from(word);
  const middle = Math.floor(letters.length / 2);
  return { beginning: letters.slice(0, middle - 1).join(''), end: letters.slice(middle).join('') };
}

/** The rest of a word without an error: all but two adjacent letters. */
function remains(word: string): { before: string; after: string }[] {
  const letters = Array.from(word);
  return letters.slice(1).map((_, at) => ({
    before: letters.slice(0, at).join(''),
    after: letters.slice(at + 2).join(''),
  }));
}

/**
 * For ` word `: finds the words with one other letter, one more, one less, or two swapped, and hardly anything else.
 */
export function typoExpression(word: string): string {
  const escaped = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, String.raw`\$&`);
  const ways = remains(word).map(
    ({ before, after }) => String.raw`${escaped(before)}[^ ]{1,3}${escaped(after)}`,
  );
  return ` (${ways.join('|')}) `;
}

/** Whether one letter turns one word into the other: changed, added, left out, or swapped with the next. */
export function isOneLetterOff(left: string, right: string): boolean {
  const [one, other] = [Array.from(left), Array.from(right)];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start++;
  const rest = (letters: string[], from: number) => letters.slice(from).join('');
  const swapped =
    one[start] === other[start + 1] && one[start + 1] === other[start] && one[start] !== undefined;
  return (
    left !== right &&
    (rest(one, start + 1) === rest(other, start + 1) ||
      rest(one, start + 1) === rest(other, start) ||
      rest(one, start) === rest(other, start + 1) ||
      (swapped && rest(one, start + 2) === rest(other, start + 2)))
  );
}

/** The first word in these texts that contains a term. */
export function wordWith({ text, isPhrase }: Term, texts: readonly string[]): string | undefined {
  if (isPhrase || Array.from(text).length < 3) return undefined;
  const lowered = text.toLowerCase();
  return texts.flatMap((one) => one.split(' ')).find((word) => word.includes(lowered));
}

/** The probably intended word in these texts: the most frequent one that is one letter off. */
export function probableWord(typed: string, texts: readonly string[]): string | undefined {
  const lowered = typed.toLowerCase();
  const counts = new Map<string, number>();
  for (const word of texts.flatMap((text) => text.split(' '))) {
    if (isOneLetterOff(lowered, word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].toSorted(
    ([word, count], [other, otherCount]) => otherCount - count || (word < other ? -1 : 1),
  )[0]?.[0];
}

/** The characters of the bytes 0x80 to 0x9f; five of them have none. */
const UPPER = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const BYTES = new Map<string, number>(Array.from(UPPER, (character, index) => [character, 0x80 + index]));

/** Letters that Unicode does not take apart, and signs that people type without thinking of them. */
const SIMILAR: Readonly<Record<string, string>> = {
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  ŧ: 't',
  Ŧ: 'T',
  ẞ: 'SS',
  '\u2010': '-',
  '\u2011': '-',
  '\u2212': '-',
  '\u2009': ' ',
  '\u202f': ' ',
};

const byteOf = (character: string): number | undefined => {
  const code = character.codePointAt(0)!;
  return code < 0x80 || (code >= 0xa0 && code <= 0xff) ? code : BYTES.get(character);
};

/**
 * A text in the encoding of old Windows programs. A letter that it lacks loses its accent (`ő` becomes `o`), any other
 * character becomes a question mark.
 */
export function toWindows1252(text: string): Buffer {
  const bytes: number[] = [];
  for (const character of text) {
    const byte = byteOf(character);
    if (byte === undefined) bytes.push(...replacement(character));
    else bytes.push(byte);
  }
  return Buffer.from(bytes);
}

function replacement(character: string): number[] {
  const similar = SIMILAR[character] ?? character.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const bytes = Array.from(similar, byteOf);
  return bytes.length > 0 && bytes.every((byte) => byte !== undefined) ? bytes : [QUESTION_MARK];
}

const QUESTION_MARK = 0x3f;

/**
 * The text of a decoder that takes Windows-1252 for ISO 8859-1, as that of Node 20 does: the bytes between are control
 * characters there, which no text has.
 */
export function withUpperCharacters(decoded: string): string {
  return decoded.replaceAll(/[\u0080-\u009f]/g, (character) => UPPER[character.charCodeAt(0) - 0x80]!);
}

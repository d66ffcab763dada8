/** Texts that cost much to work on. Makes one of this length. */
export type Filling = (length: number) => string;

export function repeated(piece: string, start = ''): Filling {
  return (length) => cut(start + piece.repeat(Math.ceil(length / piece.length)), length);
}

/** No half of a character stays at the end. */
const cut = (text: string, length: number) => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

export const FILLINGS: Record<string, Filling> = {
  blanks: repeated(' ', 'x'),
  'blanks and line breaks': repeated(' \n', 'x'),
  'lines of one letter': repeated('x\n'),
  'nested <b>': repeated('<b>'),
  'lists without end tags': repeated('<li>x'),
  images: repeated('<img src=/media/x.png>'),
  'brackets that open': repeated('<'),
  'tags that never end': repeated('<a "'),
  ampersands: repeated('&'),
  entities: repeated('&eacute;'),
  'a letter with accents': repeated('\u0301', 'a'),
  'accents in the wrong order': repeated('\u0301\u0327', 'a'),
  'one long word': repeated('x'),
  'zero-width characters': repeated('\u200b', 'x'),
  'letters that no font has': repeated('\u{1f468}\u200d'),
  'quotes and commas': repeated('",.;\''),
  placeholders: repeated('{x}{'),
};

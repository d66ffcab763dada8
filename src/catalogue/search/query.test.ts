import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginningQuery,
  correctWords,
  isCorrectable,
  isOneLetterOff,
  likePattern,
  numberTerm,
  parseQuery,
  probableWord,
  queryText,
  typoExpression,
  unharmedEnds,
  wordQuery,
} from './query.ts';

const texts = (query: string) => parseQuery(query).map(({ text }) => text);

describe('the grammar of q', () => {
  test.each([
    ['myProd', ['myProd']],
    ['"new Product"', ['new Product']],
    ['myProd+new', ['myProd', 'new']],
    ['myProd new', ['myProd', 'new']],
    ['"new"+product', ['new', 'product']],
    ['  +  + ', []],
    ['', []],
    ['""', []],
    ['"open phrase', ['open phrase']],
    ['"a  b"c', ['a b', 'c']],
    ['rope 12" thick', ['rope', '12', 'thick']],
    ['roast, (ground)', ['roast', 'ground']],
    ['"roast,  ground"', ['roast ground']],
    ['0.33 CB-100', ['0.33', 'CB-100']],
    ['Tea tea TEA', ['TEA']],
  ])('%j', (query, expected) => {
    expect(texts(query)).toEqual(expected);
  });

  test('a phrase is several words', () => {
    expect(parseQuery('"new product" "old"')).toEqual([
      { text: 'new product', isPhrase: true },
      { text: 'old', isPhrase: false },
    ]);
  });

  test('at most 20 terms of 100 characters', () => {
    expect(texts(Array.from({ length: 50 }, (_, index) => `word${index}`).join(' '))).toHaveLength(20);
    expect(texts('x'.repeat(5_000))).toEqual(['x'.repeat(100)]);
  });

  test('whatever is typed, it is parsed, and what comes out is parsed to the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (query) => {
        const terms = parseQuery(query);
        const again = parseQuery(queryText(terms));
        expect(again.map(({ text }) => text)).toEqual(terms.map(({ text }) => text));
      }),
    );
  });
});

describe('patterns', () => {
  test('wildcards are letters like others', () => {
    expect(likePattern({ text: String.raw`50%_\ `.trim(), isPhrase: false })).toBe(String.raw`%50\%\_\\%`);
    expect(wordQuery({ text: String.raw`o'b\c`, isPhrase: false })).toBe(String.raw`'o''b\\c'`);
  });

  test('a word may go on; what consists of several parts may not', () => {
    const query = (text: string) => beginningQuery({ text, isPhrase: text.includes(' ') });
    expect(['lamp', 'öl2', 'g1-0815', 'oak table'].map(query)).toEqual([
      "'lamp':*",
      "'öl2':*",
      "'g1-0815'",
      "'oak table'",
    ]);
  });

  test.each([
    ['LA-100', 'LA100'],
    ['la 100', 'la100'],
    ['LA/100', 'LA100'],
    ['4 012345 678901', '4012345678901'],
    ['Größe 38', 'Größe38'],
    ['lamp', undefined],
    ['1.', undefined],
    ['9'.repeat(101), undefined],
  ])('%j as one number', (query, expected) => {
    const terms = query.split(' ').map((text) => ({ text, isPhrase: false }));
    expect(numberTerm(terms)?.text).toBe(expected);
  });

  test('one or two characters begin a word', () => {
    expect(likePattern({ text: 'l', isPhrase: false })).toBe('% l%');
    expect(likePattern({ text: 'öl', isPhrase: false })).toBe('% öl%');
    expect(likePattern({ text: 'oil', isPhrase: false })).toBe('%oil%');
  });

  test('a word with one error', () => {
    expect(typoExpression('a.b')).toBe(String.raw` ([^ ]{1,3}b|a[^ ]{1,3}) `);
  });
});

describe('typing errors', () => {
  test.each([
    ['lamp', 'lomp', true],
    ['lamp', 'lmp', true],
    ['lamp', 'amp', true],
    ['lamp', 'lamps', true],
    ['lamp', 'laamp', true],
    ['lamp', 'lmap', true],
    ['lamp', 'lapm', true],
    ['lamp', 'lamp', false],
    ['lamp', 'lpam', false],
    ['lamp', 'lom', false],
    ['lamp', 'la', false],
    ['lamp', '', false],
    ['a', 'b', true],
    ['ab', 'ba', true],
  ])('%s and %s: %s', (left, right, expected) => {
    expect(isOneLetterOff(left, right)).toBe(expected);
    expect(isOneLetterOff(right, left)).toBe(expected);
  });

  test('leave the beginning or the end of a word as it is', () => {
    const alphabet = ['a', 'b', 'c'];
    for (const word of ['abca', 'cabac', 'bacabc']) {
      const { beginning, end } = unharmedEnds(word);
      const letters = Array.from(word);
      const others = letters.flatMap((letter, at) => [
        letters.toSpliced(at, 1).join(''),
        letters.toSpliced(at, 2, letters[at + 1] ?? '', letter).join(''),
        ...alphabet.flatMap((other) => [
          letters.toSpliced(at, 1, other).join(''),
          letters.toSpliced(at, 0, other).join(''),
          `${word}${other}`,
        ]),
      ]);
      for (const other of others.filter((one) => isOneLetterOff(word, one))) {
        expect(other.startsWith(beginning) || other.endsWith(end)).toBe(true);
      }
    }
    expect(unharmedEnds('kettle')).toEqual({ beginning: 'ke', end: 'tle' });
  });

  test('are corrected to words of letters, of a length that one letter more or less can make', () => {
    expect(correctWords(' Tea | oak oak to LA-100 whetstone off-white 12 ')).toEqual([
      'Tea',
      'oak',
      'whetstone',
      'off-white',
    ]);
    expect(correctWords(` ${'a'.repeat(31)} ${'b'.repeat(32)} `)).toEqual(['a'.repeat(31)]);
  });

  test('the most frequent word that resembles it was meant', () => {
    expect(probableWord('Lanp', [' brass lamp ', ' slate lamp | land ', ' lane '])).toBe('lamp');
    expect(probableWord('lanp', [' lane ', ' land '])).toBe('land');
    expect(probableWord('lanp', [' kettle '])).toBeUndefined();
  });

  test('is believed of words of 4 letters or more', () => {
    expect(parseQuery('tea lamp "two words" KN-120').map(isCorrectable)).toEqual([false, true, false, false]);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinPictureTexts, readPictureTexts } from './picture-addresses.ts';

test.each([
  ['', []],
  ['A lamp', ['A lamp']],
  ['A lamp|Its base ', ['A lamp', 'Its base']],
  ['| Its base', ['', 'Its base']],
  ['on \\| off', ['on | off']],
  ['ends so \\', ['ends so \\']],
])('the cell %j says %j', (cell, texts) => {
  expect(readPictureTexts(cell)).toEqual(texts);
});

test('what was written is read again', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '|', '\\', '\n', 'ü') }).map((one) => one.trim());
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), (texts) => {
      const read = readPictureTexts(joinPictureTexts(texts));
      expect(texts.map((_, index) => read[index] ?? '')).toEqual(texts);
      expect(read.length).toBeLessThanOrEqual(texts.length);
    }),
  );
});

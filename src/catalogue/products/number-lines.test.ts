import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NumberLines } from './number-lines.ts';

test('knows the line of each number, as a Map would', () => {
  const entries = fc.array(fc.tuple(fc.string(), fc.integer({ min: 2, max: 2 ** 32 - 1 })));
  fc.assert(
    fc.property(entries, fc.array(fc.string()), (entries, others) => {
      const expected = new Map(entries);
      const lines = new NumberLines();
      for (const [number, line] of entries) lines.set(number, line);
      for (const number of [...expected.keys(), ...others]) {
        expect([lines.has(number), lines.lineOf(number)]).toEqual([
          expected.has(number),
          expected.get(number),
        ]);
      }
    }),
  );
});

test('grows with the file', () => {
  const lines = new NumberLines();
  const count = 20_000;
  for (let index = 0; index < count; index++) lines.set(`N-${index}`, index + 2);
  const wrong = Array.from({ length: count }, (_, index) => index).filter(
    (index) => lines.lineOf(`N-${index}`) !== index + 2 || lines.has(`M-${index}`),
  );
  expect(wrong).toEqual([]);
});

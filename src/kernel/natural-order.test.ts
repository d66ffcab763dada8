import { expect, test } from 'vitest';
import { inNaturalOrder } from './natural-order.ts';

test.each([
  ['weights', ['1 kg', '500 g', '250 g'], ['250 g', '500 g', '1 kg']],
  ['weights with decimals', ['1,5 kg', '1.25 kg', '900g'], ['900g', '1.25 kg', '1,5 kg']],
  ['volumes', ['0,7 l', '33 cl', '500 ml'], ['33 cl', '500 ml', '0,7 l']],
  ['numbers in texts', ['E10', 'E9', 'E27'], ['E9', 'E10', 'E27']],
  ['quantities of several measures', ['1 m', '20 cm', '5 kg'], ['1 m', '5 kg', '20 cm']],
  ['words', ['Zinn', 'Äsche', 'Buche'], ['Äsche', 'Buche', 'Zinn']],
  ['nothing', [], []],
])('sorts %s', (_case, texts, sorted) => {
  expect(inNaturalOrder(texts, (text) => text, 'de-DE')).toEqual(sorted);
});

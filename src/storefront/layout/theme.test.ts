import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halfOf, SEED } from '../../../test/seed.ts';
import { contrast, mixed, READABLE, sixDigits, visible } from '../../kernel/colour.ts';
import { palette } from './theme.ts';

const colour = fc.integer({ min: 0, max: 0xff_ff_ff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}`);

describe('contrast', () => {
  test.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#767676', '#ffffff', 4.54],
    ['#777777', '#ffffff', 4.48],
    ['#0000ff', '#ffffff', 8.59],
    ['#ff0000', '#000000', 5.25],
  ])('of %s on %s is %d', (one, other, expected) => {
    expect(contrast(one, other)).toBeCloseTo(expected, 2);
    expect(contrast(other, one)).toBe(contrast(one, other));
  });

  test('black or white reads on every colour', () => {
    fc.assert(
      fc.property(colour, (ground) => {
        expect(Math.max(contrast('#000000', ground), contrast('#ffffff', ground))).toBeGreaterThan(READABLE);
      }),
    );
  });
});

test('colours of three digits are those of six', () => {
  expect(sixDigits('#0Af')).toBe('#00aaff');
  expect(sixDigits('#C0FFEE')).toBe('#c0ffee');
});

test('mixes by share', () => {
  expect(mixed('#000000', '#ffffff', 0.2)).toBe('#333333');
  expect(mixed('#102030', '#ffffff', 0)).toBe('#102030');
});

test('a colour that is seen stays as it is; another one is moved as little as needed', () => {
  expect(visible('#0b5d66', ['#ffffff'], READABLE)).toBe('#0b5d66');
  const found = visible('#ffcc00', ['#ffffff'], READABLE);
  expect(contrast(found, '#ffffff')).toBeGreaterThanOrEqual(READABLE);
  expect(contrast(found, '#ffffff')).toBeLessThan(5);
});

/** What stands on what, and how well it must be seen. */
function leastSeen(colours: ReturnType<typeof palette>): Record<string, number> {
  const grounds = [colours.background, colours.surface, colours.soft];
  const least = (name: 'text' | 'muted' | 'link' | 'danger' | 'good' | 'border') =>
    Math.min(...grounds.map((ground) => contrast(colours[name], ground)));
  return {
    text: least('text'),
    muted: least('muted'),
    link: least('link'),
    danger: least('danger'),
    good: least('good'),
    // Borders of fields need 3:1.
    border: least('border') + READABLE - 3,
    button: contrast(colours['on-accent'], colours.accent),
    hover: contrast(colours['on-accent'], colours['accent-hover']),
  };
}

describe('a palette', () => {
  test('of a shop without a theme', () => {
    expect(palette({})).toMatchObject({
      background: '#ffffff',
      accent: '#0b5d66',
      'on-accent': '#ffffff',
      link: '#0b5d66',
      text: '#1f2729',
    });
  });

  test('of a dark shop is light on dark', () => {
    expect(palette({ background: '#101418', accent: '#f2b705' })).toMatchObject({
      text: '#f1f4f4',
      link: '#f2b705',
      'on-accent': '#000000',
    });
  });

  test('can be seen, whatever the accent and the background are', () => {
    fc.assert(
      fc.property(colour, colour, (accent, background) => {
        const seen = Object.entries(leastSeen(palette({ accent, background })));
        expect(seen.filter(([, contrast]) => contrast < READABLE)).toEqual([]);
      }),
      {
        numRuns: halfOf(1_000),
        seed: SEED,
        examples: [
          ['#777777', '#777777'],
          ['#ffffff', '#ffffff'],
          ['#000000', '#757575'],
        ],
      },
    );
  });

  test('can be seen with every text that the settings take', () => {
    fc.assert(
      fc.property(colour, colour, colour, (accent, background, text) => {
        fc.pre(contrast(text, background) >= READABLE);
        const colours = palette({ accent, background, text });
        expect(colours.text).toBe(text);
        const seen = Object.entries(leastSeen(colours));
        expect(seen.filter(([, contrast]) => contrast < READABLE)).toEqual([]);
      }),
      { numRuns: halfOf(1_000), seed: SEED },
    );
  });
});

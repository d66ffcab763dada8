/** Colours are `#rrggbb`. Contrast is as WCAG 2.2 defines it: from 1 (the same) to 21 (black on white). */

/** For text; for borders and focus indicators it is 3. */
export const READABLE = 4.5;

/** `#0AF` is `#00aaff`. */
export function sixDigits(colour: string): string {
  const digits = colour.slice(1).toLowerCase();
  return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`;
}

export function contrast(one: string, other: string): number {
  return contrastOf(luminance(one), luminance(other));
}

function contrastOf(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** The lowest contrast against any of these backgrounds. */
export function lowestContrast(colour: string, grounds: readonly string[]): number {
  return Math.min(...grounds.map((ground) => contrast(colour, ground)));
}

function luminance(colour: string): number {
  const [red, green, blue] = channels(colour);
  return 0.2126 * LINEAR[red!]! + 0.7152 * LINEAR[green!]! + 0.0722 * LINEAR[blue!]!;
}

/** The linear share of each value of a channel. */
const LINEAR = Array.from({ length: 256 }, (_, channel) => {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
});

export function isDark(colour: string): boolean {
  return contrast(colour, '#ffffff') > contrast(colour, '#000000');
}

/** This share of the second, the rest of the first. */
export function mixed(from: string, to: string, share: number): string {
  const end = channels(to);
  const mix = channels(from).map((start, index) => Math.round(start + (end[index]! - start) * share));
  return `#${mix.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * The colour itself if its contrast suffices on all these backgrounds; else the nearest darker or lighter one that
 * does. The backgrounds must be alike, so black or white is visible on all of them.
 */
export function visible(colour: string, grounds: readonly string[], minContrast: number): string {
  const behind = grounds.map(luminance);
  for (let share = 0; share < 1; share += 0.02) {
    for (const end of ['#000000', '#ffffff']) {
      const shade = mixed(colour, end, share);
      const before = luminance(shade);
      if (behind.every((ground) => contrastOf(before, ground) >= minContrast)) return shade;
    }
  }
  return mostVisible(['#000000', '#ffffff'], grounds);
}

export function mostVisible(colours: readonly string[], grounds: readonly string[]): string {
  return colours.toSorted((one, other) => lowestContrast(other, grounds) - lowestContrast(one, grounds))[0]!;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

import { contrast, READABLE, sixDigits } from '../../kernel/colour.ts';
import { compileCss } from './custom-css.ts';
import { shown, type Problem } from './problem.ts';
import type { SettingsFile } from './schema.ts';

type ThemeSection = NonNullable<SettingsFile['theme']>;

/** The theme of a shop that has set none. */
export const BUILT_IN_ACCENT = '#0b5d66';
export const BUILT_IN_BACKGROUND = '#ffffff';

/** Text that is unreadable, and rules of a stylesheet that are not possible. */
export function* themeProblems(theme: ThemeSection): Generator<Problem> {
  yield* colourProblems(theme);
  const compiled = compileCss(theme.css ?? '');
  if (!('problem' in compiled)) return;
  const { line, text } = compiled.problem;
  yield {
    path: ['theme', 'css'],
    text: `has rules that are not possible, from its line ${line} on: ${shown(text)}`,
    rule: { name: 'css', line, text },
  };
}

/** All other colours are derived from these, so that they are visible. */
function* colourProblems({ background, text }: ThemeSection): Generator<Problem> {
  if (text === undefined) return;
  const ground = sixDigits(background ?? BUILT_IN_BACKGROUND);
  const found = contrast(sixDigits(text), ground);
  if (found >= READABLE) return;
  // Cut, not rounded: 4.499 is too little and must not read as enough.
  const cut = Math.floor(found * 100) / 100;
  yield {
    path: ['theme', 'text'],
    text: `is ${sixDigits(text)}, whose contrast on ${ground} is ${cut.toFixed(2)}:1, expected ${READABLE}:1 or more: else many people can't read it`,
    rule: { name: 'contrast', contrast: cut, limit: READABLE },
  };
}

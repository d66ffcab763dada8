import { countryName } from '../../shops/countries/countries.ts';
import type { Problem, Rule, SettingsProblem } from '../../shops/settings/problem.ts';
import type { ShopVisit } from '../visit.ts';
import { wordPath } from './field-kind.ts';
import { settingsWords } from './words.ts';

/** The message of every rule; one that is missing, or names something that its rule does not have, does not compile. */
type RuleTexts = {
  readonly [Name in Rule['name']]: string | ((values: ShownValues<Extract<Rule, { name: Name }>>) => string);
};

type ShownValues<Values> = { readonly [Key in keyof Values]: string };

/** What is wrong with a field, in the language of the reader. */
export function problemText({ path, text, rule }: Problem, visit: ShopVisit): string {
  if (!rule) return text;
  const texts: RuleTexts = visit.words.settings.problems;
  const message = texts[rule.name] as string | ((values: Readonly<Record<string, string>>) => string);
  return typeof message === 'string' ? message : message(shownValues(path, rule, visit));
}

/** The problems of refused settings: each at its place, or as lines when they have none. */
export function translatedProblems({ places, problems }: SettingsProblem, visit: ShopVisit) {
  return {
    problems: places.map((place) => ({ ...place, text: problemText(place, visit) })),
    lines: places.length > 0 ? [] : problems,
  };
}

/** Fields, countries and languages by their names, and numbers as they are written in the language of the reader. */
function shownValues(path: Problem['path'], rule: Rule, { words, language }: ShopVisit) {
  const { label, languageName } = settingsWords(words, language);
  const shown = (key: string, value: string | number | readonly string[]): string => {
    if (typeof value === 'number') return new Intl.NumberFormat(language).format(value);
    if (typeof value !== 'string') return value.map(label).join(', ');
    if (key === 'field') return label(wordPath([...path, value]));
    if (key === 'country') return countryName(value, language);
    return key === 'locale' ? languageName(value) : value;
  };
  return Object.fromEntries(Object.entries(rule).map(([key, value]) => [key, shown(key, value)]));
}

import { countryName } from '../../shops/countries/countries.ts';
import {
  pathText,
  type Problem,
  type SettingsRule,
  type SettingsProblem,
} from '../../shops/settings/problem.ts';
import type { ShopVisit } from '../visit.ts';
import { wordPath } from './field-kind.ts';
import { settingsMessages } from './settings-messages.ts';

/** The message of every rule; a missing one, or one that names something unknown to its rule, does not compile. */
type RuleTexts = {
  readonly [Name in SettingsRule['name']]:
    | string
    | ((values: ShownValues<Extract<SettingsRule, { name: Name }>>) => string);
};

type ShownValues<Values> = { readonly [Key in keyof Values]: string };

/** The problem of a field, in the reader's language. */
export function formProblemText({ path, rule }: Problem, visit: ShopVisit): string {
  const texts: RuleTexts = visit.messages.settings.problems;
  return sayRule(texts[rule.name], shownValues(path, rule, visit));
}

/**
 * `taxClasses[1].rates.DE (line 12): Please enter 100 or less.` An editor of the file sees its own keys and values,
 * and is told what to write where a form offers choices.
 */
export function fileProblemLine({ path, line, rule }: Problem, { messages }: ShopVisit): string {
  const { problems, fileProblems, fileView } = messages.settings;
  const ofForms: RuleTexts = problems;
  const ofFiles: Pick<RuleTexts, keyof typeof fileProblems> = fileProblems;
  const texts = { ...ofForms, ...ofFiles };
  const values = Object.entries(rule).map(([key, value]) => [key, [value].flat().join(', ')]);
  const lineText = line === undefined ? undefined : fileView.line({ line });
  const place = pathText(path);
  const where = [place, place === '' ? lineText : lineText && `(${lineText})`].filter(Boolean).join(' ');
  return `${where || fileView.wholeFile}: ${sayRule(texts[rule.name], Object.fromEntries(values))}`;
}

function sayRule(text: RuleTexts[SettingsRule['name']], values: Readonly<Record<string, string>>): string {
  const message = text as string | ((values: Readonly<Record<string, string>>) => string);
  return typeof message === 'string' ? message : message(values);
}

/** The problems of refused settings: each at its place, or as lines without one. */
export function translatedProblems({ places, problems }: SettingsProblem, visit: ShopVisit) {
  return {
    problems: places.map((place) => ({ ...place, text: formProblemText(place, visit) })),
    lines: places.length > 0 ? [] : problems,
  };
}

/** Fields, countries and languages by name, and numbers in the format of the reader's language. */
function shownValues(path: Problem['path'], rule: SettingsRule, { messages, language }: ShopVisit) {
  const { label, languageName } = settingsMessages(messages, language);
  const shown = (key: string, value: string | number | readonly string[]): string => {
    if (typeof value === 'number') return new Intl.NumberFormat(language).format(value);
    if (typeof value !== 'string') return value.map(label).join(', ');
    if (key === 'field') return label(wordPath([...path, value]));
    if (key === 'country') return countryName(value, language);
    return key === 'locale' ? languageName(value) : value;
  };
  return Object.fromEntries(Object.entries(rule).map(([key, value]) => [key, shown(key, value)]));
}

import type { Problem } from '../../shops/settings/problem.ts';
import type { ShopVisit } from '../visit.ts';
import { wordPath } from './field-kind.ts';
import { settingsWords } from './words.ts';

/** What is wrong with a field, in the language of the reader as far as it is the schema that refuses. */
export function problemText({ path, text, rule }: Problem, { words, language }: ShopVisit): string {
  const texts = words.settings.problems;
  if (!rule) return text;
  const { name, value } = rule;
  switch (name) {
    case 'missing':
      return texts.missing({ field: settingsWords(words, language).label(wordPath([...path, value])) });
    case 'least':
    case 'most':
    case 'above':
    case 'tooMany':
    case 'tooLong':
      return texts[name]({ limit: value });
    case 'form':
      return value === '' ? texts.form : texts.formLike({ example: value });
    case 'text':
    case 'number':
    case 'wholeNumber':
    case 'choice':
    case 'noEntries':
      return texts[name];
  }
}

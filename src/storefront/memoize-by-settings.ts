import type { Settings } from '../shops/settings/settings.ts';
import type { Visit } from './visit.ts';

/** What is the same for all visitors who read in one language and see one currency, on hosts of the same kind. */
export type Surroundings = Pick<Visit, 'shopId' | 'settings' | 'frame' | 'locale' | 'currency' | 'base'>;

/**
 * Made once per language and currency, and kept as long as the settings are: what else it is made of moves their
 * version too. Nothing of a visitor reaches it.
 */
export function memoizeBySettings<Value>(
  make: (surroundings: Surroundings) => Value,
): (visit: Surroundings) => Value {
  const kept = new WeakMap<Settings, Map<string, Value>>();
  return ({ shopId, settings, frame, locale, currency, base }) => {
    let values = kept.get(settings);
    if (!values) kept.set(settings, (values = new Map()));
    const key = `${locale} ${currency} ${base}`;
    let value = values.get(key);
    if (value === undefined) {
      value = make({ shopId, settings, frame, locale, currency, base });
      values.set(key, value);
    }
    return value;
  };
}

/** Markup without the blanks between its tags, for what is laid out by its stylesheet alone. */
export function compactText(markup: { text: string }): string {
  return markup.text.replaceAll(/\s+/g, ' ').replaceAll(/ ?> (?=<)| >/g, '>');
}

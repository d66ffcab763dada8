import type { CustomField, Settings } from '../shops/settings/settings.ts';
import { parseAmount } from './decide.ts';

/** The text of an action as the custom field takes it, which checks it; empty: none. */
export function toFieldValue(
  { type }: CustomField,
  text: string,
  { defaultCurrency }: Pick<Settings, 'defaultCurrency'>,
): unknown {
  const value = text.trim();
  if (value === '') return null;
  if (type === 'money') return parseAmount(value, defaultCurrency) ?? value;
  if (type !== 'boolean') return value;
  return value === 'true' || value === 'false' ? value === 'true' : value;
}

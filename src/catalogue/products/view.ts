import { Type } from 'typebox';
import { hasScope } from '../../http/callers.ts';
import { readingCurrency, readingLocale } from '../../http/locale.ts';
import type { Call } from '../../http/operation.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { FoundRef } from './queries.ts';
import type { View } from './render.ts';

type Asking = Pick<Call<unknown, unknown, unknown>, 'caller' | 'origin'>;

/** What a caller may say about how products are shown. */
export interface Shown {
  locale?: string;
  currency?: string;
}

export const Invisible = Type.Optional(
  Type.Boolean({
    description: 'Invisible ones too; only with the scope products_write.',
    examples: [false],
  }),
);

/** What the products of the shop look like to this caller. */
export function viewOf(call: Asking, settings: Settings, shown: Shown, variant: View['variant']): View {
  return {
    locale: readingLocale(shown.locale, settings),
    currency: readingCurrency(shown.currency, settings),
    origin: call.origin,
    canWrite: mayWrite(call),
    variant,
  };
}

export function mayWrite({ caller }: Pick<Asking, 'caller'>): boolean {
  return hasScope(caller, 'products_write');
}

/** Those the caller may see. */
export function seenBy(call: Pick<Asking, 'caller'>, refs: FoundRef[]): FoundRef[] {
  return mayWrite(call) ? refs : refs.filter(({ visible }) => visible);
}

import { Type } from 'typebox';
import { hasScope } from '../../http/callers.ts';
import { readingCurrency, readingLocale } from '../../http/locale.ts';
import type { Call } from '../../http/operation.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { FoundVersion } from './queries.ts';
import type { RenderOptions } from './render.ts';

type ProductCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'origin'>;

/** The rendering options of a request. */
export interface LocaleAndCurrency {
  locale?: string;
  currency?: string;
}

export const IncludeInvisible = Type.Optional(
  Type.Boolean({
    description: 'Invisible ones too; only with the scope products_write.',
    examples: [false],
  }),
);

/** How the products of the shop are rendered for this caller. */
export function renderOptions(
  call: ProductCall,
  settings: Settings,
  requested: LocaleAndCurrency,
  variant: RenderOptions['variant'],
): RenderOptions {
  return {
    locale: readingLocale(requested.locale, settings),
    currency: readingCurrency(requested.currency, settings),
    origin: call.origin,
    canWrite: canWriteProducts(call),
    variant,
  };
}

export function canWriteProducts({ caller }: Pick<ProductCall, 'caller'>): boolean {
  return hasScope(caller, 'products_write');
}

/** The products that the caller may see: invisible ones only with write access. */
export function visibleTo(call: Pick<ProductCall, 'caller'>, versions: FoundVersion[]): FoundVersion[] {
  return canWriteProducts(call) ? versions : versions.filter(({ visible }) => visible);
}

import { Type } from 'typebox';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { shopSettings } from '../settings/settings.ts';

const Locales = Type.Object(
  {
    default: Type.String({ description: 'The default locale.', examples: ['en_GB'] }),
    items: Type.Array(Type.String({ examples: ['en_GB'] }), {
      description: 'All locales of the shop, the default among them.',
      examples: [['en_GB', 'de_DE']],
    }),
  },
  { title: 'locale list' },
);

const listLocales = operation({
  method: 'GET',
  path: '/locales',
  name: 'listLocales',
  summary: 'List locales',
  tag: 'locales',
  labels: ['Base', 'Now'],
  access: 'products_read',
  answer: Locales,
});

export function locales(api: Operations): void {
  api.read(listLocales, async ({ db, shopId }) => {
    const settings = await shopSettings(db, shopId);
    return { default: settings.defaultLocale, items: settings.locales };
  });
}

import { Type } from 'typebox';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { shopSettings } from '../settings/settings.ts';

const Currencies = Type.Object(
  {
    default: Type.String({ description: 'ISO 4217 code of the default currency.', examples: ['EUR'] }),
    items: Type.Array(Type.String({ examples: ['EUR'] }), {
      description: 'All currencies of the shop, the default among them.',
      examples: [['EUR', 'GBP']],
    }),
  },
  { title: 'currency list' },
);

const listCurrencies = operation({
  method: 'GET',
  path: '/currencies',
  name: 'listCurrencies',
  summary: 'List currencies',
  tag: 'currencies',
  labels: ['Base', 'Now'],
  access: 'products_read',
  answer: Currencies,
});

export function currencies(api: Operations): void {
  api.read(listCurrencies, async ({ db, shopId }) => {
    const settings = await shopSettings(db, shopId);
    return { default: settings.defaultCurrency, items: settings.currencies };
  });
}

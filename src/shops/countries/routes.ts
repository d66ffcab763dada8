import { Type } from 'typebox';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { shopSettings } from '../settings/settings.ts';
import { countryCodes, countryName, isInEu, nativeName } from './countries.ts';

const Flag = (description: string) =>
  Type.Integer({ description: `1: ${description}, else 0.`, examples: [1] });

const Country = Type.Object(
  {
    nativeName: Type.String({ description: 'Name of the country at home.', examples: ['Deutschland'] }),
    countryIsDefault: Flag('the default of the shop'),
    code3: Type.String({ description: 'ISO 3166-1 alpha-3.', examples: ['DEU'] }),
    code2: Type.String({ description: 'ISO 3166-1 alpha-2.', examples: ['DE'] }),
    englishName: Type.String({ description: 'English name.', examples: ['Germany'] }),
    countryIsEU: Flag('a member of the European Union'),
    countryID: Type.String({ description: 'ISO 3166-1 numeric.', examples: ['276'] }),
  },
  { title: 'country list' },
);

const listCountries = operation({
  method: 'GET',
  path: '/countries',
  name: 'listCountries',
  summary: 'List countries',
  description: 'The countries the shop delivers to.',
  tag: 'countries',
  labels: ['Base', 'Now'],
  access: 'public',
  answer: Type.Array(Country),
});

export function countries(api: Operations): void {
  api.read(listCountries, async ({ db, shopId }) => {
    const settings = await shopSettings(db, shopId);
    return settings.countries.map((code2) => ({
      ...countryCodes(code2),
      nativeName: nativeName(code2),
      countryIsDefault: code2 === settings.defaultCountry ? 1 : 0,
      englishName: countryName(code2, 'en'),
      countryIsEU: isInEu(code2) ? 1 : 0,
    }));
  });
}

import { Type } from 'typebox';

/** What requests have in common. Fields that a shop does not know are ignored, as the protocol demands. */

export const Text = (description: string, maxLength = 200) => Type.String({ description, maxLength });

export const Context = Type.Object(
  {
    language: Type.Optional(Text('Language of the answer, such as de-DE.', 40)),
    currency: Type.Optional(Text('Currency of the prices, ISO 4217.', 3)),
    address_country: Type.Optional(Text('Country of the buyer, ISO 3166-1 alpha-2.', 100)),
  },
  { description: 'What is known of the buyer.' },
);

/** Beyond what JavaScript and PostgreSQL can hold exactly, no shop has a price. */
const Amount = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: 1_000_000_000_000_000 });

export const Filters = Type.Object(
  {
    categories: Type.Optional(
      Type.Array(Text('Name of a category.'), {
        description: 'Products of one of these categories.',
        maxItems: 20,
      }),
    ),
    price: Type.Optional(
      Type.Object(
        {
          min: Type.Optional(Amount('Lowest price, in minor units.')),
          max: Type.Optional(Amount('Highest price, in minor units.')),
        },
        { description: 'Bounds of the price, in the currency of the context.' },
      ),
    ),
  },
  { description: 'All of them must hold.' },
);

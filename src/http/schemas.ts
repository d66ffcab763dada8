import { Type, type Static, type TObject, type TSchema, type TUnsafe } from 'typebox';

/** Schemas that all modules share. Each field has a description and an example: they are the API reference. */

/** May be null. One type array instead of a union: cheaper to serialise, easier to read in the reference. */
export function Nullable<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  // All schemas that may be null have a type; that of TypeBox has none, because some schemas have not.
  const { type, ...rest } = schema as unknown as { type: string | string[] };
  return Type.Unsafe<Static<Schema> | null>({ type: [type, 'null'].flat(), ...rest });
}

export const Id = Type.String({
  description: 'An id: 36 characters, upper case in answers, compared ignoring case.',
  examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
});

export const Timestamp = Type.String({
  description: 'A moment in UTC, ISO 8601.',
  examples: ['2026-11-15T08:30:00Z'],
});

export const Link = Type.Object(
  {
    rel: Type.String({ description: 'The relation of the target to this object.', examples: ['self'] }),
    href: Type.String({
      description: 'Absolute address of the target.',
      examples: ['https://shop.example/rs/shops/DemoShop/customers/0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
    }),
    title: Type.Optional(Type.String({ description: 'Name of the target.', examples: ['Coffee'] })),
  },
  { title: 'link' },
);
export type Link = Static<typeof Link>;

export const Links = Type.Array(Link, { description: 'Where to go from here.' });

export const ErrorBody = Type.Object(
  {
    message: Type.String({
      description: 'What went wrong, and for which request.',
      examples: ['HTTP 404 Not Found, Request: GET /rs/shops/DemoShop/customers/unknown'],
    }),
    status: Type.String({ description: 'The reason phrase of the status.', examples: ['Not Found'] }),
  },
  { title: 'error body' },
);

/** The object of a list of `item`: hits over all pages, the page, its size, the entries. */
export function Paged<Item extends TObject>(item: Item, title: string) {
  return Type.Object(
    {
      results: Type.Integer({ description: 'Hits over all pages.', examples: [42] }),
      page: Type.Integer({ description: 'The page shown, from 1.', examples: [1] }),
      resultsPerPage: Type.Integer({ description: 'The page size in force.', examples: [10] }),
      items: Type.Array(item, { description: 'The entries of this page.' }),
    },
    { title },
  );
}

export const LocaleParameter = Type.Optional(
  Type.String({
    description:
      'Full locale, language and country. Absent or not offered by the shop: the default locale of the shop.',
    examples: ['en_GB'],
  }),
);

export const CurrencyParameter = Type.Optional(
  Type.String({
    description: 'ISO 4217 code. Absent or not offered by the shop: the default currency of the shop.',
    examples: ['EUR'],
  }),
);

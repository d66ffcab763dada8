import { Type, type Static } from 'typebox';
import type { Localised } from '../http/locale.ts';
import { Id, Nullable } from '../http/schemas.ts';
import {
  FEED_ATTRIBUTES,
  FIELD_RESOURCES,
  type FeedAttribute,
  type FieldResource,
} from '../shops/settings/settings.ts';
import { MAX_FACET_FIELDS } from './facets.ts';
import { FieldTypeName } from '../shops/settings/shown-fields.ts';

export const MAX_CHOICES = 100;

const names = (description: string) =>
  Type.Unsafe<Localised>({
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1, maxLength: 100, pattern: '\\S' },
    minProperties: 1,
    maxProperties: 100,
    description,
    examples: [{ en_GB: 'Care instructions', de_DE: 'Pflegehinweise' }],
  });

const Choice = Type.Object(
  {
    key: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$',
      description: 'What values say.',
      examples: ['cold'],
    }),
    label: names('What people read, by locale.'),
  },
  { title: 'custom field choice' },
);

export const Resource = Type.Unsafe<FieldResource>({
  type: 'string',
  enum: [...FIELD_RESOURCES],
  description: 'What has the field. Orders and their lines have the fields of their carts as well.',
  examples: ['product'],
});

const changeable = {
  name: names('What people read, by locale.'),
  description: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 500,
        description: 'A hint for people who fill it in.',
        examples: ['As on the label.'],
      }),
    ),
  ),
  readableBy: Type.Unsafe<'owner' | 'merchant' | 'public'>({
    type: 'string',
    enum: ['owner', 'merchant', 'public'],
    description:
      'owner: the app that has defined it; merchant: also the people of the shop, and apps with the scope of the thing; public: also shoppers.',
    examples: ['public'],
  }),
  writableBy: Type.Unsafe<'owner' | 'merchant' | 'shopper'>({
    type: 'string',
    enum: ['owner', 'merchant', 'shopper'],
    description:
      'owner: the app, or the merchant, that has defined it; merchant: also the people of the shop; shopper: also whoever has the cart.',
    examples: ['merchant'],
  }),
  isFilter: Type.Optional(
    Type.Boolean({
      description:
        'In the administration, the lists of products, customers and orders are filtered by it, those of orders also by fields of carts; the lists of the API with `field`.',
      examples: [false],
    }),
  ),
  isFacet: Type.Optional(
    Type.Boolean({
      description: `Shoppers filter lists and search of the storefront by it: a public text, number, choice or yes or no of products. A shop has at most ${MAX_FACET_FIELDS} of them.`,
      examples: [true],
    }),
  ),
  feedAttribute: Type.Optional(
    Type.Unsafe<FeedAttribute | null>({
      type: ['string', 'null'],
      enum: [...FEED_ATTRIBUTES, null],
      description:
        'The attribute of product feeds that it fills: a public text, number or choice of products or variations.',
      examples: ['material'],
    }),
  ),
  choices: Type.Optional(
    Nullable(
      Type.Array(Choice, { minItems: 1, maxItems: MAX_CHOICES, description: 'The values of a choice.' }),
    ),
  ),
  jsonSchema: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      description:
        'What JSON must be like: type, enum, minimum, maximum, minLength, maxLength, minItems, maxItems, items, properties, required, additionalProperties, title and description of JSON Schema.',
      examples: [{ type: 'object', properties: { width: { type: 'number' } }, required: ['width'] }],
    }),
  ),
};

export const FieldChange = Type.Object(changeable, { title: 'custom field (change)' });
export type FieldChange = Static<typeof FieldChange>;

const identity = {
  resource: Resource,
  namespace: Type.String({
    pattern: '^[a-z][a-z0-9_-]{1,39}$',
    description: 'Groups fields; its first field decides to which app it belongs, or to the merchant.',
    examples: ['care'],
  }),
  key: Type.String({
    pattern: '^[a-z][a-z0-9_-]{0,39}$',
    description: 'Its name in this namespace.',
    examples: ['washing'],
  }),
  type: FieldTypeName,
};

const kinds = {
  isList: Type.Boolean({ description: 'It has a list of values, at most 50.', examples: [false] }),
  isLocalised: Type.Boolean({ description: 'It has values for each language.', examples: [true] }),
};

export const NewField = Type.Object(
  {
    ...identity,
    isList: Type.Optional(kinds.isList),
    isLocalised: Type.Optional(kinds.isLocalised),
    ...changeable,
  },
  { title: 'custom field (request)' },
);
export type NewField = Static<typeof NewField>;

export const Field = Type.Object(
  {
    fieldId: Id,
    ...identity,
    ...kinds,
    appId: Nullable({ ...Id, description: 'The app that has defined it; null: the merchant.' }),
    name: changeable.name,
    description: Nullable(
      Type.String({ description: 'A hint for people who fill it in.', examples: ['As on the label.'] }),
    ),
    readableBy: changeable.readableBy,
    writableBy: changeable.writableBy,
    isFilter: Type.Boolean({
      description: 'Lists of the administration are filtered by it.',
      examples: [false],
    }),
    isFacet: Type.Boolean({
      description: 'Shoppers filter lists and search by it.',
      examples: [true],
    }),
    feedAttribute: Nullable(
      Type.String({ description: 'The attribute of product feeds that it fills.', examples: ['material'] }),
    ),
    choices: Nullable(Type.Array(Choice, { description: 'The values of a choice.' })),
    jsonSchema: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'What JSON must be like; null: anything.',
      examples: [null],
    }),
  },
  { title: 'custom field' },
);

export const FieldList = Type.Object(
  { items: Type.Array(Field, { description: 'In the order in which they were defined.' }) },
  { title: 'custom field list' },
);

/** Of one thing: by `namespace.key`. */
export const FieldValues = Type.Object(
  {
    fields: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The values by `namespace.key`. A field with languages has an object of them, a list an array. Numbers are decimal texts, money is an amount and a currency, references are ids.',
      examples: [{ 'care.washing': { en_GB: 'Cold wash' } }],
    }),
  },
  { title: 'custom field values' },
);

export const ValueChanges = Type.Object(
  {
    fields: Type.Record(Type.String(), Type.Unknown(), {
      maxProperties: 100,
      description: 'The new values by `namespace.key`; null removes one. Others stay as they are.',
      examples: [{ 'care.washing': { en_GB: 'Cold wash' } }],
    }),
  },
  { title: 'custom field values (request)' },
);

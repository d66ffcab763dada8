import { Type } from 'typebox';
import { MAX_ALIAS_LENGTH } from '../../kernel/aliases.ts';
import { ShownFields } from '../../shops/settings/shown-fields.ts';
import { Id, Link, Links, Nullable } from '../../http/schemas.ts';
import { Image } from '../../platform/media/schema.ts';

/** The maximum length of a category description. */
export const MAX_DESCRIPTION_LENGTH = 100_000;

const words = {
  name: { description: 'Name, in the locale of the call.', examples: ['Cold drinks'], maxLength: 255 },
  pageTitle: { description: 'Title of the page.', examples: ['Cold drinks by the bottle'], maxLength: 255 },
  navigationCaption: { description: 'Label in the navigation.', examples: ['Drinks'], maxLength: 255 },
  description: {
    description: 'Text of the page; may contain markup.',
    examples: ['<p>From the fridge</p>'],
    maxLength: MAX_DESCRIPTION_LENGTH,
  },
} as const;

const alias = { description: 'Short name, unique in the shop.', examples: ['drinks'] };
const visible = { description: 'Shown to shoppers.', examples: [true] };
const visibleInNavigation = { description: 'Shown in the navigation.', examples: [true] };

const shown = {
  categoryId: Id,
  alias: Type.String(alias),
  name: Type.String(words.name),
  visible: Type.Boolean(visible),
  visibleInNavigation: Type.Boolean(visibleInNavigation),
  pageTitle: Nullable(Type.String(words.pageTitle)),
  navigationCaption: Nullable(Type.String(words.navigationCaption)),
  description: Nullable(Type.String(words.description)),
};

const facets = {
  facetedSearchShowFacetsOnCategory: Type.Boolean({
    description: 'Filters are shown on the page of the category.',
    examples: [true],
  }),
  facetedSearchCategoryStartDepth: Type.Integer({
    description: 'Level of the tree from which categories are offered as a filter.',
    examples: [3],
  }),
};

const specialOffer = { description: 'Contains special offers.', examples: [false] };

const Parent = { ...Link, description: 'The category above, with its name as title.' };
const sfUrl = Type.String({
  description: 'Address in the storefront.',
  examples: ['https://shop.example/shop/DemoShop/Categories/drinks'],
});

export const Category = Type.Object(
  {
    ...shown,
    specialOffer: Type.Boolean(specialOffer),
    ...facets,
    images: Type.Array(Image, { description: 'Its picture in several sizes; empty when it has none.' }),
    parent: Nullable(Parent),
    subCategories: Type.Array(Link, {
      description: 'The categories below, in their order, with their names as titles.',
    }),
    sfUrl,
    links: Links,
    fields: ShownFields,
  },
  { title: 'category' },
);

export const Subcategory = Type.Object(
  { ...shown, ...facets, parent: Parent, sfUrl, links: Links },
  { title: 'subcategory' },
);

/** null and empty text mean none. */
const texts = {
  name: Type.Optional(Nullable(Type.String(words.name))),
  pageTitle: Type.Optional(Nullable(Type.String(words.pageTitle))),
  navigationCaption: Type.Optional(Nullable(Type.String(words.navigationCaption))),
  description: Type.Optional(Nullable(Type.String(words.description))),
};

export const NewCategory = Type.Object(
  {
    ...texts,
    alias: Type.Optional(
      Nullable(
        Type.String({
          description: 'Short name; absent: made from the name. One that is taken gets a number.',
          examples: ['drinks'],
          maxLength: MAX_ALIAS_LENGTH,
        }),
      ),
    ),
  },
  { title: 'category (create request)' },
);

export const ChangedCategory = Type.Object(
  {
    categoryId: { ...Id, description: 'The same as in the path.' },
    ...texts,
    alias: Type.Optional(
      Nullable(
        Type.String({
          description: 'Short name, unique in the shop. May be left out when a name is sent.',
          examples: ['drinks'],
          minLength: 1,
          pattern: '\\S',
          maxLength: MAX_ALIAS_LENGTH,
        }),
      ),
    ),
    visible: Type.Optional(Nullable(Type.Boolean(visible))),
    visibleInNavigation: Type.Optional(Nullable(Type.Boolean(visibleInNavigation))),
    specialOffer: Type.Optional(Nullable(Type.Boolean(specialOffer))),
    facetedSearchShowFacetsOnCategory: Type.Optional(Nullable(facets.facetedSearchShowFacetsOnCategory)),
    facetedSearchCategoryStartDepth: Type.Optional(
      Nullable({ ...facets.facetedSearchCategoryStartDepth, minimum: 0, maximum: 100 }),
    ),
  },
  { title: 'category (update request)' },
);

export const Sequence = Type.Array(
  Type.String({ description: 'Alias of a subcategory.', examples: ['drinks'], maxLength: MAX_ALIAS_LENGTH }),
  { description: 'The aliases of the subcategories in their order.' },
);

import { Type, type Static } from 'typebox';
import { Nullable, Paged, Id, Timestamp } from '../../http/schemas.ts';
import { LINES_OF_TEXT, LOCALE, ONE_LINE } from '../../shops/settings/fields.ts';
import { BlockList } from '../blocks.ts';

export const PAGE_KINDS = ['page', 'post', 'home', 'category'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** Pages, posts and tops of categories of a shop. */
export const MAX_PAGES = 1_000;
/** As many as a shop can have locales. */
const MAX_LOCALES = 50;
export const MAX_SLUG_LENGTH = 100;

/** Small letters of any script and digits, in words. */
export const SLUG = String.raw`^[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)*$`;

const Line = (description: string, example: string, maxLength: number) =>
  Type.Optional(
    Nullable(Type.String({ description, examples: [example], maxLength, pattern: `${ONE_LINE}|^$` })),
  );

/** A page in one language. Pages of the admin have these fields; the blocks have fields of their own. */
export const PageText = Type.Object(
  {
    locale: Type.String({
      description: 'A locale of the shop.',
      examples: ['en_GB'],
      pattern: LOCALE,
    }),
    title: Line('Its heading. Pages and posts need one.', 'About us', 200),
    slug: Type.Optional(
      Nullable(
        Type.String({
          description:
            'The end of its address, /pages/about-us. Absent: made from the title. Only pages and posts have one.',
          examples: ['about-us'],
          maxLength: MAX_SLUG_LENGTH,
          pattern: `${SLUG}|^$`,
        }),
      ),
    ),
    pageTitle: Line(
      'The title for the window and for search engines. Absent: the heading.',
      'Who we are',
      200,
    ),
    description: Line('The description that search engines show.', 'Three people and a roaster.', 500),
    summary: Type.Optional(
      Nullable(
        Type.String({
          description: 'What the list of posts and the feed show of a post.',
          examples: ['We have moved to the harbour.'],
          maxLength: 1_000,
          pattern: `${LINES_OF_TEXT}|^$`,
        }),
      ),
    ),
    pictureText: Line('What the picture shows, for people who do not see it.', 'The harbour at dawn', 500),
    blocks: BlockList,
  },
  { title: 'page text' },
);

export const PageBody = Type.Object(
  {
    kind: Type.Enum([...PAGE_KINDS], {
      description:
        'page: below /pages. post: below /posts, in the list of posts and in the feed. home: the front page. category: the top of a category. It never changes.',
      examples: ['page'],
    }),
    category: Type.Optional(
      Nullable(
        Type.String({
          description: 'For the kind category: the alias of the category.',
          examples: ['coffee'],
          maxLength: 255,
        }),
      ),
    ),
    published: Type.Optional(
      Type.Boolean({
        description: 'false: only people of the shop see it. Absent: false.',
        examples: [true],
      }),
    ),
    publishAt: Type.Optional(
      Nullable(
        Type.String({
          description:
            'The moment from which a published page is public, ISO 8601. Absent: at once, or as before.',
          examples: ['2026-12-01T08:00:00Z'],
          maxLength: 40,
        }),
      ),
    ),
    author: Line('Who wrote it, shown with posts.', 'Ina Feldkamp', 100),
    picture: Type.Optional(
      Nullable(
        Type.String({
          description:
            'Address of the picture of a post in lists, which is also shown where a page is shared: a path on this server, or an https address.',
          examples: ['https://shop.example/harbour.jpg'],
          maxLength: 2_000,
          pattern: String.raw`^(?:https:/)?/[^\s/\\]\S*$|^$`,
        }),
      ),
    ),
    texts: Type.Array(PageText, {
      minItems: 1,
      maxItems: MAX_LOCALES,
      description: 'The page in each of its languages. In the others of the shop it does not exist.',
    }),
  },
  { title: 'page (request)' },
);
export type PageBody = Static<typeof PageBody>;

const text = (description: string, example: string) =>
  Nullable(Type.String({ description, examples: [example] }));

const facts = {
  pageId: Id,
  kind: Type.String({ description: 'page, post, home or category.', examples: ['page'] }),
  category: text('The alias of the category whose top it is.', 'coffee'),
  published: Type.Boolean({ description: 'false: it is a draft.', examples: [true] }),
  publishAt: Nullable({
    ...Timestamp,
    description: 'From this moment on it is public; null: it is a draft.',
  }),
  author: text('Who wrote it.', 'Ina Feldkamp'),
  picture: text('Address of its picture.', 'https://shop.example/harbour.jpg'),
  version: Type.Integer({ description: 'How often it was saved.', examples: [3] }),
  creationDate: Timestamp,
  lastChangeDate: Timestamp,
};

const textFacts = {
  locale: Type.String({ description: 'The locale.', examples: ['en_GB'] }),
  title: text('Its heading.', 'About us'),
  slug: text('The end of its address.', 'about-us'),
};

export const PageAnswer = Type.Object(
  {
    ...facts,
    texts: Type.Array(
      Type.Object(
        {
          ...textFacts,
          pageTitle: text('The title for the window.', 'Who we are'),
          description: text('The description that search engines show.', 'Three people and a roaster.'),
          summary: text('What lists show of a post.', 'We have moved to the harbour.'),
          pictureText: text('What the picture shows.', 'The harbour at dawn'),
          blocks: Type.Array(Type.Object({}, { additionalProperties: true, title: 'block (answer)' }), {
            description: 'The blocks from top to bottom, as in the request.',
          }),
        },
        { title: 'page text (answer)' },
      ),
      { description: 'Its languages.' },
    ),
  },
  { title: 'page' },
);

export const PageList = Paged(
  Type.Object(
    {
      ...facts,
      texts: Type.Array(Type.Object(textFacts, { title: 'page name' }), { description: 'Its languages.' }),
    },
    { title: 'page summary' },
  ),
  'pages',
);

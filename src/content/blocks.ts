import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { LINES_OF_TEXT, ONE_LINE } from '../shops/settings/fields.ts';

/**
 * The content of a page is a list of blocks. Each kind has a schema with its bounds; a page is bounded as a whole by
 * `MAX_CHARACTERS`, `MAX_PICTURES` and `MAX_LISTS`.
 */

export const MAX_BLOCKS = 60;
/** Of all texts of a page in one language. */
export const MAX_PAGE_CHARACTERS = 100_000;
/** Of a page in one language. */
export const MAX_PAGE_PICTURES = 100;
/** Lists of products of a page in one language. */
export const MAX_LISTS = 10;
/** Products that one block shows. */
export const MAX_PRODUCTS = 24;
export const MAX_TEXT = 20_000;
export const MAX_BLOCK_ITEMS = { gallery: 24, faq: 30, columns: 4, promises: 6 } as const;

const MAX_ADDRESS = 2_000;

const Line = (description: string, example: string, maxLength = 200) =>
  Type.String({ description, examples: [example], minLength: 1, maxLength, pattern: ONE_LINE });
const Lines = (description: string, example: string, maxLength: number) =>
  Type.String({ description, examples: [example], minLength: 1, maxLength, pattern: LINES_OF_TEXT });
const Html = (description: string, example: string, maxLength = MAX_TEXT) =>
  Type.String({ description, examples: [example], maxLength });
const Picture = Type.String({
  description: 'Address of a picture: a path on this server, or an https address.',
  examples: ['https://shop.example/harbour.jpg'],
  maxLength: MAX_ADDRESS,
  pattern: String.raw`^(?:https:/)?/[^\s/\\]\S*$`,
});
export const LINK = String.raw`^(?:https://[^\s/]|/[^\s/\\]|/$)\S*$`;
const Link = Type.String({
  description: 'A path of the shop, or an https address.',
  examples: ['/Categories/coffee'],
  maxLength: MAX_ADDRESS,
  pattern: LINK,
});

const picture = { picture: Picture };
const optionalPicture = { picture: Type.Optional(Picture) };
const alt = {
  alt: Type.Optional(
    Line('What the picture shows, for people who do not see it.', 'The harbour at dawn', 500),
  ),
};
const button = {
  link: Type.Optional(Link),
  linkText: Type.Optional(Line('Text of the link. Absent: the built-in one.', 'See our coffee', 100)),
};
const title = { title: Type.Optional(Line('A heading above it.', 'Our favourites')) };
const html = { html: Html('Text with simple markup.', '<p>Roasted a street away.</p>') };

/** The sources of a list of products. */
export const SOURCES = ['chosen', 'category', 'newest', 'offers', 'best sellers'] as const;
export const SIZES = ['small', 'medium', 'large'] as const;
export const SIDES = ['left', 'right'] as const;
export const LEVELS = ['2', '3'] as const;

const GalleryPicture = Type.Object({ ...picture, ...alt }, { title: 'gallery picture' });
const Question = Type.Object(
  {
    question: Line('A question.', 'How long does the delivery take?', 300),
    answer: Html('Its answer, with simple markup.', '<p>Two days.</p>', 5_000),
  },
  { title: 'question' },
);
const Column = Type.Object(
  {
    ...optionalPicture,
    ...alt,
    title: Type.Optional(Line('A heading.', 'Roasted here')),
    html: Type.Optional(Html('Text with simple markup.', '<p>A street away.</p>', 5_000)),
    ...button,
  },
  { title: 'column' },
);

const items = <Item extends TObject>(item: Item, maxItems: number, description: string) =>
  Type.Array(item, { minItems: 1, maxItems, description });

/** The schemas of all kinds, without the field `type`. */
export const BLOCKS = {
  hero: Type.Object({
    ...optionalPicture,
    ...alt,
    title: Type.Optional(
      Line('The main heading of the page. Absent: its title.', 'Small things from the seaside'),
    ),
    html: Type.Optional(Html('Text with simple markup.', '<p>Roasted a street away.</p>', 5_000)),
    ...button,
  }),
  promises: Type.Object({
    promises: Type.Array(Line('A few words.', 'Free returns for 30 days', 80), {
      minItems: 1,
      maxItems: MAX_BLOCK_ITEMS.promises,
      description: 'Benefits, in one line.',
    }),
  }),
  heading: Type.Object({
    text: Line('A heading.', 'How we roast'),
    level: Type.Enum([...LEVELS], {
      description: '2: a section of the page. 3: a part of a section.',
      examples: ['2'],
    }),
  }),
  richText: Type.Object(html),
  picture: Type.Object({
    ...picture,
    ...alt,
    caption: Type.Optional(Line('A line below the picture.', 'Our roastery', 300)),
    link: Type.Optional(Link),
  }),
  gallery: Type.Object({
    ...title,
    pictures: items(GalleryPicture, MAX_BLOCK_ITEMS.gallery, 'Its pictures.'),
  }),
  pictureText: Type.Object({
    ...picture,
    ...alt,
    side: Type.Enum([...SIDES], {
      description: 'The side of the picture on wide screens.',
      examples: ['left'],
    }),
    ...html,
    ...button,
  }),
  products: Type.Object({
    ...title,
    source: Type.Enum([...SOURCES], {
      description:
        'chosen: the products that it names. category: those of a category. newest: products marked as new, then the newest. offers: special offers. best sellers: what sells best at present.',
      examples: ['chosen'],
    }),
    numbers: Type.Optional(
      Type.Array(
        Type.String({
          description: 'A product number.',
          examples: ['AP-100'],
          minLength: 1,
          maxLength: 100,
        }),
        { maxItems: MAX_PRODUCTS, description: 'For chosen: the product numbers, in their order.' },
      ),
    ),
    category: Type.Optional(Line('For category: its alias.', 'coffee', 255)),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PRODUCTS,
        description: 'At most so many products. Absent: 8.',
        examples: [8],
      }),
    ),
  }),
  categories: Type.Object({
    ...title,
    categories: Type.Optional(
      Type.Array(Line('Alias of a category.', 'coffee', 255), {
        maxItems: MAX_PRODUCTS,
        description: 'The categories. Absent: those of the first level.',
      }),
    ),
  }),
  video: Type.Object({
    video: Type.String({
      description: 'Address of a video on YouTube or Vimeo. It is loaded when a visitor asks for it.',
      examples: ['https://www.youtube.com/watch?v=aqz-KE-bpKQ'],
      maxLength: 200,
      pattern: String.raw`^https://(?:(?:www\.|m\.)?youtube\.com/(?:watch\?v=|embed/|shorts/)[\w-]{6,20}|youtu\.be/[\w-]{6,20}|(?:www\.|player\.)?vimeo\.com/(?:video/)?\d{4,15})(?:[?&#/][\w=&?.%#/-]*)?$`,
    }),
    title: Line('What the video shows.', 'How we roast'),
    ...optionalPicture,
  }),
  faq: Type.Object({
    ...title,
    questions: items(Question, MAX_BLOCK_ITEMS.faq, 'The questions and their answers.'),
  }),
  quote: Type.Object({
    text: Lines('The words.', 'The best kettle I ever had.', 1_000),
    source: Type.Optional(Line('Who said it.', 'Ada Brennan', 200)),
  }),
  button: Type.Object({
    link: Link,
    linkText: Line('Text of the button.', 'See our coffee', 100),
  }),
  contactForm: Type.Object({
    ...title,
    text: Type.Optional(Lines('An introduction.', 'We answer within one working day.', 1_000)),
  }),
  newsletter: Type.Object({
    ...title,
    text: Type.Optional(Lines('An introduction.', 'News from the harbour, once a month.', 1_000)),
  }),
  columns: Type.Object({
    columns: Type.Array(Column, {
      minItems: 2,
      maxItems: MAX_BLOCK_ITEMS.columns,
      description: 'Two to four columns.',
    }),
  }),
  spacer: Type.Object({
    size: Type.Enum([...SIZES], { description: 'How much space.', examples: ['medium'] }),
    line: Type.Optional(Type.Boolean({ description: 'With a line in its middle.', examples: [true] })),
  }),
  app: Type.Object({
    block: Type.String({
      description:
        'A block of an installed app: its host, a slash, and the name of the block in its manifest. A block that no installed app has shows nothing.',
      examples: ['sizes.example/advisor'],
      maxLength: 300,
      pattern: String.raw`^[a-zA-Z0-9.:\[\]-]{1,255}/[a-z0-9][a-z0-9-]{0,39}$`,
    }),
  }),
} as const satisfies Readonly<Record<string, TObject>>;

export type BlockType = keyof typeof BLOCKS;
export const BLOCK_TYPES = Object.keys(BLOCKS) as BlockType[];

export const isBlockType = (text: string): text is BlockType => Object.hasOwn(BLOCKS, text);

/** A block of this kind. */
export type BlockOf<Name extends BlockType> = { type: Name } & Static<(typeof BLOCKS)[Name]>;
export type Block = { [Name in BlockType]: BlockOf<Name> }[BlockType];

const blockSchema = (type: BlockType): TSchema => {
  const { properties, required, ...options } = BLOCKS[type] as TObject & { required: string[] | undefined };
  const schema: unknown = {
    ...options,
    title: `${type} block`,
    type: 'object',
    properties: {
      type: { type: 'string', enum: [type], description: 'The kind of the block.', examples: [type] },
      ...properties,
    },
    required: ['type', ...(required ?? [])],
  };
  return schema as TSchema;
};

/** The field `type` decides which schema a block has, so a refusal names the field of that kind. */
export const BlockList = Type.Unsafe<Block[]>({
  type: 'array',
  maxItems: MAX_BLOCKS,
  description: `The blocks from top to bottom, at most ${MAX_BLOCKS}.`,
  examples: [[{ type: 'richText', html: '<p>We have moved.</p>' }]],
  items: {
    title: 'block',
    type: 'object',
    discriminator: { propertyName: 'type' },
    required: ['type'],
    oneOf: BLOCK_TYPES.map(blockSchema),
  },
});

/** The fields of a block that its kind knows. Unknown keys of a request are ignored, as everywhere. */
export function knownBlock(block: Block): Block {
  return { type: block.type, ...knownFields(BLOCKS[block.type], block) } as Block;
}

function knownFields({ properties }: TObject, given: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      const value = given[name];
      if (value === undefined) return [];
      const { items: item } = schema as { items?: TSchema };
      const isListOfObjects = item !== undefined && 'properties' in item && Array.isArray(value);
      return [[name, isListOfObjects ? value.map((one) => knownFields(item as TObject, one)) : value]];
    }),
  );
}

/** What counts towards the bounds of a page. */
export function sizeOf(blocks: readonly Block[]): { characters: number; pictures: number; lists: number } {
  const size = { characters: 0, pictures: 0, lists: 0 };
  const count = (value: unknown, key?: string): void => {
    if (typeof value === 'string') {
      size.characters += value.length;
      if (key === 'picture') size.pictures++;
    } else if (Array.isArray(value)) value.forEach((one) => count(one));
    else if (typeof value === 'object' && value !== null)
      Object.entries(value).forEach(([name, one]) => count(one, name));
  };
  count(blocks);
  size.lists = blocks.filter(({ type }) => type === 'products').length;
  return size;
}

/** The addresses of all pictures. */
export function picturesOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if ('picture' in block) return block.picture ?? [];
    if (block.type === 'gallery') return block.pictures.map((one) => one.picture);
    if (block.type === 'columns') return block.columns.flatMap((one) => one.picture ?? []);
    return [];
  });
}

/** The visible words, for the search of the shop; markup is still in it. */
export function* textsOf(blocks: readonly Block[]): Generator<string> {
  for (const block of blocks) {
    if ('title' in block && block.title !== undefined) yield block.title;
    if ('html' in block && block.html !== undefined) yield block.html;
    if ('text' in block && block.text !== undefined) yield block.text;
    if (block.type === 'faq') for (const { question, answer } of block.questions) yield* [question, answer];
    if (block.type === 'columns')
      for (const column of block.columns) yield* [column.title ?? '', column.html ?? ''];
  }
}

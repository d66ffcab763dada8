import type { TObject } from 'typebox';
import {
  BLOCKS,
  LEVELS,
  MAX_BLOCK_ITEMS,
  SIDES,
  SIZES,
  SOURCES,
  type Block,
  type BlockType,
} from '../../content/blocks.ts';
import type { TextLimit } from '../../http/form-fields.ts';
import type { FormRequest } from '../../http/page-kit.ts';
import { declareForm, type DeclaredForm } from '../components/declared-form.ts';
import type { AdminMessages } from '../messages.ts';

type Words = AdminMessages['pages'];
type Fields = Words['fields'];

const form = (body: TObject, fieldsIn: Parameters<typeof declareForm>[1]): DeclaredForm =>
  declareForm({ body }, fieldsIn);

/** The schema of the entries of a list in a block. */
const entryOf = (list: unknown) => (list as { items: TObject }).items;

const link = ({ fields }: Words) => ({ label: fields.link, hint: fields.linkHint });
const choices = <Value extends string>(values: readonly Value[], texts: Readonly<Record<Value, string>>) =>
  values.map((value) => ({ value, text: texts[value] }));
const richText = (label: string, rows = 6) => ({ kind: 'rich text', label, rows }) as const;
const title = ({ title }: Fields) => ({ label: title });
const pictureParts = ({ fields }: Words) => ({
  picture: { label: fields.picture },
  alt: { label: fields.alt },
});
const buttonParts = (pages: Words) => ({ link: link(pages), linkText: { label: pages.fields.linkText } });

/** The fields of each kind of block. */
export const BLOCK_FORMS: Readonly<Record<BlockType, DeclaredForm>> = {
  hero: form(BLOCKS.hero, ({ pages }) => ({
    title: title(pages.fields),
    html: richText(pages.fields.html, 4),
    ...pictureParts(pages),
    ...buttonParts(pages),
  })),
  promises: form(BLOCKS.promises, ({ pages }) => ({
    promises: lines(pages.fields.promises, pages.onePerLine, MAX_BLOCK_ITEMS.promises, 600),
  })),
  heading: form(BLOCKS.heading, ({ pages }) => ({
    text: { label: pages.fields.text },
    level: { kind: 'choice', label: pages.fields.level, choices: choices(LEVELS, pages.levels) },
  })),
  richText: form(BLOCKS.richText, ({ pages }) => ({ html: richText(pages.fields.html, 10) })),
  picture: form(BLOCKS.picture, ({ pages }) => ({
    ...pictureParts(pages),
    caption: { label: pages.fields.caption },
    link: link(pages),
  })),
  gallery: form(BLOCKS.gallery, ({ pages }) => ({ title: title(pages.fields) })),
  pictureText: form(BLOCKS.pictureText, ({ pages }) => ({
    ...pictureParts(pages),
    side: { kind: 'choice', label: pages.fields.side, choices: choices(SIDES, pages.sides) },
    html: richText(pages.fields.html),
    ...buttonParts(pages),
  })),
  products: form(BLOCKS.products, ({ pages }) => ({
    title: title(pages.fields),
    source: { kind: 'choice', label: pages.fields.source, choices: choices(SOURCES, pages.sources) },
    numbers: lines(pages.fields.numbers, pages.onePerLine, 24, 2_500),
    category: { label: pages.fields.categoryAlias },
    count: { kind: 'integer', label: pages.fields.count },
  })),
  categories: form(BLOCKS.categories, ({ pages }) => ({
    title: title(pages.fields),
    categories: lines(pages.fields.categories, pages.fields.categoriesHint, 24, 6_500),
  })),
  video: form(BLOCKS.video, ({ pages }) => ({
    video: { label: pages.fields.video },
    title: { label: pages.fields.videoTitle },
    picture: { label: pages.fields.picture },
  })),
  faq: form(BLOCKS.faq, ({ pages }) => ({ title: title(pages.fields) })),
  quote: form(BLOCKS.quote, ({ pages }) => ({
    text: { kind: 'long text', label: pages.fields.words },
    source: { label: pages.fields.source2 },
  })),
  button: form(BLOCKS.button, ({ pages }) => buttonParts(pages)),
  contactForm: form(BLOCKS.contactForm, ({ pages }) => ({
    title: title(pages.fields),
    text: { kind: 'long text', label: pages.fields.text, rows: 3 },
  })),
  newsletter: form(BLOCKS.newsletter, ({ pages }) => ({
    title: title(pages.fields),
    text: { kind: 'long text', label: pages.fields.text, rows: 3 },
  })),
  columns: form(BLOCKS.columns, () => ({})),
  spacer: form(BLOCKS.spacer, ({ pages }) => ({
    size: { kind: 'choice', label: pages.fields.size, choices: choices(SIZES, pages.sizes) },
    line: { kind: 'tick', label: pages.fields.line },
  })),
  // The choices are those of the installed apps; see blockFields.
  app: form(BLOCKS.app, ({ pages }) => ({ block: { kind: 'choice', label: pages.fields.block } })),
};

/** A field with one entry per line. */
const lines = (label: string, hint: string, count: number, characters: number) =>
  ({ kind: 'long text', label, hint, rows: 4, maxLength: { characters, lines: count + 1 } }) as const;

/** The fields that are a list with one entry per line. */
const LISTS: ReadonlySet<string> = new Set(['promises', 'numbers', 'categories']);

interface ItemForm {
  /** The name of the list in the block. */
  name: string;
  form: DeclaredForm;
  max: number;
}

/** The kinds of blocks with entries of several fields. */
export const ITEM_FORMS: Readonly<Partial<Record<BlockType, ItemForm>>> = {
  gallery: {
    name: 'pictures',
    max: MAX_BLOCK_ITEMS.gallery,
    form: form(entryOf(BLOCKS.gallery.properties.pictures), ({ pages }) => pictureParts(pages)),
  },
  faq: {
    name: 'questions',
    max: MAX_BLOCK_ITEMS.faq,
    form: form(entryOf(BLOCKS.faq.properties.questions), ({ pages }) => ({
      question: { label: pages.fields.question },
      answer: richText(pages.fields.answer, 3),
    })),
  },
  columns: {
    name: 'columns',
    max: MAX_BLOCK_ITEMS.columns,
    form: form(entryOf(BLOCKS.columns.properties.columns), ({ pages }) => ({
      title: title(pages.fields),
      html: richText(pages.fields.html, 4),
      ...pictureParts(pages),
      ...buttonParts(pages),
    })),
  },
};

/** A block as its form has it: every value is the text of an input. */
export interface TypedBlock {
  type: BlockType;
  values: Readonly<Record<string, string>>;
  items: readonly Readonly<Record<string, string>>[];
}

export const fieldNames = ({ fieldsIn }: DeclaredForm, messages: AdminMessages) =>
  Object.keys(fieldsIn(messages));

/** The typed blocks of a stored page. */
export function toTyped(block: Block, messages: AdminMessages): TypedBlock {
  const stored = block as Readonly<Record<string, unknown>>;
  const texts = (form: DeclaredForm, from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(fieldNames(form, messages).map((name) => [name, typedText(from[name])]));
  const items = ITEM_FORMS[block.type];
  const entries = items ? (stored[items.name] as Readonly<Record<string, unknown>>[] | undefined) : undefined;
  return {
    type: block.type,
    values: texts(BLOCK_FORMS[block.type], stored),
    items: items && entries ? entries.map((entry) => texts(items.form, entry)) : [],
  };
}

function typedText(value: unknown): string {
  if (Array.isArray(value)) return value.join('\n');
  if (value === true) return 'yes';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** A new block of this kind, with as many empty entries as it needs. */
export function emptyBlock(type: BlockType): TypedBlock {
  const count = type === 'columns' ? 2 : type in ITEM_FORMS ? 1 : 0;
  return { type, values: {}, items: Array.from({ length: count }, () => ({})) };
}

/** The block of the API. Empty fields are left out, and so are entries without any text. */
export function toBlock({ type, values, items }: TypedBlock): Block {
  const given = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]): [string, unknown][] => {
        if (text === '' && name !== 'html' && name !== 'answer') return [];
        if (LISTS.has(name))
          return [
            [
              name,
              text
                .split('\n')
                .map((line) => line.trim())
                .filter(Boolean),
            ],
          ];
        if (name === 'count') return [[name, Number(text)]];
        if (name === 'line') return [[name, true]];
        return [[name, text]];
      }),
    );
  const list = ITEM_FORMS[type];
  const filled = items.filter((item) => Object.values(item).some((text) => text !== ''));
  return { type, ...given(values), ...(list && { [list.name]: filled.map(given) }) } as Block;
}

/** The typed blocks of a form. */
export function readBlocks(
  { field }: Pick<FormRequest, 'field'>,
  messages: AdminMessages,
  isType: (text: string) => text is BlockType,
  max: number,
): TypedBlock[] {
  const count = Math.min(Math.trunc(Number(field('count'))) || 0, max);
  return Array.from({ length: count }, (_, index) => index).flatMap((index): TypedBlock[] => {
    const prefix = `blocks.${index}.`;
    const type = field(`${prefix}type`);
    if (!isType(type)) return [];
    const read = (form: DeclaredForm, before: string) =>
      Object.fromEntries(fieldNames(form, messages).map((name) => [name, field(before + name)]));
    const list = ITEM_FORMS[type];
    const items = list ? Math.min(Math.trunc(Number(field(`${prefix}items`))) || 0, list.max) : 0;
    return [
      {
        type,
        values: read(BLOCK_FORMS[type], prefix),
        items: Array.from({ length: items }, (_, at) => read(list!.form, `${prefix}items.${at}.`)),
      },
    ];
  });
}

/** The limits of all fields of blocks, by the names of their inputs. */
export function blockLimits(limitsOf: (form: DeclaredForm) => Readonly<Record<string, TextLimit>>) {
  const named = (forms: readonly DeclaredForm[], prefix: string) =>
    forms.flatMap((one) =>
      Object.entries(limitsOf(one)).map(([name, limit]): [string, TextLimit] => [prefix + name, limit]),
    );
  return Object.fromEntries(
    widest([
      ...named(Object.values(BLOCK_FORMS), 'blocks.*.'),
      ...named(
        Object.values(ITEM_FORMS).map((one) => one.form),
        'blocks.*.items.*.',
      ),
    ]),
  );
}

/** Kinds of blocks share the names of fields, whose bounds differ: the operation checks each kind by its own. */
function widest(limits: readonly [string, TextLimit][]): Map<string, TextLimit> {
  const found = new Map<string, TextLimit>();
  const sizeOf = (limit: TextLimit | undefined) =>
    limit === undefined ? 0 : typeof limit === 'number' ? limit : limit.characters;
  for (const [name, limit] of limits) if (sizeOf(limit) > sizeOf(found.get(name))) found.set(name, limit);
  return found;
}

import type { Database, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { currencyDigits } from '../../kernel/money.ts';
import type { ProductFacts, Prices } from '../../catalogue/products/facts.ts';
import { analyseCatalogue, refreshListing } from '../../catalogue/products/listing.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { readVocabulary, type Vocabulary, type Word } from './demo-data.ts';

/*
 * Many believable products, to test how a shop of that size behaves. The same seed gives the same products: each is
 * derived from the seed and its own number, so an interrupted run continues where it ended.
 */

export interface Generation {
  shopId: string;
  /** The final number of products; variations come in addition. */
  products: number;
  seed: number;
}

const BATCH = 500;
const WORKERS = 2;
const DAY = 86_400_000;
const TYPE = 'gen-goods';

/**
 * Returns the number of products added; `advance` is called after each batch. Existing products are not created again.
 */
export async function generateProducts(
  db: Database,
  { shopId, products, seed }: Generation,
  advance: (made: number) => void,
): Promise<number> {
  const vocabulary = await readVocabulary();
  const assortment = await db.transaction((tx) => ensureAssortment(tx, shopId, vocabulary));
  const settings = await shopSettings(db, shopId);
  const context = { seed, settings, vocabulary, assortment };
  let next = 0;
  let made = 0;
  const makeBatches = async () => {
    while (next < products) {
      const from = next;
      const until = Math.min(from + BATCH, products);
      next = until;
      const count = await db.transaction((tx) => makeBatch(tx, { from, until }, context));
      made += count;
      if (from === 0) await analyseCatalogue(db);
      advance(until - from);
    }
  };
  // Most of the time is spent in PostgreSQL, which has one process per connection.
  await Promise.all(Array.from({ length: WORKERS }, makeBatches));
  return made;
}

/** The data that all products are created with. */
interface Context {
  seed: number;
  settings: Settings;
  vocabulary: Vocabulary;
  assortment: Assortment;
}

async function makeBatch(
  tx: Transaction,
  { from, until }: { from: number; until: number },
  context: Context,
): Promise<number> {
  const { seed } = context;
  const { shopId } = context.settings;
  const indexes = Array.from({ length: until - from }, (_, place) => from + place);
  const there = await tx.many<{ number: string }>(sql`
    select product_number as number from product
    where shop_id = ${shopId} and product_number = any (${indexes.map((index) => numberOf(seed, index))})`);
  const known = new Set(there.map(({ number }) => number));
  const missing = indexes.filter((index) => !known.has(numberOf(seed, index)));
  const rows = missing.flatMap((index) => productRows(index, context, tx.now));
  if (rows.length === 0) return 0;
  await insertProducts(tx, shopId, rows);
  await refreshListing(
    tx,
    shopId,
    rows.map(({ product_id }) => product_id),
  );
  return missing.length;
}

function numberOf(seed: number, index: number): string {
  return `G${seed}-${String(index + 1).padStart(6, '0')}`;
}

/** The categories and the type of generated products; created once, for all seeds. */
interface Assortment {
  /** Ids of the categories that hold products, by department and position. */
  categoryIds: string[][];
  productTypeId: string;
}

async function ensureAssortment(
  tx: Transaction,
  shopId: string,
  vocabulary: Vocabulary,
): Promise<Assortment> {
  const { departments } = vocabulary;
  const { locales } = await shopSettings(tx, shopId);
  // Two concurrent runs must not both create them.
  await tx.run(sql`select from shop where shop_id = ${shopId} for no key update`);
  const categories = departments
    .flatMap((department, departmentPosition) => [
      {
        alias: aliasOf(department),
        parent: null,
        name: localised(department, locales),
        position: departmentPosition,
      },
      ...department.categories.map((category, position) => ({
        alias: aliasOf(category),
        parent: aliasOf(department),
        name: localised(category, locales),
        position,
      })),
    ])
    .map((category) => ({ ...category, category_id: newId(tx.now) }));
  // Parents first, because their ids are looked up.
  for (const level of [
    categories.filter(({ parent }) => parent === null),
    categories.filter(({ parent }) => parent !== null),
  ]) {
    await insertCategories(tx, shopId, level);
  }
  const ids = await tx.many<{ alias: string; categoryId: string }>(sql`
    select alias, category_id as "categoryId" from category
    where shop_id = ${shopId} and alias = any (${categories.map(({ alias }) => alias)})`);
  const idOf = new Map(ids.map(({ alias, categoryId }) => [alias, categoryId]));
  const productTypeId = await ensureProductType(tx, shopId, locales, vocabulary);
  await moveSettingsVersion(tx, shopId);
  return {
    categoryIds: departments.map(({ categories }) =>
      categories.map((category) => idOf.get(aliasOf(category))!),
    ),
    productTypeId,
  };
}

async function insertCategories(
  tx: Transaction,
  shopId: string,
  rows: { alias: string; parent: string | null; name: object; position: number; category_id: string }[],
): Promise<void> {
  await tx.run(sql`
    with missing as (
      select row.*, row_number() over (order by row.position, row.alias) as place
      from jsonb_to_recordset(${JSON.stringify(rows)}) as row (alias text, parent text, name jsonb,
        position integer, category_id uuid)
      where not exists (select from category where shop_id = ${shopId} and category.alias = row.alias)
    ), numbers as (
      update counter set value = value + (select count(*) from missing)
      where shop_id = ${shopId} and name = 'category' returning value - (select count(*) from missing) as taken
    )
    insert into category (shop_id, category_id, number, alias, parent_id, position, created_at, name, page_title,
      navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
    select ${shopId}, missing.category_id, numbers.taken + missing.place, missing.alias, parent.category_id,
      1000 + missing.position, ${tx.now}, missing.name, '{}', '{}', '{}', true, true, false, true, 3
    from missing cross join numbers join category parent
      on parent.shop_id = ${shopId} and parent.alias = coalesce(missing.parent, 'Categories')`);
}

async function ensureProductType(
  tx: Transaction,
  shopId: string,
  locales: readonly string[],
  { colours, sizes }: Vocabulary,
): Promise<string> {
  const attributes = [
    { key: 'Colour', name: { en: 'Colour', de: 'Farbe' }, values: colours },
    { key: 'Size', name: { en: 'Size', de: 'Größe' }, values: sizes },
  ].map(({ key, name, values }, index) => ({
    number: index + 1,
    key,
    name: localised(name, locales),
    visible: true,
    preDefined: true,
    values: values.map((value) => ({ value: value.en, name: localised(value, locales) })),
  }));
  await tx.run(sql`
    with missing as (
      select jsonb_array_elements(${JSON.stringify(attributes)}::jsonb) as attribute
      where not exists (select from product_type where shop_id = ${shopId} and alias = ${TYPE})
    ), numbers as (
      update counter set value = value + (select count(*) from missing)
      where shop_id = ${shopId} and name = 'attribute' returning value - (select count(*) from missing) as taken
    )
    insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
    select ${shopId}, ${newId(tx.now)}, ${TYPE}, ${localised({ en: 'Goods', de: 'Ware' }, locales)}, ${tx.now},
      jsonb_agg(jsonb_set(attribute, '{number}', to_jsonb(numbers.taken + (attribute -> 'number')::bigint)))
    from missing cross join numbers having count(*) > 0`);
  const row = await tx.one<{ productTypeId: string }>(sql`
    select product_type_id as "productTypeId" from product_type where shop_id = ${shopId} and alias = ${TYPE}`);
  return row!.productTypeId;
}

/** A row of `product`, with its data in other tables. */
interface GeneratedProduct {
  product_id: string;
  product_number: string;
  kind: 'regular' | 'master' | 'variation';
  master_id: string | null;
  selection: Record<string, string> | null;
  created_at: Date;
  visible: boolean;
  stock: number | null;
  min_stock: number | null;
  product_type_id: string | null;
  prices: Prices | null;
  facts: ProductFacts;
  categories: string[];
  history: { from: Date; price: number }[];
}

function productRows(
  index: number,
  { seed, settings, vocabulary, assortment }: Context,
  now: Date,
): GeneratedProduct[] {
  const random = new SeededRandom(seed, index);
  const { departments, sentences } = vocabulary;
  const { locales, defaultCurrency: currency } = settings;
  const departmentAt = random.below(departments.length);
  const department = departments[departmentAt]!;
  const categoryAt = random.below(department.categories.length);
  const noun = random.of(department.categories[categoryAt]!.nouns);
  const adjective = random.of(vocabulary.adjectives);
  const material = random.of(vocabulary.materials);
  const model = random.of(vocabulary.models);
  const maker = random.of(vocabulary.makers);
  const colour = random.of(vocabulary.colours);
  const size = random.of(vocabulary.sizes);
  const templates = [random.of(sentences), random.of(sentences), random.of(sentences)];

  // In languages other than English and German, every third product has texts, so that missing ones are shown too.
  const translated = locales.filter((locale) => /^(en|de)/.test(locale) || random.below(3) === 0);
  const fill = (text: Word): Word => ({
    en: text.en.replace('%n', noun.en.toLowerCase()).replace('%m', material.en.toLowerCase()),
    de: text.de.replace('%n', noun.de).replace('%m', material.de),
  });
  const name: Word = {
    en: `${adjective.en} ${material.en} ${noun.en} ${model}`,
    de: `${noun.de} ${model}, ${material.de}, ${adjective.de}`,
  };
  const paragraphs = templates.map(fill);
  const description: Word = {
    en: paragraphs.map(({ en }) => `<p>${en}</p>`).join(''),
    de: paragraphs.map(({ de }) => `<p>${de}</p>`).join(''),
  };

  const scale = 10 ** currencyDigits(currency);
  const price = Math.round(
    (2 + random.below(300) + (random.below(8) === 0 ? random.below(1_500) : 0)) * scale - scale / 100,
  );
  const isReduced = random.below(10) === 0;
  const before = Math.round(price * 1.25);
  // In the order of their numbers, as a shop grows.
  const createdAt = new Date(now.getTime() - 900 * DAY + index * 14_000);
  const history = isReduced
    ? [
        { from: createdAt, price: before },
        { from: new Date(now.getTime() - 10 * DAY), price },
      ]
    : [{ from: createdAt, price }];

  const kind = random.below(20) === 0 ? 'master' : 'regular';
  const colours = random.some(vocabulary.colours, 2);
  const sizes = random.some(vocabulary.sizes, 1 + random.below(2));
  const number = numberOf(seed, index);
  const facts: ProductFacts = {
    name: localised(name, translated),
    shortDescription: localised(paragraphs[0]!, translated),
    description: localised(description, translated),
    manufacturer: maker,
    manufacturerProductNumber: `${maker.slice(0, 2).toUpperCase()}${10_000 + random.below(90_000)}`,
    deliveryWeight: { amount: 50 + random.below(4_000), unit: 'gram' },
    deliveryPeriod: random.of(['1-2', '2-4', '3-5']),
    ...(isReduced ? { pricesBeforeReduction: { [currency]: before } } : {}),
    ...(random.below(12) === 0 ? { specialOffer: true } : {}),
    ...(random.below(6) === 0
      ? { searchKeywords: { [settings.defaultLocale]: [model.toLowerCase(), 'gift'] } }
      : {}),
    ...(kind === 'master'
      ? {
          variationAttributes: [
            { key: 'Colour', values: colours.map(({ en }) => en) },
            { key: 'Size', values: sizes.map(({ en }) => en) },
          ],
        }
      : {
          attributes: [
            chosen('Colour', { en: 'Colour', de: 'Farbe' }, colour, locales),
            chosen('Size', { en: 'Size', de: 'Größe' }, size, locales),
          ],
        }),
  };
  const otherCategory = assortment.categoryIds[random.below(departments.length)]![0]!;
  const category = assortment.categoryIds[departmentAt]![categoryAt]!;
  const product: GeneratedProduct = {
    product_id: newId(createdAt),
    product_number: number,
    kind,
    master_id: null,
    selection: null,
    created_at: createdAt,
    visible: random.below(50) !== 0,
    stock: kind === 'master' ? null : random.below(200),
    min_stock: kind === 'master' ? null : 5,
    product_type_id: assortment.productTypeId,
    prices: { [currency]: price },
    facts,
    categories: [...new Set(random.below(10) === 0 ? [category, otherCategory] : [category])],
    history,
  };
  if (kind === 'regular') return [product];
  const variations = colours.flatMap((of) => sizes.map((fits) => ({ Colour: of.en, Size: fits.en })));
  return [
    product,
    ...variations.map((selection, place): GeneratedProduct => {
      // The first one costs the same as the master.
      const own = place === 0 ? null : price + place * 2 * scale;
      return {
        ...product,
        product_id: newId(createdAt),
        product_number: `${number}-${place + 1}`,
        kind: 'variation',
        master_id: product.product_id,
        selection,
        visible: true,
        stock: random.below(60),
        min_stock: 3,
        product_type_id: null,
        prices: own === null ? null : { [currency]: own },
        facts: {},
        categories: [],
        history: own === null ? [] : [{ from: createdAt, price: own }],
      };
    }),
  ];
}

async function insertProducts(
  tx: Transaction,
  shopId: string,
  rows: readonly GeneratedProduct[],
): Promise<void> {
  await tx.run(sql`
    insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version, visible,
      stock, min_stock, product_type_id, prices, facts)
    select ${shopId}, product_id, product_number, kind, master_id, selection, created_at, 1, visible, stock, min_stock,
      product_type_id, prices, facts
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (product_id uuid, product_number text, kind text,
      master_id uuid, selection jsonb, created_at timestamptz, visible boolean, stock numeric, min_stock numeric,
      product_type_id uuid, prices jsonb, facts jsonb)`);
  const assigned = rows.flatMap(({ product_id, categories }) =>
    categories.map((category_id, position) => ({ product_id, category_id, position })),
  );
  await tx.run(sql`
    insert into product_category (shop_id, product_id, category_id, position)
    select ${shopId}, product_id, category_id, position
    from json_to_recordset(${JSON.stringify(assigned)}) as row (product_id uuid, category_id uuid, position integer)`);
  const history = rows.flatMap(({ product_id, history }) =>
    history.map(({ from, price }) => ({ product_id, valid_from: from, price })),
  );
  await tx.run(sql`
    insert into price_history (shop_id, product_id, currency, valid_from, price)
    select ${shopId}, row.product_id, shop.default_currency, row.valid_from, row.price
    from json_to_recordset(${JSON.stringify(history)}) as row (product_id uuid, valid_from timestamptz, price bigint)
    cross join shop where shop.shop_id = ${shopId}`);
}

function chosen(key: string, name: Word, value: Word, locales: readonly string[]) {
  return {
    key,
    name: localised(name, locales),
    type: 'string' as const,
    singleValue: true,
    values: [{ value: value.en, name: localised(value, locales) }],
  };
}

/** German for German locales, English for others. */
function localised(text: Word, locales: readonly string[]): Record<string, string> {
  return Object.fromEntries(locales.map((locale) => [locale, locale.startsWith('de') ? text.de : text.en]));
}

function aliasOf({ en }: Word): string {
  return `gen-${en.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
}

/** Small and fast, and the same on every machine (mulberry32). */
class SeededRandom {
  #state: number;

  constructor(seed: number, index: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b);
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  of<Entry>(entries: readonly Entry[]): Entry {
    return entries[this.below(entries.length)]!;
  }

  /** Neighbours in order. */
  some<Entry>(entries: readonly Entry[], count: number): Entry[] {
    const from = this.below(entries.length - count + 1);
    return entries.slice(from, from + count);
  }
}

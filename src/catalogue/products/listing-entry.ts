import { facetFields } from '../../fields/facets.ts';
import type { CustomField, Settings } from '../../shops/settings/settings.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { compactNumber, separateWords } from '../search/query.ts';
import type { Prices, ProductFacts } from './facts.ts';
import { priceIn } from './prices.ts';
import { typeOf } from './render.ts';

/*
 * The data of a product for lists and search, computed from its row. Bounds are in characters: an index takes no entry
 * beyond 2,700 bytes, and a tsvector no more than 1 MB.
 */

const MAX_NAME_LENGTH = 500;
const MAX_FACET_LENGTH = 500;
const MAX_MANUFACTURER_LENGTH = 1_000;
const MAX_KEYWORDS_LENGTH = 5_000;
/** A master with very many variations is found by the numbers of the first ones. */
const MAX_NUMBERS_LENGTH = 2_000;
const MAX_TEXT_LENGTH = 8_000;
const MAX_RELATED_LENGTH = 2_000;

/** The weights of a product's own words in `listing.words`; related ones have the weight C. */
export const OWN_WEIGHTS = 'ABD';

/** PostgreSQL's built-in dictionaries, by language; words of other languages are indexed as they are. */
const DICTIONARIES: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hi: 'hindi',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  nb: 'norwegian',
  ne: 'nepali',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
};

export function dictionaryOf(locale: string): string {
  return DICTIONARIES[locale.slice(0, 2)] ?? 'simple';
}

/** A listed product, as `findListedProducts` reads it. */
export interface ListedProduct {
  productId: string;
  productNumber: string;
  visible: boolean;
  productTypeId: string | null;
  prices: Prices | null;
  /** Without the long texts, which are read where they are needed. */
  facts: ProductFacts;
  categories: { categoryId: string; number: number }[];
  /** The visible variations of a master, by number. */
  variations: {
    productNumber: string;
    /** The other numbers that name it, such as its EAN. */
    numbers: (string | null)[];
    selection: Record<string, string>;
    prices: Prices | null;
  }[];
  /** Of the custom fields that shoppers filter by, in the order of their positions. */
  fieldValues: FieldText[];
}

interface FieldText {
  fieldId: string;
  /** Empty: the same in all languages. */
  locale: string;
  /** Its first characters: those of a text, the key of a choice, a decimal, `true` or `false`. */
  text: string;
}

/** A category as the lists need it. */
export interface ListedCategory {
  categoryId: string;
  /** null: it is a root. */
  parentId: string | null;
  name: Localised;
  visible: boolean;
}

/** Categories by id: those of the products, and all their ancestors. */
export type CategoryTree = ReadonlyMap<string, ListedCategory>;

/** One row of the table `listing`; `insertListing` adds the long texts. */
export interface ListingEntry {
  productId: string;
  locale: string;
  dictionary: string;
  visible: boolean;
  name: string;
  price: number | null;
  facets: string[];
  categoryIds: string[];
  /** The categories that list it because it is in one of their subcategories. */
  categoryIdsAbove: string[];
  /** The text searched for parts of words and typos: words separated by single blanks. */
  text: string;
  /** The names of its categories and the values of its variations. */
  related: string;
  /** The words with the highest weight. */
  title: string;
  manufacturer: string;
}

/** A row for each locale of the shop. */
export function listingEntries(
  product: ListedProduct,
  tree: CategoryTree,
  settings: Settings,
): ListingEntry[] {
  const { facts, productNumber } = product;
  const { price, highest } = priceBounds(product, settings);
  const numbers = [productNumber, facts.manufacturerProductNumber, facts.ean, facts.upc, facts.productCode];
  const variationNumbers = product.variations.flatMap((one) => [one.productNumber, ...one.numbers]);
  const numberTexts = [asTyped(numbers), truncated(asTyped(variationNumbers), MAX_NUMBERS_LENGTH)];
  const lines = product.categories.map(({ categoryId }) => visibleLine(categoryId, tree));
  const facets = facetsOf(product, settings, price !== null && highest > price ? highest : null);
  const fields = facetFields(settings);
  const common = {
    productId: product.productId,
    visible: product.visible,
    price,
    categoryIds: product.categories.map(({ categoryId }) => categoryId),
    categoryIdsAbove: categoriesAbove(product, tree),
    manufacturer: truncated(facts.manufacturer ?? '', MAX_MANUFACTURER_LENGTH),
  };
  return settings.locales.map((locale) => {
    const name = truncated(nameIn(product, locale, settings.defaultLocale), MAX_NAME_LENGTH);
    const words = keywordsIn(facts, locale, settings.defaultLocale);
    const keywords = truncated(words.join(' | '), MAX_KEYWORDS_LENGTH);
    const parts = [name, facts.manufacturer, keywords, ...numberTexts];
    const names = lines.flat().map((category) => textIn(category.name, locale, settings.defaultLocale));
    const labels = [...names, ...valueLabels(product, settings, locale)].filter(Boolean);
    const related = truncated([...new Set(labels)].join(' | '), MAX_RELATED_LENGTH);
    return {
      ...common,
      locale,
      facets: [...facets, ...fieldFacets(product, fields, locale, settings.defaultLocale)].toSorted(),
      dictionary: dictionaryOf(locale),
      name,
      text: truncated(separateWords(parts.filter(Boolean).join(' | ')), MAX_TEXT_LENGTH),
      related,
      title: [name, productNumber, keywords].join(' '),
    };
  });
}

/** Each number as written and, where that differs, without its separators. */
function asTyped(numbers: readonly (string | null | undefined)[]): string {
  return numbers
    .flatMap((number) => (number ? [...new Set([number, compactNumber(number)])] : []))
    .filter((number) => number !== '')
    .join(' | ');
}

/** The ancestors of the product's categories that it is not in itself. */
export function categoriesAbove({ categories }: ListedProduct, tree: CategoryTree): string[] {
  const above = new Set(
    categories.flatMap(({ categoryId }) => visibleLine(categoryId, tree).map((one) => one.categoryId)),
  );
  for (const { categoryId } of categories) above.delete(categoryId);
  return [...above];
}

/** From a category up to the one below the root, as far as visible to visitors. */
function visibleLine(categoryId: string, tree: CategoryTree): ListedCategory[] {
  const line: ListedCategory[] = [];
  for (
    let next = tree.get(categoryId);
    next?.visible && next.parentId !== null;
    next = tree.get(next.parentId)
  ) {
    line.push(next);
  }
  return line;
}

/** The labels of attribute values in this language. Numbers, dates and addresses are not searched. */
function valueLabels(
  { facts, variations, productTypeId }: ListedProduct,
  settings: Settings,
  locale: string,
) {
  const { defaultLocale } = settings;
  const { attributes } = typeOf({ productTypeId, master: null }, settings);
  const labels = new Map(
    attributes.map(({ key, values }) => [key, new Map(values.map(({ value, name }) => [value, name]))]),
  );
  const labelOf = (key: string, value: string, own: Localised = {}) =>
    textIn(own, locale, defaultLocale) ??
    textIn(labels.get(key)?.get(value) ?? {}, locale, defaultLocale) ??
    value;
  return [
    ...variations.flatMap(({ selection }) =>
      Object.entries(selection).map(([key, value]) => labelOf(key, value)),
    ),
    ...(facts.attributes ?? []).flatMap(({ key, type, values }) =>
      type === 'string' ? values.map(({ value, name }) => labelOf(key, value, name)) : [],
    ),
  ];
}

/** Lists sort by the price in the default currency; of a master by that of its cheapest visible variation. */
function priceBounds({ prices, variations }: ListedProduct, settings: Settings) {
  const inDefaultCurrency = (own: Prices | null) => {
    const price = priceIn(own, settings.defaultCurrency, settings);
    return price === null ? [] : [Math.min(price, Number.MAX_SAFE_INTEGER)];
  };
  const offered = variations.flatMap((variation) => inDefaultCurrency(variation.prices ?? prices));
  const all = offered.length > 0 ? offered : inDefaultCurrency(prices);
  if (all.length === 0) return { price: null, highest: null };
  return { price: Math.min(...all), highest: Math.max(...all) };
}

/**
 * The facets that search counts and filters by: `c:<category number>`, `m:<manufacturer>`, `a:<attribute
 * number>:<value>` for the attributes whose values the product type lists, and `p:<highest price>` of a master whose
 * variations differ in price.
 */
function facetsOf(product: ListedProduct, settings: Settings, highest: number | null): string[] {
  const { facts, categories, variations } = product;
  const attributes = typeOf({ productTypeId: product.productTypeId, master: null }, settings).attributes;
  const numbers = new Map(
    attributes.flatMap(({ key, number, preDefined }) => (preDefined ? [[key, number] as const] : [])),
  );
  const values = [
    ...(facts.attributes ?? []).flatMap(({ key, values }) =>
      values.map(({ value }) => [key, value] as const),
    ),
    ...variations.flatMap(({ selection }) => Object.entries(selection)),
  ];
  const facets = [
    ...categories.map(({ number }) => `c:${number}`),
    ...(facts.manufacturer ? [`m:${facts.manufacturer}`] : []),
    ...(highest === null ? [] : [`p:${highest}`]),
    ...values.flatMap(([key, value]) => (numbers.has(key) ? [`a:${numbers.get(key)}:${value}`] : [])),
  ];
  return [...new Set(facets.map(truncatedFacet))];
}

/** Characters of a value by which shoppers filter. */
export const MAX_FIELD_TEXT_LENGTH = 100;
/** Values of custom fields by which shoppers find one product. */
const MAX_FIELD_FACETS = 200;

/** The facet of a value of a custom field. */
export const fieldFacet = (fieldId: string, text: string) => `f:${fieldId}:${text}`;

/** The facets of custom fields in a language; the first values of each field come first. */
function fieldFacets(
  { fieldValues }: ListedProduct,
  fields: readonly CustomField[],
  locale: string,
  defaultLocale: string,
): string[] {
  if (fieldValues.length === 0) return [];
  const shown = new Set(
    fields.flatMap(({ fieldId }) => {
      const inLocale = (wanted: string) =>
        fieldValues.filter((value) => value.fieldId === fieldId && value.locale === wanted);
      return [inLocale(''), inLocale(locale), inLocale(defaultLocale)].find(({ length }) => length > 0) ?? [];
    }),
  );
  const facets = fieldValues.flatMap((value) => {
    const text = value.text.trim().replaceAll(/\s+/g, ' ');
    return shown.has(value) && text !== '' ? [fieldFacet(value.fieldId, text)] : [];
  });
  return [...new Set(facets)].slice(0, MAX_FIELD_FACETS);
}

/** A filter is truncated like the facets, so that it still matches them. */
export function truncatedFacet(facet: string): string {
  return truncated(facet, MAX_FACET_LENGTH);
}

function nameIn({ facts, productNumber }: ListedProduct, locale: string, defaultLocale: string): string {
  const { name = {} } = facts;
  return name[locale] || name[defaultLocale] || Object.values(name).find(Boolean) || productNumber;
}

function keywordsIn({ searchKeywords = {} }: ProductFacts, locale: string, defaultLocale: string) {
  return searchKeywords[locale] ?? searchKeywords[defaultLocale] ?? Object.values(searchKeywords)[0] ?? [];
}

/** In characters as PostgreSQL counts them, so that none is cut in two. */
function truncated(text: string, characters: number): string {
  return text.length <= characters ? text : Array.from(text).slice(0, characters).join('');
}

import { describe, expect, test } from 'vitest';
import type { Settings } from '../../shops/settings/settings.ts';
import { listingEntries, type CategoryTree, type ListedProduct } from './listing-entry.ts';

const attribute = { name: {}, visible: true, preDefined: true, values: [] };
const settings = {
  defaultLocale: 'en_GB',
  locales: ['en_GB', 'de_DE'],
  defaultCurrency: 'EUR',
  currencies: ['EUR', 'GBP'],
  exchangeRates: { GBP: '0.8' },
  customFields: [
    { fieldId: 'W', isFacet: true },
    { fieldId: 'S', isFacet: true },
    { fieldId: 'N', isFacet: false },
  ],
  productTypes: [
    {
      productTypeId: 'T',
      alias: 'Default',
      name: {},
      attributes: [
        { ...attribute, number: 7, key: 'Size' },
        { ...attribute, number: 8, key: 'Note', preDefined: false },
      ],
    },
  ],
} as unknown as Settings;

const product: ListedProduct = {
  productId: 'P',
  productNumber: 'LA-100',
  visible: true,
  productTypeId: null,
  prices: { EUR: 1000 },
  facts: { name: { en_GB: 'Lamp, "small"' } },
  categories: [],
  variations: [],
  fieldValues: [],
};

const NO_CATEGORIES: CategoryTree = new Map();

const variation = (productNumber: string, size: string, prices: ListedProduct['prices']) => ({
  productNumber,
  numbers: [null, '4012345678901', null, null],
  selection: { Size: size, Note: 'x' },
  prices,
});

test('a product has an entry for each locale of the shop, in its language or in the default one', () => {
  const facts = { name: { en_GB: 'Lamp' }, searchKeywords: { de_DE: ['Licht'], en_GB: ['light'] } };
  expect(
    listingEntries({ ...product, facts }, NO_CATEGORIES, settings).map(
      ({ locale, dictionary, name, title }) => [locale, dictionary, name, title],
    ),
  ).toEqual([
    ['en_GB', 'english', 'Lamp', 'Lamp LA-100 light'],
    ['de_DE', 'german', 'Lamp', 'Lamp LA-100 Licht'],
  ]);
});

describe('of a product with these differences', () => {
  test.each<[string, Partial<ListedProduct>, { price: number | null; facets: string[]; text: string }]>([
    ['none', {}, { price: 1000, facets: [], text: ' Lamp small | LA-100 | LA100 ' }],
    ['no name', { facts: {} }, { price: 1000, facets: [], text: ' LA-100 | LA-100 | LA100 ' }],
    [
      'another currency',
      { prices: { GBP: 801 } },
      { price: 1001, facets: [], text: ' Lamp small | LA-100 | LA100 ' },
    ],
    ['no price', { prices: null }, { price: null, facets: [], text: ' Lamp small | LA-100 | LA100 ' }],
    [
      'variations that differ in price',
      { variations: [variation('LA-101', 'S', { EUR: 700 }), variation('LA-102', 'L', null)] },
      {
        price: 700,
        facets: ['a:7:L', 'a:7:S', 'p:1000'],
        text: ' Lamp small | LA-100 | LA100 | LA-101 | LA101 | 4012345678901 | LA-102 | LA102 | 4012345678901 ',
      },
    ],
    [
      'a category, a manufacturer and a long attribute twice',
      {
        categories: [{ categoryId: 'C', number: 5 }],
        facts: {
          manufacturer: 'Beacon',
          attributes: [
            {
              key: 'Size',
              name: {},
              type: 'string',
              singleValue: false,
              values: ['1', '2'].map((end) => ({ value: '😀'.repeat(600) + end, name: {} })),
            },
          ],
        },
      },
      {
        price: 1000,
        facets: [`a:7:${'😀'.repeat(496)}`, 'c:5', 'm:Beacon'],
        text: ' LA-100 | Beacon | LA-100 | LA100 ',
      },
    ],
  ])('%s', (_name, differences, expected) => {
    expect(listingEntries({ ...product, ...differences }, NO_CATEGORIES, settings)[0]).toMatchObject(
      expected,
    );
  });
});

describe('what a product is related to', () => {
  const category = (categoryId: string, parentId: string | null, name: string, visible = true) =>
    [categoryId, { categoryId, parentId, name: { en_GB: name, de_DE: `${name}e` }, visible }] as const;
  const tree: CategoryTree = new Map([
    category('root', null, 'Home page'),
    category('coffee', 'root', 'Coffee'),
    category('beans', 'coffee', 'Beans'),
    category('dark', 'beans', 'Dark'),
    category('sale', 'root', 'Sale', false),
    category('shoes', 'sale', 'Shoes'),
  ]);
  const related = (...categoryIds: string[]) => {
    const categories = categoryIds.map((categoryId, number) => ({ categoryId, number }));
    return listingEntries({ ...product, categories }, tree, settings).map((entry) => ({
      related: entry.related,
      above: entry.categoryIdsAbove,
    }));
  };

  test.each([
    [['dark'], 'Dark | Beans | Coffee', ['beans', 'coffee']],
    [['beans', 'dark'], 'Beans | Coffee | Dark', ['coffee']],
    [['root'], '', []],
    [['sale'], '', []],
    [['shoes'], 'Shoes', []],
    [['unknown'], '', []],
  ])('in %j: the names of the visible categories up to the root', (categoryIds, names, above) => {
    expect(related(...categoryIds)[0]).toEqual({ related: names, above });
  });

  test('in the language of the entry', () => {
    expect(related('dark')[1]!.related).toBe('Darke | Beanse | Coffeee');
  });
});

test('custom fields by which shoppers filter, in the language of the entry or in the default one', () => {
  const value = (fieldId: string, text: string, locale = '') => ({ fieldId, locale, text });
  const facetsOf = (...fieldValues: ListedProduct['fieldValues']) =>
    listingEntries({ ...product, fieldValues }, NO_CATEGORIES, settings).map(({ facets }) => facets);
  expect(
    facetsOf(
      value('W', 'oak'),
      value('S', ' Mid\n century ', 'en_GB'),
      value('S', 'Neu', 'de_DE'),
      value('W', 'ash'),
      value('W', 'oak'),
      value('N', 'no filter'),
    ),
  ).toEqual([
    ['f:S:Mid century', 'f:W:ash', 'f:W:oak'],
    ['f:S:Neu', 'f:W:ash', 'f:W:oak'],
  ]);
  expect(facetsOf(value('S', 'New', 'en_GB'), value('S', ' ', 'de_DE'))).toEqual([['f:S:New'], []]);
  const many = Array.from({ length: 150 }, (_, index) => [value('W', `${index}`), value('S', `${index}`)]);
  const [first] = facetsOf(...many.flat());
  expect(first).toHaveLength(200);
  expect(first).toContain('f:S:99');
  expect(first).not.toContain('f:W:100');
});

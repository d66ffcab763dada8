import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDemo } from '../../../test/demo.ts';
import { readPage } from '../../../test/storefront.ts';
import type { Service } from '../../../test/service.ts';

/*
 * What people type into the search field of the demo shop, and what they expect to find: through the page of results
 * and through the suggestions below the field.
 */

let service: Service;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
});
afterAll(() => service.close());

/** The product numbers of the first page, and whether the page says that it searched for something else. */
async function search(query: string, locale: string) {
  const path = `/DemoShop/search?q=${encodeURIComponent(query)}&locale=${locale}`;
  const { status, main } = await readPage(service, path);
  expect(status).toBe(200);
  return {
    numbers: [...main.matchAll(/<h2><a href="[^"]*\/Products\/([^"?]+)/g)].map(([, number]) => number!),
    isFallback: main.includes('class="notice"'),
  };
}

async function suggest(query: string, locale: string) {
  const response = await service.app.inject({
    url: `/shop/DemoShop/suggest?q=${encodeURIComponent(query)}&locale=${locale}`,
  });
  expect(response.statusCode).toBe(200);
  const { products, note } = response.json() as { products: { href: string }[]; note: string };
  return {
    numbers: products.map(({ href }) => /\/Products\/([^?]+)/.exec(href)![1]!),
    isFallback: note !== '',
  };
}

/** The first hit, or the set of all hits. */
type Expected = [query: string, expected: string | string[]];

const ENGLISH: Expected[] = [
  // Categories, also those above the one that a product is in.
  ['coffee', ['CB-200', 'CB-100']],
  ['Coffee', ['CB-200', 'CB-100']],
  ['ground coffee', 'CB-200'],
  ['coffee beans', 'CB-100'],
  ['cold drinks', ['DR-120', 'DR-100', 'DR-110']],
  ['kitchen knife', ['KN-100', 'KN-110']],
  ['knives', ['KN-100', 'KN-110', 'KN-120']],
  ['lamps', ['LA-100', 'LA-110']],
  ['gifts', ['GI-110', 'GI-100', 'GI-120', 'RO-100']],
  ['books', ['BK-100', 'BK-110', 'BK-120']],
  ['appliances', ['AP-110', 'AP-100', 'AP-120']],
  ['herbal tea', 'TE-120'],
  // Values of variations and attributes.
  ['brass lamp', 'LA-100'],
  ['lamp brass', 'LA-100'],
  ['slate', 'LA-100'],
  ['large lamp', 'LA-100'],
  ['dark roast', 'CB-100'],
  ['espresso 1 kg', 'CB-100'],
  ['knife 20 cm', 'KN-100'],
  ['oak board', 'GI-100'],
  ['bedroom lamp', 'LA-100'],
  // Manufacturers.
  ['beacon', ['AP-120', 'AP-110', 'AP-100']],
  ['tidewater', ['CB-100', 'CB-200']],
  ['reefline knife', ['KN-100', 'KN-110']],
  ['harbour press', ['BK-110', 'BK-100', 'BK-120', 'DR-120']],
  ['fog lane', ['TE-100', 'TE-110', 'TE-120']],
  // Numbers as people type them.
  ['LA-100', 'LA-100'],
  ['la-100', 'LA-100'],
  ['la 100', 'LA-100'],
  ['LA100', 'LA-100'],
  ['LA/100', 'LA-100'],
  ['LA-102', 'LA-100'],
  ['la102', 'LA-100'],
  ['4012345678901', 'BK-110'],
  ['4 012345 678901', 'BK-110'],
  ['RL-08-P', 'KN-110'],
  ['rl08p', 'KN-110'],
  ['RL 08 P', 'KN-110'],
  ['BK-17', 'AP-100'],
  // Names, descriptions, keywords and other forms of a word.
  ['kettle', 'AP-100'],
  ['espresso', ['CB-100', 'AP-110']],
  ['socks', 'GI-120'],
  ['sharpen', 'KN-120'],
  ['"sharpening stone"', 'KN-120'],
  ['sencha', 'TE-100'],
  ['lemonades', 'DR-110'],
];

const GERMAN: Expected[] = [
  ['kaffee', ['AP-120', 'CB-200', 'CB-100']],
  ['Bohnen', 'CB-100'],
  ['espresso dunkel', 'CB-100'],
  ['leuchte messing', 'LA-100'],
  ['lampe', 'LA-110'],
  ['messer', ['KN-100', 'KN-110', 'KN-120']],
  // A part of the name of a category.
  ['getränke', ['DR-120', 'DR-100', 'DR-110']],
  ['kaltgetränke', ['DR-120', 'DR-100', 'DR-110']],
  ['geschenk', ['GI-110', 'GI-100', 'GI-120', 'RO-100']],
  ['grüner tee', 'TE-100'],
  ['dunkel', ['TE-110', 'CB-100']],
];

const FRENCH: Expected[] = [
  ['café', ['AP-120', 'CB-100', 'CB-200']],
  ['thé vert', 'TE-100'],
  ['lampe laiton', 'LA-100'],
  ['couteau', ['KN-100', 'KN-110', 'KN-120']],
  ['boissons', ['DR-120', 'DR-100', 'DR-110']],
];

describe.each([
  ['en_GB', ENGLISH],
  ['de_DE', GERMAN],
  ['fr_FR', FRENCH],
] as const)('in %s', (locale, searches) => {
  test.each(searches)('%s: %s', async (query, expected) => {
    for (const { numbers, isFallback } of [await search(query, locale), await suggest(query, locale)]) {
      if (Array.isArray(expected)) expect(numbers.toSorted()).toEqual(expected.toSorted());
      else expect(numbers[0]).toBe(expected);
      expect(isFallback).toBe(false);
    }
  });
});

/** What is not found as it was typed is found in another way, and the page says so. */
describe('with a word that nothing has', () => {
  test.each([
    ['en_GB', 'cofee', 'CB-100'],
    ['en_GB', 'kettel', 'AP-100'],
    ['en_GB', 'brsas lamp', 'LA-100'],
    ['en_GB', 'golden kettle', 'AP-100'],
    ['de_DE', 'kafee', 'CB-100'],
    ['de_DE', 'rosa wasserkocher', 'AP-100'],
    ['fr_FR', 'bouiloire', 'AP-100'],
  ])('%s: %s', async (locale, query, expected) => {
    for (const found of [await search(query, locale), await suggest(query, locale)]) {
      expect(found.numbers).toContain(expected);
      expect(found.isFallback).toBe(true);
    }
  });

  test.each(['bicycle', 'LA-999', '4099999999999'])('%s finds nothing', async (query) => {
    expect(await search(query, 'en_GB')).toEqual({ numbers: [], isFallback: false });
    expect(await suggest(query, 'en_GB')).toEqual({ numbers: [], isFallback: false });
  });
});

test('what is hidden is not found by its category', async () => {
  expect(await search('archive', 'en_GB')).toEqual({ numbers: [], isFallback: false });
  expect((await search('thermos', 'en_GB')).numbers).toEqual([]);
});

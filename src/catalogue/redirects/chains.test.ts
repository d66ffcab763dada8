import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressKey, keyText, matchingKeys, type AddressKey } from './address.ts';
import { chainCheck, type PlannedRedirect } from './chains.ts';
import { meaningOf } from './former-shops.ts';

const key = (address: string) => addressKey(address)!;

describe('an address', () => {
  test.each([
    ['/Teapots/Blue.html', '/teapots/blue.html'],
    ['https://old.example/Tee%20kannen/?utm_source=x&b=2&a=1#top', '/tee kannen?a=1&b=2'],
    ['//old.example//a///b/', '/a/b'],
    ['?p=12', '/?p=12'],
    ['/caf%E9', '/caf%e9'],
    ['/Cafe%CC%81', '/café'],
    ['/', '/'],
    ['/a%3Fb', '/a%3fb'],
  ])('%s is %s', (address, text) => {
    expect(keyText(key(address))).toBe(text);
    expect(keyText(key(keyText(key(address))))).toBe(text);
  });

  test('with control characters, or too long, is none', () => {
    expect(addressKey('/a%00b')).toBeUndefined();
    expect(addressKey(`/${'x'.repeat(600)}`)).toBeUndefined();
    expect(addressKey(`/\u{d800}`)).toBeUndefined();
  });

  test('is found by a source with some of its parameters', () => {
    const asked = key('/x?a=1&b=2&c=3');
    const found = (source: string) => matchingKeys(asked).includes(keyText(key(source)));
    expect(['/x', '/x?a=1', '/x?c=3&a=1'].map(found)).toEqual([true, true, true]);
    expect(['/x?a=2', '/y', '/x?d=1'].map(found)).toEqual([false, false, false]);
    expect(matchingKeys(asked)[0]).toBe('/x?a=1&b=2');
    expect(matchingKeys(asked).at(-1)).toBe('/x');
  });
});

describe('addresses of other software', () => {
  test.each([
    [
      '/epages/Tea.sf/de_DE/?ObjectPath=/Shops/Tea/Products/lt_04&Currency=EUR',
      { productNumbers: ['lt_04', 'LT_04'] },
    ],
    [
      '/epages/Tea.sf/de_DE/?ObjectPath=/Shops/Tea/Categories/Tea/%22Black%22',
      { categoryAliases: ['"Black"', 'Tea'] },
    ],
    ['/collections/summer/products/blue-teapot?variant=3', { sources: ['/products/blue-teapot'] }],
    ['/de/products/blue-teapot', { productNumbers: ['blue-teapot', 'BLUE-TEAPOT'] }],
    ['/en/collections/summer', { sources: ['/collections/summer'], categoryAliases: ['summer'] }],
    ['/product/blue-teapot/', { sources: ['/product/blue-teapot'] }],
    ['/product-category/tea/black/page/2/', { sources: ['/product-category/black'] }],
    ['/product-category/tea/black/page/2/', { categoryAliases: ['black', 'tea'] }],
    ['/Blue-teapot/SW10023', { productNumbers: ['SW10023'] }],
    ['/my-account/', { path: '/account' }],
    ['/policies/privacy-policy', { path: '/legal/privacy-policy' }],
  ])('%s', (address, expected) => {
    const meaning = meaningOf(address)!;
    for (const [name, value] of Object.entries(expected)) {
      const found = meaning[name as keyof typeof meaning];
      if (Array.isArray(value)) expect(found).toEqual(expect.arrayContaining(value));
      else expect(found).toBe(value);
    }
  });

  test('an ordinary address means only itself', () => {
    expect(meaningOf('/about-us')).toEqual({
      sources: ['/about-us'],
      productNumbers: [],
      categoryAliases: [],
      path: undefined,
    });
  });
});

const address = fc
  .tuple(fc.constantFrom('/a', '/b', '/c', '/d'), fc.subarray(['x=1', 'y=2', 'z=3'], { maxLength: 2 }))
  .map(([path, parameters]): AddressKey => ({ path, parameters }));
const plan = fc.array(
  fc
    .record({ source: address, target: fc.option(address, { nil: undefined }) })
    .map((one): PlannedRedirect => ({
      source: one.source,
      finds: one.target ? matchingKeys(one.target) : [],
    })),
  { maxLength: 30 },
);

test('whatever is added in whatever order, no redirect leads to another one', () => {
  fc.assert(
    fc.property(plan, plan, (stored, added) => {
      const first = chainCheck({ isSource: () => false, isTarget: () => false });
      const before = stored.filter((one) => first(one) === undefined);
      const check = chainCheck({
        isSource: (text) => before.some(({ source }) => keyText(source) === text),
        isTarget: (source) => before.some(({ finds }) => finds.includes(keyText(source))),
      });
      const accepted = [...before, ...added.filter((one) => check(one) === undefined)];
      for (const { finds } of accepted) {
        expect(accepted.filter(({ source }) => finds.includes(keyText(source)))).toEqual([]);
      }
    }),
  );
});

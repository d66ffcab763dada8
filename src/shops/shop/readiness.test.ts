import { describe, expect, test } from 'vitest';
import { PAGES } from '../legal/schema.ts';
import { missingSellerFields, readinessOf, type ReadinessFacts, type StepKey } from './readiness.ts';

const SELLER = { street: 'Kai 1', zipCode: '20457', city: 'Hamburg', vatId: 'DE123456789' };

const READY: ReadinessFacts = {
  settings: {
    country: 'DE',
    invoicing: SELLER,
    shippingMethods: [{} as ReadinessFacts['settings']['shippingMethods'][number]],
    withdrawal: { days: 14 } as ReadinessFacts['settings']['withdrawal'],
    defaultLocale: 'de_DE',
    locales: ['de_DE'],
  },
  legalTexts: PAGES.map(({ page }) => ({ page, locale: 'de_DE', isDraft: false })),
  payments: [{ key: 'advance', missing: [] }],
  hasProduct: true,
  hasOrder: true,
};

const withSettings = (settings: Partial<ReadinessFacts['settings']>): ReadinessFacts => ({
  ...READY,
  settings: { ...READY.settings, ...settings },
});

const drafts = (...pages: string[]): ReadinessFacts['legalTexts'] =>
  READY.legalTexts.map((text) => ({ ...text, isDraft: pages.includes(text.page) }));

test('a shop that lacks nothing is ready', () => {
  const { ready, steps } = readinessOf(READY);
  expect(ready).toBe(true);
  expect(steps.map(({ key, required, done, missing }) => [key, required, done, missing])).toEqual([
    ['address', true, true, []],
    ['taxNumber', true, true, []],
    ['bankAccount', true, true, []],
    ['delivery', true, true, []],
    ['legalTexts', true, true, []],
    ['firstProduct', false, true, []],
    ['testOrder', false, true, []],
  ]);
});

describe('what is missing', () => {
  const cases: [string, ReadinessFacts, StepKey, boolean, [field: string, path: string][]][] = [
    [
      'street and town',
      withSettings({ invoicing: { zipCode: '20457', vatId: 'DE123456789', street: '' } }),
      'address',
      false,
      [
        ['invoicing.street', '/settings/invoices#field-invoicing.street'],
        ['invoicing.city', '/settings/invoices#field-invoicing.city'],
      ],
    ],
    [
      'VAT id and tax number',
      withSettings({ invoicing: { ...SELLER, vatId: '' } }),
      'taxNumber',
      false,
      [['invoicing.vatId', '/settings/invoices#field-invoicing.vatId']],
    ],
    [
      'VAT id and tax number outside the European Union',
      withSettings({ country: 'CH', invoicing: { street: 'Kai 1', zipCode: '8000', city: 'Zürich' } }),
      'taxNumber',
      true,
      [['invoicing.vatId', '/settings/invoices#field-invoicing.vatId']],
    ],
    [
      'the bank account of the only method',
      { ...READY, payments: [{ key: 'advance', missing: ['invoicing.bank.iban'] }] },
      'bankAccount',
      false,
      [['invoicing.bank.iban', '/settings/invoices#field-invoicing.bank.iban']],
    ],
    [
      'the key of a provider',
      { ...READY, payments: [{ key: 'credit.card', missing: ['paymentMethods.credit.card.secretKey'] }] },
      'bankAccount',
      false,
      [['paymentMethods.credit.card.secretKey', '/settings/payments/credit.card#field-secretKey']],
    ],
    [
      'any payment method',
      { ...READY, payments: [] },
      'bankAccount',
      false,
      [['paymentMethods', '/settings/payments#field-paymentMethods']],
    ],
    [
      'any delivery method',
      withSettings({ shippingMethods: [] }),
      'delivery',
      false,
      [['shippingMethods', '/settings/shipping#field-shippingMethods']],
    ],
    [
      'the end of two drafts',
      { ...READY, legalTexts: drafts('cookie-policy', 'privacy-policy') },
      'legalTexts',
      false,
      [
        ['privacy-policy', '/settings/legal/privacy-policy?locale=de_DE#field-description'],
        ['cookie-policy', '/settings/legal/cookie-policy?locale=de_DE#field-description'],
      ],
    ],
    [
      'a draft in another language',
      {
        ...withSettings({ locales: ['de_DE', 'fr_FR'] }),
        legalTexts: [
          ...READY.legalTexts,
          { page: 'terms-and-conditions', locale: 'fr_FR', isDraft: true },
          { page: 'terms-and-conditions', locale: 'it_IT', isDraft: true },
        ],
      },
      'legalTexts',
      false,
      [['terms-and-conditions.fr_FR', '/settings/legal/terms-and-conditions?locale=fr_FR#field-description']],
    ],
    [
      'all texts: two of them are not needed',
      { ...READY, legalTexts: [] },
      'legalTexts',
      false,
      ['contact-information', 'privacy-policy', 'terms-and-conditions', 'rights-of-withdrawal'].map(
        (page): [string, string] => [page, `/settings/legal/${page}?locale=de_DE#field-description`],
      ),
    ],
    ['a product', { ...READY, hasProduct: false }, 'firstProduct', true, [['products', '/products/new']]],
    ['an order', { ...READY, hasOrder: false }, 'testOrder', true, [['orders', '/preview']]],
  ];
  test.each(cases)('%s', (_, facts, key, isReady, missing) => {
    const { ready, steps } = readinessOf(facts);
    const step = steps.find((one) => one.key === key)!;
    expect({ ready, done: step.done, required: step.required, path: step.path }).toEqual({
      ready: isReady,
      done: false,
      required: !isReady,
      path: missing[0]![1],
    });
    expect(step.missing.map(({ field, path }) => [field, path])).toEqual(missing);
    expect(steps.filter((one) => !one.done)).toEqual([step]);
  });
});

test('without a right of withdrawal its text is not needed, and one complete payment method is enough', () => {
  const facts = {
    ...withSettings({ withdrawal: { days: 0 } as ReadinessFacts['settings']['withdrawal'] }),
    legalTexts: READY.legalTexts.filter(({ page }) => page !== 'rights-of-withdrawal'),
    payments: [
      { key: 'advance', missing: ['invoicing.bank.iban'] },
      { key: 'cash', missing: [] },
    ],
  };
  expect(readinessOf(facts).ready).toBe(true);
});

test.each([
  ['DE', {}, ['invoicing.street', 'invoicing.zipCode', 'invoicing.city', 'invoicing.vatId']],
  ['DE', { ...SELLER, vatId: '', taxNumber: '12/3' }, []],
  ['US', { street: '1 Pier', zipCode: '94105', city: 'San Francisco' }, []],
])('a seller in %s with %j lacks %j', (country, invoicing, missing) => {
  expect(missingSellerFields({ country, invoicing })).toEqual(missing);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeSettings, givenProduct, givenSmallShop } from '../../../test/carts.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { readPage } from '../../../test/storefront.ts';
import { isGtin } from '../../catalogue/products/gtin.ts';

const NOW = new Date('2026-11-15T08:30:00Z');
const HOST = 'http://localhost:80';

let service: Service;
beforeAll(async () => {
  service = await startDemo({}, NOW, { hasImages: true });
});
afterAll(() => service.close());

const ADDRESS = /^http:\/\/localhost(?::80)?\/\S*$/;
const PRICE = /^\d+\.\d\d$/;
const CURRENCY = /^[A-Z]{3}$/;
const COUNTRY = /^[A-Z]{2}$/;
const TEXT = /\S/;
const of = (...names: string[]) => new RegExp(`^https://schema\\.org/(?:${names.join('|')})$`);
const ENERGY = /^https:\/\/schema\.org\/EUEnergyEfficiencyCategory(?:[A-G]|A[123]Plus)$/;

/** A form of a text, a number within bounds, or the type of a node. */
type Form = RegExp | 'number' | readonly string[] | ((value: unknown) => boolean);

interface NodeRule {
  required: Readonly<Record<string, Form>>;
  other?: Readonly<Record<string, Form>>;
}

const PRODUCT = {
  sku: TEXT,
  url: ADDRESS,
  image: ADDRESS,
  description: TEXT,
  gtin: (value: unknown) => isGtin(String(value)),
  mpn: TEXT,
  brand: ['Brand'],
  color: TEXT,
  size: TEXT,
  material: TEXT,
  pattern: TEXT,
  additionalProperty: ['PropertyValue'],
  hasEnergyConsumptionDetails: ['EnergyConsumptionDetails'],
  hasCertification: ['Certification'],
  offers: ['Offer'],
} as const;

/** What search engines document of each type: the properties they demand, and all others that are used. */
const TYPES: Readonly<Record<string, NodeRule>> = {
  Product: { required: { name: TEXT }, other: PRODUCT },
  ProductGroup: {
    required: { name: TEXT, productGroupID: TEXT, hasVariant: ['Product'] },
    other: {
      sku: TEXT,
      url: ADDRESS,
      description: TEXT,
      brand: ['Brand'],
      variesBy: of('color', 'size', 'material', 'pattern'),
    },
  },
  Brand: { required: { name: TEXT } },
  PropertyValue: { required: { name: TEXT, value: TEXT } },
  Offer: {
    required: {
      price: PRICE,
      priceCurrency: CURRENCY,
      availability: of('InStock', 'OutOfStock', 'BackOrder', 'LimitedAvailability'),
      url: ADDRESS,
    },
    other: {
      itemCondition: of('NewCondition', 'RefurbishedCondition', 'UsedCondition'),
      priceValidUntil: /^\d{4}-\d\d-\d\d$/,
      priceSpecification: ['UnitPriceSpecification'],
      seller: ['Organization'],
      shippingDetails: ['OfferShippingDetails'],
      hasMerchantReturnPolicy: ['MerchantReturnPolicy'],
    },
  },
  UnitPriceSpecification: {
    required: { price: PRICE, priceCurrency: CURRENCY },
    other: { priceType: of('StrikethroughPrice'), referenceQuantity: ['QuantitativeValue'] },
  },
  QuantitativeValue: {
    required: { unitCode: /^[A-Z0-9]{2,3}$/ },
    other: { value: 'number', minValue: 'number', maxValue: 'number', valueReference: ['QuantitativeValue'] },
  },
  OfferShippingDetails: {
    required: { shippingRate: ['MonetaryAmount'], shippingDestination: ['DefinedRegion'] },
    other: { deliveryTime: ['ShippingDeliveryTime'] },
  },
  MonetaryAmount: { required: { value: PRICE, currency: CURRENCY } },
  DefinedRegion: {
    required: { addressCountry: COUNTRY },
    other: { postalCodePrefix: TEXT, postalCodeRange: ['PostalCodeRangeSpecification'] },
  },
  PostalCodeRangeSpecification: { required: { postalCodeBegin: TEXT, postalCodeEnd: TEXT } },
  ShippingDeliveryTime: {
    required: { handlingTime: ['QuantitativeValue'], transitTime: ['QuantitativeValue'] },
  },
  MerchantReturnPolicy: {
    required: {
      applicableCountry: COUNTRY,
      returnPolicyCountry: COUNTRY,
      returnPolicyCategory: of('MerchantReturnFiniteReturnWindow', 'MerchantReturnNotPermitted'),
    },
    other: { merchantReturnDays: 'number', returnMethod: of('ReturnByMail'), merchantReturnLink: ADDRESS },
  },
  EnergyConsumptionDetails: {
    required: { hasEnergyEfficiencyCategory: ENERGY },
    other: { energyEfficiencyScaleMin: ENERGY, energyEfficiencyScaleMax: ENERGY },
  },
  Certification: {
    required: { issuedBy: ['Organization'], name: TEXT },
    other: { certificationIdentification: TEXT },
  },
  Organization: { required: { name: TEXT } },
  OnlineStore: {
    required: { name: TEXT, url: ADDRESS },
    other: { logo: /^https?:\/\//, email: /@/, hasMerchantReturnPolicy: ['MerchantReturnPolicy'] },
  },
  WebSite: { required: { name: TEXT, url: ADDRESS }, other: { inLanguage: /^[a-z]{2}-[A-Z]{2}$/ } },
  BreadcrumbList: { required: { itemListElement: ['ListItem'] } },
  ListItem: { required: { position: 'number', name: TEXT, item: ADDRESS } },
};

/** What is wrong with a node and those in it. */
function problemsOf(node: Record<string, unknown>, place: string): string[] {
  const { '@type': type, '@context': _context, ...properties } = node;
  const rule = TYPES[String(type)];
  if (!rule) return [`${place}: ${String(type)} is unknown`];
  const forms: Record<string, Form> = { ...rule.required, ...rule.other };
  const missing = Object.keys(rule.required).filter((name) => !(name in properties));
  return [
    ...missing.map((name) => `${place}: ${name} is missing`),
    ...Object.entries(properties).flatMap(([name, value]) => {
      const form = forms[name];
      const values = [value].flat();
      if (!form) return [`${place}: ${name} is unknown`];
      if (values.length === 0) return [`${place}: ${name} is empty`];
      return values.flatMap((one, index) => {
        const at = `${place}.${name}[${index}]`;
        if (form instanceof RegExp)
          return typeof one === 'string' && form.test(one) ? [] : [`${at}: ${String(one)}`];
        if (form === 'number') return Number.isFinite(one) ? [] : [`${at}: ${String(one)}`];
        if (typeof form === 'function') return form(one) ? [] : [`${at}: ${String(one)}`];
        const inner = one as Record<string, unknown>;
        return form.includes(String(inner['@type'])) ? problemsOf(inner, at) : [`${at}: ${String(one)}`];
      });
    }),
  ];
}

/** All structured data of a page, by the id of its element. */
async function dataOf(path: string) {
  const { status, text } = await readPage(service, path);
  expect(status).toBe(200);
  const scripts = text.matchAll(/<script type="application\/ld\+json" id="([^"]+)">([^]*?)<\/script>/g);
  return new Map(
    [...scripts].map(([, id, json]) => [id!, JSON.parse(json!) as Record<string, unknown>] as const),
  );
}

async function validData(path: string) {
  const found = await dataOf(path);
  for (const [id, data] of found) {
    expect(data['@context']).toBe('https://schema.org');
    expect(problemsOf(data, id)).toEqual([]);
  }
  return found;
}

describe('the data for search engines is what they document', () => {
  test.each([
    'AP-100',
    'AP-110',
    'BK-110',
    'CB-100',
    'CB-104',
    'CB-200',
    'DR-100',
    'GI-110',
    'KN-101',
    'LA-100',
    'LA-103',
    'RO-100',
    'TE-110',
    'TE-120',
    'ZZ-110',
  ])('of %s', async (number) => {
    for (const query of ['', '?locale=de_DE', '?currency=USD']) {
      const found = await validData(`/DemoShop/Products/${number}${query}`);
      expect([...found.keys()].toSorted()).toEqual(['page.breadcrumb', 'page.product']);
    }
  });

  test('of the front page and a category', async () => {
    const front = await validData('/DemoShop');
    expect(front.get('page.shop')).toMatchObject({ '@type': 'OnlineStore', url: `${HOST}/shop/DemoShop` });
    expect(front.get('page.site')).toEqual({
      '@context': 'https://schema.org',
      '@type': 'WebSite',
      name: 'Harbour & Hearth',
      url: `${HOST}/shop/DemoShop`,
      inLanguage: 'en-GB',
    });
    expect([...(await validData('/DemoShop/Categories/appliances')).keys()]).toEqual(['page.breadcrumb']);
  });
});

test('a variation and its master are the same group; what is offered has all data', async () => {
  const master = (await dataOf('/DemoShop/Products/LA-100')).get('page.product')!;
  const variation = (await dataOf('/DemoShop/Products/LA-102')).get('page.product')!;
  for (const group of [master, variation]) {
    expect(group).toMatchObject({
      '@type': 'ProductGroup',
      name: 'Lantern Point Lamp',
      productGroupID: 'LA-100',
      url: `${HOST}/shop/DemoShop/Products/LA-100`,
      variesBy: ['https://schema.org/color', 'https://schema.org/size'],
    });
  }
  const [first, ...others] = variation['hasVariant'] as Record<string, object>[];
  expect(first).toMatchObject({ sku: 'LA-102', color: expect.any(String), offers: { seller: {} } });
  expect(others.map(({ sku }) => sku)).toEqual(['LA-101', 'LA-103']);
  expect(others[0]).toEqual({
    '@type': 'Product',
    name: 'Lantern Point Lamp',
    sku: 'LA-101',
    url: `${HOST}/shop/DemoShop/Products/LA-101`,
    color: 'Brass',
    size: 'Small',
    offers: {
      '@type': 'Offer',
      url: `${HOST}/shop/DemoShop/Products/LA-101`,
      price: '79.00',
      priceCurrency: 'EUR',
      availability: 'https://schema.org/InStock',
    },
  });
});

test('a reduction, a base price, a label, a wrong number and no way back', async () => {
  const shop = await givenSmallShop(service);
  const page = async (number: string) =>
    (await validData(`/${shop.shopId}/Products/${number}`)).get('page.product') as unknown as {
      gtin?: string;
      offers: { priceSpecification: unknown };
    };
  await givenProduct(shop, {
    number: 'TEA',
    price: 600,
    facts: {
      ean: '4012345678902',
      manufacturerPrices: { EUR: 800 },
      reference: { amount: 100, unit: 'gram', content: 250 },
      energyLabel: { classes: 'A++', best: 'A+++', file: 'label.png' },
      eprelNumber: '123456',
      withdrawalExcluded: 'hygiene',
      forSaleUntil: '2027-01-31T22:59:59Z',
    },
  });
  const tea = await page('TEA');
  expect(tea.gtin).toBeUndefined();
  expect(tea).toMatchObject({
    hasEnergyConsumptionDetails: {
      hasEnergyEfficiencyCategory: 'https://schema.org/EUEnergyEfficiencyCategoryA2Plus',
      energyEfficiencyScaleMax: 'https://schema.org/EUEnergyEfficiencyCategoryA3Plus',
    },
    hasCertification: { name: 'EPREL', certificationIdentification: '123456' },
    offers: {
      price: '6.00',
      priceValidUntil: '2027-01-31',
      hasMerchantReturnPolicy: { returnPolicyCategory: 'https://schema.org/MerchantReturnNotPermitted' },
    },
  });
  expect(tea.offers.priceSpecification).toEqual([
    {
      '@type': 'UnitPriceSpecification',
      price: '6.00',
      priceCurrency: 'EUR',
      referenceQuantity: {
        '@type': 'QuantitativeValue',
        value: 250,
        unitCode: 'GRM',
        valueReference: { '@type': 'QuantitativeValue', value: 100, unitCode: 'GRM' },
      },
    },
    {
      '@type': 'UnitPriceSpecification',
      priceType: 'https://schema.org/StrikethroughPrice',
      price: '8.00',
      priceCurrency: 'EUR',
    },
  ]);
});

test('what a merchant writes ends neither the element nor the page', async () => {
  const shop = await givenSmallShop(service);
  const evil = '</script><script>alert(1)</script><!--';
  await givenProduct(shop, {
    number: 'EVIL',
    facts: { name: { en_GB: evil }, manufacturer: evil, description: { en_GB: `<p>${evil}</p>` } },
  });
  const { text } = await readPage(service, `/${shop.shopId}/Products/EVIL`);
  expect(text).not.toContain('<script>alert');
  expect((await dataOf(`/${shop.shopId}/Products/EVIL`)).get('page.product')!['name']).toBe(evil);
});

test('with zones, each place has its rate', async () => {
  const shop = await givenSmallShop(service);
  await givenProduct(shop, { number: 'LAMP' });
  await changeSettings(shop, {
    countries: { default: 'DE', items: ['DE', 'FR', 'ES'] },
    shippingMethods: [
      {
        key: 'parcel',
        name: 'Parcel',
        kind: 'flat',
        zones: [
          { countries: ['DE'], price: 4.9 },
          { countries: ['FR', 'ES'], price: 14.9, days: { from: 3, to: 5 } },
          { countries: ['ES'], postcodes: ['35*'], price: 39.9 },
        ],
      },
    ],
  });
  const found = await validData(`/${shop.shopId}/Products/LAMP`);
  const { offers } = found.get('page.product') as unknown as {
    offers: { shippingDetails: { shippingRate: { value: string }; shippingDestination: object }[] };
  };
  expect(
    offers.shippingDetails.map((one) => [one.shippingRate.value, [one.shippingDestination].flat()]),
  ).toEqual([
    ['4.90', [{ '@type': 'DefinedRegion', addressCountry: 'DE' }]],
    [
      '14.90',
      [
        { '@type': 'DefinedRegion', addressCountry: 'FR' },
        { '@type': 'DefinedRegion', addressCountry: 'ES' },
      ],
    ],
    ['39.90', [{ '@type': 'DefinedRegion', addressCountry: 'ES', postalCodePrefix: ['35'] }]],
  ]);
});

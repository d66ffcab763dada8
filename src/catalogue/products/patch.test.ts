import { beforeEach, describe, expect, test } from 'vitest';
import { add, gross, productTests, remove } from '../../../test/products.ts';
import { ofTheDay } from '../../../test/seed.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { PATHS } from './patch.ts';

let service: Service;
let token: string;
let reader: string;

const { shop, get, patch, given, patched, refusal } = productTests();
beforeEach(() => {
  ({ service, token, reader } = shop);
});

describe('patching', () => {
  test('knows the 39 paths of the contract and three of its own', () => {
    expect(PATHS).toHaveLength(42);
  });

  test('texts in one language leave the others alone', async () => {
    const id = await given();
    await patched(id, [add('/name', 'Gezeitenuhr'), add('/title', 'Uhr')], '?locale=de_DE');
    expect((await get(`/${id}`)).body).toMatchObject({ name: 'Tide Clock', title: 'Tide Clock - Harbour' });
    const body = await patched(id, [remove('/name'), remove('/title')], '?locale=de_DE');
    expect(body).toMatchObject({ name: 'Tide Clock', title: 'Tide Clock - Harbour' });
  });

  test('every plain attribute can be set and removed', async () => {
    const id = await given({ price: 10 });
    const before = (await get(`/${id}`)).body;
    const [method] = (await service.call('GET', '/Harbour/shipping-methods', { token })).body;
    const values: [path: string, value: unknown, shown: object][] = [
      ['/shortDescription', 'short', { shortDescription: 'short' }],
      ['/description', 'long', { description: 'long' }],
      ['/essentialFeatures', 'a\nb', { essentialFeatures: 'a\nb' }],
      ['/manufacturer', 'Reefline', { manufacturer: 'Reefline' }],
      ['/manufacturerProductNumber', 'R-1', { manufacturerProductNumber: 'R-1' }],
      ['/upc', '012', { upc: '012' }],
      ['/ean', '401', { ean: '401' }],
      ['/productCode', 'Z', { productCode: 'Z' }],
      ['/deliveryPeriod', '5', { deliveryPeriod: '5' }],
      ['/searchKeywords', ['a', 'b'], { searchKeywords: ['a', 'b'] }],
      ['/isManufacturerPriceRRP', true, { isManufacturerPriceRRP: true }],
      ['/isShippingLinkVisible', false, { isShippingLinkVisible: false }],
      ['/isNew', true, { isNew: true }],
      ['/productLength', 12.5, { productLength: 12.5 }],
      ['/productWidth', '8', { productWidth: 8 }],
      ['/productHeight', 3, { productHeight: 3 }],
      ['/minStocklevel', 4, { minStocklevel: 4 }],
      ['/withdrawalExcluded', 'perishable', { withdrawalExcluded: 'perishable' }],
      ['/deliveryWeight', { unit: 'kg', amount: 1.5 }, { deliveryWeight: { amount: 1.5, unit: 'kg' } }],
      ['/newnessDate', '2027-01-31', { newnessDate: '2027-01-31T00:00:00Z' }],
      ['/video', { type: 'Vimeo', id: '7' }, { videos: [{ type: 'Vimeo', source: '7' }] }],
      [
        '/customisationInfo',
        { isCustomizable: true, customizableTextLength: 40, customizableHeadlineText: 'Yours' },
        { isCustomizable: true, customizableTextLength: 40, customizableHeadlineText: 'Yours' },
      ],
      [
        '/safetyInfo',
        {
          manufacturer: { name: 'Beacon', address: 'Kai 4, Hamburg', contact: 'safety@beacon.example' },
          text: 'Gets hot.',
        },
        {
          safetyInfo: {
            manufacturer: { name: 'Beacon', address: 'Kai 4, Hamburg', contact: 'safety@beacon.example' },
            text: 'Gets hot.',
          },
        },
      ],
      [
        '/productDataSheet',
        { fileName: 'a.pdf', url: 'https://cdn.example/a.pdf' },
        { productDataSheet: 'https://cdn.example/a.pdf' },
      ],
      [
        '/shippingMethodsRestrictedTo',
        [method.shippingMethodId.toLowerCase()],
        {
          shippingMethodsRestrictedTo: [
            {
              rel: 'related',
              href: `http://localhost:80/rs/shops/Harbour/shipping-methods/${method.shippingMethodId}`,
            },
          ],
        },
      ],
    ];
    for (const [path, value, shown] of values) {
      expect(await patched(id, [add(path, value)])).toEqual({ ...before, ...shown });
      expect(await patched(id, [remove(path)])).toEqual(before);
      expect(await patched(id, [{ op: 'replace', path, value }])).toEqual({ ...before, ...shown });
      await patched(id, [{ op: 'add', path, value: null }]);
    }
    expect(await patched(id, [add('/isVATInfoVisible', true)])).toEqual(before);
  });

  test('a base price comes with a reference amount, as round(price x amount / content)', async () => {
    const id = await given({ price: 3.95 });
    const reference = add('/referencePriceInfo', { refAmount: 100, refUnit: 'gram', refContentAmount: 230 });
    expect(await patched(id, [reference])).toMatchObject({
      refAmount: 100,
      refUnit: 'gram',
      refContentAmount: 230,
      priceInfo: {
        basePrice: {
          refQuantity: { amount: 100, unit: 'g' },
          refPrice: gross(1.72, '1.72 €'),
          formatted: '100 g = 1.72 €',
          quantity: { amount: 230, unit: 'g' },
        },
      },
    });
    const { priceInfo } = await patched(id, [remove('/referencePriceInfo')]);
    expect(priceInfo.basePrice).toBeNull();
  });

  test('units of orders are known by key, sign and name', async () => {
    const id = await given({ price: 2.4 });
    const info = { priceQuantity: 1, orderUnit: 'meter(s)', minOrder: 2, intervalOrder: 0.5 };
    expect(await patched(id, [add('/orderUnitInfo', info)])).toMatchObject({
      ...info,
      priceInfo: { quantity: { amount: 1, unit: 'm' } },
    });
    expect(await patched(id, [add('/orderUnitInfo', { orderUnit: 'piece' })])).toMatchObject({
      orderUnit: 'piece(s)',
      minOrder: 2,
    });
  });

  test('stock: add is relative, replace absolute, it may go negative, remove ends tracking', async () => {
    const id = await given({ stocklevel: 3 });
    expect((await patched(id, [add('/stocklevel', 1)])).stocklevel).toBe(4);
    expect((await patched(id, [{ op: 'replace', path: '/stocklevel', value: 3 }])).stocklevel).toBe(3);
    expect((await patched(id, [add('/stocklevel', -5)])).stocklevel).toBe(-2);
    expect((await patched(id, [add('/stocklevel', '0.3'), add('/stocklevel', 0.1)])).stocklevel).toBe(-1.6);
    expect((await patched(id, [remove('/stocklevel')])).stocklevel).toBeNull();
    expect((await patched(id, [add('/stocklevel', 2)])).stocklevel).toBe(2);
  });

  test('forty changes at once add up', async () => {
    const id = await given({ stocklevel: 0 });
    await Promise.all(Array.from({ length: 40 }, (_, n) => patch(id, [add('/stocklevel', n % 2 ? 3 : -1)])));
    expect((await get(`/${id}`)).body.stocklevel).toBe(40);
  });

  test('availability and its text follow the stock', async () => {
    const id = await given({ stocklevel: 10 });
    const shown = async (...changes: unknown[]) => {
      const { availability, availabilityText } = await patched(id, changes);
      return [availability, availabilityText];
    };
    const stock = (value: number) => ({ op: 'replace', path: '/stocklevel', value });
    expect(await shown(add('/minStocklevel', 4), stock(5))).toEqual(['OnStock', 'In stock']);
    expect(await shown(stock(4))).toEqual(['WarnStock', 'In stock']);
    expect(await shown(add('/deliveryPeriod', '3-5'))).toEqual([
      'WarnStock',
      'In stock<br />can be shipped within 3-5 days',
    ]);
    expect(await shown(stock(0))).toEqual(['OutStock', 'Not in stock']);
    expect(await shown(stock(-1))).toEqual(['OutStock', 'Not in stock']);
    expect(await shown(remove('/stocklevel'))).toEqual([null, '']);
  });

  test('what a sale takes from the stock shows as if the product was rendered anew', async () => {
    const words = { name: 'A "stocklevel":57, clock', description: '"stocklevel":57,' };
    const id = await given({ ...words, stocklevel: 57 });
    await patch(id, [add('/minStocklevel', 4)]);
    const stocks = [57, 56, 55.5, 5, 4, 3, 0, -1, 57, 1_000_000];
    const compared = ofTheDay(stocks, 3);
    for (const stock of stocks) {
      // As an order does it: no version moves.
      await service.db.run(sql`
          update product set stock = ${stock} where shop_id = 'Harbour' and product_id = ${id}`);
      // It has never seen another stock.
      const fresh = compared.includes(stock) ? await startService({}, service) : undefined;
      for (const path of [`/${id}`, `/${id}?locale=de_DE`, '', `?id=${id}`]) {
        const { text } = await get(path, { token: reader });
        expect(text).toContain(`"stocklevel":${stock},`);
        if (!fresh) continue;
        expect(text).toBe((await fresh.call('GET', `/Harbour/products${path}`, { token: reader })).text);
      }
      await fresh?.close();
    }
  });

  test('minStocklevel is for those who may write', async () => {
    const id = await given({ stocklevel: 9 });
    expect(await patched(id, [add('/minStocklevel', 4)])).toHaveProperty('minStocklevel', 4);
    for (const path of [`/${id}`, `?id=${id}`, '']) {
      const { body } = await get(path, { token: reader });
      const product = body.items?.[0] ?? body;
      expect(product).toHaveProperty('stocklevel', 9);
      expect(product).not.toHaveProperty('minStocklevel');
    }
  });

  test('tiers are added, changed, dropped with false, and removed', async () => {
    const id = await given({ price: 60 });
    const tiers = (...priceInfo: object[]) => ({ priceInfo });
    const shown = (body: { bulkPriceInfo: { quantity: { amount: number }; price: { amount: number } }[] }) =>
      body.bulkPriceInfo.map(({ quantity, price }) => [quantity.amount, price.amount]);
    const first = await patched(id, [
      add('/bulkPriceInfo', tiers({ quantity: 10, price: 46 }, { quantity: 5, price: 56 })),
    ]);
    expect(first.bulkPriceInfo).toEqual([
      {
        quantity: { amount: 5, unit: 'piece(s)' },
        price: gross(56, '56.00 €'),
        basePrice: null,
        priceSavings: {
          percent: { percentage: 0, formatted: '0 %' },
          regularBulkPrice: gross(56, '56.00 €'),
        },
      },
      {
        quantity: { amount: 10, unit: 'piece(s)' },
        price: gross(46, '46.00 €'),
        basePrice: null,
        priceSavings: {
          percent: { percentage: 0, formatted: '0 %' },
          regularBulkPrice: gross(46, '46.00 €'),
        },
      },
    ]);
    const replace = tiers(
      { quantity: 5, price: 58 },
      { quantity: 10, price: false },
      { quantity: 20, price: 40 },
    );
    expect(shown(await patched(id, [{ op: 'replace', path: '/bulkPriceInfo', value: replace }]))).toEqual([
      [5, 58],
      [20, 40],
    ]);
    expect(shown(await patched(id, [add('/bulkPriceInfo', tiers({ quantity: 3, price: 57 }))]))).toEqual([
      [3, 57],
    ]);
    expect(shown(await patched(id, [remove('/bulkPriceInfo')]))).toEqual([]);
  });

  test('prices of customer groups, by name, with the saving', async () => {
    const id = await given({ price: 65 });
    const value = [
      {
        customerGroup: 'Cafes',
        priceInfo: [
          { quantity: 5, price: 65, discountPercentage: 5 },
          { quantity: 10, price: 50 },
        ],
      },
    ];
    const { customerSpecificPriceInfo } = await patched(id, [add('/customerSpecificPriceInfo', value)]);
    expect(customerSpecificPriceInfo).toEqual([
      {
        customerGroup: 'Cafes',
        customerGroupId: expect.stringMatching(/^[0-9A-F-]{36}$/),
        priceInfo: [
          {
            quantity: { amount: 5, unit: 'piece(s)' },
            price: gross(61.75, '61.75 €'),
            basePrice: null,
            priceSavings: {
              percent: { percentage: 5, formatted: '5 %' },
              regularBulkPrice: gross(65, '65.00 €'),
            },
          },
          {
            quantity: { amount: 10, unit: 'piece(s)' },
            price: gross(50, '50.00 €'),
            basePrice: null,
            priceSavings: {
              percent: { percentage: 0, formatted: '0 %' },
              regularBulkPrice: gross(50, '50.00 €'),
            },
          },
        ],
      },
    ]);
    const staff = add('/customerSpecificPriceInfo', [
      { customerGroup: 'Staff', priceInfo: [{ quantity: 1, price: 65, discountPercentage: 20 }] },
    ]);
    const groups = (body: { customerSpecificPriceInfo: { customerGroup: string }[] }) =>
      body.customerSpecificPriceInfo.map(({ customerGroup }) => customerGroup);
    expect(groups(await patched(id, [staff]))).toEqual(['Cafes', 'Staff']);
    const none = add('/customerSpecificPriceInfo', [{ customerGroup: 'Cafes', priceInfo: [] }]);
    expect(groups(await patched(id, [none]))).toEqual(['Staff']);
  });

  test('the tax class and the product type can be changed', async () => {
    const id = await given();
    const type = await service.call('POST', '/Harbour/producttypes', { token, body: { name: 'Clock' } });
    const [taxClass] = (await service.call('GET', '/Harbour/tax-classes', { token })).body.items;
    const body = await patched(id, [
      { op: 'replace', path: '/producttype', value: type.body.productTypeId.toLowerCase() },
      { op: 'replace', path: '/priceInfo/taxClass/taxClassId', value: taxClass.taxClassId },
    ]);
    expect(body.links).toContainEqual({
      rel: 'producttype',
      href: `http://localhost:80/rs/shops/Harbour/producttypes/${type.body.productTypeId}`,
    });
    await patched(id, [remove('/priceInfo/taxClass/taxClassId')]);
  });

  test('the mark "new" ends by itself at its date', async () => {
    const id = await given();
    await patched(id, [add('/isNew', true), add('/newnessDate', '2026-11-20T12:00:00Z')]);
    service.setClock(new Date('2026-11-20T11:59:59Z'));
    expect((await get(`/${id}`)).body.isNew).toBe(true);
    service.setClock(new Date('2026-11-20T12:00:00Z'));
    expect((await get(`/${id}`)).body).toMatchObject({ isNew: false, newnessDate: '2026-11-20T12:00:00Z' });
  });

  test('nothing is in the wishlist of an app', async () => {
    const id = await given();
    expect((await get(`/${id}`)).body.isInWishlist).toBe(false);
  });

  test('the number can be changed, but not to one that is taken', async () => {
    const id = await given({ productNumber: 'A' });
    await given({ productNumber: 'B' });
    expect(await patched(id, [add('/productNumber', 'C/1')])).toMatchObject({
      productNumber: 'C/1',
      sfUrl: 'http://localhost:80/shop/Harbour/Products/C%2F1',
    });
    expect(await refusal(() => patch(id, [add('/name', 'x'), add('/productNumber', 'B')]))).toEqual([
      409,
      'This productNumber is taken',
    ]);
  });

  const problem = (code: string, field: string) =>
    `Update product failed:\n\tvalidation error ${code} on field ${field}`;

  test.each([
    ['{}', {}, problem('WRONG_TYPE', 'body')],
    ['nothing', [], problem('LIST_EMPTY', 'body')],
    ['an unknown path', [add('/colour', 'red')], problem('UNKNOWN_PATH', '[0] /colour')],
    ['a path of the prototype', [add('constructor', 1)], problem('UNKNOWN_PATH', '[0] constructor')],
    [
      'the energy label',
      [add('/energyLabelsString', 'A')],
      problem('UNKNOWN_PATH', '[0] /energyLabelsString'),
    ],
    [
      'the recycling fee',
      [add('/priceInfo/ecoParticipationPrice/amount', 1)],
      problem('UNKNOWN_PATH', '[0] /priceInfo/ecoParticipationPrice/amount'),
    ],
    ['removing the number', [remove('/productNumber')], problem('WRONG_OPERATION', '[0] /productNumber')],
    [
      'removing group prices',
      [remove('/customerSpecificPriceInfo')],
      problem('WRONG_OPERATION', '[0] /customerSpecificPriceInfo'),
    ],
    ['moving', [{ op: 'move', path: '/name', from: '/title' }], problem('UNKNOWN_VALUE', '0.op')],
    [
      'a second entry that is wrong',
      [add('/name', 'new'), add('/stocklevel', 'many')],
      problem('WRONG_FORMAT', '[1] /stocklevel'),
    ],
    ['a text for a flag', [add('/visible', 'yes')], problem('WRONG_TYPE', '[0] /visible')],
    [
      'an image that is not there',
      [add('/productImage', 'none.png')],
      problem('UNKNOWN_VALUE', '[0] /productImage.value'),
    ],
    [
      'an image that is not there, before another bad entry',
      [add('/name', 'new'), add('/productImage', 'none.png'), add('/newnessDate', '2026-02-30')],
      problem('UNKNOWN_VALUE', '[1] /productImage.value'),
    ],
    [
      'an unknown unit',
      [add('/referencePriceInfo', { refAmount: 1, refUnit: 'barrel', refContentAmount: 1 })],
      problem('UNKNOWN_VALUE', '[0] /referencePriceInfo.value.refUnit'),
    ],
    [
      'a reference of nothing',
      [add('/referencePriceInfo', { refAmount: 1, refUnit: 'gram', refContentAmount: 0 })],
      problem('OUT_OF_RANGE', '[0] /referencePriceInfo.value.refContentAmount'),
    ],
    [
      'an unknown group',
      [add('/customerSpecificPriceInfo', [{ customerGroup: 'VIP', priceInfo: [] }])],
      problem('UNKNOWN_VALUE', '[0] /customerSpecificPriceInfo.value[0].customerGroup'),
    ],
    [
      'an unknown shipping method',
      [add('/shippingMethodsRestrictedTo', ['x'])],
      problem('UNKNOWN_VALUE', '[0] /shippingMethodsRestrictedTo.value[0]'),
    ],
    [
      'an unknown type',
      [{ op: 'replace', path: '/producttype', value: 'x' }],
      problem('UNKNOWN_VALUE', '[0] /producttype.value'),
    ],
    [
      'a day that does not exist',
      [add('/newnessDate', '2026-02-30')],
      problem('WRONG_FORMAT', '[0] /newnessDate.value'),
    ],
    [
      'a script as data sheet',
      [add('/productDataSheet', { fileName: 'x', url: 'javascript:alert(1)' })],
      problem('WRONG_FORMAT', '[0] /productDataSheet.url'),
    ],
    [
      'a true tier',
      [add('/bulkPriceInfo', { priceInfo: [{ quantity: 1, price: true }] })],
      problem('WRONG_FORMAT', '[0] /bulkPriceInfo.priceInfo.0.price'),
    ],
  ])('refuses %s', async (_case, body, text) => {
    const id = await given({ price: 3, stocklevel: 1 });
    expect(await refusal(() => patch(id, body))).toEqual([400, text]);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { statementsOf } from '../../../test/carts.ts';
import { add, gross, NOW, productTests, remove } from '../../../test/products.ts';
import { startService, type Answer, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { applySettings } from '../../shops/settings/file.ts';

let service: Service;
let token: string;
let reader: string;

const { shop, get, post, patch, given, patched, everything, refusal } = productTests();
beforeEach(() => {
  ({ service, token, reader } = shop);
});

const names = (answer: Answer) => answer.body.items.map((item: { name: string }) => item.name);

describe('creating', () => {
  test('with a name alone is numbered, invisible, not for sale, and titled after the shop', async () => {
    const { status, body } = await post({ name: 'Tide Clock' });
    const [taxClass] = (await service.call('GET', '/Harbour/tax-classes', { token })).body.items;
    const [type] = (await service.call('GET', '/Harbour/producttypes', { token })).body.items;
    const base = 'http://localhost:80/rs/shops/Harbour';
    const self = `${base}/products/${body.productId}`;
    expect(status).toBe(201);
    expect(body).toEqual({
      productId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
      name: 'Tide Clock',
      visible: false,
      productVariationType: 'regular',
      productVariationMasterName: null,
      productVariationMasterId: null,
      manufacturerProductNumber: null,
      productLength: null,
      productWidth: null,
      productHeight: null,
      productVariationSelection: null,
      shortDescription: null,
      deliveryPeriod: null,
      description: null,
      title: 'Tide Clock - Harbour',
      productImage: null,
      images: [],
      priceInfo: {
        quantity: { amount: 1, unit: 'piece(s)' },
        taxClass: { taxClassId: taxClass.taxClassId, name: 'standard', percentage: 19 },
        price: null,
        depositPrice: null,
        ecoParticipationPrice: null,
        priceWithDeposits: null,
        lowestPrice: null,
        lowestRefPriceFormatted: null,
        highestPrice: null,
        manufacturerPrice: null,
        basePrice: null,
        lowestPrice30Days: null,
      },
      bulkPriceInfo: [],
      customerSpecificPriceInfo: [],
      forSale: false,
      specialOffer: false,
      deliveryWeight: null,
      shippingMethodsRestrictedTo: null,
      availabilityText: '',
      availability: null,
      energyLabelsString: null,
      energyLabelsMaxEfficiencyString: null,
      energyLabelSourceFile: null,
      productDataSheet: null,
      sfUrl: 'http://localhost:80/shop/Harbour/Products/1001',
      productNumber: '1001',
      isProductNumberVisible: true,
      isNew: false,
      isManufacturerPriceRRP: false,
      isShippingLinkVisible: true,
      isCustomizable: false,
      customizableTextLength: 0,
      customizableHeadlineText: '',
      newnessDate: null,
      refAmount: 1,
      refUnit: 'piece',
      refContentAmount: 1,
      priceQuantity: 1,
      orderUnit: 'piece(s)',
      minOrder: 1,
      intervalOrder: 1,
      productCode: null,
      manufacturer: null,
      upc: null,
      ean: null,
      essentialFeatures: null,
      searchKeywords: [],
      stocklevel: null,
      minStocklevel: null,
      isInWishlist: false,
      videos: [],
      links: [
        { rel: 'self', href: self },
        { rel: 'custom-attributes', href: `${self}/custom-attributes` },
        { rel: 'slideshow', href: `${self}/slideshow` },
        { rel: 'categories', href: `${base}/categories/?productId=${body.productId}` },
        { rel: 'producttype', href: `${base}/producttypes/${type.productTypeId}` },
      ],
    });
    expect((await get(`/${body.productId}`)).body).toEqual(body);
    expect((await get(`/${body.productId.toLowerCase()}/`)).body).toEqual(body);
  });

  test('with everything', async () => {
    const { body } = await post(
      {
        productNumber: 'TC-1',
        name: 'Tide Clock',
        shortDescription: 'Shows the tide.',
        description: '<p>Brass.</p>',
        manufacturer: 'Lantern Point',
        price: '89.50',
        essentialFeatures: 'one hand',
        upc: '012345678905',
        ean: '4012345678901',
        deliveryPeriod: '3-5',
        searchKeywords: ['tide', 'tide', ' clock '],
        visible: true,
        taxClassId: '',
        stocklevel: 12,
        depositPrice: 0.25,
        manufacturerPrice: 99,
        deliveryWeight: { amount: 640, unit: 'g' },
      },
      '?locale=de_DE&currency=GBP',
    );
    expect(body).toMatchObject({
      productNumber: 'TC-1',
      name: 'Tide Clock',
      shortDescription: 'Shows the tide.',
      description: '<p>Brass.</p>',
      manufacturer: 'Lantern Point',
      upc: '012345678905',
      ean: '4012345678901',
      essentialFeatures: 'one hand',
      deliveryPeriod: '3-5',
      searchKeywords: ['tide', 'clock'],
      forSale: true,
      visible: true,
      stocklevel: 12,
      availability: 'OnStock',
      availabilityText: 'Auf Lager<br />Lieferzeit 3-5 Tage',
      deliveryWeight: { amount: 640, unit: 'g' },
      priceInfo: {
        price: gross(89.5, '89,50 £', 'GBP'),
        depositPrice: gross(0.25, '0,25 £', 'GBP'),
        priceWithDeposits: gross(89.75, '89,75 £', 'GBP'),
        manufacturerPrice: gross(99, '99,00 £', 'GBP'),
      },
    });
    // Only in pounds: euros are converted back, and texts in other languages fall back to what there is.
    const english = (await get(`/${body.productId}`)).body;
    expect(english.priceInfo.price).toEqual(gross(105.29, '105.29 €'));
    expect(english).toMatchObject({ name: 'Tide Clock', shortDescription: null });
  });

  test('nulls mean "not given", and numbers that merchants gave are skipped', async () => {
    await given({ productNumber: '1001' });
    const nothing = Object.fromEntries(
      [
        'productNumber',
        'shortDescription',
        'price',
        'stocklevel',
        'taxClassId',
        'visible',
        'deliveryWeight',
      ].map((key) => [key, null]),
    );
    const { body } = await post({ ...nothing, name: 'Second' });
    expect(body).toMatchObject({ productNumber: '1002', visible: false, stocklevel: null });
  });

  test.each([
    [{}, 400, 'Create product failed:\n\tvalidation error MISSING on field name'],
    [{ price: 3 }, 400, 'Create product failed:\n\tvalidation error MISSING on field name'],
    [{ name: 'x', price: -1 }, 400, 'Create product failed:\n\tvalidation error OUT_OF_RANGE on field price'],
    [
      { name: 'x', price: 'much' },
      400,
      'Create product failed:\n\tvalidation error WRONG_FORMAT on field price',
    ],
    [
      { name: 'x', taxClassId: 'none' },
      400,
      'Create product failed:\n\tvalidation error UNKNOWN_VALUE on field taxClassId',
    ],
    [
      { name: 'x', deliveryWeight: { amount: 1, unit: 'm' } },
      400,
      'Create product failed:\n\tvalidation error UNKNOWN_VALUE on field deliveryWeight.unit',
    ],
    [{ productNumber: 'TAKEN' }, 409, 'This productNumber is taken'],
  ])('refuses %j', async (body, status, text) => {
    await given({ productNumber: 'TAKEN' });
    expect(await refusal(() => post(body))).toEqual([status, text]);
  });

  test('refuses languages and currencies that the shop does not have', async () => {
    expect(await refusal(() => post({ name: 'x' }, '?locale=fr_FR'))).toEqual([
      400,
      'The shop has no locale fr_FR, it has en_GB, de_DE',
    ]);
    expect(await refusal(() => post({ name: 'x' }, '?currency=USD'))).toEqual([
      400,
      'The shop has no currency USD, it has EUR, GBP, JPY',
    ]);
  });
});

describe('prices', () => {
  test('are converted by the rate of the shop unless given in the currency', async () => {
    const id = await given({ price: 9.9 });
    const price = async (currency: string) => (await get(`/${id}?currency=${currency}`)).body.priceInfo.price;
    expect(await price('GBP')).toEqual(gross(8.42, '8.42 £', 'GBP'));
    expect(await price('JPY')).toEqual(gross(1584, '1,584 ¥', 'JPY'));
    // Unknown on a read: the default currency.
    expect(await price('CHF')).toEqual(gross(9.9, '9.90 €'));
    await patched(id, [add('/priceInfo/price/amount', 8)], '?currency=GBP');
    expect(await price('GBP')).toEqual(gross(8, '8.00 £', 'GBP'));
    expect(await price('EUR')).toEqual(gross(9.9, '9.90 €'));
    await patched(id, [remove('/priceInfo/price/amount')], '?currency=GBP');
    expect(await price('GBP')).toEqual(gross(8.42, '8.42 £', 'GBP'));
    await patched(id, [remove('/priceInfo/price/amount')]);
    expect(await price('GBP')).toBeNull();
  });

  test('manufacturer and deposit prices, and their sum', async () => {
    const id = await given({ price: 1.45 });
    const { priceInfo } = await patched(id, [
      add('/priceInfo/depositPrice/amount', 0.25),
      add('/priceInfo/manufacturerPrice/amount', 1.99),
    ]);
    expect(priceInfo).toMatchObject({
      depositPrice: gross(0.25, '0.25 €'),
      priceWithDeposits: gross(1.7, '1.70 €'),
      manufacturerPrice: gross(1.99, '1.99 €'),
    });
  });

  const at = (day: string) => service.setClock(new Date(`2026-${day}T12:00:00Z`));
  const setPrice = (id: string, amount: number, query = '') =>
    patched(id, [add('/priceInfo/price/amount', amount)], query);
  const lowest = async (id: string, query = '') =>
    (await get(`/${id}${query}`)).body.priceInfo.lowestPrice30Days?.amount ?? null;

  test('a reduction says the lowest price of the 30 days before it', async () => {
    at('06-01');
    const id = await given({ price: 30 });
    expect(await lowest(id)).toBeNull();
    at('07-01');
    await setPrice(id, 25);
    expect(await lowest(id)).toBe(30);
    // Raised again: no reduction.
    at('07-20');
    await setPrice(id, 40);
    expect(await lowest(id)).toBeNull();
    // Within 30 days it was 25 once; the rise just before the sale does not count.
    at('08-10');
    await setPrice(id, 35);
    expect(await lowest(id)).toBe(25);
    // The reference belongs to the beginning of the reduction, however long it lasts.
    at('12-20');
    expect(await lowest(id)).toBe(25);
    // What began before the window and was in force in it counts.
    await setPrice(id, 20);
    expect(await lowest(id)).toBe(35);
    expect(
      await service.db.many(sql`
        select price from price_history where currency = 'EUR' order by valid_from`),
    ).toEqual([3000, 2500, 4000, 3500, 2000].map((price) => ({ price })));
  });

  test('a reduction in one currency is none in another that has its own price', async () => {
    at('06-01');
    const id = await given({ price: 30 });
    await setPrice(id, 28, '?currency=GBP');
    at('09-01');
    await setPrice(id, 20);
    expect(await lowest(id)).toBe(30);
    expect(await lowest(id, '?currency=JPY')).toBe(4800);
    expect(await lowest(id, '?currency=GBP')).toBe(25.5);
  });

  test('writing the same price again is no change', async () => {
    at('06-01');
    const id = await given({ price: 30 });
    at('07-01');
    await setPrice(id, 25);
    at('07-02');
    const before = await everything();
    await setPrice(id, 25);
    expect(await everything()).toEqual(before);
  });
});

describe('reading', () => {
  test('an unknown product is 404, and an invisible one for those who may not write', async () => {
    const id = await given({ visible: false });
    expect((await get(`/${id}`)).status).toBe(200);
    expect((await get(`/${id}`, { token: reader })).status).toBe(404);
    expect((await get(`/${id}`, {})).status).toBe(404);
    expect((await get(`/${newId(NOW)}`)).status).toBe(404);
    expect((await get('/none')).status).toBe(404);
  });

  test('the main category is the first one that can be seen', async () => {
    const id = await given();
    const [root] = (await service.call('GET', '/Harbour/categories', { token })).body;
    const category = async (name: string, visible: boolean) => {
      const place = `/Harbour/categories/${root.categoryId}`;
      const { categoryId, alias } = (await service.call('POST', place, { token, body: { name } })).body;
      const body = { categoryId, alias, visible };
      await service.call('PUT', `/Harbour/categories/${categoryId}`, { token, body });
      await service.call('POST', '/Harbour/product-category-assignments', {
        token,
        body: { categoryId, productId: id },
      });
      return { categoryId, alias };
    };
    const mainCategory = async () =>
      (await get(`/${id}`)).body.links.find(({ rel }: { rel: string }) => rel === 'main-category')?.title;
    const hidden = await category('Hidden', false);
    expect(await mainCategory()).toBeUndefined();
    await category('Clocks', true);
    expect(await mainCategory()).toBe('Clocks');
    await service.call('PUT', `/Harbour/categories/${hidden.categoryId}`, {
      token,
      body: { ...hidden, visible: true },
    });
    expect(await mainCategory()).toBe('Hidden');
  });

  test('never answers with an old text, whatever process changed it', async () => {
    const other = await startService({}, service);
    const id = await given({ price: 1 });
    const read = async () => (await get(`/${id}`)).body;
    expect((await read()).name).toBe('Tide Clock');
    await other.call('PATCH', `/Harbour/products/${id}`, { token, body: [add('/name', 'Moon Clock')] });
    expect((await read()).name).toBe('Moon Clock');
    await service.db.transaction((tx) => applySettings(tx, 'Harbour', { name: 'Haven' }));
    expect((await read()).title).toBe('Moon Clock - Haven');
    expect((await get('')).body.items[0].title).toBe('Moon Clock - Haven');
    await other.close();
  });

  test('lists are sorted by name or price, in both directions', async () => {
    await given({ name: 'beta', price: 3 });
    await given({ name: 'Älpha', price: 2 });
    await given({ name: 'Gamma', price: 1 });
    await given({ name: 'alpha', price: 4 });
    expect(names(await get(''))).toEqual(['alpha', 'Älpha', 'beta', 'Gamma']);
    expect(names(await get('?direction=desc'))).toEqual(['Gamma', 'beta', 'Älpha', 'alpha']);
    expect(names(await get('?sort=price'))).toEqual(['Gamma', 'Älpha', 'beta', 'alpha']);
    expect(names(await get('?sort=price&direction=desc&page=2&resultsPerPage=3'))).toEqual(['Gamma']);
    expect((await get('?page=2&resultsPerPage=3')).body).toMatchObject({
      results: 4,
      page: 2,
      resultsPerPage: 3,
    });
    expect((await get('?sort=colour')).status).toBe(400);
    expect((await get('?page=9')).body).toMatchObject({ results: 4, items: [] });
  });

  test('an id filter keeps the order and drops what is unknown, invisible or deleted', async () => {
    const [first, second, hidden, gone] = [
      await given({ name: 'First' }),
      await given({ name: 'Second' }),
      await given({ name: 'Hidden', visible: false }),
      await given({ name: 'Gone' }),
    ];
    expect((await service.call('DELETE', `/Harbour/products/${gone}`, { token })).status).toBe(204);
    const ids = [second, newId(NOW), hidden, 'rubbish', gone, first.toLowerCase()];
    const answer = await get(`?${ids.map((id) => `id=${id}`).join('&')}&includeInvisible=true&page=7`);
    expect(answer.status).toBe(200);
    expect(names(answer)).toEqual(['Second', 'First']);
    expect(answer.body).toMatchObject({ results: 2, page: 1, resultsPerPage: 12 });
    const many = Array.from({ length: 13 }, () => `id=${first}`).join('&');
    expect((await get(`?${many}`)).status).toBe(400);
    expect(names(await get(`?id=${first}`))).toEqual(['First']);
  });

  test('includeInvisible needs products_write', async () => {
    await given({ name: 'Seen' });
    await given({ name: 'Hidden', visible: false });
    expect(names(await get(''))).toEqual(['Seen']);
    expect(names(await get('?includeInvisible=true'))).toEqual(['Hidden', 'Seen']);
    expect((await get('?includeInvisible=true')).body.results).toBe(2);
    expect(names(await get('?includeInvisible=true', { token: reader }))).toEqual(['Seen']);
    expect(names(await get('?includeInvisible=true', {}))).toEqual(['Seen']);
  });

  test('find takes the number exactly', async () => {
    const id = await given({ productNumber: 'AP-100' });
    await given({ productNumber: 'AP-1000' });
    await given({ productNumber: 'HIDDEN', visible: false });
    const find = async (body: unknown, options: object = { token }) =>
      (await service.call('POST', '/Harbour/products/find', { ...options, body })).body;
    const found = await find({ productNumber: 'AP-100' });
    expect(found).toMatchObject({ results: 1, page: 1, resultsPerPage: 10 });
    expect(found.items[0].productId).toBe(id);
    expect(await find({ productNumber: 'ap-100' })).toMatchObject({ results: 0, items: [] });
    expect(await find({ productNumber: 'HIDDEN' })).toMatchObject({ results: 1 });
    expect(await find({ productNumber: 'HIDDEN' }, { token: reader })).toMatchObject({ results: 0 });
    expect((await find({})).status).toBe('Bad Request');
  });

  test('the statements of a page do not grow with its length', async () => {
    for (let n = 0; n < 30; n++) await given({ name: `Product ${n}`, price: n });
    const count = async (path: string) => (await statementsOf(() => get(path))).length;
    // The settings are in memory; nothing is rendered yet: the page, and what it is made of. Then the page alone.
    await service.call('GET', '/Harbour/tax-model', { token });
    expect(await count('?resultsPerPage=5')).toBe(2);
    expect(await count('?resultsPerPage=30')).toBe(2);
    expect(await count('?resultsPerPage=30')).toBe(1);
    expect(await count('?resultsPerPage=5&page=2')).toBe(1);
    const { items } = (await get('')).body;
    // A product is one statement, cached or not; two, when the cached one has changed since.
    const { productId } = items[0];
    expect(await count(`/${productId}`)).toBe(1);
    expect(await count(`/${productId}`)).toBe(1);
    expect((await patch(productId, [add('/ean', '1')])).status).toBe(200);
    expect(await count(`/${productId}`)).toBe(2);
    expect(await count(`/${productId}`)).toBe(1);
  });
});

describe('updated products', () => {
  const updated = async (property: string, query = '') => {
    const { status, body } = await get(`/updated/${property}${query}`);
    if (status !== 200) return status;
    return body.items.map(({ item, lastUpdated }: { item: { name: string }; lastUpdated: string }) => [
      item.name,
      lastUpdated,
    ]);
  };

  test('are those whose stock changed, or anything else, in the last 7 days', async () => {
    service.setClock(new Date('2026-11-01T10:00:00Z'));
    const clock = await given({ stocklevel: 1 });
    const lamp = await given({ name: 'Lamp' });
    await patched(lamp, [add('/ean', '1')]);
    service.setClock(new Date('2026-11-12T10:00:00Z'));
    await patched(clock, [add('/stocklevel', 1)]);
    service.setClock(new Date('2026-11-14T10:00:00Z'));
    await patched(clock, [add('/ean', '2')]);
    service.setClock(NOW);
    expect(await updated('stocklevel')).toEqual([['Tide Clock', '2026-11-12T10:00:00Z']]);
    expect(await updated('attributes')).toEqual([['Tide Clock', '2026-11-14T10:00:00Z']]);
    expect(await updated('attributes', '?changedAfter=2026-10-31T09:00:00')).toEqual([
      ['Tide Clock', '2026-11-14T10:00:00Z'],
      ['Lamp', '2026-11-01T10:00:00Z'],
    ]);
    expect(await updated('attributes', '?changedAfter=2026-11-14')).toHaveLength(1);
    expect(
      (await get('/updated/attributes?changedAfter=2026-10-31&page=2&resultsPerPage=1')).body,
    ).toMatchObject({
      results: 2,
      page: 2,
      resultsPerPage: 1,
      items: [{ item: { name: 'Lamp' } }],
    });
    expect(await updated('colour')).toBe(404);
    expect(await updated('attributes', '?changedAfter=yesterday')).toBe(400);
  });
});

describe('deleting', () => {
  test('removes the product from lists, and a second time is 404', async () => {
    const id = await given();
    const erase = () => service.call('DELETE', `/Harbour/products/${id}`, { token });
    expect(await erase()).toMatchObject({ status: 204, text: '' });
    expect((await get(`/${id}`)).status).toBe(404);
    expect((await get('')).body).toMatchObject({ results: 0, items: [] });
    expect((await get(`?id=${id}`)).body).toMatchObject({ results: 0, items: [] });
    expect((await erase()).status).toBe(404);
    for (const table of ['product', 'listing', 'price_history']) {
      expect((await service.db.pool.query(`select 1 from ${table}`)).rowCount).toBe(0);
    }
  });
});

describe('cross-selling', () => {
  const selling = (method: string, id: string, body?: unknown, query = '') =>
    service.call(method, `/Harbour/products/${id}/crossselling${query}`, { token, body });
  const sold = ({ body }: Answer) => body.embedded.items.map((item: { name: string }) => item.name);

  test('PUT replaces all, PATCH adds and removes single ids', async () => {
    const clock = await given();
    const [lamp, rope, hidden] = [
      await given({ name: 'Lamp' }),
      await given({ name: 'Rope' }),
      await given({ name: 'Hidden', visible: false }),
    ];
    const base = 'http://localhost:80/rs/shops/Harbour/products';
    expect((await selling('GET', clock)).body).toEqual({
      manualCrossSellingTitle: 'Goes well with',
      embedded: { results: 0, page: 1, resultsPerPage: 100, items: [] },
      links: [
        { rel: 'self', href: `${base}/${clock}/crossselling/` },
        { rel: 'product', href: `${base}/${clock}` },
      ],
    });
    const put = await selling('PUT', clock, [rope, newId(NOW), 'rubbish', lamp.toLowerCase(), rope, clock]);
    expect(put.status).toBe(200);
    expect(sold(put)).toEqual(['Rope', 'Lamp']);
    const patch = await selling('PATCH', clock, [
      { op: 'remove', path: '/', value: rope },
      { op: 'remove', path: '/', value: newId(NOW) },
      { op: 'add', path: '/', value: hidden },
      { op: 'add', path: '/', value: newId(NOW) },
    ]);
    expect(sold(patch)).toEqual(['Lamp', 'Hidden']);
    expect(sold(await selling('GET', clock))).toEqual(['Lamp']);
    expect(sold(await selling('GET', clock, undefined, '?includeInvisible=true'))).toEqual([
      'Lamp',
      'Hidden',
    ]);
    expect(sold(await selling('PUT', clock, []))).toEqual([]);
  });

  test('wrong bodies are refused and change nothing', async () => {
    const clock = await given();
    const lamp = await given();
    await selling('PUT', clock, [lamp]);
    for (const body of [{}, 'x', [1], [{ id: lamp }]]) {
      expect((await refusal(() => selling('PUT', clock, body)))[0]).toBe(400);
    }
    for (const body of [{}, [], [{ op: 'add', path: '/x', value: lamp }], [{ op: 'add', path: '/' }]]) {
      expect((await refusal(() => selling('PATCH', clock, body)))[0]).toBe(400);
    }
    const rope = await given();
    const replace = [
      { op: 'remove', path: '/', value: lamp },
      { op: 'replace', path: '/', value: rope },
    ];
    expect(await refusal(() => selling('PATCH', clock, replace))).toEqual([
      400,
      'Update cross-selling products failed:\n\tvalidation error WRONG_OPERATION on field [1] /',
    ]);
    expect((await refusal(() => selling('PUT', newId(NOW), [lamp])))[0]).toBe(404);
  });
});

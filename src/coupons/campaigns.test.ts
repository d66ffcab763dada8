import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../test/builders.ts';
import { fingerprint } from '../../test/demo.ts';
import { startService, type CallOptions, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import { applySettings } from '../shops/settings/file.ts';
import { shopSettings } from '../shops/settings/settings.ts';

let service: Service;
let token: string;
const now = new Date('2026-11-15T08:30:00Z');
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

beforeAll(async () => {
  service = await startService();
  service.setClock(now);
  await givenShop(service, 'Quay');
  await service.db.transaction((tx) =>
    applySettings(tx, 'Quay', {
      locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
      currencies: { default: 'EUR', items: ['EUR', 'JPY'], rates: { JPY: 163 } },
      shippingMethods: [
        { key: 'parcel', name: 'Parcel', kind: 'flat', price: 5 },
        { key: 'pickup', name: 'Pickup', kind: 'pickup' },
      ],
    }),
  );
  token = await givenToken(service, 'Quay');
});

afterAll(() => service.close());

const post = (body: unknown, query = '?locale=en_GB', options: CallOptions = {}) =>
  service.call('POST', `/Quay/coupon-campaigns${query}`, { token, body, ...options });
const get = (id: string) => service.call('GET', `/Quay/coupon-campaigns/${id}`, { token });
const addCode = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  service.call('PUT', `/Quay/coupon-campaigns/${id}/coupons`, { token, body, headers });

let campaigns = 0;
const campaign = (more: object = {}) => ({
  identifier: `campaign_${++campaigns}`,
  name: 'Autumn',
  currency: 'EUR',
  type: { name: 'FIX', amount: 12 },
  ...more,
});

async function givenCampaign(more: object = {}): Promise<string> {
  const { status, body } = await post(campaign(more));
  expect(status).toBe(201);
  return body.campaignId;
}

const codesOf = (id: string) =>
  service.db.many(sql`
    select code, code_key as key, used, withdrawn_at as withdrawn, created_at as created from coupon
    where shop_id = 'Quay' and campaign_id = ${id} order by code_key`);

async function givenProduct(shopId: string): Promise<string> {
  const productId = newId(now);
  await service.db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
    values (${shopId}, ${productId}, ${productId}, 'regular', ${now}, 1, false, '{}')`);
  return productId;
}

/** Runs what must be refused; the database must be what it was. */
async function changesNothing(work: () => Promise<void>): Promise<void> {
  const before = await fingerprint(service);
  await work();
  expect(await fingerprint(service)).toEqual(before);
}

describe('a new campaign', () => {
  test('is answered with its keys in their order', async () => {
    const sent = campaign({
      minimumOrderValue: 1250,
      type: { name: 'FIX', waiveShippingCosts: true, amount: 12 },
    });
    const { status, body, text } = await post(sent);
    expect(status).toBe(201);
    expect(body.campaignId).toMatch(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/);
    expect(text).toBe(
      JSON.stringify({
        campaignId: body.campaignId,
        identifier: sent.identifier,
        name: 'Autumn',
        currency: 'EUR',
        type: { name: 'FIX', waiveShippingCosts: true, amount: 12 },
        minimumOrderValue: { taxType: 'NONE', formatted: '1,250.00 €', amount: 1250, currency: 'EUR' },
        links: [
          { rel: 'self', href: `http://localhost:80/rs/shops/Quay/coupon-campaigns/${body.campaignId}` },
        ],
      }),
    );
    expect(await get(body.campaignId)).toMatchObject({ status: 200, text });
  });

  test('takes off an amount, a share, or the delivery, which may be free beside the others', async () => {
    const types = [
      [
        { name: 'FIX', amount: 12.5 },
        { name: 'FIX', waiveShippingCosts: false, amount: 12.5 },
      ],
      [
        { name: 'FIX', waiveShippingCosts: true, amount: '7.25' },
        { name: 'FIX', waiveShippingCosts: true, amount: 7.25 },
      ],
      [
        { name: 'PERCENT', amount: 12.25 },
        { name: 'PERCENT', waiveShippingCosts: false, amount: 12.25 },
      ],
      [
        { name: 'PERCENT', waiveShippingCosts: true, amount: ' 100 ' },
        { name: 'PERCENT', waiveShippingCosts: true, amount: 100 },
      ],
      [{ name: 'SHIPPING' }, { name: 'SHIPPING', waiveShippingCosts: true }],
      [
        { name: 'SHIPPING', waiveShippingCosts: false, amount: 12 },
        { name: 'SHIPPING', waiveShippingCosts: true },
      ],
      [
        { name: 'SHIPPING', waiveShippingCosts: null, amount: null },
        { name: 'SHIPPING', waiveShippingCosts: true },
      ],
    ];
    for (const [sent, answered] of types) {
      const { status, body } = await post(campaign({ type: sent }));
      expect([status, body.type]).toEqual([201, answered]);
      expect((await get(body.campaignId)).body.type).toEqual(answered);
    }
  });

  test('may be bounded and restricted', async () => {
    const products = [await givenProduct('Quay'), await givenProduct('Quay')];
    const { shippingMethods, paymentMethods } = await shopSettings(service.db, 'Quay');
    const { body, text } = await post(
      campaign({
        usageLimit: 1,
        campaignUsageLimit: 500,
        validFrom: '2026-12-01',
        validTo: '2026-12-24T18:00:00+01:00',
        productIds: [products[1]!.toLowerCase(), products[0], products[1]],
        shippingMethodIds: [shippingMethods[1]!.shippingMethodId],
        paymentMethodIds: [paymentMethods[0]!.paymentMethodId.toLowerCase()],
      }),
    );
    expect(Object.entries(body).slice(5)).toEqual([
      ['minimumOrderValue', null],
      ['usageLimit', 1],
      ['campaignUsageLimit', 500],
      ['validFrom', '2026-12-01T00:00:00Z'],
      ['validTo', '2026-12-24T17:00:00Z'],
      ['productIds', [products[1], products[0]]],
      ['shippingMethodIds', [shippingMethods[1]!.shippingMethodId]],
      ['paymentMethodIds', [paymentMethods[0]!.paymentMethodId]],
      ['links', [{ rel: 'self', href: expect.stringMatching(body.campaignId) }]],
    ]);
    expect(await get(body.campaignId)).toMatchObject({ status: 200, text });
  });

  test('takes null and empty lists as not given, and an amount as text', async () => {
    const unset = { usageLimit: null, campaignUsageLimit: null, validFrom: null, validTo: null };
    const { status, body } = await post(
      campaign({
        ...unset,
        minimumOrderValue: '20.5',
        productIds: [],
        shippingMethodIds: null,
        paymentMethodIds: [],
        unknown: 1,
      }),
    );
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual([
      'campaignId',
      'identifier',
      'name',
      'currency',
      'type',
      'minimumOrderValue',
      'links',
    ]);
    expect(body.minimumOrderValue).toEqual({
      taxType: 'NONE',
      formatted: '20.50 €',
      amount: 20.5,
      currency: 'EUR',
    });
    const rows = await service.db.one(sql`
      select product_ids, shipping_method_ids, payment_method_ids, used, created_at from coupon_campaign
      where shop_id = 'Quay' and campaign_id = ${body.campaignId}`);
    expect(rows).toEqual({
      product_ids: null,
      shipping_method_ids: null,
      payment_method_ids: null,
      used: 0,
      created_at: now,
    });
  });

  test('has its name in the locale of the call, and is read in the default one', async () => {
    const { body } = await post(campaign({ name: ' Herbst ', minimumOrderValue: 20 }), '?locale=de_de');
    expect(body).toMatchObject({ name: 'Herbst', minimumOrderValue: { formatted: '20,00 €' } });
    expect((await get(body.campaignId)).body).toMatchObject({
      name: 'Herbst',
      minimumOrderValue: { formatted: '20.00 €' },
    });
    await service.db.run(sql`
      update coupon_campaign set name = '{"en_GB": "Autumn", "de_DE": "Herbst"}'
      where shop_id = 'Quay' and campaign_id = ${body.campaignId}`);
    expect((await get(body.campaignId)).body.name).toBe('Autumn');
  });

  test('counts in the minor units of its own currency', async () => {
    const { body } = await post(
      campaign({ currency: 'jpy', minimumOrderValue: 5000, type: { name: 'FIX', amount: 700 } }),
    );
    expect(body).toMatchObject({
      currency: 'JPY',
      type: { amount: 700 },
      minimumOrderValue: { formatted: '5,000 ¥', amount: 5000, currency: 'JPY' },
    });
    const row = await service.db.one(sql`
      select amount, minimum_order_value as minimum from coupon_campaign
      where shop_id = 'Quay' and campaign_id = ${body.campaignId}`);
    expect(row).toEqual({ amount: 700, minimum: 5000 });
  });

  test('is made once with an Idempotency-Key', async () => {
    const sent = campaign();
    const options = { headers: { 'idempotency-key': 'autumn' } };
    const [first, second] = [
      await post(sent, '?locale=en_GB', options),
      await post(sent, '?locale=en_GB', options),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
  });

  test('needs an identifier that is free, in this shop', async () => {
    const sent = campaign();
    expect((await post(sent)).status).toBe(201);
    await changesNothing(async () => {
      for (const again of [sent, { ...sent, identifier: ` ${sent.identifier} ` }]) {
        const { status, body } = await post(again);
        expect(status).toBe(409);
        expect(body.message).toBe('This identifier is taken, Request: POST /rs/shops/Quay/coupon-campaigns');
      }
    });
    await givenShop(service, 'Pier');
    const { status } = await service.call('POST', '/Pier/coupon-campaigns?locale=en_GB', {
      token: await givenToken(service, 'Pier'),
      body: sent,
    });
    expect(status).toBe(201);
  });

  test('of two at once with one identifier, one is made', async () => {
    const sent = campaign();
    const answers = await Promise.all([post(sent), post(sent), post(sent)]);
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['201', '409', '409']);
  });

  test.each([
    ['', 'Create coupon campaign failed:\n\tvalidation error MISSING on field locale'],
    ['?locale=en', 'expected full locale for example en_US'],
    ['?locale=', 'expected full locale for example en_US'],
    ['?locale=fr_FR', 'The shop has no locale fr_FR, it has en_GB, de_DE'],
  ])('is refused with the query "%s"', async (query, text) => {
    await changesNothing(async () => {
      const { status, body } = await post(campaign(), query);
      expect([status, body.message]).toEqual([400, `${text}, Request: POST /rs/shops/Quay/coupon-campaigns`]);
    });
  });

  const PERCENT = (amount: unknown) => ({ type: { name: 'PERCENT', amount } });
  const FIX = (amount: unknown) => ({ type: { name: 'FIX', amount } });

  test.each<[string, object, string]>([
    ['no identifier', { identifier: undefined }, 'MISSING on field identifier'],
    ['an empty identifier', { identifier: '' }, 'STRING_EMPTY on field identifier'],
    ['a blank identifier', { identifier: ' ' }, 'WRONG_FORMAT on field identifier'],
    ['a long identifier', { identifier: 'x'.repeat(101) }, 'TOO_LONG on field identifier'],
    ['an identifier of two lines', { identifier: 'a\nb' }, 'WRONG_FORMAT on field identifier'],
    ['no name', { name: undefined }, 'MISSING on field name'],
    ['an empty name', { name: '' }, 'STRING_EMPTY on field name'],
    ['a long name', { name: 'x'.repeat(256) }, 'TOO_LONG on field name'],
    ['no currency', { currency: undefined }, 'MISSING on field currency'],
    ['no type', { type: undefined }, 'MISSING on field type'],
    ['an unknown type', { type: { name: 'FREE' } }, 'UNKNOWN_VALUE on field type.name'],
    ['a type without name', { type: { amount: 1 } }, 'MISSING on field type.name'],
    ['no amount', { type: { name: 'FIX' } }, 'MISSING on field type.amount'],
    ['no percentage', { type: { name: 'PERCENT', amount: null } }, 'MISSING on field type.amount'],
    ['nothing off', FIX(0), 'OUT_OF_RANGE on field type.amount'],
    ['less than a cent off', FIX('0.004'), 'OUT_OF_RANGE on field type.amount'],
    ['less than nothing off', FIX(-1), 'OUT_OF_RANGE on field type.amount'],
    ['more than all money', FIX(1e12), 'OUT_OF_RANGE on field type.amount'],
    ['a word as amount', FIX('ten'), 'WRONG_FORMAT on field type.amount'],
    ['0 percent', PERCENT(0), 'OUT_OF_RANGE on field type.amount'],
    ['-5 percent', PERCENT('-5'), 'OUT_OF_RANGE on field type.amount'],
    ['more than 100 percent', PERCENT(100.01), 'OUT_OF_RANGE on field type.amount'],
    ['three decimals', PERCENT(1.125), 'OUT_OF_RANGE on field type.amount'],
    ['a negative minimum', { minimumOrderValue: -1 }, 'OUT_OF_RANGE on field minimumOrderValue'],
    ['a minimum of words', { minimumOrderValue: '1,50' }, 'WRONG_FORMAT on field minimumOrderValue'],
    ['a limit of 0', { usageLimit: 0 }, 'OUT_OF_RANGE on field usageLimit'],
    ['half a limit', { campaignUsageLimit: 1.5 }, 'WRONG_TYPE on field campaignUsageLimit'],
    ['a huge limit', { campaignUsageLimit: 1e15 }, 'OUT_OF_RANGE on field campaignUsageLimit'],
    ['a day that does not exist', { validFrom: '2026-02-30' }, 'WRONG_FORMAT on field validFrom'],
    ['an end that is none', { validTo: 'tomorrow' }, 'WRONG_FORMAT on field validTo'],
    ['a year of five digits', { validTo: '9999-12-31T23:59:59-01:00' }, 'OUT_OF_RANGE on field validTo'],
    [
      'an end before the beginning',
      { validFrom: '2026-12-02', validTo: '2026-12-01' },
      'OUT_OF_RANGE on field validTo',
    ],
    ['a product that is no id', { productIds: ['x'] }, 'UNKNOWN_VALUE on field productIds[0]'],
    ['too many products', { productIds: Array(1001).fill('x') }, 'TOO_LONG on field productIds'],
    ['an unknown method', { paymentMethodIds: [newId(now)] }, 'UNKNOWN_VALUE on field paymentMethodIds[0]'],
  ])('is refused with %s', async (_, more, problem) => {
    await changesNothing(async () => {
      const { status, body } = await post(campaign(more));
      expect([status, body.message]).toEqual([
        400,
        `Create coupon campaign failed:\n\tvalidation error ${problem}, Request: POST /rs/shops/Quay/coupon-campaigns`,
      ]);
    });
  });

  test('is refused in a currency that the shop does not have', async () => {
    await changesNothing(async () => {
      const { status, body } = await post(campaign({ currency: 'USD' }));
      expect([status, body.message]).toEqual([
        400,
        'The shop has no currency USD, it has EUR, JPY, Request: POST /rs/shops/Quay/coupon-campaigns',
      ]);
    });
  });

  test("is refused with another shop's products and methods", async () => {
    await givenShop(service, 'Dock');
    const { paymentMethods } = await shopSettings(service.db, 'Dock');
    const [ours, theirs] = [await givenProduct('Quay'), await givenProduct('Dock')];
    await changesNothing(async () => {
      for (const [more, field] of [
        [{ productIds: [ours, theirs] }, 'productIds[1]'],
        [{ paymentMethodIds: [paymentMethods[0]!.paymentMethodId] }, 'paymentMethodIds[0]'],
        [{ shippingMethodIds: [paymentMethods[0]!.paymentMethodId] }, 'shippingMethodIds[0]'],
      ] as const) {
        const { status, body } = await post(campaign(more));
        expect(status).toBe(400);
        expect(body.message).toContain(`validation error UNKNOWN_VALUE on field ${field},`);
      }
    });
  });
});

describe('reading a campaign', () => {
  test('works in lower case and needs its scope', async () => {
    const id = await givenCampaign();
    expect((await get(id.toLowerCase())).body.campaignId).toBe(id);
    const path = `/Quay/coupon-campaigns/${id}`;
    expect((await service.call('GET', path)).status).toBe(401);
    const writer = await givenToken(service, 'Quay', ['coupons_write']);
    expect((await service.call('GET', path, { token: writer })).status).toBe(403);
  });

  test('that nobody has is a 404', async () => {
    for (const id of [newId(now), 'x']) expect((await get(id)).status).toBe(404);
  });
});

describe('a code', () => {
  test('is added, one by one, by form or JSON, and answered with nothing', async () => {
    const id = await givenCampaign();
    for (const [body, headers] of [
      ['code=summer2027', FORM],
      [{ code: ' Winter Tide ' }, {}],
      ['code=Fr%C3%BChling', FORM],
    ] as const) {
      expect(await addCode(id, body, headers)).toMatchObject({ status: 204, text: '' });
    }
    const fresh = { used: 0, withdrawn: null, created: now };
    expect(await codesOf(id)).toEqual([
      { code: 'Frühling', key: 'FRÜHLING', ...fresh },
      { code: 'summer2027', key: 'SUMMER2027', ...fresh },
      { code: 'Winter Tide', key: 'WINTER TIDE', ...fresh },
    ]);
  });

  test('that is there stays as it is, used and recalled', async () => {
    const id = await givenCampaign();
    await addCode(id, { code: 'Again' });
    await service.db.run(sql`
      update coupon set used = 3, withdrawn_at = ${now} where shop_id = 'Quay' and code_key = 'AGAIN'`);
    const before = await codesOf(id);
    service.setClock(new Date(now.getTime() + 60_000));
    for (const code of ['Again', 'AGAIN', ' again ']) expect((await addCode(id, { code })).status).toBe(204);
    service.setClock(now);
    expect(await codesOf(id)).toEqual(before);
  });

  test('of another campaign is refused', async () => {
    const [first, second] = [await givenCampaign(), await givenCampaign()];
    await addCode(first, { code: 'Mine' });
    await changesNothing(async () => {
      const { status, body } = await addCode(second, 'code=MINE', FORM);
      expect([status, body.message]).toEqual([
        409,
        `This code belongs to another campaign, Request: PUT /rs/shops/Quay/coupon-campaigns/${second}/coupons`,
      ]);
    });
  });

  test('may be the same in another shop', async () => {
    await addCode(await givenCampaign(), { code: 'Everywhere' });
    await givenShop(service, 'Shore');
    const options = { token: await givenToken(service, 'Shore') };
    const { body } = await service.call('POST', '/Shore/coupon-campaigns?locale=en_GB', {
      ...options,
      body: campaign(),
    });
    const { status } = await service.call('PUT', `/Shore/coupon-campaigns/${body.campaignId}/coupons`, {
      ...options,
      body: { code: 'everywhere' },
    });
    expect(status).toBe(204);
  });

  test('goes to one of two campaigns that want it at once', async () => {
    const ids = await Promise.all([givenCampaign(), givenCampaign(), givenCampaign()]);
    const answers = await Promise.all(ids.map((id) => addCode(id, { code: 'wanted' })));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['204', '409', '409']);
  });

  test.each<[string, unknown, Record<string, string>, string]>([
    ['missing', 'other=1', FORM, 'MISSING on field code'],
    ['missing in JSON', {}, {}, 'MISSING on field code'],
    ['empty', 'code=', FORM, 'STRING_EMPTY on field code'],
    ['blank', 'code=++', FORM, 'WRONG_FORMAT on field code'],
    ['of two lines', 'code=a%0Ab', FORM, 'WRONG_FORMAT on field code'],
    ['too long', { code: 'x'.repeat(101) }, {}, 'TOO_LONG on field code'],
    ['two', 'code=a&code=b', FORM, 'WRONG_TYPE on field code'],
    ['a number', { code: 7 }, {}, 'WRONG_TYPE on field code'],
  ])('is refused when it is %s', async (_, body, headers, problem) => {
    const id = await givenCampaign();
    await changesNothing(async () => {
      const answer = await addCode(id, body, headers);
      expect([answer.status, answer.body.message]).toEqual([
        400,
        `Add coupon failed:\n\tvalidation error ${problem}, Request: PUT /rs/shops/Quay/coupon-campaigns/${id}/coupons`,
      ]);
    });
  });

  test('of 100 characters is not too long', async () => {
    const id = await givenCampaign();
    const code = '€'.repeat(100);
    expect((await addCode(id, { code })).status).toBe(204);
    expect(await codesOf(id)).toMatchObject([{ code }]);
  });

  test('of a campaign that nobody has is a 404', async () => {
    await changesNothing(async () => {
      for (const id of [newId(now), 'x']) expect((await addCode(id, { code: 'lost' })).status).toBe(404);
    });
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { givenShop, givenToken } from '../../test/builders.ts';
import { fingerprint } from '../../test/demo.ts';
import { startService, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../kernel/ids.ts';
import {
  applySettings,
  exportSettings,
  parseSettingsFile as parseFile,
  SettingsProblem,
  settingsText,
  type SettingsFile,
} from '../shops/settings/file.ts';
import { settingsFormat } from '../composition/settings-format.ts';
import { selectSettings } from '../shops/settings/settings.ts';

type Entry = NonNullable<SettingsFile['couponCampaigns']>[number];

let service: Service;
let shopId: string;
let shops = 0;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

beforeEach(async () => {
  shopId = `Shop${++shops}`;
  await givenShop(service, shopId);
  await applyFile({
    locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
    currencies: { default: 'EUR', items: ['EUR', 'JPY'], rates: { JPY: 163 } },
    shippingMethods: [
      { key: 'parcel', name: 'Parcel', kind: 'flat', price: 5 },
      { key: 'pickup', name: 'Pickup', kind: 'pickup' },
    ],
    paymentMethods: [
      { key: 'advance', name: 'Payment in advance' },
      { key: 'card', name: 'Card' },
    ],
  });
});

const applied = (file: SettingsFile) =>
  service.db.transaction((tx) => applySettings(tx, shopId, file, settingsFormat));
const parseSettingsFile = (text: string) => parseFile(text, settingsFormat);
const applyFile = async (file: SettingsFile) => (await applied(file)).changes;
const apply = (...couponCampaigns: Entry[]) => applyFile({ couponCampaigns });
const exported = async () => (await exportSettings(service.db, shopId, settingsFormat)).couponCampaigns!;

async function refusal(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = await fingerprint(service);
  const error: unknown = await work().then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(SettingsProblem);
  expect(await fingerprint(service)).toEqual(before);
  return (error as SettingsProblem).problems;
}

/** What is wrong with a file, said while it is read or while it is applied. */
const refused = (text: string) => refusal(async () => applyFile(parseSettingsFile(text)));

async function givenProduct(number: string): Promise<string> {
  const productId = newId(service.db.now);
  await service.db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
    values (${shopId}, ${productId}, ${number}, 'regular', ${service.db.now}, 1, true, '{}')`);
  return productId;
}

const coupons = () =>
  service.db.many<{ code: string; used: number }>(sql`
    select coupon.code, coupon.used, coupon.withdrawn_at as withdrawn, campaign.identifier as campaign
    from coupon join coupon_campaign campaign
      on campaign.shop_id = coupon.shop_id and campaign.campaign_id = coupon.campaign_id
    where coupon.shop_id = ${shopId} order by code_key`);

const campaigns = () =>
  service.db.many<{ identifier: string; campaign_id: string }>(sql`
    select * from coupon_campaign where shop_id = ${shopId} order by identifier`);

/** Orders that were placed with a code. */
async function givenUses(code: string, count: number): Promise<void> {
  const { campaignId } = (await service.db.one<{ campaignId: string }>(sql`
    update coupon set used = ${count} where shop_id = ${shopId} and code_key = ${code}
    returning campaign_id as "campaignId"`))!;
  await service.db.run(sql`
    update coupon_campaign set used = used + ${count}
    where shop_id = ${shopId} and campaign_id = ${campaignId}`);
}

const summer: Entry = {
  identifier: 'summer',
  name: 'Summer',
  type: 'fix',
  amount: 20,
  minimumOrderValue: 60,
  codes: ['SUMMER20', 'Summer20b'],
};
const autumn: Entry = { identifier: 'autumn', name: 'Autumn', type: 'percent', amount: 12.5, codes: [] };
const freight: Entry = { identifier: 'freight', name: 'Free', type: 'shipping', codes: ['SHIPFREE'] };

describe('a file with campaigns', () => {
  it('makes them, once, and gets them back', async () => {
    await givenProduct('KN-2');
    await givenProduct('KN-1');
    const full: Entry = {
      identifier: 'full',
      name: { en_GB: 'Everything', de_DE: 'Alles' },
      currency: 'JPY',
      type: 'fix',
      amount: 700,
      waiveShippingCosts: true,
      minimumOrderValue: 5000,
      usageLimit: 1,
      campaignUsageLimit: 500,
      validFrom: '2026-06-01T02:00:00+02:00',
      validTo: '2026-09-01',
      products: ['KN-2', 'KN-1'],
      shippingMethods: ['pickup', 'parcel'],
      paymentMethods: ['card'],
      codes: ['b', ' a '],
      withdrawn: ['C'],
    };
    const file = [summer, full, freight, autumn];
    expect(await apply(...file)).toEqual([
      '+ couponCampaigns.autumn',
      '+ couponCampaigns.freight',
      '+ couponCampaigns.full',
      '+ couponCampaigns.summer',
    ]);
    const before = await fingerprint(service);
    expect(await apply(...file)).toEqual([]);
    expect(await apply(...file.toReversed())).toEqual([]);
    const complete = await exported();
    expect(complete).toEqual([
      { ...autumn, currency: 'EUR' },
      { ...freight, currency: 'EUR' },
      {
        ...full,
        validFrom: '2026-06-01T00:00:00Z',
        validTo: '2026-09-01T00:00:00Z',
        products: ['KN-1', 'KN-2'],
        shippingMethods: ['parcel', 'pickup'],
        codes: ['a', 'b'],
      },
      { ...summer, currency: 'EUR' },
    ]);
    expect(await apply(...complete)).toEqual([]);
    const text = settingsText(await exportSettings(service.db, shopId, settingsFormat));
    expect(await applyFile(parseSettingsFile(text))).toEqual([]);
    expect(await fingerprint(service)).toEqual(before);
  });

  it('stores minor units, basis points and ids', async () => {
    const productId = await givenProduct('KN-1');
    await apply(
      { ...summer, products: ['KN-1', 'KN-1'], shippingMethods: ['pickup'], paymentMethods: [] },
      autumn,
      freight,
      { ...summer, identifier: 'yen', currency: 'JPY', codes: [] },
    );
    const { shippingMethods } = (await selectSettings(service.db, shopId))!;
    expect(await campaigns()).toMatchObject([
      { identifier: 'autumn', kind: 'PERCENT', amount: 1250, waive_shipping_costs: false, product_ids: null },
      { identifier: 'freight', kind: 'SHIPPING', amount: null, waive_shipping_costs: true },
      {
        identifier: 'summer',
        kind: 'FIX',
        amount: 2000,
        minimum_order_value: 6000,
        used: 0,
        product_ids: [productId.toLowerCase()],
        shipping_method_ids: [shippingMethods[1]!.shippingMethodId.toLowerCase()],
        payment_method_ids: [],
      },
      { identifier: 'yen', amount: 20, minimum_order_value: 60 },
    ]);
  });

  it('says what it changes, and keeps ids and what was used', async () => {
    await givenProduct('KN-1');
    await apply(summer, autumn, freight);
    await givenUses('SUMMER20', 3);
    await givenUses('SUMMER20B', 2);
    const [, , before] = await campaigns();
    expect(
      await apply(
        {
          ...summer,
          name: { en_GB: 'Summer sale', de_DE: 'Sommer' },
          currency: 'JPY',
          type: 'percent',
          amount: 5,
          waiveShippingCosts: true,
          minimumOrderValue: 70,
          usageLimit: 2,
          validTo: '2026-09-01',
          products: ['KN-1'],
          paymentMethods: ['card'],
          codes: ['SUMMER20', 'Winter'],
          withdrawn: ['Summer20b'],
        },
        { ...autumn, codes: ['AUTUMN'] },
      ),
    ).toEqual([
      '- couponCampaigns.freight and its 1 code',
      '+ couponCampaigns.autumn.codes.AUTUMN',
      '~ couponCampaigns.summer.name.en_GB: Summer -> "Summer sale"',
      '+ couponCampaigns.summer.name.de_DE: Sommer',
      '~ couponCampaigns.summer.currency: EUR -> JPY',
      '~ couponCampaigns.summer.type: fix -> percent',
      '~ couponCampaigns.summer.amount: 20 -> 5',
      '~ couponCampaigns.summer.minimumOrderValue: 60 -> 70',
      '+ couponCampaigns.summer.waiveShippingCosts: true',
      '+ couponCampaigns.summer.usageLimit: 2',
      '+ couponCampaigns.summer.validTo: 2026-09-01T00:00:00Z',
      '+ couponCampaigns.summer.products.KN-1',
      '+ couponCampaigns.summer.paymentMethods.card',
      '- couponCampaigns.summer.codes.Summer20b',
      '+ couponCampaigns.summer.codes.Winter',
      '+ couponCampaigns.summer.withdrawn.Summer20b',
    ]);
    expect(await campaigns()).toMatchObject([
      { identifier: 'autumn', used: 0 },
      { identifier: 'summer', used: 5, campaign_id: before!.campaign_id, amount: 500 },
    ]);
    expect(await coupons()).toEqual([
      { code: 'AUTUMN', used: 0, withdrawn: null, campaign: 'autumn' },
      { code: 'SUMMER20', used: 3, withdrawn: null, campaign: 'summer' },
      { code: 'Summer20b', used: 2, withdrawn: expect.any(Date), campaign: 'summer' },
      { code: 'Winter', used: 0, withdrawn: null, campaign: 'summer' },
    ]);
  });

  it('deletes a code that it does not name, also one that an app has added', async () => {
    await apply(summer);
    const token = await givenToken(service, shopId);
    const [row] = await campaigns();
    const path = `/${shopId}/coupon-campaigns/${row!.campaign_id}/coupons`;
    await service.call('PUT', path, { token, body: { code: 'Extra' } });
    expect(await exported()).toMatchObject([{ codes: ['Extra', 'SUMMER20', 'Summer20b'] }]);
    expect(await apply({ ...summer, codes: ['Summer20b'] })).toEqual([
      '- couponCampaigns.summer.codes.Extra',
      '- couponCampaigns.summer.codes.SUMMER20',
    ]);
    expect((await coupons()).map(({ code }) => code)).toEqual(['Summer20b']);
  });

  it('recalls a code and brings it back', async () => {
    service.setClock(new Date('2026-11-15T08:30:00Z'));
    await apply(summer);
    await givenUses('SUMMER20', 4);
    const recalled = { ...summer, codes: ['Summer20b'], withdrawn: ['summer20'] };
    expect(await apply(recalled)).toEqual([
      '- couponCampaigns.summer.codes.SUMMER20',
      '+ couponCampaigns.summer.withdrawn.summer20',
    ]);
    service.setClock(new Date('2026-11-16T08:30:00Z'));
    await apply({ ...recalled, withdrawn: ['SUMMER20'] });
    service.setClock(undefined);
    expect(await coupons()).toMatchObject([
      { code: 'SUMMER20', used: 4, withdrawn: new Date('2026-11-15T08:30:00Z') },
      { code: 'Summer20b', used: 0, withdrawn: null },
    ]);
    await apply(summer);
    expect(await coupons()).toMatchObject([{ code: 'SUMMER20', used: 4, withdrawn: null }, {}]);
  });

  it('moves a code to another campaign, where nobody has used it', async () => {
    await apply(summer, autumn);
    await givenUses('SUMMER20', 4);
    expect(await apply({ ...summer, codes: ['Summer20b'] }, { ...autumn, codes: ['Summer20'] })).toEqual([
      '+ couponCampaigns.autumn.codes.Summer20',
      '- couponCampaigns.summer.codes.SUMMER20',
    ]);
    expect(await coupons()).toEqual([
      { code: 'Summer20', used: 0, withdrawn: null, campaign: 'autumn' },
      { code: 'Summer20b', used: 0, withdrawn: null, campaign: 'summer' },
    ]);
    expect(await campaigns()).toMatchObject([{ used: 0 }, { used: 4 }]);
  });

  it('takes all of them away', async () => {
    await apply(summer, freight);
    expect(await apply()).toEqual([
      '- couponCampaigns.freight and its 1 code',
      '- couponCampaigns.summer and its 2 codes',
    ]);
    expect([await campaigns(), await coupons()]).toEqual([[], []]);
  });

  it('may name a method that comes with it, and moves the version of the settings only then', async () => {
    const before = (await selectSettings(service.db, shopId))!;
    expect((await applied({ couponCampaigns: [summer] })).sections).toEqual(new Set(['couponCampaigns']));
    expect((await selectSettings(service.db, shopId))!.version).toBe(before.version);
    const { changes, sections } = await applied({
      shippingMethods: [{ key: 'van', name: 'Van', kind: 'flat', price: 9 }],
      couponCampaigns: [{ ...summer, shippingMethods: ['van'] }],
    });
    expect(changes).toEqual([
      '- shippingMethods.parcel',
      '- shippingMethods.pickup',
      '+ shippingMethods.van',
      '+ couponCampaigns.summer.shippingMethods.van',
    ]);
    expect(sections).toEqual(new Set(['shippingMethods', 'couponCampaigns']));
  });

  it('leaves campaigns alone when it does not name them, and those of other shops always', async () => {
    await apply(summer);
    const before = [await campaigns(), await coupons()];
    await applyFile({ email: 'new@mail.example' });
    const ours = shopId;
    shopId = `${ours}-other`;
    await givenShop(service, shopId);
    await apply(summer, freight);
    await apply();
    shopId = ours;
    expect([await campaigns(), await coupons()]).toEqual(before);
  });

  it('lets two files take turns', async () => {
    await Promise.all([apply(summer, freight), apply(summer), apply(summer, freight), apply(summer, autumn)]);
    expect((await exported()).map(({ identifier }) => identifier)).toContain('summer');
    expect((await coupons()).filter(({ code }) => code === 'SUMMER20')).toHaveLength(1);
  });
});

describe('what was deleted since', () => {
  it('matches nothing any more, and an export can still be applied', async () => {
    await givenProduct('KN-1');
    await apply({ ...summer, products: ['KN-1'], shippingMethods: ['pickup'], paymentMethods: ['card'] });
    await service.db.run(sql`delete from product where shop_id = ${shopId}`);
    await applyFile({ shippingMethods: [], paymentMethods: [{ key: 'advance', name: 'Advance' }] });
    const restricted = { ...summer, currency: 'EUR', products: [], shippingMethods: [], paymentMethods: [] };
    expect(await exported()).toEqual([restricted]);
    const before = await fingerprint(service);
    expect(await apply(restricted)).toEqual([]);
    expect(await fingerprint(service)).toEqual(before);
    expect(await apply(summer)).toEqual([
      '~ couponCampaigns.summer.products: none -> all',
      '~ couponCampaigns.summer.shippingMethods: none -> all',
      '~ couponCampaigns.summer.paymentMethods: none -> all',
    ]);
    expect(await campaigns()).toMatchObject([{ product_ids: null, shipping_method_ids: null }]);
    expect(await apply({ ...summer, products: [] })).toEqual([
      '~ couponCampaigns.summer.products: all -> none',
    ]);
  });

  it('may be the currency or the locale of a campaign', async () => {
    await apply({ ...summer, name: { de_DE: 'Sommer' }, currency: 'JPY' });
    await applyFile({
      locales: { default: 'en_GB', items: ['en_GB'] },
      currencies: { default: 'EUR', items: ['EUR'] },
    });
    const complete = await exported();
    expect(complete).toEqual([{ ...summer, name: 'Sommer', currency: 'JPY' }]);
    expect(await apply(...complete)).toEqual([]);
    expect(await refusal(() => apply({ ...freight, currency: 'JPY' }))).toEqual([
      'couponCampaigns[0].currency: JPY is not a currency of the shop, expected one of EUR',
    ]);
  });
});

/** A shop may have 100,000; fewer take the same way. */
const CODES = process.env['KONTOR_TEST_ALL'] === undefined ? 10_000 : 100_000;

describe(`${CODES} codes`, () => {
  it('are applied, exported, and exchanged', async () => {
    const numbered = (from: number) =>
      Array.from({ length: CODES }, (_, index) => `C${String(from + index).padStart(6, '0')}`);
    const big = { ...autumn, codes: numbered(0) };
    expect(await apply(big)).toEqual(['+ couponCampaigns.autumn']);
    await givenUses(numbered(CODES / 2)[0]!, 7);
    expect(await exported()).toEqual([{ ...big, currency: 'EUR' }]);
    expect(await apply(big)).toEqual([]);

    const next = settingsText({ couponCampaigns: [{ ...big, codes: numbered(CODES / 2) }] });
    expect(await applyFile(parseSettingsFile(next))).toEqual([
      `- couponCampaigns.autumn.codes: ${CODES / 2} codes`,
      `+ couponCampaigns.autumn.codes: ${CODES / 2} codes`,
    ]);
    const rows = await service.db.many(sql`
      select count(*) as count, min(code) as first, max(code) as last, sum(used)::bigint as used
      from coupon where shop_id = ${shopId}`);
    const [first, last] = [numbered(CODES / 2)[0], numbered(CODES / 2).at(-1)];
    expect(rows).toEqual([{ count: CODES, first, last, used: 7 }]);
    expect(await apply()).toEqual([`- couponCampaigns.autumn and its ${CODES} codes`]);
  }, 120_000);
});

describe('a refused file names', () => {
  it.each<[string, string, string[]]>([
    [
      'what is missing or unknown',
      `couponCampaigns:
  - name: A
    kind: fix
    type: free
    codes: [12345]
    usageLimit: 1.5
    amount: 0`,
      [
        'couponCampaigns[0] (line 2): identifier is missing: Its name in this file; the id belongs to it. Example: summer_sale',
        'couponCampaigns[0].kind (line 3): unknown key, expected one of identifier, name, currency, type, amount, waiveShippingCosts, minimumOrderValue, usageLimit, campaignUsageLimit, validFrom, validTo, products, shippingMethods, paymentMethods, codes, withdrawn',
        'couponCampaigns[0].type (line 4): is free, expected one of fix, percent, shipping',
        'couponCampaigns[0].amount (line 7): is 0, expected more than 0',
        'couponCampaigns[0].usageLimit (line 6): is 1.5, expected a whole number',
        'couponCampaigns[0].codes[0] (line 5): is 12345, expected a text: put it in quotes',
      ],
    ],
    [
      'amounts that do not fit the type',
      `couponCampaigns:
  - {identifier: a, name: A, type: fix, codes: []}
  - {identifier: b, name: B, type: fix, amount: 0.005, minimumOrderValue: 1.005, codes: []}
  - {identifier: c, name: C, type: fix, currency: JPY, amount: 1.5, codes: []}
  - {identifier: d, name: D, type: percent, amount: 100.5, codes: []}
  - {identifier: e, name: E, type: percent, amount: 1.125, codes: []}
  - {identifier: f, name: F, type: shipping, amount: 1, waiveShippingCosts: false, codes: []}
  - {identifier: f, name: F, type: shipping, currency: XQQ, codes: []}
  - {identifier: g, name: {fr_FR: G}, type: shipping, codes: []}`,
      [
        'couponCampaigns[6].identifier (line 8): f is the identifier of couponCampaigns[5] already',
        'couponCampaigns[0] (line 2): amount is missing: type fix needs it',
        'couponCampaigns[2].amount (line 4): is 1.5, expected no decimals, as JPY has',
        'couponCampaigns[3].amount (line 5): is 100.5, expected 100 percent or less',
        'couponCampaigns[4].amount (line 6): is 1.125, expected percent with at most 2 decimals',
        'couponCampaigns[5].amount (line 7): does not belong to type shipping, which has no amount',
        'couponCampaigns[5].waiveShippingCosts (line 7): is false, but that is what type shipping does',
        'couponCampaigns[6].currency (line 8): XQQ is not a known currency, expected an ISO 4217 code such as EUR',
      ],
    ],
    [
      'moments that are none',
      `couponCampaigns:
  - identifier: a
    name: A
    type: shipping
    validFrom: 2026-02-30
    validTo: tomorrow
    codes: []
  - identifier: b
    name: B
    type: shipping
    validFrom: 2026-09-01
    validTo: 2026-06-01
    codes: []`,
      [
        'couponCampaigns[0].validFrom (line 5): is 2026-02-30, expected date and time such as 2026-06-01T00:00:00Z',
        'couponCampaigns[0].validTo (line 6): is tomorrow, expected date and time such as 2026-06-01T00:00:00Z',
        'couponCampaigns[1].validTo (line 12): is 2026-06-01, before validFrom',
      ],
    ],
    [
      'codes that occur twice, in any case',
      `couponCampaigns:
  - {identifier: a, name: A, type: shipping, codes: [one, two, ONE]}
  - identifier: b
    name: B
    type: shipping
    codes: [three, ' Two ']
    withdrawn:
      - Three`,
      [
        'couponCampaigns[0].codes[2] (line 2): ONE is couponCampaigns[0].codes[0] already',
        'couponCampaigns[1].codes[1] (line 6): " Two " is couponCampaigns[0].codes[1] already',
        'couponCampaigns[1].withdrawn[0] (line 8): Three is couponCampaigns[1].codes[0] already',
      ],
    ],
    [
      'methods and locales that the shop lacks',
      `couponCampaigns:
  - identifier: a
    name: {fr_FR: A}
    type: fix
    amount: 1.005
    shippingMethods: [parcel, picup]
    paymentMethods:
      - cash
    codes: []`,
      [
        'couponCampaigns[0].name.fr_FR (line 3): is not a locale of the shop, expected one of en_GB, de_DE',
        'couponCampaigns[0].amount (line 5): is 1.005, expected at most 2 decimals, as EUR has',
        'couponCampaigns[0].shippingMethods[1] (line 6): picup is not in shippingMethods, did you mean pickup?',
        'couponCampaigns[0].paymentMethods[0] (line 8): cash is not in paymentMethods',
      ],
    ],
    [
      'products and currencies that the shop lacks',
      `email: new@mail.example
couponCampaigns:
  - identifier: a
    name: A
    currency: USD
    type: shipping
    products:
      - KN-100
    codes: []`,
      [
        'couponCampaigns[0].currency (line 5): USD is not a currency of the shop, expected one of EUR, JPY',
        'couponCampaigns[0].products[0] (line 8): the shop has no product KN-100',
      ],
    ],
  ])('%s', async (_, text, problems) => {
    expect(await refused(text)).toEqual(problems);
  });
});

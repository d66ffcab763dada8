import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { givenDomains, givenShop, givenToken } from '../../../test/builders.ts';
import { generatedSettings } from '../../../test/generated-settings.ts';
import { halfOf, SEED } from '../../../test/seed.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenPlainProduct } from '../../../test/upload.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { sixDigits } from '../../kernel/colour.ts';
import { settingsFormat } from '../../composition/settings-format.ts';
import { standardVat } from '../taxes/vat-rates.ts';
import { deleteShop } from '../shop/queries.ts';
import {
  applySettings,
  exportSettings,
  parseSettingsFile as parseFile,
  settingsText,
  SettingsProblem,
  type SettingsFile,
} from './file.ts';
import { settingsSchemaText } from './format.ts';
import { selectSettings } from './settings.ts';

let service: Service;
let shopId: string;
let shops = 0;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(async () => {
  shopId = `Shop${++shops}`;
  await givenShop(service, shopId, { name: 'Quay' });
  // These tests begin with the settings of a new shop, which does not name its seller yet.
  await service.db.run(sql`
    update shop set settings = settings || '{"invoicing": {}}' where shop_id = ${shopId}`);
});

const applied = (file: SettingsFile, shop = shopId) =>
  service.db.transaction((tx) => applySettings(tx, shop, file, settingsFormat));
const apply = async (file: SettingsFile, shop = shopId) => (await applied(file, shop)).changes;
const exported = () => exportSettings(service.db, shopId, settingsFormat);
const parseSettingsFile = (text: string) => parseFile(text, settingsFormat);
const stored = async () => (await selectSettings(service.db, shopId))!;
const example = (name: string) =>
  readFile(new URL(`../../../examples/${name}-shop.yaml`, import.meta.url), 'utf8');

async function refusal(file: SettingsFile, shop = shopId): Promise<readonly string[]> {
  const before = await selectSettings(service.db, shop);
  const error: unknown = await apply(file, shop).then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(SettingsProblem);
  expect(await selectSettings(service.db, shop)).toEqual(before);
  return (error as SettingsProblem).problems;
}

const standard = { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } };
const advance = { key: 'advance', name: 'Payment in advance' };

describe('a new shop', () => {
  it('has the tax of its country, a way to pay and no guessed delivery', async () => {
    expect(await exported()).toEqual({
      name: 'Quay',
      slogan: null,
      email: 'shop@mail.example',
      logoUrl: null,
      domains: [],
      country: 'DE',
      locales: { default: 'en_GB', items: ['en_GB'] },
      currencies: { default: 'EUR', items: ['EUR'], rates: {} },
      countries: { default: 'DE', items: ['DE'] },
      taxes: {
        model: 'gross',
        displayTaxes: true,
        deliveryThresholdIsActive: false,
        taxFreeOutsideEu: true,
        exportPrices: 'asShown',
        smallBusiness: false,
        distanceSales: 'rates',
        registrations: {},
        specialTerritories: false,
        delivery: 'standard',
      },
      netPrices: { shownTo: 'nobody', groups: [] },
      taxClasses: [
        { key: 'standard', name: 'standard', default: true, defaultDigital: true, rates: { DE: 19 } },
      ],
      shippingMethods: [],
      paymentMethods: [{ key: 'advance', name: 'Payment in advance', price: 0 }],
      minimumCart: { code: 'SumProduct' },
      basketDiscounts: [],
      promotions: [],
      priceLists: [],
      units: {},
      newsletters: [],
      visibility: { shop: 'everybody', groups: [], requests: true },
      customerGroups: [],
      crossSellingTitle: null,
      showFromPrices: true,
      categoriesShowSubcategories: true,
      publicCatalogue: true,
      backorderReadyEmails: true,
      quickOrder: false,
      sellBeyondStock: false,
      maxPerOrder: null,
      dailyEmailsPerRecipient: 20,
      emailNewOrders: true,
      lowStockLevel: null,
      carriers: {},
      mandatoryAddressFields: [],
      invoicing: {},
      accounting: {},
      mails: {},
      theme: {},
      manufacturers: [],
      producerRegistrations: [],
      deliveryTimes: { cutOffHour: 14, timeZone: 'Europe/Berlin', handling: { from: 0, to: 0 }, methods: {} },
      home: { promises: [] },
      menus: { header: [], footer: [] },
      appScripts: { load: true, necessary: [] },
      feeds: { google: false, agenticCommerce: false },
      assistants: {
        open: false,
        catalogue: true,
        carts: true,
        checkout: true,
        orders: true,
        pageTools: false,
        signedOnly: false,
        callsPerHour: 1_000,
      },
      reviews: { open: false, moderation: 'before', invite: 'nobody', invitationDays: 14 },
      orderPage: { cancellation: true, returnDays: 30 },
      returns: { refundDelivery: true },
      withdrawal: { days: 14, transitDays: 5 },
      accessibility: null,
      couponCampaigns: [],
    });
  });

  it.each([
    ['FI', 25.5],
    ['CH', 8.1],
    ['US', 0],
  ])('in %s starts with %d percent', async (country, rate) => {
    await givenShop(service, `${shopId}-${country}`, { country });
    const { taxClasses } = await exportSettings(service.db, `${shopId}-${country}`);
    expect(taxClasses![0]!.rates).toEqual({ [country]: rate });
  });

  it('knows the VAT of the EU and its neighbours', () => {
    const countries =
      'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE GB CH NO'.split(' ');
    expect(countries.filter((country) => standardVat(country) === undefined)).toEqual([]);
    expect(standardVat('US')).toBeUndefined();
  });
});

describe('apply', () => {
  it('says what it changes, in the words of the file', async () => {
    await apply({
      locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
      taxClasses: [
        { ...standard, rates: { DE: 19, AT: 20 } },
        { key: 'reduced', name: 'reduced', rates: { DE: 7 } },
      ],
      shippingMethods: [
        { key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 },
        {
          key: 'value',
          name: 'By value',
          kind: 'orderValue',
          tiers: [
            { from: 0, price: 7 },
            { from: 50, price: 3.9 },
          ],
        },
        {
          key: 'zoned',
          name: 'By zone',
          kind: 'flat',
          zones: [
            { countries: ['DE'], price: 4.9 },
            { countries: ['ES'], postcodes: ['35000 - 35999', '38*'], weights: [{ upTo: 2, price: 20 }] },
          ],
        },
        { key: 'pickup', name: 'Pickup', kind: 'pickup' },
      ],
      paymentMethods: [
        advance,
        { key: 'invoice', name: 'Invoice', price: 1.5 },
        { key: 'card', name: 'Card' },
      ],
      basketDiscounts: [{ from: 100, absolute: 10 }],
      countries: { default: 'DE', items: ['DE', 'AT'] },
    });

    const changes = await apply({
      name: { en_GB: 'Quay & Co', de_DE: 'Kai & Co' },
      email: 'hello@quay.example',
      countries: { default: 'DE', items: ['FR', 'DE'] },
      taxClasses: [
        { ...standard, rates: { DE: 16, FR: 20 } },
        {
          key: 'reduced',
          name: { en_GB: 'Reduced', de_DE: 'Ermäßigt' },
          defaultDigital: true,
          rates: { DE: 7 },
        },
      ],
      shippingMethods: [
        { key: 'parcel', name: 'Parcel', kind: 'weight', price: 4.9, pricePerKg: 1.19 },
        { key: 'express', name: 'Express', kind: 'flat', price: 12 },
        {
          key: 'value',
          name: 'By value',
          kind: 'orderValue',
          tiers: [
            { from: 0, price: 7 },
            { from: 50, price: 0 },
            { from: 80.5, price: 0 },
          ],
        },
        {
          key: 'zoned',
          name: 'By zone',
          kind: 'flat',
          zones: [
            { countries: ['DE'], price: 3.9, freeFrom: 50 },
            {
              countries: ['ES'],
              postcodes: ['35000-35999', '38*'],
              weights: [
                { upTo: 2, price: 25 },
                { upTo: 5.5, price: 40 },
              ],
            },
            { countries: ['GB'], postcodes: ['bt*'], maxWeight: 31.5, days: { from: 2, to: 4 }, price: 9 },
          ],
        },
        { key: 'pickup', name: 'Pickup', kind: 'pickup', place: 'Quay 4', hours: { de_DE: 'Mo-Fr' } },
      ],
      paymentMethods: [
        { key: 'card', name: 'Card' },
        { ...advance, releaseUnpaidAfterDays: 14 },
      ],
      minimumCart: { amount: 5 },
      basketDiscounts: [{ from: 100, percent: 10 }],
      units: { piece: { de_DE: { long: 'Stück', short: 'St.' } } },
      customerGroups: ['Staff', 'Cafes'],
      crossSellingTitle: { en_GB: 'Goes well with', de_DE: 'Passt dazu' },
      showFromPrices: false,
      sellBeyondStock: true,
      maxPerOrder: 2.5,
      dailyEmailsPerRecipient: 5,
      emailNewOrders: false,
      lowStockLevel: 5,
      carriers: { 'Harbour Parcel': 'https://parcels.example/{code}' },
    });

    expect(changes).toEqual([
      '~ name.en_GB: Quay -> "Quay & Co"',
      '+ name.de_DE: "Kai & Co"',
      '~ email: shop@mail.example -> hello@quay.example',
      '- countries.items.AT',
      '+ countries.items.FR',
      '- taxClasses.standard.defaultDigital: true',
      '- taxClasses.standard.rates.AT: 20',
      '~ taxClasses.standard.rates.DE: 19 -> 16',
      '+ taxClasses.standard.rates.FR: 20',
      '~ taxClasses.reduced.name.en_GB: reduced -> Reduced',
      '+ taxClasses.reduced.name.de_DE: Ermäßigt',
      '+ taxClasses.reduced.defaultDigital: true',
      '~ shippingMethods.parcel.kind: flat -> weight',
      '+ shippingMethods.parcel.pricePerKg: 1.19',
      '+ shippingMethods.express',
      '~ shippingMethods.value.tiers[from 50].price: 3.9 -> 0',
      '+ shippingMethods.value.tiers[from 80.5]',
      '~ shippingMethods.zoned.zones[DE].price: 4.9 -> 3.9',
      '+ shippingMethods.zoned.zones[DE].freeFrom: 50',
      '~ shippingMethods.zoned.zones[ES 35000-35999 38*].weights[up to 2].price: 20 -> 25',
      '+ shippingMethods.zoned.zones[ES 35000-35999 38*].weights[up to 5.5]',
      '+ shippingMethods.zoned.zones[GB BT* up to 31.5 kg]',
      '+ shippingMethods.pickup.place.en_GB: "Quay 4"',
      '+ shippingMethods.pickup.hours.de_DE: Mo-Fr',
      '- paymentMethods.invoice',
      '+ paymentMethods.advance.releaseUnpaidAfterDays: 14',
      '~ paymentMethods in another order: advance, card -> card, advance',
      '+ minimumCart.amount: 5',
      '- basketDiscounts[from 100].absolute: 10',
      '+ basketDiscounts[from 100].percent: 10',
      '+ units.piece.de_DE.long: Stück',
      '+ units.piece.de_DE.short: St.',
      '+ customerGroups.Cafes',
      '+ customerGroups.Staff',
      '+ crossSellingTitle.en_GB: "Goes well with"',
      '+ crossSellingTitle.de_DE: "Passt dazu"',
      '~ showFromPrices: true -> false',
      '~ sellBeyondStock: false -> true',
      '+ maxPerOrder: 2.5',
      '~ dailyEmailsPerRecipient: 20 -> 5',
      '~ emailNewOrders: true -> false',
      '+ lowStockLevel: 5',
      '+ carriers.Harbour Parcel: https://parcels.example/{code}',
    ]);
  });

  it('leaves absent sections alone and changes nothing the second time', async () => {
    const before = await stored();
    const file: SettingsFile = { taxClasses: [{ ...standard, rates: { DE: 16 } }] };
    expect(await apply(file)).toEqual(['~ taxClasses.standard.rates.DE: 19 -> 16']);
    const after = await stored();
    expect(after).toEqual({
      ...before,
      version: before.version + 1,
      taxClasses: [{ ...before.taxClasses[0], rates: { DE: 1600 } }],
    });
    expect(await apply(file)).toEqual([]);
    expect(await stored()).toEqual(after);
  });

  it('keeps the id of a key, whatever else changes, and gives a new one to a key that comes back', async () => {
    const paymentIds = async () =>
      Object.fromEntries((await stored()).paymentMethods.map((one) => [one.key, one.paymentMethodId]));
    await apply({ paymentMethods: [advance, { key: 'card', name: 'Card' }] });
    const first = await paymentIds();
    await apply({ paymentMethods: [{ key: 'card', name: 'Credit card', price: 2 }, advance] });
    expect(await paymentIds()).toEqual(first);
    await apply({ paymentMethods: [advance] });
    await apply({ paymentMethods: [advance, { key: 'card', name: 'Card' }] });
    const last = await paymentIds();
    expect(last['advance']).toBe(first['advance']);
    expect(last['card']).not.toBe(first['card']);
  });

  it('moves both defaults between tax classes', async () => {
    const other = { key: 'other', name: 'other', rates: { DE: 7 } };
    await apply({ taxClasses: [standard, { ...other, defaultDigital: true }] });
    await apply({
      taxClasses: [
        { ...standard, default: false, defaultDigital: true },
        { ...other, default: true },
      ],
    });
    expect((await stored()).taxClasses).toMatchObject([
      { key: 'standard', isDefault: false, isDefaultDigital: true },
      { key: 'other', isDefault: true, isDefaultDigital: false },
    ]);
  });

  it('stores which tax classes are not shipped', async () => {
    const downloads = { key: 'downloads', name: 'downloads', rates: { DE: 19 } };
    await apply({ taxClasses: [standard, downloads] });
    expect(await apply({ taxClasses: [standard, { ...downloads, digital: true }] })).toEqual([
      '+ taxClasses.downloads.digital: true',
    ]);
    expect((await stored()).taxClasses.map(({ key, digital }) => [key, digital])).toEqual([
      ['standard', false],
      ['downloads', true],
    ]);
    expect((await exported()).taxClasses).toEqual([
      { ...standard, defaultDigital: true },
      { ...downloads, digital: true },
    ]);
    expect(await apply({ taxClasses: [standard, { ...downloads, digital: false }] })).toEqual([
      '- taxClasses.downloads.digital: true',
    ]);
    expect(() =>
      parseSettingsFile('taxClasses: [{key: a, name: A, default: true, digital: 1, rates: {DE: 7}}]'),
    ).toThrow(
      expect.objectContaining({ problems: ['taxClasses[0].digital (line 1): is 1, expected true or false'] }),
    );
  });

  it('says how many subscribers go with a newsletter', async () => {
    const letters = ['Full', 'One', 'Empty', 'Kept'].map((identifier) => ({
      identifier,
      name: identifier,
      language: 'en',
    }));
    await apply({ newsletters: letters });
    await service.db.run(sql`
      insert into newsletter_subscriber (shop_id, campaign_id, email, name, subscribed, created_at)
      select ${shopId}, campaign_id, number || '@mail.example', '', true, ${service.db.now}
      from newsletter_campaign, generate_series(1, 3) number
      where shop_id = ${shopId} and (identifier in ('Full', 'Kept') or identifier = 'One' and number = 1)`);

    expect(await apply({ newsletters: [letters[3]!] })).toEqual([
      '- newsletters.Full and its 3 subscribers',
      '- newsletters.One and its 1 subscriber',
      '- newsletters.Empty and its 0 subscribers',
    ]);
    const left = await service.db.one<{ count: number }>(
      sql`select count(*) as count from newsletter_subscriber where shop_id = ${shopId}`,
    );
    expect(left!.count).toBe(3);
  });

  it('reads a plain text in the default locale and takes null as "none"', async () => {
    await apply({
      locales: { default: 'de_DE', items: ['de_DE', 'en_GB'] },
      name: 'Kai',
      slogan: { en_GB: 'By the sea' },
      logoUrl: 'https://quay.example/logo.png',
    });
    expect(await stored()).toMatchObject({
      name: { de_DE: 'Kai' },
      slogan: { en_GB: 'By the sea' },
      logoUrl: 'https://quay.example/logo.png',
    });
    expect(await apply({ slogan: null, logoUrl: null })).toEqual([
      '- slogan.en_GB: "By the sea"',
      '- logoUrl: https://quay.example/logo.png',
    ]);
  });

  it('stores domains in lower case and in their order', async () => {
    const name = shopId.toLowerCase();
    expect(await apply({ domains: [`${name}.Example`, `www.${name}.example`] })).toEqual([
      `+ domains.${name}.example`,
      `+ domains.www.${name}.example`,
    ]);
    const domains = [`${name}.example`, `www.${name}.example`];
    expect(await exported()).toMatchObject({ domains });
    expect(await apply({ domains })).toEqual([]);
    const { version } = await stored();
    expect(await apply({ domains: domains.toReversed() })).toEqual([
      `~ domains in another order: ${name}.example, www.${name}.example -> www.${name}.example, ${name}.example`,
    ]);
    expect(await stored()).toMatchObject({ domains: domains.toReversed(), version: version + 1 });
    expect(await apply({ domains: [] })).toEqual([
      `- domains.www.${name}.example`,
      `- domains.${name}.example`,
    ]);
    expect(await stored()).toMatchObject({ domains: [] });
  });

  it('refuses a domain that another shop uses, until that shop is gone', async () => {
    await givenDomains(service, shopId, ['taken.example']);
    const other = `Other${shops}`;
    await givenShop(service, other);
    expect(await refusal({ domains: ['free.example', 'Taken.example'] }, other)).toEqual([
      'domains: taken.example belongs to another shop of this installation; take it away there first',
    ]);
    await service.db.transaction((tx) => deleteShop(tx, shopId));
    expect(await apply({ domains: ['taken.example'] }, other)).toEqual(['+ domains.taken.example']);
  });

  it('copies and drops texts when the locales change', async () => {
    await apply({
      locales: { default: 'en_GB', items: ['en_GB', 'fr_FR'] },
      name: { en_GB: 'Quay', fr_FR: 'Quai' },
      crossSellingTitle: { fr_FR: 'Va bien avec' },
      units: { piece: { fr_FR: { long: 'pièce' }, en_GB: { long: 'item' } } },
      invoicing: { notes: { en_GB: 'Thanks', fr_FR: 'Merci' } },
      mails: { order: { en_GB: { subject: 'Thanks' } }, refund: { fr_FR: { subject: 'Merci' } } },
    });
    expect(await apply({ locales: { default: 'de_DE', items: ['de_DE', 'en_GB'] } })).toEqual([
      '- name.fr_FR: Quai',
      '+ name.de_DE: Quay',
      '~ locales.default: en_GB -> de_DE',
      '- locales.items.fr_FR',
      '+ locales.items.de_DE',
      '+ taxClasses.standard.name.de_DE: standard',
      '+ paymentMethods.advance.name.de_DE: "Payment in advance"',
      '- units.piece.fr_FR.long: pièce',
      '- crossSellingTitle.fr_FR: "Va bien avec"',
      '- invoicing.notes.fr_FR: Merci',
      '+ invoicing.notes.de_DE: Thanks',
      '+ mails.order.de_DE.subject: Thanks',
      '- mails.refund.fr_FR.subject: Merci',
    ]);
    expect(await apply(await exported())).toEqual([]);
    await apply({ invoicing: { notes: { en_GB: 'Thanks' } }, mails: { order: { en_GB: { subject: 'A' } } } });
    await apply({ locales: { default: 'de_DE', items: ['de_DE'] } });
    expect(await stored()).toMatchObject({ invoicing: {}, mailTexts: {} });
    expect(await exported()).toMatchObject({ invoicing: {}, mails: {} });
  });

  it('stores who sells, and replaces all of it', async () => {
    const invoicing = {
      company: 'Quay GmbH',
      street: 'Kai 7',
      zipCode: '20457',
      city: 'Hamburg',
      vatId: 'DE123456789',
      taxNumber: '27/123/45678',
      registration: 'HRB 4711',
      phone: '+49 40 1',
      email: 'money@quay.example',
      bank: { name: 'Quay Bank', iban: 'DE02120300000000202051', bic: 'BYLADEM1001' },
      paymentDays: 0,
      notes: 'Thank you!\n\nUntil soon.',
      electronic: false,
    };
    expect(await apply({ invoicing })).toEqual([
      '+ invoicing.company: "Quay GmbH"',
      '+ invoicing.street: "Kai 7"',
      '+ invoicing.zipCode: 20457',
      '+ invoicing.city: Hamburg',
      '+ invoicing.vatId: DE123456789',
      '+ invoicing.taxNumber: 27/123/45678',
      '+ invoicing.registration: "HRB 4711"',
      '+ invoicing.phone: "+49 40 1"',
      '+ invoicing.email: money@quay.example',
      '+ invoicing.bank.name: "Quay Bank"',
      '+ invoicing.bank.iban: DE02120300000000202051',
      '+ invoicing.bank.bic: BYLADEM1001',
      '+ invoicing.paymentDays: 0',
      '+ invoicing.notes.en_GB: "Thank you!\\n\\nUntil soon."',
      '+ invoicing.electronic: false',
    ]);
    expect((await stored()).invoicing).toEqual({ ...invoicing, notes: { en_GB: invoicing.notes } });
    const complete = await exported();
    expect(complete.invoicing).toEqual(invoicing);
    // In the order in which people write an address, not in the one of the database.
    expect(Object.keys(complete.invoicing!)).toEqual(Object.keys(invoicing));
    expect(await apply({ invoicing: { bank: { iban: 'GB82 WEST 1234 5698 7654 32' } } })).toHaveLength(15);
    expect((await stored()).invoicing).toEqual({ bank: { iban: 'GB82WEST12345698765432' } });
    expect(await apply({ invoicing: { bank: { iban: 'GB82 WEST 1234 5698 7654 32' } } })).toEqual([]);
    expect(await apply({ invoicing: {} })).toEqual(['- invoicing.bank.iban: GB82WEST12345698765432']);
  });

  it.each([
    ['DE123456789', true],
    ['DE 123 456 789', true],
    ['ATU12345678', true],
    ['FRXX123456789', true],
    ['FR12345678901', true],
    ['EL123456789', true],
    ['IE1234567WA', true],
    ['ESX1234567X', true],
    ['NL123456789B01', true],
    ['GBGD123', true],
    ['CHE-123.456.789', true],
    ['DE12345678', false],
    ['AT12345678', false],
    ['FRIO123456789', false],
    ['ES123456789', false],
    ['NL123456789', false],
    ['SE1234567890', false],
  ])('takes %s as VAT id: %s', async (vatId, isOne) => {
    if (isOne) {
      await apply({ invoicing: { vatId } });
      expect((await stored()).invoicing.vatId).toBe(vatId.replaceAll(' ', ''));
    } else {
      expect(await refusal({ invoicing: { vatId } })).toEqual([
        expect.stringMatching(`^invoicing.vatId: is ${vatId}, expected ${vatId.slice(0, 2)} and then `),
      ]);
    }
  });

  it('stores the theme with colours of six digits', async () => {
    const theme = {
      accent: '#0B5D66',
      background: '#fda',
      text: '#123',
      font: 'serif',
      fontUrl: 'https://quay.example/own.woff2?v=2',
      corners: 'round',
      density: 'airy',
      header: 'line',
      cards: 'raised',
      showName: true,
    } as const;
    expect(await apply({ theme })).toEqual([
      '+ theme.accent: #0b5d66',
      '+ theme.background: #ffddaa',
      '+ theme.text: #112233',
      '+ theme.font: serif',
      '+ theme.fontUrl: https://quay.example/own.woff2?v=2',
      '+ theme.corners: round',
      '+ theme.density: airy',
      '+ theme.header: line',
      '+ theme.cards: raised',
      '+ theme.showName: true',
    ]);
    const normalised = { ...theme, accent: '#0b5d66', background: '#ffddaa', text: '#112233' };
    expect((await stored()).theme).toEqual(normalised);
    const complete = await exported();
    expect(complete.theme).toEqual(normalised);
    // In the order of the schema, not in the one of the database.
    expect(Object.keys(complete.theme!)).toEqual(Object.keys(theme));
    expect(await apply({ theme })).toEqual([]);
    expect(await apply(complete)).toEqual([]);
    expect(await apply({ theme: { accent: '#0b5d66' } })).toHaveLength(9);
    expect((await stored()).theme).toEqual({ accent: '#0b5d66' });
    expect(await apply({ theme: {} })).toEqual(['- theme.accent: #0b5d66']);
  });

  it.each([
    [{ text: '#777' }, 'is #777777, whose contrast on #ffffff is 4.47:1, expected 4.5:1 or more'],
    [{ text: '#111', background: '#222' }, 'is #111111, whose contrast on #222222 is 1.18:1, expected 4.5:1'],
    [{ text: '#fff', background: '#fff' }, 'is #ffffff, whose contrast on #ffffff is 1.00:1, expected 4.5:1'],
  ])('refuses a text that is hard to read: %j', async (theme, problem) => {
    await apply({ theme: { accent: '#123456' } });
    expect(await refusal({ theme })).toEqual([expect.stringContaining(`theme.text: ${problem}`)]);
  });

  it.each([{ text: '#767676' }, { text: '#fff', background: '#000' }, { background: '#777' }])(
    'takes %j',
    async (theme) => {
      await apply({ theme });
      expect((await stored()).theme).toEqual(
        Object.fromEntries(Object.entries(theme).map(([name, colour]) => [name, sixDigits(colour)])),
      );
    },
  );

  it("stores the shop's own words of emails, and exports them unchanged", async () => {
    await apply({ locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] } });
    const mails = {
      order: {
        en_GB: { subject: 'Order {orderNumber}', text: 'Hello,\n\n{lines}\n\n<b>{total}</b> {' },
        de_DE: { subject: 'Bestellung {orderNumber}' },
      },
      shipped: { de_DE: { text: 'Unterwegs: {trackingCode}\n{carrier} {restFollows}' } },
      invoice: { en_GB: { subject: '{documentType} {documentNumber}' } },
      refund: { en_GB: { text: '{amount}' } },
      availability: { en_GB: { subject: '{productName}' } },
    };
    expect(await apply({ mails })).toEqual([
      '+ mails.order.en_GB.subject: "Order {orderNumber}"',
      '+ mails.order.en_GB.text: "Hello,\\n\\n{lines}\\n\\n<b>{total}</b> {"',
      '+ mails.order.de_DE.subject: "Bestellung {orderNumber}"',
      '+ mails.shipped.de_DE.text: "Unterwegs: {trackingCode}\\n{carrier} {restFollows}"',
      '+ mails.invoice.en_GB.subject: "{documentType} {documentNumber}"',
      '+ mails.refund.en_GB.text: {amount}',
      '+ mails.availability.en_GB.subject: {productName}',
    ]);
    expect((await stored()).mailTexts).toEqual(mails);
    const complete = await exported();
    expect(complete.mails).toEqual(mails);
    expect(parseSettingsFile(settingsText(complete))).toEqual(complete);
    expect(await apply({ mails: { refund: mails.refund } })).toHaveLength(6);
    expect(await apply({ mails: {} })).toEqual(['- mails.refund.en_GB.text: {amount}']);
  });

  it('refuses words for locales that the shop lacks', async () => {
    await apply({ mails: { order: { en_GB: { subject: 'Thanks' } } } });
    expect(await refusal({ name: 'Pier', mails: { order: { nl_NL: { subject: 'Bedankt' } } } })).toEqual([
      'mails.order.nl_NL: is not a locale of the shop, expected one of en_GB',
    ]);
    expect(await refusal({ invoicing: { notes: { nl_NL: 'Bedankt' } } })).toEqual([
      'invoicing.notes.nl_NL: is not a locale of the shop, expected one of en_GB',
    ]);
  });

  it('demands the amounts again when the default currency changes', async () => {
    await apply({
      minimumCart: { amount: 5 },
      shippingMethods: [{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 7 }],
      basketDiscounts: [{ from: 100, percent: 5 }],
    });
    const currencies = { default: 'JPY', items: ['JPY'] };
    expect(await refusal({ currencies })).toEqual([
      'currencies.default: changes from EUR to JPY, so give these sections too, with amounts in JPY: minimumCart, shippingMethods, basketDiscounts',
    ]);

    const parcel = { key: 'parcel', name: 'Parcel', kind: 'flat' } as const;
    const sections = { currencies, minimumCart: {}, basketDiscounts: [] };
    expect(await refusal({ ...sections, shippingMethods: [{ ...parcel, price: 7.5 }] })).toEqual([
      'shippingMethods[0].price: is 7.5, expected no decimals, as JPY has',
    ]);
    // 7 reads the same in both currencies and is stored as another number.
    expect(await apply({ ...sections, shippingMethods: [{ ...parcel, price: 7 }] })).toEqual([
      '~ currencies.default: EUR -> JPY',
      '- currencies.items.EUR',
      '+ currencies.items.JPY',
      '- minimumCart.amount: 5',
      '- basketDiscounts[from 100]',
    ]);
    expect((await stored()).shippingMethods).toMatchObject([{ amount: 7 }]);
  });

  it('checks against the shop what the file leaves out, and changes nothing when it is refused', async () => {
    expect(
      await refusal({
        email: 'new@mail.example',
        name: { de_DE: 'Kai' },
        units: { piece: { fr_FR: { long: 'pièce' } } },
        taxClasses: [{ ...standard, rates: { AT: 20 } }],
        paymentMethods: [{ ...advance, price: 0.005 }],
        maxPerOrder: 1.234_567_8,
      }),
    ).toEqual([
      'name.de_DE: is not a locale of the shop, expected one of en_GB',
      'name: en_GB is missing: the text in the default locale',
      "taxClasses[0].rates: DE is missing: the rate in the shop's own country (0 when there is none)",
      'paymentMethods[0].price: is 0.005, expected at most 2 decimals, as EUR has',
      'maxPerOrder: is 1.2345678, expected at most 6 decimals',
      'units.piece.fr_FR: is not a locale of the shop, expected one of en_GB',
    ]);
    expect(
      await refusal(parseSettingsFile('email: new@mail.example\nname:\n  en_GB: Quay\n  de_DE: Kai')),
    ).toEqual(['name.de_DE (line 4): is not a locale of the shop, expected one of en_GB']);
    expect(await refusal({ country: 'AT' })).toEqual([
      'country: is AT, for which these tax classes have no rate: standard; give the section taxClasses too',
    ]);
  });

  it('refuses to take away what is in use', async () => {
    await apply({ taxClasses: [standard, { key: 'reduced', name: 'reduced', rates: { DE: 7 } }] });
    const { taxClassId } = (await stored()).taxClasses.find(({ key }) => key === 'reduced')!;
    const productId = await givenPlainProduct(service, shopId);
    await service.db.run(sql`
      update product set tax_class_id = ${taxClassId} where shop_id = ${shopId} and product_id = ${productId}`);
    expect(await refusal({ taxClasses: [{ ...standard, rates: { DE: 16 } }] })).toEqual([
      "taxClasses: reduced can't be taken away, because it is in use (product_tax_class); name it in the file, or change first what uses it",
    ]);
  });

  it('recognises groups of customers by their name, in any order', async () => {
    expect(await apply({ customerGroups: ['Staff', 'Cafes'] })).toEqual([
      '+ customerGroups.Cafes',
      '+ customerGroups.Staff',
    ]);
    const groups = async () =>
      new Map((await stored()).customerGroups.map(({ name, customerGroupId }) => [name, customerGroupId]));
    const first = await groups();
    expect(await apply({ customerGroups: ['Cafes', 'Staff'] })).toEqual([]);
    expect(await exported()).toMatchObject({ customerGroups: ['Cafes', 'Staff'] });
    expect(await apply({ customerGroups: ['Hotels', 'Cafes'] })).toEqual([
      '- customerGroups.Staff',
      '+ customerGroups.Hotels',
    ]);
    const then = await groups();
    expect([...then.keys()].toSorted()).toEqual(['Cafes', 'Hotels']);
    expect(then.get('Cafes')).toBe(first.get('Cafes'));
  });

  it('refuses to take away a group that a customer or a price is for', async () => {
    await apply({ customerGroups: ['Cafes', 'Staff', 'Hotels'] });
    const groupOf = new Map((await stored()).customerGroups.map((one) => [one.name, one.customerGroupId]));
    await service.db.run(sql`
      insert into customer (shop_id, customer_id, customer_number, created_at, customer_group_id)
      values (${shopId}, ${newId(service.db.now)}, '1', ${service.db.now}, ${groupOf.get('Staff')})`);
    const prices = [{ customerGroupId: groupOf.get('Cafes'), tiers: [] }];
    await service.db.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
      values (${shopId}, ${newId(service.db.now)}, 'P-1', 'regular', ${service.db.now}, 1, true,
        ${{ groupPrices: prices }})`);
    const why = 'name it in the file, or change first what uses it';
    expect(await refusal({ customerGroups: ['Cafes'] })).toEqual([
      `customerGroups: Staff can't be taken away, because it is in use (customers or prices of products); ${why}`,
    ]);
    expect(await refusal({ customerGroups: [] })).toEqual([
      `customerGroups: Cafes or Staff can't be taken away, because it is in use (customers or prices of products); ${why}`,
    ]);
    expect(await apply({ customerGroups: ['Staff', 'Cafes'] })).toEqual(['- customerGroups.Hotels']);
  });

  it('returns which sections changed, so that lists of products can be rebuilt', async () => {
    const sections = async (file: SettingsFile) => [...(await applied(file)).sections];
    expect(await sections({ showFromPrices: false })).toEqual(['showFromPrices']);
    expect(await sections({ showFromPrices: false })).toEqual([]);
    const pounds = { default: 'EUR', items: ['EUR', 'GBP'], rates: { GBP: 0.85 } };
    expect(await sections({ currencies: pounds })).toEqual(['currencies']);
    expect(await sections({ currencies: { ...pounds, rates: { GBP: 0.9 } } })).toEqual(['currencies']);
    expect(await sections({ locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] } })).toEqual(['locales']);
  });

  it('refuses an unknown shop', async () => {
    expect(await refusal({ email: 'new@mail.example' }, 'Nowhere')).toEqual(['There is no shop "Nowhere"']);
    await expect(exportSettings(service.db, 'Nowhere')).rejects.toThrow('There is no shop "Nowhere"');
  });

  it('touches no other shop', async () => {
    const before = await stored();
    const other = `${shopId}-other`;
    await givenShop(service, other);
    await apply(parseSettingsFile(await example('german')), other);
    expect(await stored()).toEqual(before);
  });

  it('lets two files take turns', async () => {
    const [first, second] = ['Cash', 'Card'].map((name) => ({
      paymentMethods: [advance, { key: 'other', name }],
    }));
    await Promise.all([apply(first!), apply(second!), apply(first!), apply(second!)]);
    const { paymentMethods, version } = await stored();
    expect(paymentMethods.map(({ key }) => key)).toEqual(['advance', 'other']);
    expect(version).toBeGreaterThanOrEqual(3);
  });

  it('shows in the API at once', async () => {
    const token = await givenToken(service, shopId, ['products_read']);
    const get = async (path: string) => (await service.call('GET', `/${shopId}${path}`, { token })).body;
    expect(await get('/currencies')).toEqual({ default: 'EUR', items: ['EUR'] });

    await apply(parseSettingsFile(await example('british')));
    expect(await get('')).toMatchObject({ name: 'Tynemouth Chandlery', countryCode2: 'GB', isInEU: false });
    expect(await get('/currencies')).toEqual({ default: 'GBP', items: ['GBP', 'EUR', 'USD'] });
    expect(await get('/tax-model')).toEqual({
      model: 'net',
      displayTaxes: true,
      noTaxesMessage: null,
      deliveryThresholdIsActive: false,
      countryCode2: 'GB',
    });
    const taxClasses = await get('/tax-classes');
    expect(taxClasses.items.map(({ name }: { name: string }) => name)).toEqual([
      'Standard rate',
      'Reduced rate',
      'Zero rate',
    ]);
    expect(taxClasses.defaultTaxClass).toEqual(taxClasses.items[0]);
    expect(taxClasses.defaultTaxClassDigital).toEqual(taxClasses.items[0]);
    expect(await get('/shipping-methods')).toMatchObject([
      {
        name: 'Parcel',
        description: 'Two to three working days',
        price: { taxType: 'NET', amount: 3.95, currency: 'GBP', formatted: '3.95 £' },
      },
      { name: 'Pallet', price: { amount: 65 } },
      { name: 'Collect from the quay', price: null },
    ]);
    const countries = (await service.call('GET', `/${shopId}/countries`)).body;
    expect(
      countries.map((country: { code2: string; countryIsDefault: number }) => [
        country.code2,
        country.countryIsDefault,
      ]),
    ).toEqual([
      ['GB', 1],
      ['IE', 0],
      ['FR', 0],
      ['US', 0],
    ]);
  });
});

describe('the examples', () => {
  it.each(['german', 'british'])('%s applies to a new shop, once, and comes back', async (name) => {
    const text = await example(name);
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../schema/shop-settings.schema.json');
    const file = parseSettingsFile(text);
    expect(Object.keys(file).length).toBeGreaterThan(15);
    expect(await apply(file)).not.toEqual([]);
    expect(await apply(file)).toEqual([]);
    const complete = await exported();
    expect(complete).toMatchObject(file);
    expect(await apply(complete)).toEqual([]);
    expect(await apply(parseSettingsFile(settingsText(complete)))).toEqual([]);
  });
});

describe('the schema in schema/', () => {
  it('is the one that is generated', async () => {
    const file = await readFile(
      new URL('../../../schema/shop-settings.schema.json', import.meta.url),
      'utf8',
    );
    expect(
      file === settingsSchemaText(settingsFormat),
      'schema/shop-settings.schema.json is stale: run npm run generate',
    ).toBe(true);
  });

  it('describes every field with an example', () => {
    const undescribed: string[] = [];
    const visit = (path: string, schema: Record<string, unknown>) => {
      for (const [name, field] of Object.entries((schema['properties'] ?? {}) as typeof schema)) {
        const words = field as Record<string, unknown>;
        const isRef = '$ref' in words;
        const isSection = words['type'] === 'object' && 'properties' in words;
        if (!isRef && !('description' in words && (isSection || 'examples' in words))) {
          undescribed.push(`${path}.${name}`);
        }
        visit(`${path}.${name}`, words);
        if (words['items']) visit(`${path}.${name}[]`, words['items'] as typeof schema);
      }
    };
    visit('', JSON.parse(settingsSchemaText(settingsFormat)) as Record<string, unknown>);
    expect(undescribed).toEqual([]);
  });
});

describe('the text of a file', () => {
  it('is YAML with amounts as money', () => {
    const text = settingsText({
      currencies: { default: 'EUR', items: ['EUR'] },
      paymentMethods: [{ key: 'card', name: 'Card', price: 1.5, additionalData: { price: '7' } }],
      minimumCart: { amount: 5 },
    });
    expect(text).toBe(
      `# yaml-language-server: $schema=./schema/shop-settings.schema.json
currencies:
  default: EUR
  items:
    - EUR
paymentMethods:
  - key: card
    name: Card
    price: 1.50
    additionalData:
      price: "7"
minimumCart:
  amount: 5.00
`,
    );
  });

  it('has only the sections of its format', () => {
    expect(parseSettingsFile('couponCampaigns: []')).toEqual({ couponCampaigns: [] });
    expect(() => parseFile('couponCampaigns: []')).toThrow(
      /^couponCampaigns \(line 1\): unknown key, expected one of name, slogan, /,
    );
  });

  it('may be JSON', () => {
    expect(parseSettingsFile('{\n\t"$schema": "x.json",\n\t"country": "DE"\n}')).toEqual({
      $schema: 'x.json',
      country: 'DE',
    });
  });
});

describe('every valid document', () => {
  it('survives apply and export, whatever the shop was before', async () => {
    await fc.assert(
      fc.asyncProperty(generatedSettings, async (file) => {
        expect(parseSettingsFile(settingsText(file))).toEqual(file);
        await apply(file);
        expect(await exported()).toEqual(file);
        expect(await apply(file)).toEqual([]);
      }),
      { numRuns: halfOf(30), seed: SEED },
    );
  }, 120_000);
});

import fc from 'fast-check';
import { parse } from 'yaml';
import { EMAIL_KINDS } from '../src/composition/email-kinds.ts';
import { currencyDigits, toDecimal } from '../src/kernel/money.ts';
import { UNIT_KEYS } from '../src/kernel/units.ts';
import { ADDRESS_FIELDS } from '../src/shops/countries/address.ts';
import { ONE_LINE } from '../src/shops/settings/fields.ts';
import type { SettingsFile } from '../src/shops/settings/file.ts';
import { ELECTRONIC_FORMATS } from '../src/shops/settings/schema/invoicing.ts';
import { REGISTRATION_KINDS } from '../src/shops/settings/schema/law.ts';
import { CARDS, CORNERS, DENSITIES, FONTS, HEADERS } from '../src/shops/settings/settings.ts';

const LOCALES = ['en_GB', 'de_DE', 'fr_FR', 'pt_BR'];
const CURRENCIES = ['EUR', 'GBP', 'JPY', 'KWD'];
const COUNTRIES = ['DE', 'GB', 'NO', 'US'];

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((one) => /\S/.test(one));
const isOneLine = new RegExp(ONE_LINE);
const line = text.filter((one) => isOneLine.test(one) && !/[\p{Cc}{}]/u.test(one));
const key = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,8}$/);
const percent = fc.integer({ min: 0, max: 10_000 }).map((basisPoints) => basisPoints / 100);
/** Made once, because it costs as much as a hundred files. */
const webAddress = fc.webUrl();
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const offer = (all: string[]) =>
  fc
    .shuffledSubarray(all, { minLength: 1 })
    .chain((items) => fc.record({ default: fc.constantFrom(...items), items: fc.constant(items) }));
/** Drops the keys whose value is undefined, as a file would not have them. */
const written = <Value>(value: Value) => parse(JSON.stringify(value)) as Value;

const colour = fc.integer({ min: 0, max: 0xff_ff_ff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}`);

const units = fc.integer({ min: 1, max: 1000 });
const promotion = (named: { name: fc.Arbitrary<unknown> }, amount: fc.Arbitrary<number>) => {
  const base = {
    ...named,
    active: fc.boolean(),
    code: optional(fc.stringMatching(/^[A-Z]{1,8}$/)),
    products: optional(fc.array(key, { minLength: 1, maxLength: 3 })),
    manufacturers: optional(fc.array(line, { minLength: 1, maxLength: 2 })),
    minimumAmount: optional(amount),
    minimumQuantity: optional(units),
    from: optional(fc.constantFrom('2026-01-01', '2026-02-28T23:59:59Z')),
    to: optional(fc.constant('2026-12-24T17:00:00Z')),
    weekdays: optional(fc.subarray(['monday', 'friday', 'sunday'], { minLength: 1 })),
    fromHour: optional(fc.nat({ max: 23 })),
    toHour: optional(fc.integer({ min: 1, max: 24 })),
    countries: optional(fc.subarray(COUNTRIES, { minLength: 1 })),
    priority: fc.nat({ max: 1000 }),
    combines: fc.boolean(),
    usageLimit: optional(units),
    usageLimitPerCustomer: optional(units),
  };
  const on = fc.constantFrom('goods', 'cart', 'delivery');
  return fc.oneof(
    fc.record({ ...base, effect: fc.constant('percent'), percent, on }),
    fc.record({ ...base, effect: fc.constantFrom('amount', 'price'), amount, on }),
    fc.record({
      ...base,
      effect: fc.constant('buyGet'),
      buy: units,
      get: units,
      percent: optional(percent),
      timesPerOrder: optional(units),
      rewardProducts: optional(fc.array(key, { minLength: 1, maxLength: 3 })),
    }),
  );
};

/** In the order of their identifiers, each with codes that no other has. */
const campaigns = (
  file: {
    currencies: { items: string[] };
    shippingMethods: { key: string }[];
    paymentMethods: { key: string }[];
  },
  name: fc.Arbitrary<unknown>,
) => {
  const among = (entries: { key: string }[]) => optional(fc.subarray(entries.map((entry) => entry.key)));
  const limit = optional(fc.integer({ min: 1, max: 1_000_000_000 }));
  const seconds = { min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true };
  const moments = fc
    .tuple(fc.date(seconds), fc.date(seconds))
    .map((pair) =>
      pair.toSorted((a, b) => Number(a) - Number(b)).map((date) => `${date.toISOString().slice(0, 19)}Z`),
    );
  const campaign = fc.constantFrom(...file.currencies.items).chain((currency) => {
    const money = fc.integer({ min: 1, max: 1_000_000 }).map((minor) => toDecimal(minor, currency));
    const base = {
      identifier: text.map((one) => one.trim()),
      name,
      currency: fc.constant(currency),
      minimumOrderValue: optional(money),
      usageLimit: limit,
      campaignUsageLimit: limit,
      moments,
      shippingMethods: among(file.shippingMethods),
      paymentMethods: among(file.paymentMethods),
      codes: fc.nat({ max: 3 }),
      withdrawn: fc.nat({ max: 2 }),
    };
    const waiveShippingCosts = fc.constantFrom(true, undefined);
    return fc.oneof(
      fc.record({ ...base, type: fc.constant('fix'), amount: money, waiveShippingCosts }),
      fc.record({
        ...base,
        type: fc.constant('percent'),
        amount: percent.filter((one) => one > 0),
        waiveShippingCosts,
      }),
      fc.record({ ...base, type: fc.constant('shipping') }),
    );
  });
  return fc.uniqueArray(campaign, { maxLength: 3, selector: ({ identifier }) => identifier }).map((all) =>
    all
      .toSorted((a, b) => (a.identifier < b.identifier ? -1 : 1))
      .map(({ moments: [validFrom, validTo], codes, withdrawn, ...rest }, index) => ({
        ...rest,
        validFrom,
        validTo,
        codes: Array.from({ length: codes }, (_, at) => `Code ${index}.${at}`),
        withdrawn:
          withdrawn === 0 ? undefined : Array.from({ length: withdrawn }, (_, at) => `Gone ${index}.${at}`),
      })),
  );
};

/** Every kind of settings that a file can hold. */
export const generatedSettings: fc.Arbitrary<SettingsFile> = fc
  .tuple(offer(LOCALES), offer(CURRENCIES), offer(COUNTRIES))
  .chain(([locales, offered, countries]) => {
    const digits = currencyDigits(offered.default);
    const minor = fc.integer({ min: 0, max: 10 ** (digits + 6) });
    const amount = minor.map((value) => toDecimal(value, offered.default));
    const others = fc.subarray(locales.items.filter((locale) => locale !== locales.default));
    // A text in the default locale alone comes back as plain text, so it is written so.
    const textsOf = (words: fc.Arbitrary<string>) =>
      fc
        .tuple(words, others)
        .map(([one, more]) =>
          more.length === 0
            ? one
            : Object.fromEntries([locales.default, ...more].map((locale) => [locale, `${one}${locale}`])),
        );
    const texts = textsOf(text);
    const steps = <Fields>(first: number[], fields: fc.Arbitrary<Fields>) =>
      fc
        .tuple(
          fc.uniqueArray(fc.integer({ min: 1, max: 10 ** (digits + 4) }), { maxLength: 3 }),
          fc.array(fields, { minLength: 4, maxLength: 4 }),
        )
        .map(([froms, all]) =>
          [...first, ...froms.toSorted((a, b) => a - b)].map((from, index) => ({
            from: toDecimal(from, offered.default),
            ...all[index]!,
          })),
        );
    const named = { key, name: texts };
    const method = { ...named, description: optional(texts), logoUrl: optional(webAddress) };
    const kilograms = fc.integer({ min: 1, max: 50_000 }).map((grams) => grams / 1000);
    const zone = {
      countries: fc.uniqueArray(fc.constantFrom(...COUNTRIES), { minLength: 1 }),
      postcodes: optional(
        fc.uniqueArray(fc.constantFrom('35000-35999', 'BT*', '10115', '9*'), { minLength: 1 }),
      ),
      freeFrom: optional(amount),
      days: optional(fc.constantFrom({ from: 1, to: 3 }, { from: 0, to: 0 })),
      maxWeight: optional(kilograms),
    };
    const zones = fc.uniqueArray(
      fc.oneof(
        fc.record({ ...zone, price: amount }),
        fc.record({ ...zone, tiers: steps([0], fc.record({ price: amount })) }),
        fc.record({
          ...zone,
          weights: fc
            .uniqueArray(fc.record({ upTo: kilograms, price: amount }), {
              minLength: 1,
              maxLength: 3,
              selector: ({ upTo }) => upTo,
            })
            .map((all) => all.toSorted((a, b) => a.upTo - b.upTo)),
        }),
      ),
      {
        minLength: 1,
        maxLength: 3,
        selector: ({ countries: codes, postcodes, maxWeight }) =>
          JSON.stringify([codes, postcodes, maxWeight]),
      },
    );
    const keyed = <Entry extends { key: string }>(entry: fc.Arbitrary<Entry>, minLength: number) =>
      fc.uniqueArray(entry, { minLength, maxLength: 4, selector: (one) => one.key });
    const country = fc.constantFrom(...COUNTRIES);
    const account = fc.stringMatching(/^[0-9]{4,8}$/);
    const sections = fc.record({
      name: texts,
      slogan: fc.option(texts, { nil: null }),
      email: fc.constantFrom('a@b.example', 'hello@quay.example'),
      logoUrl: fc.option(webAddress, { nil: null }),
      domains: fc.uniqueArray(fc.constantFrom('any.example', 'www.any.example', 'any.example:8443')),
      country,
      locales: fc.constant(locales),
      currencies: fc
        .array(fc.constantFrom(0.85, 1.1, 1e-7, 163.25, 1e6, 0.0000000001), { minLength: 4, maxLength: 4 })
        .map((rates) => ({
          ...offered,
          rates: Object.fromEntries(
            offered.items
              .filter((currency) => currency !== offered.default)
              .map((currency, index) => [currency, rates[index]!]),
          ),
        })),
      countries: fc.constant(countries),
      taxes: fc.record({
        model: fc.constantFrom('gross', 'net'),
        displayTaxes: fc.boolean(),
        noTaxesMessage: optional(text),
        deliveryThresholdIsActive: fc.boolean(),
        taxFreeOutsideEu: fc.boolean(),
        exportPrices: fc.constantFrom('asShown', 'withoutTax'),
        smallBusiness: fc.boolean(),
        distanceSales: fc.constantFrom('rates', 'origin', 'oss'),
        registrations: fc.constantFrom({}, { FR: 'FR12345678901' }),
        specialTerritories: fc.boolean(),
        delivery: fc.constantFrom('standard', 'shares', 'highest'),
      }),
      netPrices: fc.record({
        shownTo: fc.constantFrom('nobody', 'businesses', 'choice'),
        // Which groups the shop has is generated apart.
        groups: fc.constant<string[]>([]),
      }),
      // What groups and keys the shop has is generated apart.
      visibility: fc.record({
        shop: fc.constantFrom('everybody' as const, 'customers' as const),
        groups: fc.constant<string[]>([]),
        requests: fc.boolean(),
      }),
      priceLists: fc.constant<object[]>([]),
      taxClasses: fc
        .tuple(
          keyed(
            fc.record({
              ...named,
              rates: fc.record(Object.fromEntries(COUNTRIES.map((code) => [code, percent]))),
            }),
            1,
          ),
          fc.nat(),
          fc.nat(),
        )
        .map(([entries, standard, digital]) =>
          entries.map((entry, index) => ({
            ...entry,
            ...(index === standard % entries.length ? { default: true } : {}),
            ...(index === digital % entries.length ? { defaultDigital: true } : {}),
            ...(digital % 2 === 1 ? { digital: true } : {}),
          })),
        ),
      shippingMethods: keyed(
        fc.oneof(
          fc.record({ ...method, kind: fc.constant('flat'), price: amount, freeFrom: optional(amount) }),
          fc.record({
            ...method,
            kind: fc.constant('weight'),
            price: amount,
            pricePerKg: amount,
            freeFrom: optional(amount),
          }),
          fc.record({
            ...method,
            kind: fc.constant('orderValue'),
            tiers: steps([0], fc.record({ price: amount })),
          }),
          fc.record({ ...method, kind: fc.constant('flat'), zones }),
          fc.record({
            ...method,
            kind: fc.constant('pickup'),
            place: optional(texts),
            hours: optional(texts),
          }),
        ),
        0,
      ),
      paymentMethods: keyed(
        fc.record({
          ...named,
          provider: optional(text),
          providerLabel: optional(text),
          capture: optional(fc.constant('manual' as const)),
          price: fc
            .tuple(amount, fc.boolean())
            .map(([value, isDiscount]) => (isDiscount && value ? -value : value)),
          releaseUnpaidAfterDays: optional(fc.integer({ min: 1, max: 365 })),
          additionalData: optional(
            fc.dictionary(key, fc.string({ unit: 'grapheme' }), { minKeys: 1, maxKeys: 3 }),
          ),
        }),
        1,
      ),
      minimumCart: fc.record({
        code: fc.constantFrom('SumProduct', 'SumCoupon', 'SumDiscount', 'SumDelivery', 'SumPayment'),
        amount: optional(amount),
      }),
      basketDiscounts: steps([], fc.record({ percent })),
      promotions: fc.array(promotion(named, amount), { maxLength: 3 }).map((all) =>
        all.map((one, index) => ({
          key: `promotion-${index}`,
          ...one,
          code: one.code && `${one.code}${index}`,
        })),
      ),
      units: fc.dictionary(
        fc.constantFrom(...UNIT_KEYS),
        fc.dictionary(fc.constantFrom(...locales.items), fc.record({ long: text, short: optional(text) }), {
          minKeys: 1,
        }),
        { maxKeys: 3 },
      ),
      newsletters: fc.uniqueArray(
        fc.record({
          identifier: key,
          name: text,
          language: fc.constantFrom('en', 'de'),
          description: optional(text),
          subject: optional(text),
        }),
        { maxLength: 3, selector: ({ identifier }) => identifier },
      ),
      customerGroups: fc.uniqueArray(text, { maxLength: 3 }).map((names) => names.toSorted()),
      crossSellingTitle: fc.option(texts, { nil: null }),
      showFromPrices: fc.boolean(),
      categoriesShowSubcategories: fc.boolean(),
      publicCatalogue: fc.boolean(),
      quickOrder: fc.boolean(),
      backorderReadyEmails: fc.boolean(),
      sellBeyondStock: fc.boolean(),
      maxPerOrder: fc.option(
        fc.integer({ min: 1, max: 10_000_000 }).map((tenths) => tenths / 10),
        { nil: null },
      ),
      dailyEmailsPerRecipient: fc.integer({ min: 1, max: 1_000 }),
      emailNewOrders: fc.boolean(),
      lowStockLevel: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null }),
      carriers: fc.dictionary(
        fc.constantFrom('DHL', 'Harbour Parcel'),
        fc.constantFrom('https://parcels.example/{code}', 'https://track.example/?c={code}&l=en'),
      ),
      mandatoryAddressFields: fc.subarray(ADDRESS_FIELDS),
      invoicing: fc
        .record({
          company: optional(line),
          vatId: optional(fc.constantFrom('DE123456789', 'ATU12345678')),
          taxNumber: optional(line),
          bank: optional(
            fc.record({ name: optional(line), iban: fc.constantFrom('DE02120300000000202051') }),
          ),
          paymentDays: optional(fc.integer({ min: 0, max: 365 })),
          notes: optional(textsOf(line)),
          electronic: optional(fc.boolean()),
          electronicFormat: optional(fc.constantFrom(...ELECTRONIC_FORMATS)),
        })
        // An electronic invoice must name one of the numbers.
        .filter(({ vatId, taxNumber, electronic }) => !electronic || (vatId ?? taxNumber) !== undefined),
      accounting: fc.record({
        chart: optional(fc.constantFrom('SKR03', 'SKR04')),
        advisorNumber: optional(fc.integer({ min: 1001, max: 9_999_999 })),
        clientNumber: optional(fc.integer({ min: 1, max: 99_999 })),
        fiscalYearStart: optional(fc.constantFrom('01-01', '07-01')),
        accountLength: optional(fc.integer({ min: 4, max: 8 })),
        debtors: optional(fc.constantFrom('individual', 'collective')),
        collectiveDebtor: optional(fc.constant('10000')),
        bankAccount: optional(account),
        clearingAccount: optional(account),
        accounts: optional(
          fc.array(
            fc.record({
              treatment: fc.constantFrom('domestic', 'oss', 'export'),
              country: optional(country),
              rate: optional(percent),
              account,
              taxKey: optional(fc.constantFrom('3', '240')),
            }),
            { maxLength: 3 },
          ),
        ),
      }),
      mails: fc.dictionary(
        fc.constantFrom(...EMAIL_KINDS.map(({ name }) => name)),
        fc.dictionary(
          fc.constantFrom(...locales.items),
          fc.record({ subject: line, text: optional(line.map((one) => `${one}\n\n{shopName}`)) }),
          { minKeys: 1 },
        ),
        { maxKeys: 3 },
      ),
      theme: fc.record({
        accent: optional(colour),
        background: optional(colour),
        font: optional(fc.constantFrom(...FONTS)),
        fontUrl: optional(fc.constantFrom('/media/Quay/files/own.woff2', 'https://quay.example/own.woff2')),
        corners: optional(fc.constantFrom(...CORNERS)),
        density: optional(fc.constantFrom(...DENSITIES)),
        header: optional(fc.constantFrom(...HEADERS)),
        cards: optional(fc.constantFrom(...CARDS)),
        css: optional(fc.constantFrom('h2 { color: red }', '/* a */\n.card > p {\n  margin: 0;\n}')),
        showName: optional(fc.boolean()),
      }),
      manufacturers: fc.uniqueArray(
        fc.record({
          name: fc.constantFrom('Beacon', 'Quay & Sons', 'Tide'),
          company: optional(fc.constant('Beacon Appliances Ltd')),
          address: fc.constant('Kai 7\n20457 Hamburg'),
          contact: fc.constantFrom('safety@quay.example', 'https://quay.example'),
          responsiblePerson: optional(
            fc.record({
              name: fc.constant('Quay Imports'),
              address: fc.constant('Kai 8, Hamburg'),
              contact: fc.constant('eu@quay.example'),
            }),
          ),
          safetyText: optional(texts),
        }),
        { maxLength: 3, selector: ({ name }) => name },
      ),
      producerRegistrations: fc.array(
        fc.record({ country, kind: fc.constantFrom(...REGISTRATION_KINDS), number: line }),
        { maxLength: 3 },
      ),
      deliveryTimes: fc.record({
        cutOffHour: fc.integer({ min: 0, max: 24 }),
        timeZone: fc.constantFrom('UTC', 'Europe/Paris', 'America/New_York'),
        handling: fc.constantFrom({ from: 0, to: 0 }, { from: 1, to: 3 }),
        methods: fc.constant({}),
      }),
      home: fc.record({
        picture: optional(fc.constantFrom('/media/Quay/files/hero.png', 'https://quay.example/hero.jpg')),
        title: optional(texts),
        text: optional(texts),
        link: optional(fc.constantFrom('/', '/Categories/coffee', 'https://quay.example/')),
        linkText: optional(texts),
        promises: fc.array(texts, { maxLength: 4 }),
      }),
      menus: fc
        .record({ text: texts, link: fc.constantFrom('/', '/Categories/coffee', 'https://quay.example/') })
        .chain((entry) =>
          fc.constantFrom(
            { header: [], footer: [] },
            { header: [{ ...entry, entries: [entry, entry] }], footer: [{ ...entry, entries: [] }] },
          ),
        ),
      appScripts: fc.record({
        load: fc.boolean(),
        necessary: fc.array(fc.constantFrom('https://quay.example/consent.js', 'https://quay.example/b.js')),
      }),
      feeds: fc.record({ google: fc.boolean(), agenticCommerce: fc.boolean() }),
      assistants: fc.record({
        open: fc.boolean(),
        catalogue: fc.boolean(),
        carts: fc.boolean(),
        checkout: fc.boolean(),
        orders: fc.boolean(),
        pageTools: fc.boolean(),
        signedOnly: fc.boolean(),
        callsPerHour: fc.integer({ min: 10, max: 100_000 }),
      }),
      reviews: fc.record({
        open: fc.boolean(),
        moderation: fc.constantFrom('before' as const, 'after' as const),
        invite: fc.constantFrom('nobody' as const, 'subscribers' as const, 'customers' as const),
        invitationDays: fc.integer({ min: 1, max: 90 }),
        checks: texts,
      }),
      orderPage: fc.record({ cancellation: fc.boolean(), returnDays: fc.integer({ min: 0, max: 3650 }) }),
      returns: fc.record({ refundDelivery: fc.boolean() }),
      withdrawal: fc.record({
        days: fc.integer({ min: 0, max: 365 }),
        transitDays: fc.integer({ min: 0, max: 90 }),
      }),
      accessibility: fc.option(texts, { nil: null }),
    });
    return sections.chain((file) =>
      campaigns(file, texts).map((couponCampaigns) => ({ ...file, couponCampaigns })),
    );
  })
  .map((generated) => written(generated) as SettingsFile);

import { Type, type Static } from 'typebox';
import { ADDRESS_FIELDS } from '../countries/address.ts';
import { Nullable } from '../../http/schemas.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
import { TAX_TREATMENTS } from '../taxes/treatments.ts';
import {
  Amount,
  byLocale,
  Colour,
  Country,
  COUNTRY,
  Currency,
  CURRENCY,
  Flag,
  compact,
  normalised,
  Pattern,
  Key,
  Kilograms,
  LINES_OF_TEXT,
  WEB_ADDRESS,
  WebAddress,
  List,
  Locale,
  LOCALE,
  MapOf,
  MAX_MONEY,
  NullableText,
  OneLine,
  OrElse,
  OrNull,
  Percent,
  Plain,
  Section,
  Setting,
  stored,
  LocalisedText,
  withIds,
  type Stored,
  type StoredName,
} from './fields.ts';

/**
 * The settings of a shop, each with its place in the settings file, its type, its bounds, its description for editors,
 * its stored form and its initial value. A new setting is a line here and the code that uses it; `settings.ts` derives
 * `Settings` from this schema.
 */

const EMAIL = '^[^\\s@]{1,64}@[^\\s@]{1,188}$';

/** Labels of letters, digits and hyphens, at least two, and perhaps a port. */
const DOMAIN =
  '^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?::[0-9]{1,5})?$';

const Locales = Section(
  {
    default: Locale('What is shown when a text is missing elsewhere.', 'en_GB'),
    items: List(
      Locale('Language and country.', 'de_DE'),
      'All locales, the default among them.',
      ['en_GB', 'de_DE'],
      { minItems: 1 },
    ),
  },
  {
    description:
      'Languages of the shop. The texts of a locale that is taken away are deleted; a text that the new default locale lacks is copied from the old one.',
    isInline: true,
    names: { default: 'defaultLocale', items: 'locales' },
  },
);

const Currencies = Section(
  {
    default: Currency('The currency all amounts here are in.', 'EUR'),
    items: List(Currency('ISO 4217.', 'GBP'), 'All currencies, the default among them.', ['EUR', 'GBP'], {
      minItems: 1,
    }),
    rates: OrElse(
      {},
      MapOf(
        CURRENCY,
        stored(
          Type.Number({
            exclusiveMinimum: 0,
            maximum: 1_000_000_000,
            description: 'Rate from the default currency, at most 10 decimals.',
            examples: [0.85],
          }),
          { toStored: rateText, toWritten: Number },
        ),
        'Exchange rates: units of each other currency for 1 unit of the default one.',
        { GBP: 0.85, USD: 1.1 },
      ),
    ),
  },
  {
    description: 'Currencies of the shop.',
    isInline: true,
    names: { default: 'defaultCurrency', items: 'currencies', rates: 'exchangeRates' },
  },
);

/** A rate as plain decimal text, because a number such as 1e-7 would not be one. */
function rateText(rate: number): string {
  const text = String(rate);
  return text.includes('e') ? rate.toFixed(10).replace(/0+$/, '') : text;
}

const Countries = Section(
  {
    default: Country('The preselected country.', 'DE'),
    items: List(
      Country('ISO 3166-1 alpha-2.', 'AT'),
      'Where the shop delivers to, the default among them.',
      ['DE', 'AT', 'FR'],
      { minItems: 1 },
    ),
  },
  {
    description: 'Countries the shop delivers to.',
    isInline: true,
    names: { default: 'defaultCountry', items: 'countries' },
  },
);

export const EXPORT_PRICES = ['asShown', 'withoutTax'] as const;
export const DISTANCE_SALES = ['rates', 'origin', 'oss'] as const;
export const DELIVERY_TAXES = ['standard', 'shares', 'highest'] as const;

const Taxes = Section(
  {
    model: stored(
      Type.Enum(['gross', 'net'], {
        description: 'gross: all prices contain tax (usual towards consumers); net: tax is added to them.',
        examples: ['gross'],
      }),
      {
        toStored: (model) => (model === 'gross' ? ('GROSS' as const) : ('NET' as const)),
        toWritten: (model) => (model === 'GROSS' ? 'gross' : 'net'),
      },
    ),
    displayTaxes: Flag('Show a note on taxes.', true),
    noTaxesMessage: OrNull(
      Plain('Text to show instead, when no taxes are shown.', 'No VAT is charged (small business).', 1000),
    ),
    deliveryThresholdIsActive: Flag('The delivery threshold into other EU countries is exceeded.', false),
    taxFreeOutsideEu: Flag('No tax on deliveries to countries outside the European Union.', true),
    exportPrices: OrElse(
      'asShown',
      Type.Enum([...EXPORT_PRICES], {
        description:
          "Gross prices on deliveries without tax outside the European Union. asShown: unchanged. withoutTax: less the tax of the shop's own country. Absent: asShown.",
        default: 'asShown',
        examples: ['withoutTax'],
      }),
    ),
    smallBusiness: Flag('The shop charges no tax, because its country exempts small businesses.', false),
    distanceSales: OrElse(
      'rates',
      Type.Enum([...DISTANCE_SALES], {
        description:
          "Sales to consumers in other states of the European Union. rates: at the rate of the destination where the tax class has one, else at the shop's own. origin: at the shop's own rates, below the threshold of 10,000 euros a year. oss: at the rates of the destination, declared through the One Stop Shop. Absent: rates.",
        default: 'rates',
        examples: ['oss'],
      }),
    ),
    registrations: OrElse(
      {},
      MapOf(
        COUNTRY,
        OneLine('VAT number of the shop there.', 'FR12345678901', 50),
        'Other countries where the shop has a VAT number: sales there are taxed at their rates. Absent: none.',
        { FR: 'FR12345678901' },
      ),
    ),
    specialTerritories: Flag(
      'Places with other taxes than their country are told apart by postcode: Canary Islands, Helgoland, Northern Ireland and others.',
      false,
    ),
    delivery: OrElse(
      'standard',
      Type.Enum([...DELIVERY_TAXES], {
        description:
          'Tax of the costs of delivery and payment. standard: the rate of the default tax class. shares: the rates of the goods, in proportion to their amounts (usual in Germany and Austria). highest: the highest rate of the goods. Absent: standard.',
        default: 'standard',
        examples: ['shares'],
      }),
    ),
  },
  {
    description: 'How prices and taxes go together.',
    isInline: true,
    names: { model: 'taxModel', registrations: 'taxRegistrations', delivery: 'deliveryTax' },
  },
);

const NetPrices = Section(
  {
    shownTo: OrElse(
      'nobody',
      Type.Enum(['nobody', 'businesses', 'choice'], {
        description:
          'Who sees prices without tax. businesses: customers who are signed in and have a confirmed VAT number, or belong to one of the groups; choice: visitors who say that they buy as a business, too. Absent: nobody.',
        default: 'nobody',
        examples: ['businesses'],
      }),
    ),
    groups: OrElse(
      [],
      List(Plain('Name of a group.', 'Cafes'), 'Customer groups of businesses.', ['Cafes'], {
        maxItems: 100,
      }),
    ),
  },
  {
    description:
      'Prices without tax on the pages of a shop whose prices contain it. Consumers always see what they pay.',
  },
);

const TaxClass = Section(
  {
    key: Key('Its name in this file; the id belongs to it.', 'standard'),
    name: LocalisedText('Name of the class.', 'Standard rate'),
    default: Flag('The class of a product that names none; exactly one class is it.', false),
    defaultDigital: Flag(
      'The class of digital goods that name none; when no class says so, it is the default one.',
      false,
    ),
    digital: Flag('Goods of this class are not shipped: downloads, tickets.', false),
    supply: OrElse(
      'goods',
      Type.Enum(['goods', 'services'], {
        description:
          'What is sold with this class: goods, or services such as repairs and courses. Digital goods need no word here. Absent: goods.',
        default: 'goods',
        examples: ['services'],
      }),
    ),
    rates: MapOf(
      COUNTRY,
      Percent('Percent, at most 2 decimals.', 19),
      "Percent by country of delivery, the shop's own country among them.",
      { DE: 19, AT: 20 },
    ),
  },
  {
    names: { default: 'isDefault', defaultDigital: 'isDefaultDigital' },
    isOmitted: (key, written) => written === false || (key === 'supply' && written === 'goods'),
  },
);

const SHIPPING_KINDS = ['flat', 'weight', 'orderValue', 'pickup'] as const;
type ShippingKind = (typeof SHIPPING_KINDS)[number];

/** The prices that each kind of delivery requires, and its optional ones. */
export const SHIPPING_PRICES: Record<ShippingKind, { needs: readonly string[]; takes: readonly string[] }> = {
  flat: { needs: ['price'], takes: ['price', 'freeFrom'] },
  weight: { needs: ['pricePerKg'], takes: ['price', 'pricePerKg', 'freeFrom'] },
  orderValue: { needs: ['tiers'], takes: ['tiers', 'freeFrom'] },
  pickup: { needs: [], takes: [] },
};
export const PRICE_FIELDS = ['price', 'pricePerKg', 'tiers', 'freeFrom'] as const;
/** The fields of a place where customers collect their goods. */
export const PICKUP_FIELDS = ['place', 'hours'] as const;

/** Whether a field of a shipping method, as a file states it, belongs to its kind. A zone has prices of its own. */
export function isFieldOfMethod(
  field: string,
  { kind, zones }: { kind?: unknown; zones?: unknown },
): boolean {
  const isPickup = kind === 'pickup';
  if (field === 'zones') return !isPickup;
  if ((PICKUP_FIELDS as readonly string[]).includes(field)) return isPickup;
  if (!(PRICE_FIELDS as readonly string[]).includes(field)) return true;
  const hasZones = !isPickup && Array.isArray(zones) && zones.length > 0;
  return !hasZones && (SHIPPING_PRICES[kind as ShippingKind]?.takes.includes(field) ?? true);
}

const workingDays = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: 90, description, examples: [example] });

/** A range of digits such as `35000-35999`, a beginning such as `BT*`, or one postcode. */
const POSTCODES =
  '^ *(?:[0-9]{1,12} *- *[0-9]{1,12}|[A-Za-z0-9](?:[A-Za-z0-9 -]{0,14}[A-Za-z0-9])? *\\*?) *$';

export const MAX_ZONES = 50;
const MAX_ZONE_POSTCODES = 200;

export const ZONE_PRICES = ['price', 'tiers', 'weights'] as const;

const ShippingZone = Section(
  {
    countries: List(Country('ISO 3166-1 alpha-2.', 'FR'), 'The countries of the zone.', ['FR', 'BE'], {
      minItems: 1,
      maxItems: 250,
    }),
    postcodes: OrElse(
      [],
      List(
        normalised(
          compactPostcodes,
          Pattern(
            POSTCODES,
            'A range of digits, a beginning with *, or one postcode. Spaces and the case of letters do not matter.',
            '35000-35999',
            32,
          ),
        ),
        'The postcodes of the zone. Absent: the whole country. A zone with postcodes comes before zones of whole countries.',
        ['35000-35999', '38*'],
        { maxItems: MAX_ZONE_POSTCODES },
      ),
    ),
    price: OrNull(Amount('Price of the delivery; or give tiers or weights.', 14.9)),
    tiers: OrElse(
      [],
      List(
        Section(
          {
            from: Amount('Value of the goods from which this price holds.', 50),
            price: Amount('Price of the delivery.', 9.9),
          },
          { names: { price: 'amount' } },
        ),
        'Prices by value of the goods: ascending, the first from 0.',
        [
          { from: 0, price: 14.9 },
          { from: 50, price: 9.9 },
        ],
        { maxItems: 50 },
      ),
    ),
    weights: OrElse(
      [],
      List(
        Section(
          {
            upTo: Kilograms('Weight in kilograms up to which this price holds, at most 3 decimals.', 5),
            price: Amount('Price of the delivery.', 9.9),
          },
          { names: { price: 'amount' } },
        ),
        'Prices by weight: ascending. Heavier goods are not delivered to this zone.',
        [
          { upTo: 2, price: 6.9 },
          { upTo: 10, price: 12.9 },
        ],
        { maxItems: 50 },
      ),
    ),
    freeFrom: OrNull(Amount('Value of the goods from which the delivery is free.', 100)),
    days: OrNull(
      Section(
        { from: workingDays('At least.', 2), to: workingDays('At most.', 4) },
        { description: 'Transit time in working days. Absent: the one of the method in deliveryTimes.' },
      ),
    ),
    maxWeight: OrNull(Kilograms('Heavier goods, in kilograms, are not delivered to this zone.', 30)),
  },
  {
    names: { price: 'amount' },
    isOmitted: (key, written) =>
      ['postcodes', 'tiers', 'weights'].includes(key) && (written as unknown[]).length === 0,
  },
);

/** Postcodes are compared in capitals and without spaces and hyphens; the hyphen of a range stays. */
function compactPostcodes(written: string): string {
  const text = written.replaceAll(' ', '').toUpperCase();
  return /^\d+-\d+$/.test(text) ? text : text.replaceAll('-', '');
}

const ShippingMethod = Section(
  {
    key: Key('Its name in this file; the id belongs to it.', 'express'),
    name: LocalisedText('Name.', 'Express delivery'),
    description: OrElse({}, LocalisedText('Text.', 'The next working day', 10_000)),
    logoUrl: OrNull(WebAddress('^https?://\\S+$', 'Logo.', 'https://shop.example/parcel.png')),
    kind: stored(
      Type.Enum([...SHIPPING_KINDS], {
        description:
          'flat: price. weight: price + pricePerKg x weight. orderValue: the price of the tier the order is in. pickup: free, shown without a price. With zones, the prices are those of the zones.',
        examples: ['flat'],
      }),
      {
        toStored: (kind) => (kind === 'orderValue' ? ('order_value' as const) : kind),
        toWritten: (kind) => (kind === 'order_value' ? 'orderValue' : kind),
      },
    ),
    price: OrElse(0, Amount('For flat and weight.', 7)),
    pricePerKg: OrElse(0, Amount('For weight.', 1.19)),
    tiers: OrElse(
      [],
      List(
        Section(
          {
            from: Amount('Value of the order from which this price holds.', 50),
            price: Amount('Price of the delivery.', 3.9),
          },
          { names: { price: 'amount' } },
        ),
        'For orderValue: ascending, the first from 0.',
        [
          { from: 0, price: 7 },
          { from: 50, price: 3.9 },
        ],
        { minItems: 1 },
      ),
    ),
    freeFrom: OrNull(Amount('Value of the order from which the delivery is free.', 100)),
    zones: OrElse(
      [],
      List(
        ShippingZone,
        'Where the method delivers to, each zone with prices of its own; elsewhere the method is not offered. The first zone that fits holds, those with postcodes before those of whole countries. Absent: it delivers to all countries of the shop at the price above.',
        [
          { countries: ['DE'], price: 4.9, freeFrom: 50 },
          { countries: ['FR'], price: 14.9 },
        ],
        { maxItems: MAX_ZONES },
      ),
    ),
    place: OrElse(
      {},
      LocalisedText('For pickup: where customers collect their goods.', 'Kaistraße 4, 20457 Hamburg', 1000),
    ),
    hours: OrElse({}, LocalisedText('For pickup: opening hours.', 'Mon-Fri 10 am to 6 pm', 1000)),
  },
  {
    names: { price: 'amount', pricePerKg: 'amountPerKg' },
    isOmitted: (key, written, method) =>
      !isFieldOfMethod(key, method) || (key === 'zones' && (written as unknown[]).length === 0),
  },
);

const PaymentMethod = Section(
  {
    key: Key('Its name in this file; the id belongs to it.', 'invoice'),
    name: LocalisedText('Name.', 'Invoice'),
    provider: OrNull(
      stored(
        Plain(
          'Who handles the payment: stripe, mollie and demo are built in. manual, or absent: the merchant, as with an invoice. Any other name: an app.',
          'stripe',
        ),
        {
          toStored: (written) => (written === 'manual' ? null : written),
          toWritten: (provider: string | null) => provider ?? undefined,
        },
      ),
    ),
    providerLabel: OrNull(
      Plain('What the API calls the provider (providerName). Absent: by its own name.', 'QuickPay'),
    ),
    capture: OrElse(
      'automatic',
      Type.Enum(['automatic', 'manual'], {
        description:
          'Of a built-in provider: whether a payment takes the money at once, or only reserves it until the merchant asks for it. Absent: automatic.',
        default: 'automatic',
        examples: ['manual'],
      }),
    ),
    price: OrElse(
      0,
      Amount('What it costs; below 0 it is a discount. Absent: 0.', 1.5, {
        minimum: -MAX_MONEY,
        default: 0,
      }),
    ),
    additionalData: OrNull(
      MapOf(
        '^[A-Za-z0-9_.-]{1,100}$',
        Type.String({ maxLength: 1000, description: 'Text.', examples: ['4711'] }),
        'Texts for the provider, as they are.',
        { merchant: '4711' },
      ),
    ),
    releaseUnpaidAfterDays: OrNull(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        description:
          'For methods that are paid in advance: an order of which nothing was paid, sent or invoiced after so many days is cancelled, and its goods go back into the stock. Holds for orders that are placed from now on. Absent: orders wait for their payment for ever, as they should with an invoice or on delivery.',
        examples: [14],
      }),
    ),
    releaseUnpaidAfterMinutes: OrNull(
      Type.Integer({
        minimum: 5,
        maximum: 10_080,
        description:
          'The same in minutes, for methods that are paid at once. Absent, and without days: 60 for a built-in provider.',
        examples: [60],
      }),
    ),
  },
  {
    names: { provider: 'providerName', price: 'amount' },
    isOmitted: (key, written) => key === 'capture' && written === 'automatic',
  },
);

export const MINIMUM_CART_CODES = [
  'SumProduct',
  'SumCoupon',
  'SumDiscount',
  'SumDelivery',
  'SumPayment',
] as const;

const MinimumCart = Section(
  {
    code: OrElse(
      'SumProduct',
      Type.Enum([...MINIMUM_CART_CODES], {
        description: 'The sum of the cart that counts. Absent: SumProduct.',
        default: 'SumProduct',
        examples: ['SumProduct'],
      }),
    ),
    amount: OrNull(Amount('What it must reach. Absent: no minimum.', 5)),
  },
  {
    description: 'The minimum order value.',
    isInline: true,
    names: { code: 'minimumCartCode', amount: 'minimumCartAmount' },
  },
);

const BasketDiscount = Section(
  {
    from: Amount('Value of the goods from which the discount holds.', 100),
    absolute: Type.Optional(Amount('Discount as an amount; or give percent.', 10)),
    percent: Type.Optional(Percent('Discount in percent; or give absolute.', 10)),
  },
  { names: { from: 'minimumAmount' } },
);

const Newsletter = Section({
  identifier: Key('Its name; the id belongs to it.', 'TideLetter_EN'),
  name: Plain('Name for readers.', 'The tide letter'),
  language: Pattern('^[a-z]{2}$', 'Two letters.', 'en'),
  description: OrNull(Plain('Text.', 'Once a month', 10_000)),
  subject: OrNull(Plain('Subject of the email.', 'News from the pier')),
});

/** One definition that all 57 units refer to. */
const UnitNames = MapOf(
  LOCALE,
  Section({
    long: Plain('Name.', 'Stück'),
    short: Type.Optional(Plain('Sign.', 'St.', 32)),
  }),
  'Names of the unit by locale.',
  { de_DE: { long: 'Stück', short: 'St.' } },
);

const Units = Type.Unsafe<Record<string, Static<typeof UnitNames>>>({
  type: 'object',
  properties: Object.fromEntries(
    UNIT_KEYS.map((key) => [key, byLocale('keep', { $ref: '#/definitions/unitNames' })]),
  ),
  additionalProperties: false,
  description:
    'Names of units in the languages of the shop; the English, German and French ones are built in.',
  examples: [{ piece: { de_DE: { long: 'Stück', short: 'St.' } } }],
});

const Bank = Section(
  {
    name: Type.Optional(OneLine('Name of the bank.', 'Harbour Bank')),
    iban: normalised(
      compact,
      Pattern(
        '^[A-Z]{2}[0-9]{2}[A-Z0-9 ]{8,40}$',
        'The account; blanks do not matter.',
        'DE02 1203 0000 0000 2020 51',
      ),
    ),
    bic: Type.Optional(
      Pattern(
        '^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$',
        'BIC of the bank, 8 or 11 characters.',
        'BYLADEM1001',
      ),
    ),
  },
  { description: 'Where customers transfer money to.' },
);

/**
 * The formats of an electronic document, all of EN 16931:
 * - `zugferd`: CII in the profile EN 16931 of ZUGFeRD and Factur-X, inside of the PDF,
 * - `xrechnung-cii`, `xrechnung-ubl`: XRechnung 3.0, which German authorities demand,
 * - `peppol`: Peppol BIS Billing 3.0 in UBL.
 */
export const ELECTRONIC_FORMATS = ['zugferd', 'xrechnung-cii', 'xrechnung-ubl', 'peppol'] as const;
export type ElectronicFormat = (typeof ELECTRONIC_FORMATS)[number];

const Invoicing = Section(
  {
    company: Type.Optional(
      OneLine('Name of the seller. Absent: the name of the shop.', 'Harbour & Hearth GmbH'),
    ),
    street: Type.Optional(OneLine('Street and number.', 'Speicherweg 4')),
    zipCode: Type.Optional(OneLine('Postcode.', '20457', 20)),
    city: Type.Optional(OneLine('Town; the country is the one of the shop.', 'Hamburg')),
    vatId: Type.Optional(
      normalised(
        compact,
        Pattern(
          '^[A-Z]{2}[A-Z0-9 +*.-]{2,20}$',
          'VAT id with the letters of its country; blanks do not matter.',
          'DE123456789',
        ),
      ),
    ),
    taxNumber: Type.Optional(OneLine('Number at the tax office.', '27/123/45678', 50)),
    registration: Type.Optional(OneLine('Where the company is registered.', 'HRB 4711, Amtsgericht Hamburg')),
    phone: Type.Optional(OneLine('Telephone.', '+49 40 123456', 50)),
    email: Type.Optional(
      Pattern(
        EMAIL,
        'Email address for questions on invoices. Absent: the one of the shop.',
        'invoices@harbour-hearth.example',
      ),
    ),
    bank: Type.Optional(Bank),
    paymentDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description: 'Days until an invoice is due. Absent: no date is named.',
        examples: [14],
      }),
    ),
    notes: Type.Optional(LocalisedText('What stands below the totals.', 'Thank you!', 2000, LINES_OF_TEXT)),
    electronic: Type.Optional(
      Type.Boolean({
        description:
          'Whether documents are electronic (EN 16931): all, or none. Needs vatId or taxNumber. Absent: those of businesses in the European Union are.',
        // Absence is a third choice, so forms show all of them.
        enum: [true, false],
        examples: [true],
      }),
    ),
    electronicFormat: Type.Optional(
      Type.Enum([...ELECTRONIC_FORMATS], {
        description:
          'The format of electronic documents. zugferd is a part of the PDF (ZUGFeRD, Factur-X); the others are files beside it. XRechnung needs phone. Absent: xrechnung-ubl for German authorities with a Leitweg-ID, peppol between Belgian businesses, else zugferd.',
        examples: ['zugferd'],
      }),
    ),
  },
  { description: 'The seller on invoices and credit notes. Existing documents do not change.' },
);

/** An account of a chart of accounts without the digits that a longer account adds. */
const LedgerAccount = (description: string, example: string) =>
  Pattern('^[0-9]{4,8}$', description, example, 8);

const AccountRule = Section({
  treatment: Type.Enum([...TAX_TREATMENTS], {
    description: 'How the supply is taxed.',
    examples: ['oss'],
  }),
  country: Type.Optional(Country('Only for deliveries to this country. Absent: all.', 'AT')),
  rate: Type.Optional(Percent('Only at this rate, in percent. Absent: all.', 20)),
  account: LedgerAccount('The revenue account, which takes the gross amount.', '8320'),
  taxKey: Type.Optional(
    Pattern(
      '^[0-9]{1,4}$',
      'The tax key (BU-Schlüssel). Absent: none, as automatic accounts need none.',
      '240',
      4,
    ),
  ),
});

const Accounting = Section(
  {
    chart: Type.Optional(
      Type.Enum(['SKR03', 'SKR04'], {
        description: 'The chart of accounts. Absent: SKR03.',
        examples: ['SKR03'],
      }),
    ),
    advisorNumber: Type.Optional(
      Type.Integer({
        minimum: 1001,
        maximum: 9_999_999,
        description: "The accountant's number at DATEV.",
        examples: [29_098],
      }),
    ),
    clientNumber: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 99_999,
        description: 'The number of the shop at its accountant.',
        examples: [55_003],
      }),
    ),
    fiscalYearStart: Type.Optional(
      Pattern(
        '^(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$',
        'The first day of the fiscal year, month and day. Absent: 01-01.',
        '01-01',
      ),
    ),
    accountLength: Type.Optional(
      Type.Integer({
        minimum: 4,
        maximum: 8,
        description: 'Digits of an account; debtors have one more. Absent: 4.',
        examples: [4],
      }),
    ),
    debtors: Type.Optional(
      Type.Enum(['individual', 'collective'], {
        description:
          'individual: every customer has a debtor account, the first one of the range plus the customer number. collective: all customers share one. Absent: individual.',
        examples: ['individual'],
      }),
    ),
    collectiveDebtor: Type.Optional(
      Pattern(
        '^[1-6][0-9]{4,8}$',
        'The shared debtor account, also of customers whose number does not fit into the range. Absent: the first one of the range.',
        '10000',
        9,
      ),
    ),
    bankAccount: Type.Optional(
      LedgerAccount('Payments that were recorded by hand. Absent: 1200 in SKR03, 1800 in SKR04.', '1200'),
    ),
    clearingAccount: Type.Optional(
      LedgerAccount('Payments through a provider. Absent: 1360 in SKR03, 1460 in SKR04.', '1360'),
    ),
    accounts: Type.Optional(
      List(
        AccountRule,
        'Revenue accounts that differ from those of the chart. The first one that fits is used.',
        [{ treatment: 'oss', country: 'AT', account: '8321', taxKey: '240' }],
        { maxItems: 200 },
      ),
    ),
  },
  { description: 'How the booking batch for DATEV is written.' },
);

/** Fonts that are installed on most machines. */
export const FONTS = ['sans', 'serif', 'rounded', 'mono'] as const;

const Theme = Section(
  {
    accent: Type.Optional(
      Colour(
        'Colour of buttons and links, #rgb or #rrggbb in quotes; where it would be hard to read, a darker or lighter one is used. Absent: a dark teal.',
        '#0b5d66',
      ),
    ),
    background: Type.Optional(
      Colour('Colour of the page, #rgb or #rrggbb in quotes. Absent: white.', '#fdfcf9'),
    ),
    text: Type.Optional(
      Colour(
        'Colour of the text, #rgb or #rrggbb in quotes, with a contrast of 4.5:1 or more on the background. Absent: one that reads well on it.',
        '#1d2b2e',
      ),
    ),
    font: Type.Optional(
      Type.Enum([...FONTS], {
        description: 'A font that people have on their machines. Absent: sans.',
        examples: ['serif'],
      }),
    ),
    fontUrl: Type.Optional(
      Type.String({
        // Only characters that can't end the address in a stylesheet or in a header's list.
        format: WEB_ADDRESS,
        pattern: '^(?:https:/)?/[\\w.~%-][\\w./~%:?&=@+-]*$',
        maxLength: 2000,
        description:
          'A font of your own: the https address of a woff2 file, or a path on this server. Until it is loaded, and where it lacks a letter, font stands in.',
        examples: ['https://shop.example/own.woff2'],
      }),
    ),
    showName: Type.Optional(
      Type.Boolean({
        description: 'The name of the shop stands beside the logo, which does not hold it. Absent: false.',
        examples: [true],
      }),
    ),
  },
  { description: 'The look of the storefront. The logo is logoUrl.' },
);

const safetyParty = {
  address: Pattern(
    LINES_OF_TEXT,
    'Postal address, in one line or more.',
    'Kaistrasse 4, 20457 Hamburg, Germany',
    500,
  ),
  contact: OneLine('Electronic address: of email, or of a website.', 'safety@beacon.example'),
};

const Manufacturer = Section(
  {
    name: OneLine('The manufacturer as products name it.', 'Beacon'),
    company: Type.Optional(OneLine('Its registered name, where that is another.', 'Beacon Appliances Ltd')),
    ...safetyParty,
    responsiblePerson: Type.Optional(
      Section(
        {
          name: OneLine('Name, or registered name.', 'Harbour Imports GmbH'),
          address: { ...safetyParty.address },
          contact: { ...safetyParty.contact },
        },
        {
          description:
            'Who is responsible in the European Union; needed where the manufacturer is established elsewhere.',
        },
      ),
    ),
    safetyText: Type.Optional(
      LocalisedText('Warnings and safety information.', 'Keep away from children.', 10_000, LINES_OF_TEXT),
    ),
  },
  { description: 'What Regulation (EU) 2023/988, article 19, wants to be said of every offer.' },
);

/** The kinds of goods that producer registers have numbers for. */
export const REGISTRATION_KINDS = [
  'packaging',
  'electrical',
  'batteries',
  'textiles',
  'furniture',
  'other',
] as const;

const ProducerRegistration = Section({
  country: Country('Country of the register, ISO 3166-1 alpha-2.', 'DE'),
  kind: Type.Enum([...REGISTRATION_KINDS], {
    description: 'What the number is for: packaging (LUCID), electrical devices (WEEE), batteries and so on.',
    examples: ['packaging'],
  }),
  number: OneLine('The number, as the register writes it.', 'DE1234567890123', 100),
});

const DeliveryTimes = Section(
  {
    cutOffHour: OrElse(
      14,
      Type.Integer({
        minimum: 0,
        maximum: 24,
        description:
          'The hour before which an order is handled on the same day; 24: the whole day. Absent: 14.',
        default: 14,
        examples: [14],
      }),
    ),
    timeZone: OrElse(
      'Europe/Berlin',
      Type.String({
        maxLength: 100,
        description: 'Time zone of the shop, by its IANA name. Absent: Europe/Berlin.',
        default: 'Europe/Berlin',
        examples: ['Europe/Paris'],
      }),
    ),
    handling: OrElse(
      { from: 0, to: 0 },
      Section(
        { from: workingDays('At least.', 0), to: workingDays('At most.', 1) },
        {
          description:
            'Working days until an order is dispatched, for products without a delivery period of their own. Shoppers see only the day of delivery. Absent: 0.',
        },
      ),
    ),
    methods: OrElse(
      {},
      MapOf(
        '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$',
        Section({ from: workingDays('At least.', 1), to: workingDays('At most.', 3) }),
        'Transit time in working days, by the key of a shipping method. Pages say nothing of a method that is not named; of one that is, they say the day of delivery instead of its description.',
        { parcel: { from: 1, to: 3 } },
      ),
    ),
  },
  {
    description:
      "When goods arrive: the handling time, which is the product's delivery period or the shop's, and the days of the method on the way. Working days are Monday to Friday; public holidays are not considered.",
  },
);

const AppScripts = Section(
  {
    load: Flag('Pages load the scripts of apps, for visitors who allow it.', true),
    necessary: OrElse(
      [],
      List(
        WebAddress(
          '^https://\\S+$',
          'Address of a script, as its script tag has it.',
          'https://widgets.example/consent.js',
        ),
        'Scripts that are loaded for visitors who allow only what is necessary, and before they were asked. The app must call the script necessary too.',
        ['https://widgets.example/consent.js'],
        { maxItems: 20 },
      ),
    ),
  },
  { description: 'The scripts that apps bring into the pages of the shop.' },
);

const Home = Section(
  {
    picture: OrNull(
      WebAddress(
        '^(?:https:/)?/[^\\s/]\\S*$',
        'URL of the cover image, https, or a path on this server.',
        'https://shop.example/harbour.jpg',
      ),
    ),
    title: OrElse(
      {},
      LocalisedText('Headline. Absent: the name of the shop.', 'Small things from the seaside'),
    ),
    text: OrElse({}, LocalisedText('Subtitle. Absent: the slogan.', 'Roasted a street away.', 500)),
    link: OrNull(
      WebAddress(
        '^(?:https://[^\\s/]|/[^\\s/\\\\]|/$)\\S*$',
        'Link of the button: a path of the shop, or an https address. Absent: there is no button.',
        '/Categories/coffee',
      ),
    ),
    linkText: OrElse(
      {},
      LocalisedText('Text of the button. Absent: the built-in one.', 'See our coffee', 60),
    ),
    promises: OrElse(
      [],
      List(
        LocalisedText('A few words.', 'Free returns for 30 days', 80),
        'Benefits, in one line below the picture.',
        ['Free returns for 30 days', 'Sent within two days'],
        { maxItems: 4 },
      ),
    ),
  },
  { description: 'The top of the front page.' },
);

const Feeds = Section(
  {
    google: Flag('Google Merchant Center may fetch the products, at /feeds/google.xml of the shop.', false),
    agenticCommerce: Flag(
      'Assistants such as ChatGPT may fetch the products, at /feeds/acp.jsonl of the shop (Agentic Commerce Protocol).',
      false,
    ),
  },
  { description: 'Product feeds for other channels. They hold what visitors of the shop see.' },
);

const OrderPage = Section(
  {
    cancellation: Flag('Customers may cancel an order themselves until it is invoiced or packed.', true),
    returnDays: OrElse(
      30,
      Type.Integer({
        minimum: 0,
        maximum: 3650,
        description:
          'Days after the delivery in which customers may ask for a return; 0: they may not. Absent: 30. The right of withdrawal does not depend on it.',
        default: 30,
        examples: [30],
      }),
    ),
  },
  { description: 'What customers may do on the page of their order.' },
);

const Returns = Section(
  {
    refundDelivery: Flag(
      'The cost of delivery and payment is refunded when everything of an order has come back. After a withdrawal from the whole order it always is.',
      true,
    ),
  },
  { description: 'What is refunded for returns.' },
);

const Withdrawal = Section(
  {
    days: OrElse(
      14,
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description:
          'Days in which a consumer may withdraw from the contract; the law of the European Union grants 14. 0: the shop sells to businesses only, and no page offers it. Absent: 14.',
        default: 14,
        examples: [14],
      }),
    ),
    transitDays: OrElse(
      5,
      Type.Integer({
        minimum: 0,
        maximum: 90,
        description:
          'Delivery buffer: days after the last shipment. Where no date of delivery is recorded, the period begins then. Absent: 5.',
        default: 5,
        examples: [5],
      }),
    ),
  },
  { description: 'Withdrawal from the contract by a button (Consumer Rights Directive, article 11a).' },
);

/** The maximum length of a shop's own email texts. */
export const MAX_EMAIL_SUBJECT_LENGTH = 255;
export const MAX_EMAIL_TEXT_LENGTH = 10_000;

/** A shop's own texts for one kind of email, by locale. */
export const EmailTexts = byLocale(
  'copy',
  MapOf(
    LOCALE,
    Type.Object(
      {
        subject: Type.Optional(
          OneLine(
            'Subject, with placeholders. Absent: the built-in one.',
            'News on {orderNumber}',
            MAX_EMAIL_SUBJECT_LENGTH,
          ),
        ),
        text: Type.Optional(
          Pattern(
            LINES_OF_TEXT,
            'Paragraphs, with blank lines between them; no markup. A line with a placeholder that has nothing to say is left out; {lines} is a table, which stands at the end when it is not named. Absent: the built-in text.',
            'Dear customer,\n\n{shopName} thanks you.',
            MAX_EMAIL_TEXT_LENGTH,
          ),
        ),
      },
      { additionalProperties: false, minProperties: 1, description: 'Words in one locale.' },
    ),
    'Words for one kind of email.',
    { en_GB: { subject: 'News on {orderNumber}' } },
    { minProperties: 1 },
  ),
);

/** By the name of the kind, which is not known here: `shops/email/settings-section.ts` adds the kinds. */
export const Mails = MapOf(
  '^[a-z][A-Za-z]*$',
  EmailTexts,
  'Own words of emails, by locale. An email speaks as its locale says, else another one of the same language, else the default one, else with built-in words (English, German, French).',
  { order: { en_GB: { subject: 'Order {orderNumber}' } } },
);

export type MailTexts = Static<typeof Mails>;

/** The sections of the file that are settings. Other modules add sections of their own (`section.ts`). */
export const SettingsSchema = Section(
  {
    $schema: Type.Optional(
      Type.String({
        description: 'For editors only, in files that are JSON.',
        examples: ['../schema/shop-settings.schema.json'],
      }),
    ),
    name: Setting(LocalisedText('Name of the shop.', 'Harbour & Hearth')),
    slogan: Setting(
      NullableText('May hold markup; null takes it away.', '<p>Small things from the seaside</p>', 10_000),
      null,
    ),
    email: Setting(Pattern(EMAIL, "The merchant's email address.", 'hello@harbour-hearth.example')),
    logoUrl: Setting(
      Nullable(
        WebAddress(
          '^(?:https?:/)?/[^\\s/]\\S*$',
          'Address of the logo, or a path on this server; null takes it away.',
          'https://shop.example/logo.png',
        ),
      ),
      null,
    ),
    domains: Setting(
      List(
        normalised(
          (host) => host.toLowerCase(),
          Pattern(
            DOMAIN,
            'A host name without a scheme, with its port if that is not the usual one; other letters than a to z as xn--....',
            'shop.example',
            259,
          ),
        ),
        "Hosts that show this shop's pages and nothing else. Links lead to the first one that is in use. Each belongs to one shop only, must lead to this server, and is used after a record in the DNS has proved it.",
        ['shop.example', 'www.shop.example'],
        { maxItems: 20 },
      ),
    ),
    country: Setting(Country('Where the shop sits, ISO 3166-1 alpha-2.', 'DE')),
    locales: Setting(Locales),
    currencies: Setting(Currencies),
    countries: Setting(Countries),
    taxes: Setting(Taxes, { model: 'gross' }),
    netPrices: Setting(NetPrices, {}),
    taxClasses: Setting(
      withIds(
        'key',
        'taxClassId',
        List(
          TaxClass,
          'Kinds of goods that are taxed alike.',
          [{ key: 'standard', name: 'Standard rate', default: true, rates: { DE: 19 } }],
          { minItems: 1, maxItems: 100 },
        ),
      ),
    ),
    shippingMethods: Setting(
      withIds(
        'key',
        'shippingMethodId',
        List(ShippingMethod, 'How goods reach the customer, in the order they are shown.', [
          { key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 },
        ]),
      ),
    ),
    paymentMethods: Setting(
      withIds(
        'key',
        'paymentMethodId',
        List(
          PaymentMethod,
          'How orders are paid, in the order they are shown; the first is the default of a cart.',
          [{ key: 'advance', name: 'Payment in advance' }],
          { minItems: 1 },
        ),
      ),
    ),
    minimumCart: Setting(MinimumCart, {}),
    basketDiscounts: Setting(
      List(
        BasketDiscount,
        'Discounts by value of the goods, ascending; of those that are reached, the one that takes off most holds.',
        [{ from: 100, absolute: 10 }],
      ),
      [],
    ),
    units: Setting(Units, {}),
    newsletters: Setting(
      withIds(
        'identifier',
        'campaignId',
        List(Newsletter, 'Newsletters of the shop. One that is taken away takes its subscribers with it.', [
          { identifier: 'TideLetter_EN', name: 'The tide letter', language: 'en' },
        ]),
      ),
    ),
    customerGroups: Setting(
      withIds(
        'name',
        'customerGroupId',
        stored(
          List(
            Plain('Name of a group.', 'Cafes'),
            'Groups of customers that products may have prices for; their order does not matter.',
            ['Cafes', 'Staff'],
          ),
          {
            toStored: (names) => names.map((name) => ({ name })),
            // Sorted, because the database has no order of them.
            toWritten: (groups) => groups.map(({ name }) => name).toSorted(),
          },
        ),
      ),
    ),
    crossSellingTitle: Setting(
      NullableText(
        'What stands above the products that go with a product; null takes it away.',
        'Goes well with',
      ),
      null,
    ),
    showFromPrices: Setting(
      Type.Boolean({
        description: 'A product with variations shows the price of the cheapest one.',
        examples: [true],
      }),
      true,
    ),
    categoriesShowSubcategories: Setting(
      Type.Boolean({
        description: 'The page of a category shows the products of its subcategories too.',
        examples: [true],
      }),
      true,
    ),
    publicCatalogue: Setting(
      Type.Boolean({ description: 'Products and categories are read without a token.', examples: [true] }),
      true,
    ),
    sellBeyondStock: Setting(
      Type.Boolean({ description: 'Allows orders when a product is out of stock.', examples: [false] }),
      false,
    ),
    maxPerOrder: Setting(
      Nullable(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000_000,
          description:
            'Maximum quantity per product in an order, at most 6 decimals; each variation counts for itself. A larger quantity in a cart is lowered to it. A product may have another one of its own (maxOrder). null: any quantity.',
          examples: [10],
        }),
      ),
      null,
    ),
    dailyEmailsPerRecipient: Setting(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description:
          "How many emails that anybody can cause (order confirmations, newsletter confirmations, a product is back) one address gets in a day (UTC), so that nobody can flood a stranger's mailbox. What is above is not sent; the order stands, and its history says so. A new shop has 20.",
        examples: [20],
      }),
      20,
    ),
    emailNewOrders: Setting(
      Type.Boolean({
        description: 'The shop gets an email for every order, at its address (email). A new shop has true.',
        examples: [false],
      }),
      true,
    ),
    lowStockLevel: Setting(
      Nullable(
        Type.Number({
          minimum: 0,
          maximum: 1_000_000,
          description:
            'The shop hears by email and event when a product is sold down to this stock, unless the product has a level of its own (minStocklevel). null: only products with a level of their own.',
          examples: [5],
        }),
      ),
      null,
    ),
    carriers: Setting(
      MapOf(
        '^\\S(?:.{0,98}\\S)?$',
        WebAddress(
          '^https://[^\\s{}]*\\{code\\}[^\\s{}]*$',
          'Address of the page that shows where a parcel is; {code} stands for the tracking code.',
          'https://parcels.example/track?code={code}',
        ),
        'Tracking pages by the name of the carrier, as shipments name it. Colissimo, Deutsche Post, DHL, DPD, GLS, Hermes, La Poste, Royal Mail and UPS are built in.',
        { 'Harbour Parcel': 'https://parcels.example/track?code={code}' },
      ),
      {},
    ),
    mandatoryAddressFields: Setting(
      List(
        Type.Enum(ADDRESS_FIELDS, { description: 'Field of an address.', examples: ['phoneNumber'] }),
        'Fields that the billing address of an order must fill, beside those it always needs.',
        ['firstName', 'lastName', 'street', 'zipCode', 'city'],
      ),
      [],
    ),
    invoicing: Setting(Invoicing, {}),
    accounting: Setting(Accounting, {}),
    mails: Setting(Mails, {}),
    theme: Setting(Theme, {}),
    manufacturers: Setting(
      List(Manufacturer, 'Manufacturers of the products, for the safety data on their pages.', [
        {
          name: 'Beacon',
          address: 'Kaistrasse 4, 20457 Hamburg, Germany',
          contact: 'safety@beacon.example',
        },
      ]),
      [],
    ),
    producerRegistrations: Setting(
      List(
        ProducerRegistration,
        'Numbers of the registers of producers (packaging, electrical devices, batteries), for the imprint and the packing slips.',
        [{ country: 'DE', kind: 'packaging', number: 'DE1234567890123' }],
        { maxItems: 200 },
      ),
      [],
    ),
    deliveryTimes: Setting(DeliveryTimes, {}),
    home: Setting(Home, {}),
    appScripts: Setting(AppScripts, {}),
    feeds: Setting(Feeds, {}),
    orderPage: Setting(OrderPage, {}),
    returns: Setting(Returns, {}),
    withdrawal: Setting(Withdrawal, {}),
    accessibility: Setting(
      NullableText(
        'The accessibility statement, which is linked in the footer; may hold markup. null: there is none.',
        '<p>We test our pages with a keyboard and with screen readers.</p>',
        20_000,
      ),
      null,
    ),
  },
  {
    description:
      'Settings of a shop. A section that is absent stays as it is, a section that is present is replaced as a whole.',
    definitions: { unitNames: UnitNames },
    names: { newsletters: 'newsletterCampaigns', mails: 'mailTexts' },
  },
);

type Sections = Omit<(typeof SettingsSchema)['properties'], '$schema'>;
type InlineName = {
  [Name in keyof Sections]: Sections[Name] extends { '~inline': true } ? Name : never;
}[keyof Sections];
type IntersectionOf<Union> = (Union extends unknown ? (part: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** All settings of the schema as they are stored. */
export type StoredSettings = {
  [
    Name in Exclude<keyof Sections, InlineName> as StoredName<Name, (typeof SettingsSchema)['~names']>
  ]: Stored<Sections[Name]>;
} & IntersectionOf<Stored<Sections[InlineName]>>;

/** The sections that other modules have added: each declares its own here, where it defines its schema. */
export interface RegisteredSections {}

/** A settings file. A section that is absent stays as it is. */
export type SettingsFile = Static<typeof SettingsSchema> & RegisteredSections;
export type SectionName = Exclude<keyof SettingsFile, '$schema'>;

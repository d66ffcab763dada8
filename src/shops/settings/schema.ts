import { Type, type Static } from 'typebox';
import { ADDRESS_FIELDS } from '../countries/address.ts';
import { Nullable } from '../../http/schemas.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
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
  },
  { description: 'How prices and taxes go together.', isInline: true, names: { model: 'taxModel' } },
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
    rates: MapOf(
      COUNTRY,
      Percent('Percent, at most 2 decimals.', 19),
      "Percent by country of delivery, the shop's own country among them.",
      { DE: 19, AT: 20 },
    ),
  },
  {
    names: { default: 'isDefault', defaultDigital: 'isDefaultDigital' },
    isOmitted: (_, written) => written === false,
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

const ShippingMethod = Section(
  {
    key: Key('Its name in this file; the id belongs to it.', 'express'),
    name: LocalisedText('Name.', 'Express delivery'),
    description: OrElse({}, LocalisedText('Text.', 'The next working day', 10_000)),
    logoUrl: OrNull(WebAddress('^https?://\\S+$', 'Logo.', 'https://shop.example/parcel.png')),
    kind: stored(
      Type.Enum([...SHIPPING_KINDS], {
        description:
          'flat: price. weight: price + pricePerKg x weight. orderValue: the price of the tier the order is in. pickup: free, shown without a price.',
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
  },
  {
    names: { price: 'amount', pricePerKg: 'amountPerKg' },
    isOmitted: (key, _, method) =>
      (PRICE_FIELDS as readonly string[]).includes(key) &&
      !SHIPPING_PRICES[method['kind'] as ShippingKind].takes.includes(key),
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
          'The PDF carries the invoice as XML too (EN 16931, ZUGFeRD / Factur-X). Needs vatId or taxNumber. Absent: false.',
        examples: [true],
      }),
    ),
  },
  { description: 'The seller on invoices and credit notes. Existing documents do not change.' },
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

const workingDays = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: 90, description, examples: [example] });

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

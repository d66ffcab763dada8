import { Type, type Static, type TSchema } from 'typebox';
import {
  CAMPAIGN_TYPES,
  LONGEST_CODE,
  LONGEST_IDENTIFIER,
  MOST_USES,
  ONE_LINE,
} from '../../carts/coupon-campaigns/campaign.ts';
import { ADDRESS_FIELDS } from '../countries/address.ts';
import { Nullable } from '../../http/schemas.ts';
import { EMAIL_KINDS } from '../../email-kinds.ts';
import { placeholderMeanings, type EmailKind } from '../../platform/email/kind.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
import { FONTS, MINIMUM_CART_CODES } from './settings.ts';

/**
 * A shop's settings as a person writes them: money as decimals in the default currency, rates in percent, texts
 * plain or by locale. Every field has a description and an example, because editors show them while one types.
 */

const LOCALE = '^[a-z]{2}_[A-Z]{2}$';
const COUNTRY = '^[A-Z]{2}$';
const CURRENCY = '^[A-Z]{3}$';

/** Beyond this, minor units would come near 2^53. */
const MOST_MONEY = 1_000_000_000_000;

interface Words {
  description: string;
  examples: unknown[];
}

/** Unknown keys are refused: a typing error in a settings file must not be passed over. */
function Section<Fields extends Record<string, TSchema>>(
  fields: Fields,
  words: Partial<Words> & { definitions?: object } = {},
) {
  return Type.Object(fields, { additionalProperties: false, ...words });
}

function List<Item extends TSchema>(
  item: Item,
  words: Words,
  bounds: { minItems?: number; maxItems?: number } = {},
) {
  return Type.Array(item, { maxItems: 1000, ...bounds, ...words });
}

/** A map whose keys have a form. */
function MapOf<Value extends TSchema>(
  keys: string,
  value: Value,
  words: Words,
  bounds: { minProperties?: number } = {},
) {
  return Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    patternProperties: { [keys]: value },
    additionalProperties: false,
    ...bounds,
    ...words,
  });
}

export type Texts = string | Record<string, string>;

/** Something that can be seen, and no control characters but tabs and line breaks: XML and mails can't hold them. */
const LINES_OF_TEXT = '^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$';

/** One type array instead of a union, so that a problem in it is named exactly. */
function Text(words: Words, maxLength = 255, pattern = '\\S') {
  const text = { maxLength, pattern };
  return Type.Unsafe<Texts>({
    type: ['string', 'object'],
    ...text,
    patternProperties: { [LOCALE]: { type: 'string', ...text } },
    additionalProperties: false,
    minProperties: 1,
    ...words,
    description: `${words.description} A text in the default locale, or texts by locale.`,
  });
}

const Plain = (words: Words, maxLength = 255) => Type.String({ maxLength, pattern: '\\S', ...words });
const OneLine = (words: Words, maxLength = 255) => Type.String({ maxLength, pattern: ONE_LINE, ...words });
const Key = (words: Words) => Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$', ...words });
const Locale = (words: Words) => Type.String({ pattern: LOCALE, ...words });
const Country = (words: Words) => Type.String({ pattern: COUNTRY, ...words });
const Currency = (words: Words) => Type.String({ pattern: CURRENCY, ...words });
const Url = (words: Words) => Type.String({ pattern: '^https?://\\S+$', maxLength: 2000, ...words });
const Amount = (words: Words) => Type.Number({ minimum: 0, maximum: MOST_MONEY, ...words });
const Percent = (words: Words) => Type.Number({ minimum: 0, maximum: 100, ...words });
const Flag = (description: string, standard: boolean) =>
  Type.Boolean({
    description: `${description} Absent: ${standard}.`,
    default: standard,
    examples: [standard],
  });

const name = Text({ description: 'Name of the shop.', examples: ['Harbour & Hearth'] });
const slogan = Text(
  {
    description: 'May hold markup; null takes it away.',
    examples: ['<p>Small things from the sea side</p>'],
  },
  10_000,
);
const email = Type.String({
  pattern: '^[^\\s@]{1,64}@[^\\s@]{1,188}$',
  description: "The merchant's mail address.",
  examples: ['hello@harbour-hearth.example'],
});
const logoUrl = Type.String({
  pattern: '^(?:https?:/)?/[^\\s/]\\S*$',
  maxLength: 2000,
  description: 'Address of the logo, or a path on this server; null takes it away.',
  examples: ['https://shop.example/logo.png'],
});
const Domain = Type.String({
  // Labels of letters, digits and hyphens, at least two, and perhaps a port.
  pattern:
    '^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?::[0-9]{1,5})?$',
  maxLength: 259,
  description:
    'A host name without a scheme, with its port if that is not the usual one; other letters than a to z as xn--....',
  examples: ['shop.example'],
});
const country = Country({ description: 'Where the shop sits, ISO 3166-1 alpha-2.', examples: ['DE'] });

const Locales = Section(
  {
    default: Locale({ description: 'What is shown when a text is missing elsewhere.', examples: ['en_GB'] }),
    items: List(
      Locale({ description: 'Language and country.', examples: ['de_DE'] }),
      { description: 'All locales, the default among them.', examples: [['en_GB', 'de_DE']] },
      { minItems: 1 },
    ),
  },
  {
    description:
      'Languages of the shop. The texts of a locale that is taken away are deleted; a text that the new default locale lacks is copied from the old one.',
  },
);

const Currencies = Section(
  {
    default: Currency({ description: 'The currency all amounts here are in.', examples: ['EUR'] }),
    items: List(
      Currency({ description: 'ISO 4217.', examples: ['GBP'] }),
      { description: 'All currencies, the default among them.', examples: [['EUR', 'GBP']] },
      { minItems: 1 },
    ),
    rates: Type.Optional(
      MapOf(
        CURRENCY,
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000_000_000,
          description: 'Rate from the default currency, at most 10 decimals.',
          examples: [0.85],
        }),
        {
          description: 'What 1 of the default currency is worth in each other one.',
          examples: [{ GBP: 0.85, USD: 1.1 }],
        },
      ),
    ),
  },
  { description: 'Currencies of the shop.' },
);

const Countries = Section(
  {
    default: Country({ description: 'The one chosen at first.', examples: ['DE'] }),
    items: List(
      Country({ description: 'ISO 3166-1 alpha-2.', examples: ['AT'] }),
      { description: 'Where the shop delivers to, the default among them.', examples: [['DE', 'AT', 'FR']] },
      { minItems: 1 },
    ),
  },
  { description: 'Countries the shop delivers to.' },
);

const Taxes = Section(
  {
    model: Type.Enum(['gross', 'net'], {
      description: 'gross: all prices contain tax (usual towards consumers); net: tax is added to them.',
      examples: ['gross'],
    }),
    displayTaxes: Type.Optional(Flag('Show a note on taxes.', true)),
    noTaxesMessage: Type.Optional(
      Plain(
        {
          description: 'Text to show instead, when no taxes are shown.',
          examples: ['No VAT is charged (small business).'],
        },
        1000,
      ),
    ),
    deliveryThresholdIsActive: Type.Optional(
      Flag('The delivery threshold into other EU countries is exceeded.', false),
    ),
    taxFreeOutsideEu: Type.Optional(
      Flag('No tax on deliveries to countries outside the European Union.', true),
    ),
  },
  { description: 'How prices and taxes go together.' },
);

const TaxClass = Section({
  key: Key({ description: 'Its name in this file; the id belongs to it.', examples: ['standard'] }),
  name: Text({ description: 'Name of the class.', examples: ['Standard rate'] }),
  default: Type.Optional(Flag('The class of a product that names none; exactly one class is it.', false)),
  defaultDigital: Type.Optional(
    Flag('The class of digital goods that name none; when no class says so, it is the default one.', false),
  ),
  digital: Type.Optional(Flag('Goods of this class are not shipped: downloads, tickets.', false)),
  rates: MapOf(COUNTRY, Percent({ description: 'Percent, at most 2 decimals.', examples: [19] }), {
    description: "Percent by country of delivery, the shop's own country among them.",
    examples: [{ DE: 19, AT: 20 }],
  }),
});

export const SHIPPING_KINDS = ['flat', 'weight', 'orderValue', 'pickup'] as const;

const ShippingMethod = Section({
  key: Key({ description: 'Its name in this file; the id belongs to it.', examples: ['express'] }),
  name: Text({ description: 'Name.', examples: ['Express delivery'] }),
  description: Type.Optional(Text({ description: 'Text.', examples: ['The next working day'] }, 10_000)),
  logoUrl: Type.Optional(Url({ description: 'Logo.', examples: ['https://shop.example/parcel.png'] })),
  kind: Type.Enum([...SHIPPING_KINDS], {
    description:
      'flat: price. weight: price + pricePerKg x weight. orderValue: the price of the tier the order is in. pickup: free, shown without a price.',
    examples: ['flat'],
  }),
  price: Type.Optional(Amount({ description: 'For flat and weight.', examples: [7] })),
  pricePerKg: Type.Optional(Amount({ description: 'For weight.', examples: [1.19] })),
  tiers: Type.Optional(
    List(
      Section({
        from: Amount({ description: 'Value of the order from which this price holds.', examples: [50] }),
        price: Amount({ description: 'Price of the delivery.', examples: [3.9] }),
      }),
      {
        description: 'For orderValue: ascending, the first from 0.',
        examples: [
          [
            { from: 0, price: 7 },
            { from: 50, price: 3.9 },
          ],
        ],
      },
      { minItems: 1 },
    ),
  ),
  freeFrom: Type.Optional(
    Amount({ description: 'Value of the order from which the delivery is free.', examples: [100] }),
  ),
});

const PaymentMethod = Section({
  key: Key({ description: 'Its name in this file; the id belongs to it.', examples: ['invoice'] }),
  name: Text({ description: 'Name.', examples: ['Invoice'] }),
  provider: Type.Optional(Plain({ description: 'Who handles the payment.', examples: ['QuickPay'] })),
  price: Type.Optional(
    Type.Number({
      minimum: -MOST_MONEY,
      maximum: MOST_MONEY,
      default: 0,
      description: 'What it costs; below 0 it is a discount. Absent: 0.',
      examples: [1.5],
    }),
  ),
  additionalData: Type.Optional(
    MapOf(
      '^[A-Za-z0-9_.-]{1,100}$',
      Type.String({ maxLength: 1000, description: 'Text.', examples: ['4711'] }),
      {
        description: 'Texts for the provider, as they are.',
        examples: [{ merchant: '4711' }],
      },
    ),
  ),
  releaseUnpaidAfterDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description:
        'For methods that are paid in advance: an order of which nothing was paid, sent or invoiced after so many days is cancelled, and its goods go back into the stock. Holds for orders that are placed from now on. Absent: orders wait for their payment for ever, as they should with an invoice or on delivery.',
      examples: [14],
    }),
  ),
});

const MinimumCart = Section(
  {
    code: Type.Optional(
      Type.Enum([...MINIMUM_CART_CODES], {
        description: 'The sum of the cart that counts. Absent: SumProduct.',
        default: 'SumProduct',
        examples: ['SumProduct'],
      }),
    ),
    amount: Type.Optional(Amount({ description: 'What it must reach. Absent: no minimum.', examples: [5] })),
  },
  { description: 'The least an order must be worth.' },
);

const BasketDiscount = Section({
  from: Amount({ description: 'Value of the goods from which the discount holds.', examples: [100] }),
  absolute: Type.Optional(Amount({ description: 'Discount as an amount; or give percent.', examples: [10] })),
  percent: Type.Optional(Percent({ description: 'Discount in percent; or give absolute.', examples: [10] })),
});

const Newsletter = Section({
  identifier: Key({ description: 'Its name; the id belongs to it.', examples: ['TideLetter_EN'] }),
  name: Plain({ description: 'Name for readers.', examples: ['The tide letter'] }),
  language: Type.String({ pattern: '^[a-z]{2}$', description: 'Two letters.', examples: ['en'] }),
  description: Type.Optional(Plain({ description: 'Text.', examples: ['Once a month'] }, 10_000)),
  subject: Type.Optional(Plain({ description: 'Subject of the mail.', examples: ['News from the pier'] })),
});

/** What apps may make without end must come back from an export, so these lists are hardly bounded. */
const MOST_COUPONS = 1_000_000;

const Moment = (words: Words) => Type.String({ maxLength: 40, ...words });
const Limit = (words: Words) => Type.Integer({ minimum: 1, maximum: MOST_USES, ...words });
const Code = Type.String({
  pattern: ONE_LINE,
  maxLength: LONGEST_CODE,
  description: 'A code, unique in the shop ignoring case.',
  examples: ['SUMMER20'],
});

const CouponCampaign = Section({
  identifier: Type.String({
    pattern: ONE_LINE,
    maxLength: LONGEST_IDENTIFIER,
    description: 'Its name in this file; the id belongs to it.',
    examples: ['summer_sale'],
  }),
  name: Text({ description: 'Name.', examples: ['Summer sale'] }),
  currency: Type.Optional(
    Currency({ description: 'What its amounts are in. Absent: the default currency.', examples: ['EUR'] }),
  ),
  type: Type.Enum([...CAMPAIGN_TYPES], {
    description: 'fix: amount off. percent: amount percent off. shipping: the delivery is free.',
    examples: ['fix'],
  }),
  amount: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: MOST_MONEY,
      description: 'For fix and percent.',
      examples: [20],
    }),
  ),
  waiveShippingCosts: Type.Optional(Flag('The delivery is free as well.', false)),
  minimumOrderValue: Type.Optional(
    Amount({ description: 'What the goods must be worth. Absent: anything.', examples: [60] }),
  ),
  usageLimit: Type.Optional(
    Limit({ description: 'Orders with one code. Absent: any number.', examples: [1] }),
  ),
  campaignUsageLimit: Type.Optional(
    Limit({ description: 'Orders with all codes together. Absent: any number.', examples: [500] }),
  ),
  validFrom: Type.Optional(
    Moment({
      description: 'ISO 8601; without a zone it is UTC. Absent: at once.',
      examples: ['2026-06-01T00:00:00Z'],
    }),
  ),
  validTo: Type.Optional(
    Moment({
      description: 'ISO 8601; a date alone is the beginning of that day. Absent: for ever.',
      examples: ['2026-09-01T00:00:00Z'],
    }),
  ),
  products: Type.Optional(
    List(Plain({ description: 'Number of a product.', examples: ['KN-100'] }, 100), {
      description: 'It takes off from these only. Absent: from all; an empty list: from none.',
      examples: [['KN-100', 'KN-110']],
    }),
  ),
  shippingMethods: Type.Optional(
    List(Key({ description: 'Key of a shipping method.', examples: ['pickup'] }), {
      description: 'It holds with these only. Absent: with all; an empty list: with none.',
      examples: [['pickup']],
    }),
  ),
  paymentMethods: Type.Optional(
    List(Key({ description: 'Key of a payment method.', examples: ['advance'] }), {
      description: 'It holds with these only. Absent: with all; an empty list: with none.',
      examples: [['advance']],
    }),
  ),
  codes: List(
    Code,
    { description: 'What customers type in.', examples: [['SUMMER20']] },
    { maxItems: MOST_COUPONS },
  ),
  withdrawn: Type.Optional(
    List(
      Code,
      {
        description: 'Codes that were recalled: customers are told so, instead of that they are unknown.',
        examples: [['SPRING20']],
      },
      { maxItems: MOST_COUPONS },
    ),
  ),
});

/** One definition that all units refer to: they are 57. */
const UnitNames = MapOf(
  LOCALE,
  Section({
    long: Plain({ description: 'Name.', examples: ['Stück'] }),
    short: Type.Optional(Plain({ description: 'Sign.', examples: ['St.'] }, 32)),
  }),
  { description: 'Names of the unit by locale.', examples: [{ de_DE: { long: 'Stück', short: 'St.' } }] },
);

const Units = Type.Unsafe<Record<string, Static<typeof UnitNames>>>({
  type: 'object',
  properties: Object.fromEntries(UNIT_KEYS.map((key) => [key, { $ref: '#/definitions/unitNames' }])),
  additionalProperties: false,
  description: 'Names of units in the languages of the shop; the English ones are built in.',
  examples: [{ piece: { de_DE: { long: 'Stück', short: 'St.' } } }],
});

const Bank = Section(
  {
    name: Type.Optional(OneLine({ description: 'Name of the bank.', examples: ['Harbour Bank'] })),
    iban: Type.String({
      pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9 ]{8,40}$',
      description: 'The account; blanks do not matter.',
      examples: ['DE02 1203 0000 0000 2020 51'],
    }),
    bic: Type.Optional(
      Type.String({
        pattern: '^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$',
        description: 'BIC of the bank, 8 or 11 characters.',
        examples: ['BYLADEM1001'],
      }),
    ),
  },
  { description: 'Where customers transfer money to.' },
);

export const InvoicingSection = Section(
  {
    company: Type.Optional(
      OneLine({
        description: 'Who sells. Absent: the name of the shop.',
        examples: ['Harbour & Hearth GmbH'],
      }),
    ),
    street: Type.Optional(OneLine({ description: 'Street and number.', examples: ['Speicherweg 4'] })),
    zipCode: Type.Optional(OneLine({ description: 'Postcode.', examples: ['20457'] }, 20)),
    city: Type.Optional(
      OneLine({ description: 'Town; the country is the one of the shop.', examples: ['Hamburg'] }),
    ),
    vatId: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{2}[A-Z0-9 +*.-]{2,20}$',
        description: 'VAT id with the letters of its country; blanks do not matter.',
        examples: ['DE123456789'],
      }),
    ),
    taxNumber: Type.Optional(
      OneLine({ description: 'Number at the tax office.', examples: ['27/123/45678'] }, 50),
    ),
    registration: Type.Optional(
      OneLine({
        description: 'Where the company is registered.',
        examples: ['HRB 4711, Amtsgericht Hamburg'],
      }),
    ),
    phone: Type.Optional(OneLine({ description: 'Telephone.', examples: ['+49 40 123456'] }, 50)),
    email: Type.Optional({
      ...email,
      description: 'Mail address for questions on invoices. Absent: the one of the shop.',
      examples: ['invoices@harbour-hearth.example'],
    }),
    bank: Type.Optional(Bank),
    paymentDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 365,
        description: 'Days until an invoice is due. Absent: no date is named.',
        examples: [14],
      }),
    ),
    notes: Type.Optional(
      Text({ description: 'What stands below the totals.', examples: ['Thank you!'] }, 2000, LINES_OF_TEXT),
    ),
    electronic: Type.Optional(
      Type.Boolean({
        description:
          'The PDF carries the invoice as XML too (EN 16931, ZUGFeRD / Factur-X). Needs vatId or taxNumber. Absent: false.',
        examples: [true],
      }),
    ),
  },
  { description: 'Who sells, as invoices and credit notes say it. Documents that exist stay as they are.' },
);

const Colour = (words: Words) => Type.String({ pattern: '^#(?:[0-9A-Fa-f]{3}){1,2}$', ...words });

export const ThemeSection = Section(
  {
    accent: Type.Optional(
      Colour({
        description:
          'Colour of buttons and links, #rgb or #rrggbb in quotes; where it would be hard to read, a darker or lighter one is used. Absent: a dark teal.',
        examples: ['#0b5d66'],
      }),
    ),
    background: Type.Optional(
      Colour({
        description: 'Colour of the page, #rgb or #rrggbb in quotes. Absent: white.',
        examples: ['#fdfcf9'],
      }),
    ),
    text: Type.Optional(
      Colour({
        description:
          'Colour of the text, #rgb or #rrggbb in quotes, with a contrast of 4.5:1 or more on the background. Absent: one that reads well on it.',
        examples: ['#1d2b2e'],
      }),
    ),
    font: Type.Optional(
      Type.Enum([...FONTS], {
        description: 'A font that people have on their machines. Absent: sans.',
        examples: ['serif'],
      }),
    ),
    fontUrl: Type.Optional(
      Type.String({
        // Only what can't end the address in a stylesheet or in a list of a header.
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

/** A shop's own words for one kind of email. */
function OwnWords(kind: EmailKind) {
  const list = Object.entries(placeholderMeanings(kind)).map(([key, meaning]) => `{${key}}: ${meaning}`);
  return MapOf(
    LOCALE,
    Type.Object(
      {
        subject: Type.Optional(
          OneLine({
            description: 'Subject, with placeholders. Absent: the built-in one.',
            examples: ['News on {orderNumber}'],
          }),
        ),
        text: Type.Optional(
          Type.String({
            maxLength: 10_000,
            pattern: LINES_OF_TEXT,
            description:
              'Paragraphs, with blank lines between them; no markup. A line with a placeholder that has nothing to say is left out; {lines} is a table, which stands at the end when it is not named. Absent: the built-in text.',
            examples: ['Dear customer,\n\n{shopName} thanks you.'],
          }),
        ),
      },
      { additionalProperties: false, minProperties: 1, description: 'Words in one locale.' },
    ),
    { description: `${kind.occasion} Placeholders: ${list.join(' ')}`, examples: [kind.example] },
    { minProperties: 1 },
  );
}

const Mails = Type.Unsafe<Record<string, Static<ReturnType<typeof OwnWords>>>>({
  type: 'object',
  properties: Object.fromEntries(EMAIL_KINDS.map((kind) => [kind.name, OwnWords(kind)])),
  additionalProperties: false,
  description:
    'Own words of mails, by locale. A mail speaks as its locale says, else another one of the same language, else the default one, else with built-in words (English, German, French).',
  examples: [{ order: EMAIL_KINDS[0]!.example }],
});

export const SettingsFile = Section(
  {
    $schema: Type.Optional(
      Type.String({
        description: 'For editors only, in files that are JSON.',
        examples: ['../schema/shop-settings.schema.json'],
      }),
    ),
    name: Type.Optional(name),
    slogan: Type.Optional(Nullable(slogan)),
    email: Type.Optional(email),
    logoUrl: Type.Optional(Nullable(logoUrl)),
    domains: Type.Optional(
      List(
        Domain,
        {
          description:
            "Hosts that show this shop's pages and nothing else. Links lead to the first one. Each belongs to one shop only, and must lead to this server.",
          examples: [['shop.example', 'www.shop.example']],
        },
        { maxItems: 20 },
      ),
    ),
    country: Type.Optional(country),
    locales: Type.Optional(Locales),
    currencies: Type.Optional(Currencies),
    countries: Type.Optional(Countries),
    taxes: Type.Optional(Taxes),
    taxClasses: Type.Optional(
      List(
        TaxClass,
        {
          description: 'Kinds of goods that are taxed alike.',
          examples: [[{ key: 'standard', name: 'Standard rate', default: true, rates: { DE: 19 } }]],
        },
        { minItems: 1 },
      ),
    ),
    shippingMethods: Type.Optional(
      List(ShippingMethod, {
        description: 'How goods reach the customer, in the order they are shown.',
        examples: [[{ key: 'parcel', name: 'Parcel', kind: 'flat', price: 4.9 }]],
      }),
    ),
    paymentMethods: Type.Optional(
      List(
        PaymentMethod,
        {
          description:
            'How orders are paid, in the order they are shown; the first is the default of a cart.',
          examples: [[{ key: 'advance', name: 'Payment in advance' }]],
        },
        { minItems: 1 },
      ),
    ),
    minimumCart: Type.Optional(MinimumCart),
    basketDiscounts: Type.Optional(
      List(BasketDiscount, {
        description:
          'Discounts by value of the goods, ascending; of those that are reached, the one that takes off most holds.',
        examples: [[{ from: 100, absolute: 10 }]],
      }),
    ),
    units: Type.Optional(Units),
    newsletters: Type.Optional(
      List(Newsletter, {
        description: 'Newsletters of the shop. One that is taken away takes its subscribers with it.',
        examples: [[{ identifier: 'TideLetter_EN', name: 'The tide letter', language: 'en' }]],
      }),
    ),
    customerGroups: Type.Optional(
      List(Plain({ description: 'Name of a group.', examples: ['Cafes'] }), {
        description: 'Groups of customers that products may have prices for; their order does not matter.',
        examples: [['Cafes', 'Staff']],
      }),
    ),
    crossSellingTitle: Type.Optional(
      Nullable(
        Text({
          description: 'What stands above the products that go with a product; null takes it away.',
          examples: ['Goes well with'],
        }),
      ),
    ),
    showFromPrices: Type.Optional(
      Type.Boolean({
        description: 'A product with variations shows the price of the cheapest one.',
        examples: [true],
      }),
    ),
    publicCatalogue: Type.Optional(
      Type.Boolean({ description: 'Products and categories are read without a token.', examples: [true] }),
    ),
    sellBeyondStock: Type.Optional(
      Type.Boolean({ description: 'Orders are taken when the stock does not suffice.', examples: [false] }),
    ),
    maxPerOrder: Type.Optional(
      Nullable(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000_000,
          description:
            'The largest quantity of one product in an order, at most 6 decimals; each variation counts for itself. A larger quantity in a cart is lowered to it. A product may have another one of its own (maxOrder). null: any quantity.',
          examples: [10],
        }),
      ),
    ),
    dailyEmailsPerRecipient: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description:
          "How many emails that anybody can cause (order confirmations, newsletter confirmations, a product is back) one address gets in a day (UTC), so that nobody can flood a stranger's mailbox. What is above is not sent; the order stands, and its history says so. A new shop has 20.",
        examples: [20],
      }),
    ),
    mandatoryAddressFields: Type.Optional(
      List(Type.Enum(ADDRESS_FIELDS, { description: 'Field of an address.', examples: ['phoneNumber'] }), {
        description: 'Fields that the billing address of an order must fill, beside those it always needs.',
        examples: [['firstName', 'lastName', 'street', 'zipCode', 'city']],
      }),
    ),
    invoicing: Type.Optional(InvoicingSection),
    mails: Type.Optional(Mails),
    theme: Type.Optional(ThemeSection),
    couponCampaigns: Type.Optional(
      List(
        CouponCampaign,
        {
          description:
            'Coupons. A campaign that is taken away takes its codes with it, also those that were added elsewhere.',
          examples: [
            [
              {
                identifier: 'summer_sale',
                name: 'Summer sale',
                type: 'fix',
                amount: 20,
                codes: ['SUMMER20'],
              },
            ],
          ],
        },
        { maxItems: MOST_COUPONS },
      ),
    ),
  },
  {
    description:
      'Settings of a shop. A section that is absent stays as it is, a section that is present is replaced as a whole.',
    definitions: { unitNames: UnitNames },
  },
);
export type SettingsFile = Static<typeof SettingsFile>;

/** The schema as the file in schema/ holds it, for editors. */
export function settingsSchemaText(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of a Kontor shop',
    ...SettingsFile,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

import { Type, type Static } from 'typebox';
import { ADDRESS_FIELDS } from '../countries/address.ts';
import { Nullable } from '../../http/schemas.ts';
import {
  Country,
  normalised,
  Pattern,
  WebAddress,
  List,
  MapOf,
  NullableText,
  Plain,
  Section,
  Setting,
  stored,
  LocalisedText,
  EMAIL,
  withIds,
  type Stored,
  type StoredName,
} from './fields.ts';
import { Locales, Currencies, Countries } from './schema/regions.ts';
import { Taxes, NetPrices, TaxClass } from './schema/taxes.ts';
import { ShippingMethod, DeliveryTimes } from './schema/shipping.ts';
import { PaymentMethod, MinimumCart, BasketDiscount } from './schema/payment.ts';
import { MAX_PRICE_LISTS, PriceList } from './schema/price-lists.ts';
import { Promotion, MAX_PROMOTIONS } from './schema/promotions.ts';
import { Invoicing } from './schema/invoicing.ts';
import { Accounting } from './schema/accounting.ts';
import { Assistants } from './schema/assistants.ts';
import { Reviews } from './schema/reviews.ts';
import { Visibility } from './schema/visibility.ts';
import { Manufacturer, ProducerRegistration, OrderPageTexts, Returns, Withdrawal } from './schema/law.ts';
import { Theme, AppScripts, Home, Feeds } from './schema/storefront.ts';
import { Menus } from './schema/menus.ts';
import { Newsletter, UnitNameTexts, Units, Mails } from './schema/texts.ts';

/**
 * The settings of a shop, each with its place in the settings file, its type, its bounds, its description for editors,
 * its stored form and its initial value. The sections are in `schema/`, one file for each subject. A new setting is a line
 * here or there, and the code that uses it; `settings.ts` derives `Settings` from this schema.
 */

/** Labels of letters, digits and hyphens, at least two, and perhaps a port. */
const DOMAIN =
  '^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?::[0-9]{1,5})?$';

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
      NullableText('May contain markup; null removes it.', '<p>Small things from the seaside</p>', 10_000),
      null,
    ),
    email: Setting(Pattern(EMAIL, "The merchant's email address.", 'hello@harbour-hearth.example')),
    logoUrl: Setting(
      Nullable(
        WebAddress(
          '^(?:https?:/)?/[^\\s/]\\S*$',
          'Address of the logo, or a path on this server; null removes it.',
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
    country: Setting(Country('Country of the shop, ISO 3166-1 alpha-2.', 'DE')),
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
          'Tax classes: kinds of goods that are taxed alike.',
          [{ key: 'standard', name: 'Standard rate', default: true, rates: { DE: 19 } }],
          { minItems: 1, maxItems: 100 },
        ),
      ),
    ),
    shippingMethods: Setting(
      withIds(
        'key',
        'shippingMethodId',
        List(ShippingMethod, 'Shipping methods, in the order in which they are shown.', [
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
          'Payment methods, in the order in which they are shown; the first is the default of a cart.',
          [{ key: 'advance', name: 'Payment in advance' }],
          { minItems: 1 },
        ),
      ),
    ),
    minimumCart: Setting(MinimumCart, {}),
    basketDiscounts: Setting(
      List(
        BasketDiscount,
        'Discounts by value of the goods, ascending. If several apply, the largest discount is used.',
        [{ from: 100, absolute: 10 }],
      ),
      [],
    ),
    promotions: Setting(
      withIds(
        'key',
        'promotionId',
        List(
          Promotion,
          'Promotions. They apply one after the other, each to what those before it have left, and before the cart discounts and coupons. All goods that a promotion counts bear it in proportion to their price, and give it back when they are returned.',
          [{ key: 'three-for-two', name: '3 for 2 on mugs', effect: 'buyGet', buy: 2, get: 1 }],
          { maxItems: MAX_PROMOTIONS },
        ),
      ),
      [],
    ),
    priceLists: Setting(
      withIds(
        'key',
        'priceListId',
        List(
          PriceList,
          'Price lists: prices of groups of customers for a time. The prices themselves belong to the products. Where a customer could have several prices, the lowest counts. Removing a list ends its prices.',
          [{ key: 'partners-spring', name: 'Partners, spring 2027', customerGroups: ['Cafes'] }],
          { maxItems: MAX_PRICE_LISTS },
        ),
      ),
      [],
    ),
    units: Setting(Units, {}),
    newsletters: Setting(
      withIds(
        'identifier',
        'campaignId',
        List(Newsletter, 'Newsletters of the shop. Removing one also removes its subscribers.', [
          { identifier: 'TideLetter_EN', name: 'The tide letter', language: 'en' },
        ]),
      ),
    ),
    visibility: Setting(Visibility, {}),
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
    quickOrder: Setting(
      Type.Boolean({
        description:
          'The cart links to a page on which customers type or paste product numbers and quantities.',
        examples: [true],
      }),
      false,
    ),
    crossSellingTitle: Setting(
      NullableText('The heading above the related products of a product; null removes it.', 'Goes well with'),
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
    backorderReadyEmails: Setting(
      Type.Boolean({
        description: 'Customers get an email when items that they have waited for are in stock.',
        examples: [true],
      }),
      true,
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
          'Maximum number of emails per address and day (UTC) of the kinds that any visitor can trigger (order confirmations, newsletter confirmations, back-in-stock notifications), so that a mailbox cannot be flooded. Further emails are not sent; the order remains valid, and its history records the unsent email. A new shop has 20.',
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
            'The shop is notified by email and event when the stock of a product falls to this level, unless the product has its own level (minStocklevel). null: only for products with their own level.',
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
    menus: Setting(Menus, {}),
    appScripts: Setting(AppScripts, {}),
    feeds: Setting(Feeds, {}),
    assistants: Setting(Assistants, {}),
    reviews: Setting(Reviews, {}),
    orderPage: Setting(OrderPageTexts, {}),
    returns: Setting(Returns, {}),
    withdrawal: Setting(Withdrawal, {}),
    accessibility: Setting(
      NullableText(
        'The accessibility statement, which is linked in the footer; may contain markup. null: there is none.',
        '<p>We test our pages with a keyboard and with screen readers.</p>',
        20_000,
      ),
      null,
    ),
  },
  {
    description:
      'Settings of a shop. A section that is absent stays as it is, a section that is present is replaced as a whole.',
    definitions: { unitNames: UnitNameTexts },
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

import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { notFound } from '../../http/errors.ts';
import type { Localised } from '../../http/locale.ts';

/** Everything a shop has set, as the database holds it: money in minor units, rates in basis points. */
export interface Settings {
  shopId: string;
  version: number;
  name: Localised;
  slogan: Localised;
  email: string;
  logoUrl: string | null;
  country: string;
  defaultLocale: string;
  locales: string[];
  defaultCurrency: string;
  currencies: string[];
  /** From the default currency: {"GBP": "0.85"}. */
  exchangeRates: Record<string, string>;
  defaultCountry: string;
  countries: string[];
  taxModel: 'GROSS' | 'NET';
  displayTaxes: boolean;
  noTaxesMessage: string | null;
  deliveryThresholdIsActive: boolean;
  taxFreeOutsideEu: boolean;
  publicCatalogue: boolean;
  sellBeyondStock: boolean;
  /** The largest quantity of a product in an order, unless the product has its own; null: any. */
  maxPerOrder: number | null;
  /** Automatic emails to one address and day that somebody without a token can cause. */
  dailyEmailsPerRecipient: number;
  mandatoryAddressFields: string[];
  minimumCartCode: MinimumCartCode;
  minimumCartAmount: number | null;
  basketDiscounts: BasketDiscount[];
  units: Record<string, Record<string, { long: string; short?: string }>>;
  crossSellingTitle: Localised;
  /** Whether a master says the lowest price of its variations. */
  showFromPrices: boolean;
  taxClasses: TaxClass[];
  shippingMethods: ShippingMethod[];
  paymentMethods: PaymentMethod[];
  newsletterCampaigns: NewsletterCampaign[];
  customerGroups: CustomerGroup[];
  productTypes: ProductType[];
  invoicing: Invoicing;
  mailTexts: MailTexts;
  theme: Theme;
  /** Hosts of its own, lower case; links lead to the first. */
  domains: string[];
}

/** The look of the storefront; what is missing is the built-in one. */
export interface Theme {
  /** Colours as `#0b5d66`. */
  accent?: string;
  background?: string;
  text?: string;
  font?: (typeof FONTS)[number];
  /** A file of the shop's own, which stands before the others. */
  fontUrl?: string;
  /** The name stands beside the logo. */
  showName?: boolean;
}

/** Fonts that people have on their machines. */
export const FONTS = ['sans', 'serif', 'rounded', 'mono'] as const;

/** Who sells, as documents say it. What is missing is not printed; the shop's name stands for the company. */
export interface Invoicing {
  company?: string;
  street?: string;
  zipCode?: string;
  city?: string;
  vatId?: string;
  taxNumber?: string;
  /** Where the company is registered: "HRB 4711, Amtsgericht Hamburg". */
  registration?: string;
  phone?: string;
  email?: string;
  bank?: { name?: string; iban: string; bic?: string };
  /** Days until an invoice is due. */
  paymentDays?: number;
  /** What stands below the totals. */
  notes?: Localised;
  /** The PDF carries the invoice as XML (EN 16931). */
  electronic?: boolean;
}

/** A shop's own words of a mail, by template and locale; `{orderNumber}` and the like stand for facts. */
export type MailTexts = Record<string, Record<string, { subject?: string; text?: string }>>;

export const MINIMUM_CART_CODES = [
  'SumProduct',
  'SumCoupon',
  'SumDiscount',
  'SumDelivery',
  'SumPayment',
] as const;
export type MinimumCartCode = (typeof MINIMUM_CART_CODES)[number];

/** Either `absolute` in minor units or `percent` in basis points. */
export interface BasketDiscount {
  minimumAmount: number;
  absolute?: number;
  percent?: number;
}

export interface TaxClass {
  taxClassId: string;
  key: string;
  name: Localised;
  isDefault: boolean;
  isDefaultDigital: boolean;
  /** Its goods are not shipped. */
  digital: boolean;
  /** Basis points by country of delivery. */
  rates: Record<string, number>;
}

export interface ShippingMethod {
  shippingMethodId: string;
  key: string;
  name: Localised;
  description: Localised;
  logoUrl: string | null;
  kind: 'flat' | 'weight' | 'order_value' | 'pickup';
  amount: number;
  amountPerKg: number;
  /** For order_value, ascending. */
  tiers: { from: number; amount: number }[];
  freeFrom: number | null;
}

/** The first one is the default of a cart. */
export interface PaymentMethod {
  paymentMethodId: string;
  key: string;
  name: Localised;
  providerName: string | null;
  additionalData: Record<string, string> | null;
  amount: number;
  /** Orders that are not paid within so many days are cancelled; null: never. */
  releaseUnpaidAfterDays: number | null;
}

export interface NewsletterCampaign {
  campaignId: string;
  identifier: string;
  language: string;
  name: string;
  description: string | null;
  subject: string | null;
}

export interface CustomerGroup {
  customerGroupId: string;
  name: string;
}

export interface ProductType {
  productTypeId: string;
  /** `Default` is the type of products that have no other. */
  alias: string;
  name: Localised;
  attributes: TypeAttribute[];
}

export interface TypeAttribute {
  /** What filters of the search name. */
  number: number;
  key: string;
  name: Localised;
  visible: boolean;
  preDefined: boolean;
  values: { value: string; name: Localised }[];
}

const settingsCache: CacheKind<Settings> = { name: 'settings', limit: { entries: 2_000 } };

/** The cached settings, if there are any; whoever uses them compares their version with the database's. */
export function cachedSettings({ caches }: Queries, shopId: string): Settings | undefined {
  return caches.of(settingsCache).get(shopId);
}

/** The settings of a shop. Unknown shop: 404. */
export async function shopSettings(db: Queries, shopId: string): Promise<Settings> {
  const settings = await findSettings(db, shopId);
  if (!settings) throw notFound();
  return settings;
}

/**
 * Never stale: one cheap statement reads their version, and only what is newer than the cached settings is fetched.
 * undefined: there is no such shop.
 */
export async function findSettings(db: Queries, shopId: string): Promise<Settings | undefined> {
  const row = await db.one<{ version: number }>(
    sql`select settings_version as version from shop where shop_id = ${shopId}`,
  );
  if (!row) return undefined;
  const cached = cachedSettings(db, shopId);
  if (cached?.version === row.version) return cached;

  const settings = await selectSettings(db, shopId);
  if (settings) db.caches.of(settingsCache).set(shopId, settings);
  return settings;
}

/**
 * The settings for what a statement has just read together with their version: from the cache when that has this version,
 * else the current ones, which may be newer by now. So whoever stores or compares a version takes the one of the
 * settings returned, not the one of the statement.
 */
export async function settingsSince(db: Queries, shopId: string, version: number): Promise<Settings> {
  const cached = cachedSettings(db, shopId);
  return cached?.version === version ? cached : shopSettings(db, shopId);
}

/** One select list for all of it: one round trip, one snapshot. */
export async function selectSettings(db: Queries, shopId: string): Promise<Settings | undefined> {
  return db.one<Settings>(sql`
    select shop_id as "shopId", settings_version as version, name, slogan, email, logo_url as "logoUrl", country,
      default_locale as "defaultLocale", locales, default_currency as "defaultCurrency", currencies,
      exchange_rates as "exchangeRates", default_country as "defaultCountry", countries, tax_model as "taxModel",
      display_taxes as "displayTaxes", no_taxes_message as "noTaxesMessage",
      delivery_threshold_is_active as "deliveryThresholdIsActive", tax_free_outside_eu as "taxFreeOutsideEu",
      public_catalogue as "publicCatalogue", sell_beyond_stock as "sellBeyondStock",
      max_per_order::float8 as "maxPerOrder", daily_emails_per_recipient as "dailyEmailsPerRecipient",
      mandatory_address_fields as "mandatoryAddressFields", minimum_cart_code as "minimumCartCode",
      minimum_cart_amount as "minimumCartAmount", basket_discounts as "basketDiscounts", units,
      cross_selling_title as "crossSellingTitle", show_from_prices as "showFromPrices", invoicing,
      mail_texts as "mailTexts", theme,
      (
        select coalesce(json_agg(json_build_object(
          'taxClassId', upper(tax_class_id::text), 'key', key, 'name', name, 'isDefault', is_default,
          'isDefaultDigital', is_default_digital, 'digital', digital, 'rates', (
            select coalesce(json_object_agg(country, basis_points order by country), '{}') from tax_rate
            where tax_rate.shop_id = tax_class.shop_id and tax_rate.tax_class_id = tax_class.tax_class_id
          )) order by position), '[]')
        from tax_class where tax_class.shop_id = shop.shop_id
      ) as "taxClasses",
      (
        select coalesce(json_agg(json_build_object(
          'shippingMethodId', upper(shipping_method_id::text), 'key', key, 'name', name,
          'description', description, 'logoUrl', logo_url, 'kind', kind, 'amount', amount,
          'amountPerKg', amount_per_kg, 'tiers', tiers, 'freeFrom', free_from) order by position), '[]')
        from shipping_method where shipping_method.shop_id = shop.shop_id
      ) as "shippingMethods",
      (
        select coalesce(json_agg(json_build_object(
          'paymentMethodId', upper(payment_method_id::text), 'key', key, 'name', name,
          'providerName', provider_name, 'additionalData', additional_data, 'amount', amount,
          'releaseUnpaidAfterDays', release_unpaid_after_days) order by position), '[]')
        from payment_method where payment_method.shop_id = shop.shop_id
      ) as "paymentMethods",
      (
        select coalesce(json_agg(json_build_object(
          'campaignId', upper(campaign_id::text), 'identifier', identifier, 'language', language, 'name', name,
          'description', description, 'subject', subject) order by position), '[]')
        from newsletter_campaign where newsletter_campaign.shop_id = shop.shop_id
      ) as "newsletterCampaigns",
      (
        select coalesce(json_agg(json_build_object(
          'customerGroupId', upper(customer_group_id::text), 'name', name) order by name), '[]')
        from customer_group where customer_group.shop_id = shop.shop_id
      ) as "customerGroups",
      (
        select coalesce(json_agg(json_build_object(
          'productTypeId', upper(product_type_id::text), 'alias', alias, 'name', name, 'attributes', attributes)
          order by created_at, product_type_id), '[]')
        from product_type where product_type.shop_id = shop.shop_id
      ) as "productTypes",
      (
        select coalesce(json_agg(host order by position), '[]') from shop_domain
        where shop_domain.shop_id = ${shopId}
      ) as domains
    from shop where shop_id = ${shopId}`);
}

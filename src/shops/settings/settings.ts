import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { isRefusal, notFound } from '../../http/errors.ts';
import type { Localised } from '../../http/locale.ts';
import { initialSettings } from './conversion.ts';
import type { StoredSettings } from './schema.ts';

export { MINIMUM_CART_CODES } from './schema/payment.ts';
export { CARDS, CORNERS, DENSITIES, FONTS, HEADERS } from './schema/storefront.ts';
export type { MailTexts } from './schema/texts.ts';

/**
 * All settings of a shop: those of `schema.ts` as they are stored, with money in minor units and rates in basis
 * points, and the data that other modules need along with them.
 */
export interface Settings extends StoredSettings {
  shopId: string;
  /** Changes with every change of the settings. */
  version: number;
  productTypes: ProductType[];
  /** Those of the merchant and of installed apps. */
  customFields: CustomField[];
  /** The parent of each category below those that promotions name. */
  categoryParents: Record<string, string>;
  /**
   * The domains that lead to the shop and are used in links: all it has named except those that wait for their proof.
   */
  domainsInUse: string[];
  /** The operator of the installation has closed the shop: it is paused, or will be deleted. */
  isSuspended: boolean;
  /** When it is deleted, unless it is restored before; null: it stays. */
  deletionAt: Date | null;
  /** The host has stopped the emails of the shop, and says why; null: they are sent. */
  emailsFrozen: string | null;
  /** The merchant has opened the shop: its pages are public. */
  isOpen: boolean;
  /** The preview link is derived from it. */
  previewSeed: string | null;
  /** The shop is a copy for trying things out; null: it is a shop of its own. */
  sandbox: Sandbox | null;
}

export interface Sandbox {
  /** The id of the shop that it is a sandbox of. */
  of: string;
  /** Milliseconds by which its clock is ahead. */
  clock: number;
}

export type Theme = Settings['theme'];
export type Invoicing = Settings['invoicing'];
export type Accounting = Settings['accounting'];
export type MinimumCartCode = Settings['minimumCartCode'];
export type BasketDiscount = Settings['basketDiscounts'][number];
export type Promotion = Settings['promotions'][number];
export type TaxClass = Settings['taxClasses'][number];
export type ShippingMethod = Settings['shippingMethods'][number];
export type ShippingZone = ShippingMethod['zones'][number];
export type PaymentMethod = Settings['paymentMethods'][number];
export type NewsletterCampaign = Settings['newsletterCampaigns'][number];

export interface ProductType {
  productTypeId: string;
  /** `Default` is the type of products without another one. */
  alias: string;
  name: Localised;
  attributes: TypeAttribute[];
}

export interface TypeAttribute {
  /** Names used by the search filters. */
  number: number;
  key: string;
  name: Localised;
  visible: boolean;
  preDefined: boolean;
  values: { value: string; name: Localised }[];
}

export const FIELD_RESOURCES = [
  'product',
  'variation',
  'category',
  'customer',
  'cart',
  'cartLine',
  'order',
  'orderLine',
  'shop',
] as const;
export type FieldResource = (typeof FIELD_RESOURCES)[number];

export const FIELD_TYPES = [
  'text',
  'richText',
  'number',
  'money',
  'boolean',
  'date',
  'choice',
  'json',
  'product',
  'category',
  'customer',
  'page',
  'file',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Attributes of the product feed of Google Merchant Center that custom fields may fill. */
export const FEED_ATTRIBUTES = [
  'material',
  'pattern',
  'color',
  'size',
  'gender',
  'age_group',
  'custom_label_0',
  'custom_label_1',
  'custom_label_2',
  'custom_label_3',
  'custom_label_4',
] as const;
export type FeedAttribute = (typeof FEED_ATTRIBUTES)[number];

/** The definition of a custom field: what a product, a customer or an order may have beyond what all have. */
export interface CustomField {
  fieldId: string;
  resource: FieldResource;
  /** The field is `namespace.key` in the API, in files and in feeds. */
  namespace: string;
  key: string;
  /** The app whose namespace it is; null: it is the merchant's. */
  appId: string | null;
  type: FieldType;
  name: Localised;
  description: string | null;
  isList: boolean;
  isLocalised: boolean;
  readableBy: 'owner' | 'merchant' | 'public';
  writableBy: 'owner' | 'merchant' | 'shopper';
  /** The lists of the admin and of the API are filtered by it. */
  isFilter: boolean;
  /** Shoppers filter lists and search by it: a public field of products. */
  isFacet: boolean;
  /** What it fills in product feeds. */
  feedAttribute: FeedAttribute | null;
  choices: FieldChoice[] | null;
  jsonSchema: unknown;
}

export interface FieldChoice {
  key: string;
  label: Localised;
}

/** Ten thousand shops with few settings, or a thousand with many. */
const settingsCache: CacheKind<Settings> = { name: 'settings', limit: { megabytes: 40 } };

/** The cached settings, if any; the caller compares their version with the database's. */
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
 * Never stale: one cheap statement reads their version, and only newer settings than the cached ones are fetched.
 * undefined: there is no such shop.
 */
export async function findSettings(db: Queries, shopId: string): Promise<Settings | undefined> {
  const row = await db.shared.once(shopId, 'settings version', () =>
    db.one<{ version: number }>(sql`select settings_version as version from shop where shop_id = ${shopId}`),
  );
  if (!row) return undefined;
  const cached = cachedSettings(db, shopId);
  if (cached?.version === row.version) return cached;

  const settings = await selectSettings(db, shopId);
  // The version has moved with the clock, so no process works with an older one after it has read the settings.
  if (settings?.sandbox) db.clocks.set(shopId, settings.sandbox.clock);
  if (settings) db.caches.of(settingsCache).set(shopId, settings, JSON.stringify(settings).length);
  return settings;
}

/**
 * Takes the version of the settings that a statement has read along with its own data. undefined: it has found nothing,
 * whatever the settings are.
 */
export type VerifySettings = (version: number | undefined) => void;

class StaleSettings extends Error {
  override name = 'StaleSettings';
}

const MAX_TRIES = 3;

/**
 * Runs `work` with the cached settings, which saves the round trip that reads their version. Instead, a statement of
 * `work` reads the version along with its own data and passes it to `verify`, which ends the work if the settings have
 * changed. The work then runs again with the current settings, so it must not change or send anything. Work that is
 * refused or ends before `verify` costs a statement that reads the version.
 */
export async function withCachedSettings<Result>(
  db: Queries,
  shopId: string,
  work: (settings: Settings, verify: VerifySettings) => Promise<Result>,
): Promise<Result> {
  const cached = cachedSettings(db, shopId);
  let settings = cached ?? (await shopSettings(db, shopId));
  let isCurrent = !cached;
  for (let tries = 1; ; tries++) {
    const verify: VerifySettings = (version) => {
      // If the settings change with every try, the last result is returned.
      const isStale = version !== undefined && version !== settings.version;
      if (isStale && tries < MAX_TRIES) throw new StaleSettings();
      isCurrent = true;
    };
    const end = await work(settings, verify).then(
      (result) => () => result,
      (error: unknown) => {
        if (error instanceof StaleSettings) return undefined;
        if (!isRefusal(error)) throw error;
        return () => {
          throw error;
        };
      },
    );
    if (end && isCurrent) return end();
    const current = await shopSettings(db, shopId);
    if (end && current.version === settings.version) return end();
    settings = current;
    isCurrent = true;
  }
}

/**
 * The settings that other statements read or refer to: they are columns and tables. All others are in the document
 * `shop.settings`, so that a new one needs no statement and no migration.
 */
const OUTSIDE_OF_DOCUMENT = [
  'shopId',
  'version',
  'defaultLocale',
  'locales',
  'defaultCurrency',
  'currencies',
  'exchangeRates',
  'publicCatalogue',
  'domains',
  'domainsInUse',
  'taxClasses',
  'shippingMethods',
  'paymentMethods',
  'newsletterCampaigns',
  'customerGroups',
  'productTypes',
  'customFields',
  'categoryParents',
  'isSuspended',
  'deletionAt',
  'emailsFrozen',
  'isOpen',
  'previewSeed',
  'sandbox',
] as const satisfies (keyof Settings)[];

/** The part of the settings that the column `shop.settings` holds. */
export function settingsDocument(settings: Partial<Settings>): Partial<Settings> {
  const outside: readonly string[] = OUTSIDE_OF_DOCUMENT;
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !outside.includes(name)));
}

type OutsideOfDocument = (typeof OUTSIDE_OF_DOCUMENT)[number];

interface SettingsRow extends Pick<Settings, Exclude<OutsideOfDocument, 'domains'>> {
  /** A setting that is newer than the document is missing in it, and has its initial value. */
  document: Omit<Settings, OutsideOfDocument>;
  pendingDomains: { host: string; position: number }[];
}

/** A promotion for a tree with more categories does not count those furthest down. */
const MAX_PROMOTED_CATEGORIES = 10_000;

/** Reads everything in one statement, for a consistent state. */
export async function selectSettings(db: Queries, shopId: string): Promise<Settings | undefined> {
  const row = await db.one<SettingsRow>(sql`
    select shop_id as "shopId", settings_version as version, default_locale as "defaultLocale", locales,
      default_currency as "defaultCurrency", currencies, exchange_rates as "exchangeRates",
      public_catalogue as "publicCatalogue", settings as document,
      (suspended_at is not null or deletion_at is not null) as "isSuspended", deletion_at as "deletionAt",
      emails_frozen_reason as "emailsFrozen", is_open as "isOpen", preview_seed as "previewSeed",
      case when sandbox_of is not null then json_build_object('of', sandbox_of, 'clock', sandbox_clock) end as sandbox,
      (
        select coalesce(json_agg(json_build_object(
          'taxClassId', upper(tax_class_id::text), 'key', key, 'name', name, 'isDefault', is_default,
          'isDefaultDigital', is_default_digital, 'digital', digital, 'supply', supply, 'rates', (
            select coalesce(json_object_agg(country, basis_points order by country), '{}') from tax_rate
            where tax_rate.shop_id = ${shopId} and tax_rate.tax_class_id = tax_class.tax_class_id
          )) order by position), '[]')
        from tax_class where tax_class.shop_id = ${shopId}
      ) as "taxClasses",
      (
        select coalesce(json_agg(json_build_object(
          'shippingMethodId', upper(shipping_method_id::text), 'key', key, 'name', name,
          'description', description, 'logoUrl', logo_url, 'kind', kind, 'amount', amount,
          'amountPerKg', amount_per_kg, 'tiers', tiers, 'freeFrom', free_from, 'zones', zones, 'place', place,
          'hours', hours) order by position), '[]')
        from shipping_method where shipping_method.shop_id = ${shopId}
      ) as "shippingMethods",
      (
        select coalesce(json_agg(json_build_object(
          'paymentMethodId', upper(payment_method_id::text), 'key', key, 'name', name,
          'providerName', provider_name, 'appMethod', app_method, 'additionalData', additional_data, 'amount', amount,
          'releaseUnpaidAfterDays', release_unpaid_after_days, 'providerLabel', provider_label, 'capture', capture,
          'releaseUnpaidAfterMinutes', release_unpaid_after_minutes) order by position), '[]')
        from payment_method where payment_method.shop_id = ${shopId}
      ) as "paymentMethods",
      (
        select coalesce(json_agg(json_build_object(
          'campaignId', upper(campaign_id::text), 'identifier', identifier, 'language', language, 'name', name,
          'description', description, 'subject', subject) order by position), '[]')
        from newsletter_campaign where newsletter_campaign.shop_id = ${shopId}
      ) as "newsletterCampaigns",
      (
        select coalesce(json_agg(json_build_object(
          'customerGroupId', upper(customer_group_id::text), 'name', name) order by name), '[]')
        from customer_group where customer_group.shop_id = ${shopId}
      ) as "customerGroups",
      (
        select coalesce(json_agg(json_build_object(
          'productTypeId', upper(product_type_id::text), 'alias', alias, 'name', name, 'attributes', attributes)
          order by created_at, product_type_id), '[]')
        from product_type where product_type.shop_id = ${shopId}
      ) as "productTypes",
      (
        select coalesce(json_agg(json_build_object(
          'fieldId', upper(field_id::text), 'resource', resource, 'namespace', custom_field.namespace, 'key', key,
          'appId', upper(app_id::text), 'type', type, 'name', name, 'description', description, 'isList', is_list,
          'isLocalised', is_localised, 'readableBy', readable_by, 'writableBy', writable_by, 'isFilter', is_filter,
          'isFacet', is_facet, 'feedAttribute', feed_attribute,
          'choices', choices, 'jsonSchema', json_schema) order by created_at, field_id), '[]')
        from custom_field
        join custom_field_namespace on custom_field_namespace.shop_id = ${shopId}
          and custom_field_namespace.namespace = custom_field.namespace
          and custom_field_namespace.removed_at is null
        where custom_field.shop_id = ${shopId} and custom_field.removed_at is null
      ) as "customFields",
      (
        with recursive below as (
          select category_id, parent_id from category
          where shop_id = ${shopId} and parent_id in (
            select jsonb_array_elements_text((promotion -> 'categories') || (promotion -> 'rewardCategories'))::uuid
            from shop named, jsonb_array_elements(named.settings -> 'promotions') promotion
            where named.shop_id = ${shopId}
          )
          union
          select child.category_id, child.parent_id from below
          join category child on child.shop_id = ${shopId} and child.parent_id = below.category_id
        )
        select coalesce(json_object_agg(upper(category_id::text), upper(parent_id::text)), '{}')
        from (select category_id, parent_id from below limit ${MAX_PROMOTED_CATEGORIES}) nearest
      ) as "categoryParents",
      (
        select coalesce(json_agg(host order by position), '[]') from shop_domain
        where shop_domain.shop_id = ${shopId}
      ) as "domainsInUse",
      (
        select coalesce(json_agg(json_build_object('host', host, 'position', position) order by position), '[]')
        from pending_domain where pending_domain.shop_id = ${shopId}
      ) as "pendingDomains"
    from shop where shop_id = ${shopId}`);
  if (!row) return undefined;
  const { document, pendingDomains, ...settings } = row;
  const domains = namedDomains(settings.domainsInUse, pendingDomains);
  return { ...initialSettings, ...document, ...settings, domains };
}

/** All domains that a shop has named, in their order. */
function namedDomains(
  inUse: readonly string[],
  pending: readonly { host: string; position: number }[],
): string[] {
  const domains = [...inUse];
  for (const { host, position } of pending) {
    if (!inUse.includes(host)) domains.splice(position, 0, host);
  }
  return domains;
}

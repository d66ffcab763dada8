import { randomInt } from 'node:crypto';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { initialSettings } from '../settings/conversion.ts';
import { settingsDocument } from '../settings/settings.ts';
import { standardVat } from '../taxes/vat-rates.ts';

/** The per-shop numbers and where they begin: the first customer is 1001. */
const COUNTERS = {
  customer: 1000,
  product: 1000,
  order: 1000,
  /** The position of the last event; see platform/events/log.ts. */
  event: 0,
  Invoice: 1000,
  CreditNote: 1000,
  category: 1,
  attribute: 0,
  /** Of the images of its products; see media/quota.ts. */
  mediaBytes: 0,
} as const;

/**
 * The next number; of several, the last one. Its row stays locked until the transaction ends, so numbers are given
 * in order and none is given twice; a transaction that fails gives its number back.
 */
export async function takeNumber(
  tx: Transaction,
  shopId: string,
  name: keyof typeof COUNTERS,
  count = 1,
): Promise<number> {
  const row = await tx.one<{ value: number }>(sql`
    update counter set value = value + ${count} where shop_id = ${shopId} and name = ${name} returning value`);
  return row!.value;
}

export interface NewShop {
  shopId: string;
  name: string;
  email: string;
  country: string;
  locale: string;
  currency: string;
}

/**
 * Makes a shop with the least it needs: one language, one currency, its own country, a tax class, a way to pay, which
 * every cart starts with, a root category and a product type. How it delivers is not guessed. Everything else is
 * initial settings until a settings file says something else. The primary key `shop_pkey` refuses an id that is taken.
 */
export async function insertShop(tx: Transaction, shop: NewShop): Promise<void> {
  const { shopId, name, email, country, locale, currency } = shop;
  const own = { name: { [locale]: name }, email, country, defaultCountry: country, countries: [country] };
  const settings = settingsDocument({ ...initialSettings, ...own });
  await tx.run(sql`
    insert into shop (shop_id, created_at, settings_version, default_locale, locales, default_currency, currencies,
      exchange_rates, public_catalogue, settings)
    values (${shopId}, ${tx.now}, ${firstVersion()}, ${locale}, ${[locale]}, ${currency}, ${[currency]}, '{}',
      ${initialSettings.publicCatalogue}, ${settings})`);
  await tx.run(sql`
    insert into counter (shop_id, name, value)
    select ${shopId}, name, value::bigint from jsonb_each_text(${COUNTERS}) as counters (name, value)`);
  const taxClassId = newId(tx.now);
  await tx.run(sql`
    insert into tax_class (shop_id, tax_class_id, key, name, position, is_default, is_default_digital)
    values (${shopId}, ${taxClassId}, 'standard', ${{ [locale]: 'standard' }}, 0, true, true)`);
  await tx.run(sql`
    insert into tax_rate (shop_id, tax_class_id, country, basis_points)
    values (${shopId}, ${taxClassId}, ${country}, ${standardVat(country) ?? 0})`);
  await tx.run(sql`
    insert into payment_method (shop_id, payment_method_id, key, name, position, amount)
    values (${shopId}, ${newId(tx.now)}, 'advance', ${{ [locale]: 'Payment in advance' }}, 0, 0)`);
  await tx.run(sql`
    insert into category (shop_id, category_id, number, alias, position, created_at, name, page_title,
      navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
    values (${shopId}, ${newId(tx.now)}, 1, 'Categories', 0, ${tx.now}, ${{ [locale]: 'Home page' }}, '{}',
      '{}', '{}', true, true, false, true, 3)`);
  await tx.run(sql`
    insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
    values (${shopId}, ${newId(tx.now)}, 'Default', ${{ [locale]: 'Default' }}, ${tx.now}, '[]')`);
}

/** After a change of what is cached with the settings: everything that is rendered for the shop is rendered again. */
export function moveSettingsVersion(tx: Transaction, shopId: string) {
  return tx.run(sql`update shop set settings_version = settings_version + 1 where shop_id = ${shopId}`);
}

/** Random, so that caches do not take a deleted shop of the same id for this one. */
function firstVersion(): number {
  return randomInt(2 ** 47);
}

/** Deletes everything that is the shop's; false when there is no such shop. */
export async function deleteShop(tx: Transaction, shopId: string): Promise<boolean> {
  // A shop with hundreds of thousands of products takes its time.
  await tx.run(sql`set local statement_timeout = 0`);
  const isDeleted = (await tx.run(sql`delete from shop where shop_id = ${shopId}`)) > 0;
  // No foreign key takes them along; after the shop, because its row is what changes of its settings wait for.
  await tx.run(sql`delete from shop_domain where shop_id = ${shopId}`);
  return isDeleted;
}

export function findShops(db: Queries, limit: number) {
  return db.many<{ shopId: string; name: string; createdAt: Date }>(sql`
    select shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop_id) as name, created_at as "createdAt"
    from shop order by lower(shop_id) limit ${limit}`);
}

/** For the start page of a private installation: with the domain that a shop's links lead to, if it has one. */
export function findShopsWithDomains(db: Queries, limit: number) {
  return db.many<{ shopId: string; name: string; createdAt: Date; domain: string | null }>(sql`
    select shop.shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop.shop_id) as name,
      created_at as "createdAt", host as domain
    from shop left join shop_domain on shop_domain.shop_id = shop.shop_id and position = 0
    order by lower(shop.shop_id) limit ${limit}`);
}

export function findShop(db: Queries, shopId: string) {
  return db.one<{ shopId: string }>(sql`select shop_id as "shopId" from shop where shop_id = ${shopId}`);
}

export async function countShops(db: Queries): Promise<number> {
  return (await db.one<{ count: number }>(sql`select count(*) as count from shop`))!.count;
}

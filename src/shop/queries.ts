import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { newId } from '../ids.ts';
import { standardVat } from '../taxes/vat-rates.ts';

/** The per-shop numbers and where they begin: the first customer is 1001. */
const COUNTERS = { customer: 1000 } as const;

/**
 * The next number. Its row stays locked until the transaction ends, so numbers are given in order and none is
 * given twice; a transaction that fails gives its number back.
 */
export async function takeNumber(
  tx: Transaction,
  shopId: string,
  name: keyof typeof COUNTERS,
): Promise<number> {
  const row = await tx.one<{ value: number }>(sql`
    update counter set value = value + 1 where shop_id = ${shopId} and name = ${name} returning value`);
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
 * A shop with the least it needs: one language, one currency, its own country, gross prices, a tax class and a way
 * to pay, which every cart starts with. How it delivers is not guessed. Everything else is set with a settings
 * file. The primary key `shop_pkey` refuses an id that is taken.
 */
export async function insertShop(tx: Transaction, shop: NewShop): Promise<void> {
  const { shopId, name, email, country, locale, currency } = shop;
  await tx.run(sql`
    insert into shop (shop_id, created_at, settings_version, name, slogan, email, country, default_locale, locales,
      default_currency, currencies, exchange_rates, default_country, countries, tax_model, display_taxes,
      delivery_threshold_is_active, tax_free_outside_eu, public_catalogue, sell_beyond_stock,
      mandatory_address_fields, minimum_cart_code, basket_discounts, units)
    values (${shopId}, ${tx.now}, 1, ${{ [locale]: name }}, '{}', ${email}, ${country}, ${locale}, ${[locale]},
      ${currency}, ${[currency]}, '{}', ${country}, ${[country]}, 'GROSS', true,
      false, true, true, false, '{}', 'SumProduct', '[]', '{}')`);
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
}

/** Deletes everything that is the shop's; false when there is no such shop. */
export async function deleteShop(tx: Transaction, shopId: string): Promise<boolean> {
  return (await tx.run(sql`delete from shop where shop_id = ${shopId}`)) > 0;
}

export function findShops(db: Queries, limit: number) {
  return db.many<{ shopId: string; name: string; createdAt: Date }>(sql`
    select shop_id as "shopId", coalesce(name ->> default_locale, shop_id) as name, created_at as "createdAt"
    from shop order by lower(shop_id) limit ${limit}`);
}

export function findShop(db: Queries, shopId: string) {
  return db.one<{ shopId: string }>(sql`select shop_id as "shopId" from shop where shop_id = ${shopId}`);
}

export async function countShops(db: Queries): Promise<number> {
  return (await db.one<{ count: number }>(sql`select count(*) as count from shop`))!.count;
}

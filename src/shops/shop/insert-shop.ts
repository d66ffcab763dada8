import { randomInt } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { initialSettings } from '../settings/conversion.ts';
import { settingsDocument } from '../settings/settings.ts';
import { standardVat } from '../taxes/vat-rates.ts';
import { insertCounters } from '../../platform/counters.ts';

export interface NewShop {
  shopId: string;
  name: string;
  email: string;
  country: string;
  locale: string;
  currency: string;
}

/**
 * Creates a shop with the minimum: one language, one currency, its own country, a tax class, a payment method, which
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
  await insertCounters(tx, shopId);
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

/** Random, so that caches do not mistake a deleted shop of the same id for this one. */
function firstVersion(): number {
  return randomInt(2 ** 47);
}

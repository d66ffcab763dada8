import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../db/database.ts';
import { violatedConstraint } from '../../db/failure.ts';
import { insertInto } from '../../db/insert.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { DomainPolicy } from '../shop/domain-policy.ts';
import { replaceDomains } from './domains.ts';
import { problemLine, SettingsProblem, type Problem } from './problem.ts';
import type { SectionName } from './schema.ts';
import { settingsDocument, type Settings } from './settings.ts';

/** Locks the settings of this shop against other changes until the transaction ends; false: there is no such shop. */
export async function lockShop(tx: Transaction, shopId: string): Promise<boolean> {
  return (await tx.one(sql`select 1 from shop where shop_id = ${shopId} for update`)) !== undefined;
}

export const BEFORE_ALL_PRODUCTS = '00000000-0000-0000-0000-000000000000';

/**
 * Marks the shop's lists and search for a rebuild (src/catalogue/products/listing-rebuild.ts), because they have a row
 * per locale and are sorted by prices in the default currency. false: there are no products. The transaction must have
 * locked the shop: it has then waited for transactions that were adding products (each holds the shop's row through
 * its foreign key), so the rebuild sees those products, and later transactions see the new settings.
 */
export async function requestListingRebuild(tx: Transaction, shopId: string): Promise<boolean> {
  const requested = await tx.run(sql`
    insert into listing_rebuild (shop_id, rebuild_id, requested_at, last_product_id, products, leased_until)
    select shop_id, ${newId(tx.now)}::uuid, ${tx.serviceNow}::timestamptz, ${BEFORE_ALL_PRODUCTS}::uuid, 0, ${tx.serviceNow}::timestamptz
    from shop where shop_id = ${shopId} and exists (select from product where shop_id = ${shopId})
    on conflict (shop_id) do update set rebuild_id = excluded.rebuild_id, requested_at = excluded.requested_at,
      last_product_id = excluded.last_product_id, products = excluded.products`);
  return requested === 1;
}

/** Writes the differences and increments the version that caches compare. */
export async function writeSettings(
  tx: Transaction,
  current: Settings,
  next: Settings,
  domainPolicy: DomainPolicy,
): Promise<void> {
  // Stored values, not those of the file: 7 EUR and 7 JPY read the same and are 700 and 7 in minor units.
  const differs = (name: keyof Settings) => !isDeepStrictEqual(current[name], next[name]);
  await updateShop(tx, next);
  if (differs('domains')) await replaceDomains(tx, current, next, domainPolicy);
  if (differs('taxClasses')) await replaceTaxClasses(tx, current, next);
  if (differs('shippingMethods')) await replaceShippingMethods(tx, current, next);
  if (differs('paymentMethods')) await replacePaymentMethods(tx, current, next);
  if (differs('newsletterCampaigns')) await replaceNewsletterCampaigns(tx, current, next);
  if (differs('customerGroups')) await replaceCustomerGroups(tx, current, next);
}

function updateShop(tx: Transaction, shop: Settings) {
  return tx.run(sql`
    update shop
    set settings_version = settings_version + 1, default_locale = ${shop.defaultLocale}, locales = ${shop.locales},
      default_currency = ${shop.defaultCurrency}, currencies = ${shop.currencies},
      exchange_rates = ${shop.exchangeRates}, public_catalogue = ${shop.publicCatalogue},
      settings = ${settingsDocument(shop)}
    where shop_id = ${shop.shopId}`);
}

const upsertTaxClasses = insertInto(
  'tax_class',
  {
    taxClassId: 'uuid',
    key: 'text',
    name: 'jsonb',
    position: 'integer',
    isDefault: 'boolean',
    isDefaultDigital: 'boolean',
    digital: 'boolean',
    supply: 'text',
  },
  { key: ['taxClassId'], keep: ['key'] },
);

const insertTaxRates = insertInto('tax_rate', {
  taxClassId: 'uuid',
  country: 'text',
  basisPoints: 'integer',
});

async function replaceTaxClasses(tx: Transaction, current: Settings, next: Settings): Promise<void> {
  const { shopId, taxClasses } = next;
  const gone = missingFrom(taxClasses, current.taxClasses);
  const ids = gone.map(({ taxClassId }) => taxClassId);
  await removeUnlessUsed(
    tx,
    'taxClasses',
    gone,
    sql`
    delete from tax_class where shop_id = ${shopId} and tax_class_id = any (${ids}::uuid[])`,
  );
  // A unique index is checked row by row: the new default may be written before the old one is unset.
  await tx.run(sql`
    update tax_class set is_default = false, is_default_digital = false
    where shop_id = ${shopId} and (is_default or is_default_digital)`);
  await tx.run(upsertTaxClasses(shopId, positioned(taxClasses)));
  const rates = taxClasses.flatMap(({ taxClassId, rates }) =>
    Object.entries(rates).map(([country, basisPoints]) => ({ taxClassId, country, basisPoints })),
  );
  await tx.run(sql`delete from tax_rate where shop_id = ${shopId}`);
  await tx.run(insertTaxRates(shopId, rates));
}

const upsertShippingMethods = insertInto(
  'shipping_method',
  {
    shippingMethodId: 'uuid',
    key: 'text',
    name: 'jsonb',
    description: 'jsonb',
    logoUrl: 'text',
    position: 'integer',
    kind: 'text',
    amount: 'bigint',
    amountPerKg: 'bigint',
    tiers: 'jsonb',
    freeFrom: 'bigint',
    zones: 'jsonb',
    place: 'jsonb',
    hours: 'jsonb',
  },
  { key: ['shippingMethodId'], keep: ['key'] },
);

async function replaceShippingMethods(tx: Transaction, current: Settings, next: Settings): Promise<void> {
  const { shopId, shippingMethods } = next;
  const gone = missingFrom(shippingMethods, current.shippingMethods);
  const ids = gone.map(({ shippingMethodId }) => shippingMethodId);
  await removeUnlessUsed(
    tx,
    'shippingMethods',
    gone,
    sql`
    delete from shipping_method where shop_id = ${shopId} and shipping_method_id = any (${ids}::uuid[])`,
  );
  await tx.run(upsertShippingMethods(shopId, positioned(shippingMethods)));
}

const upsertPaymentMethods = insertInto(
  'payment_method',
  {
    paymentMethodId: 'uuid',
    key: 'text',
    name: 'jsonb',
    providerName: 'text',
    appMethod: 'text',
    additionalData: 'jsonb',
    position: 'integer',
    amount: 'bigint',
    releaseUnpaidAfterDays: 'integer',
    providerLabel: 'text',
    capture: 'text',
    releaseUnpaidAfterMinutes: 'integer',
  },
  { key: ['paymentMethodId'], keep: ['key'] },
);

async function replacePaymentMethods(tx: Transaction, current: Settings, next: Settings): Promise<void> {
  const { shopId, paymentMethods } = next;
  const gone = missingFrom(paymentMethods, current.paymentMethods);
  const ids = gone.map(({ paymentMethodId }) => paymentMethodId);
  await removeUnlessUsed(
    tx,
    'paymentMethods',
    gone,
    sql`
    delete from payment_method where shop_id = ${shopId} and payment_method_id = any (${ids}::uuid[])`,
  );
  await tx.run(upsertPaymentMethods(shopId, positioned(paymentMethods)));
}

const upsertCampaigns = insertInto(
  'newsletter_campaign',
  {
    campaignId: 'uuid',
    identifier: 'text',
    language: 'text',
    name: 'text',
    description: 'text',
    subject: 'text',
    position: 'integer',
  },
  { key: ['campaignId'], keep: ['identifier'] },
);

/** The foreign key deletes the subscribers of a campaign that is removed. */
async function replaceNewsletterCampaigns(tx: Transaction, current: Settings, next: Settings): Promise<void> {
  const { shopId, newsletterCampaigns } = next;
  const ids = removedCampaigns(current, next).map(({ campaignId }) => campaignId);
  await tx.run(sql`
    delete from newsletter_campaign where shop_id = ${shopId} and campaign_id = any (${ids}::uuid[])`);
  await tx.run(upsertCampaigns(shopId, positioned(newsletterCampaigns)));
}

export function removedCampaigns(current: Settings, next: Settings) {
  const ids = new Set(next.newsletterCampaigns.map(({ campaignId }) => campaignId));
  return current.newsletterCampaigns.filter(({ campaignId }) => !ids.has(campaignId));
}

/** By id of the campaign; a campaign without subscribers is absent. */
export async function countSubscribersByCampaign(
  tx: Transaction,
  shopId: string,
  campaignIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.many<{ campaignId: string; count: number }>(sql`
    select upper(campaign_id::text) as "campaignId", count(*) as count from newsletter_subscriber
    where shop_id = ${shopId} and campaign_id = any (${campaignIds}::uuid[])
    group by campaign_id`);
  return new Map(rows.map(({ campaignId, count }) => [campaignId, count]));
}

const insertNewGroups = insertInto(
  'customer_group',
  { customerGroupId: 'uuid', name: 'text' },
  { key: ['customerGroupId'], keep: ['name'] },
);

async function replaceCustomerGroups(tx: Transaction, current: Settings, next: Settings): Promise<void> {
  const { shopId } = next;
  const names = new Set(next.customerGroups.map(({ name }) => name));
  const gone = current.customerGroups.filter(({ name }) => !names.has(name));
  const ids = gone.map(({ customerGroupId }) => customerGroupId);
  const used = gone.length > 0 ? await findUsedGroups(tx, shopId, ids) : [];
  if (used.length > 0) throw inUse('customerGroups', used, 'customers or prices of products');
  await tx.run(sql`
    delete from customer_group where shop_id = ${shopId} and customer_group_id = any (${ids}::uuid[])`);
  await tx.run(insertNewGroups(shopId, next.customerGroups));
}

/** The names of the groups in use. No foreign key protects the groups in product prices. */
async function findUsedGroups(tx: Transaction, shopId: string, groupIds: readonly string[]) {
  const rows = await tx.many<{ name: string }>(sql`
    select name from customer_group
    where shop_id = ${shopId} and customer_group_id = any (${groupIds}::uuid[]) and (
      exists (
        select from customer
        where customer.shop_id = ${shopId} and customer.customer_group_id = customer_group.customer_group_id)
      or exists (
        select from product cross join jsonb_array_elements(product.facts -> 'groupPrices') as own
        where product.shop_id = ${shopId} and (own ->> 'customerGroupId')::uuid = customer_group.customer_group_id))
    order by name`);
  return rows.map(({ name }) => name);
}

function missingFrom<Entry extends { key: string }>(next: readonly Entry[], all: readonly Entry[]): Entry[] {
  const keys = new Set(next.map(({ key }) => key));
  return all.filter(({ key }) => !keys.has(key));
}

/** The foreign keys of products and orders refuse to remove what they refer to. */
async function removeUnlessUsed(
  tx: Transaction,
  section: SectionName,
  gone: readonly { key: string }[],
  removal: Sql,
): Promise<void> {
  if (gone.length === 0) return;
  try {
    await tx.run(removal);
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === undefined) throw error;
    const keys = gone.map(({ key }) => key);
    throw inUse(section, keys, constraint);
  }
}

function inUse(section: SectionName, keys: readonly string[], by: string): SettingsProblem {
  return problemAt({
    path: [section],
    text: `${keys.join(' or ')} can't be taken away, because it is in use (${by}); name it in the file, or change first what uses it`,
    rule: { name: 'inUse', names: keys.join(', ') },
  });
}

const problemAt = (problem: Problem) => new SettingsProblem([problemLine(problem)], [problem]);

/** The entries, each with its position in the list. */
function positioned<Entry extends object>(entries: readonly Entry[]): (Entry & { position: number })[] {
  return entries.map((entry, position) => ({ ...entry, position }));
}

import type { Queries } from '../db/database.ts';
import { readableFields, SHOP_RESOURCE_ID } from '../fields/values.ts';
import { findValuesOfFields } from '../fields/queries.ts';
import { canonicalDecimal, fullKey, givenValue, type ReadValue } from '../fields/value.ts';
import { anyText, nameOf } from '../catalogue/products/render.ts';
import { findProductRows, type ProductRow } from '../catalogue/products/queries.ts';
import { priceIn } from '../catalogue/products/prices.ts';
import { currencyDigits, parseDecimal } from '../kernel/money.ts';
import { findCustomersWithTags, type TaggedCustomer } from '../people/customers/tags.ts';
import { findOrderCounts } from '../orders/customer-totals.ts';
import { emailAddressOf } from '../orders/order-email.ts';
import { payableOf } from '../orders/manage-change.ts';
import { orderState } from '../orders/order-state.ts';
import { findManagedOrdersByIds, type ManagedOrder } from '../orders/queries.ts';
import { findTagsOfOrders } from '../orders/tags.ts';
import type { Address } from '../shops/countries/address.ts';
import type { CustomField, FieldResource, Settings } from '../shops/settings/settings.ts';
import type { Fact, Facts, MoneyFact } from './decide.ts';
import { countNewOrders } from './queries.ts';
import { countOpenTasks } from './task-queries.ts';
import { weekdayOf } from './schedule.ts';
import { FACTS, type FactType, type RuleResource } from './things.ts';

/*
 * Loads things with the facts that conditions compare and texts name. The number of statements does not depend on the number of things.
 */

const DAY = 86_400_000;

/** Precedes the name of a custom field. */
export const FIELD_PREFIX = 'field.';

const FIELDS_OF: Readonly<Record<RuleResource, readonly FieldResource[]>> = {
  order: ['order'],
  product: ['product', 'variation'],
  customer: ['customer'],
  shop: ['shop'],
};

/** undefined: conditions can't ask for it. A reference is the id of what it refers to. */
function typeOfField({ type, isList, choices }: CustomField): FactType | undefined {
  if (type === 'richText' || type === 'json') return undefined;
  if (isList) return type === 'money' ? undefined : { kind: 'texts' };
  if (type === 'choice') return { kind: 'choice', choices: (choices ?? []).map(({ key }) => key) };
  return type === 'number' || type === 'money' || type === 'boolean' || type === 'date'
    ? { kind: type }
    : { kind: 'text' };
}

/** The custom fields of a thing that conditions ask for. A variation has definitions of its own. */
function fieldsOfThing(settings: Settings, resource: RuleResource): readonly CustomField[] {
  return FIELDS_OF[resource].flatMap((one) => readableFields(settings, one, 'merchant'));
}

/** The facts of a thing by their names. Of two fields with one name, the first decides. */
export function factTypes(settings: Settings, resource: RuleResource): Record<string, FactType> {
  const types: Record<string, FactType> = { ...FACTS[resource] };
  for (const field of fieldsOfThing(settings, resource)) {
    const type = typeOfField(field);
    if (type) types[FIELD_PREFIX + fullKey(field)] ??= type;
  }
  return types;
}

/** A thing as rules see it. */
export interface RuleThing {
  resource: RuleResource;
  /** null: the shop. */
  resourceId: string | null;
  /** Its number, or the name of the shop. */
  name: string;
  facts: Facts;
  /** Its customer; null: it has none, or the customer was erased. */
  customer: { customerId: string; email: string | null; locale: string } | null;
}

/** Things by their ids; those that are gone are missing. */
export function loadThings(
  db: Queries,
  settings: Settings,
  resource: Exclude<RuleResource, 'shop'>,
  ids: readonly string[],
): Promise<Map<string, RuleThing>> {
  if (ids.length === 0) return Promise.resolve(new Map<string, RuleThing>());
  const load = { order: loadOrders, product: loadProducts, customer: loadCustomers }[resource];
  return load(db, settings, ids);
}

async function loadOrders(db: Queries, settings: Settings, ids: readonly string[]) {
  const { shopId, defaultLocale } = settings;
  const [orders, tags, fields] = await Promise.all([
    findManagedOrdersByIds(db, shopId, ids),
    findTagsOfOrders(db, shopId, ids),
    loadFields(db, settings, 'order', ids),
  ]);
  const customerIds = [...new Set(orders.map(({ customerId }) => customerId))];
  const [customers, counts] = await Promise.all([
    findCustomersWithTags(db, shopId, customerIds),
    findOrderCounts(db, shopId, customerIds),
  ]);
  const customerOf = new Map(customers.map((customer) => [customer.customerId, customer]));
  const textOf = (texts: Readonly<Record<string, string>> | undefined) =>
    anyText(texts, defaultLocale, defaultLocale);
  const toThing = (order: ManagedOrder): RuleThing => {
    const { orderId, orderNumber, customerId, content, locale, billingAddress, shippingAddress } = order;
    const email = emailAddressOf(order) ?? null;
    return {
      resource: 'order',
      resourceId: orderId,
      name: orderNumber,
      customer: order.erasedAt ? null : { customerId, email, locale },
      facts: {
        number: orderNumber,
        total: moneyFact(content.grandTotal, content.currency),
        unpaid: moneyFact(payableOf(order), content.currency),
        age: String(Math.floor((db.now.getTime() - order.createdAt.getTime()) / DAY)),
        state: orderState(order),
        items: sumOfDecimals(content.lines.map(({ quantity }) => quantity)),
        products: [...new Set(content.lines.map(({ productNumber }) => productNumber))],
        country: (shippingAddress ?? billingAddress).country ?? null,
        payment: textOf(content.payment?.method?.name) ?? content.payment?.name ?? null,
        shipping: textOf(content.shipping?.name),
        language: locale.slice(0, 2),
        customer: order.erasedAt ? null : personName(billingAddress),
        email,
        comment: order.customerComment,
        tags: tags.get(orderId) ?? [],
        customerTags: customerOf.get(customerId)?.tags ?? [],
        customerOrders: String(counts.get(customerId) ?? 0),
        ...fields(orderId),
      },
    };
  };
  return byId(orders.map(toThing));
}

async function loadProducts(db: Queries, settings: Settings, ids: readonly string[]) {
  const { shopId, defaultLocale, defaultCurrency } = settings;
  const [rows, fields] = await Promise.all([
    findProductRows(db, shopId, ids),
    loadFields(db, settings, 'product', ids),
  ]);
  const toThing = (row: ProductRow): RuleThing => {
    const price = priceIn(row.prices ?? row.master?.prices, defaultCurrency, settings);
    return {
      resource: 'product',
      resourceId: row.productId,
      name: row.productNumber,
      customer: null,
      facts: {
        number: row.productNumber,
        name: nameOf(row, settings, defaultLocale),
        price: price === null ? null : moneyFact(price, defaultCurrency),
        stock: row.stock === null ? null : decimalOf(row.stock),
        visible: row.visible,
        manufacturer: row.facts.manufacturer ?? row.master?.facts.manufacturer ?? null,
        variation: row.masterId !== null,
        ...fields(row.productId),
      },
    };
  };
  return byId(rows.map(toThing));
}

async function loadCustomers(db: Queries, settings: Settings, ids: readonly string[]) {
  const { shopId, defaultLocale } = settings;
  const [customers, counts, fields] = await Promise.all([
    findCustomersWithTags(db, shopId, ids),
    findOrderCounts(db, shopId, ids),
    loadFields(db, settings, 'customer', ids),
  ]);
  const toThing = ({ customerId, customerNumber, billingAddress, tags }: TaggedCustomer): RuleThing => {
    const email = billingAddress?.emailAddress ?? null;
    return {
      resource: 'customer',
      resourceId: customerId,
      name: customerNumber,
      customer: { customerId, email, locale: defaultLocale },
      facts: {
        number: customerNumber,
        customer: billingAddress && personName(billingAddress),
        email,
        company: billingAddress?.company ?? null,
        country: billingAddress?.country ?? null,
        tags,
        orders: String(counts.get(customerId) ?? 0),
        ...fields(customerId),
      },
    };
  };
  return byId(customers.map(toThing));
}

/** The shop with the facts of a rule with a schedule, counted since its last run. */
export async function loadShopThing(db: Queries, settings: Settings, since: Date): Promise<RuleThing> {
  const { shopId } = settings;
  const [newOrders, openTasks, fields] = await Promise.all([
    countNewOrders(db, shopId, since),
    countOpenTasks(db, shopId),
    loadFields(db, settings, 'shop', [SHOP_RESOURCE_ID]),
  ]);
  return {
    resource: 'shop',
    resourceId: null,
    name: anyText(settings.name, settings.defaultLocale, settings.defaultLocale) ?? shopId,
    customer: null,
    facts: {
      weekday: weekdayOf(db.now, settings.deliveryTimes.timeZone),
      newOrders: String(newOrders),
      openTasks: String(openTasks),
      ...fields(SHOP_RESOURCE_ID),
    },
  };
}

/** The values of custom fields as facts of each thing. No statement is sent where a shop has none. */
async function loadFields(
  db: Queries,
  settings: Settings,
  resource: RuleResource,
  ids: readonly string[],
): Promise<(resourceId: string) => Facts> {
  const types = factTypes(settings, resource);
  const fields = fieldsOfThing(settings, resource).filter(
    (field) => types[FIELD_PREFIX + fullKey(field)]?.kind === typeOfField(field)?.kind,
  );
  if (fields.length === 0) return () => ({});
  const fieldIds = fields.map(({ fieldId }) => fieldId);
  const rows = await findValuesOfFields(db, settings.shopId, ids, fieldIds);
  return (resourceId) => {
    const own = rows.filter((row) => row.resourceId === resourceId);
    return Object.fromEntries(fields.flatMap((field) => factOfField(field, own, settings.defaultLocale)));
  };
}

function factOfField(field: CustomField, rows: readonly ReadValue[], locale: string): [string, Fact][] {
  const given = givenValue(field, rows);
  const value = field.isLocalised ? (given as Record<string, unknown> | undefined)?.[locale] : given;
  if (value === undefined) return [];
  const stored = rows.find(({ fieldId }) => fieldId === field.fieldId)!.value;
  const fact =
    field.type === 'money' && !field.isList
      ? moneyOfStored(stored as { amount: number; currency: string })
      : Array.isArray(value)
        ? value.map(String)
        : (value as string | boolean);
  return [[FIELD_PREFIX + fullKey(field), fact]];
}

const moneyOfStored = ({ amount, currency }: { amount: number; currency: string }) =>
  moneyFact(amount, currency);

/** Of an amount in minor units. */
function moneyFact(minor: number, currency: string): MoneyFact {
  return { amount: canonicalDecimal({ units: BigInt(minor), scale: currencyDigits(currency) }), currency };
}

const decimalOf = (number: number) => canonicalDecimal(parseDecimal(number)!);

/** Exact: of decimal texts. */
function sumOfDecimals(texts: readonly string[]): string {
  const decimals = texts.map((text) => parseDecimal(text)!);
  const scale = Math.max(0, ...decimals.map((decimal) => decimal.scale));
  const units = decimals.reduce(
    (sum, decimal) => sum + decimal.units * 10n ** BigInt(scale - decimal.scale),
    0n,
  );
  return canonicalDecimal({ units, scale });
}

function personName({ firstName, lastName, company }: Address): string | null {
  const name = [firstName, lastName].filter(Boolean).join(' ');
  return name || company || null;
}

const byId = (things: readonly RuleThing[]) => new Map(things.map((thing) => [thing.resourceId!, thing]));

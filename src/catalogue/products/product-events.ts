import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { recordEvents, stampAtCommit, timeOfCommit, type NewEvent } from '../../platform/events/log.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { ProductFacts } from './facts.ts';
import { queueLowStockAtCommit } from './low-stock-email.ts';
import { moveVersions, type StoredProduct } from './queries.ts';

/** Publishes changes of products: the events, and the times used by lists of changed products. */

/**
 * Names in the API: the last part of a PATCH path, or else the field of the response. null: it is derived from others.
 */
const FACT_NAMES: Readonly<Record<keyof ProductFacts, string | null>> = {
  name: 'name',
  shortDescription: 'shortDescription',
  description: 'description',
  title: 'title',
  essentialFeatures: 'essentialFeatures',
  searchKeywords: 'searchKeywords',
  uri: 'sfUrl',
  manufacturer: 'manufacturer',
  manufacturerProductNumber: 'manufacturerProductNumber',
  upc: 'upc',
  ean: 'ean',
  productCode: 'productCode',
  deliveryPeriod: 'deliveryPeriod',
  deliveryWeight: 'deliveryWeight',
  length: 'productLength',
  width: 'productWidth',
  height: 'productHeight',
  manufacturerPrices: 'manufacturerPrice',
  depositPrices: 'depositPrice',
  ecoParticipationPrices: 'ecoParticipationPrice',
  shippingSurcharge: 'shippingSurcharge',
  pricesBeforeReduction: null,
  bulkPrices: 'bulkPriceInfo',
  groupPrices: 'customerSpecificPriceInfo',
  listPrices: 'priceLists',
  isNew: 'isNew',
  newUntil: 'newnessDate',
  specialOffer: 'specialOffer',
  isProductNumberVisible: 'isProductNumberVisible',
  isVatInfoVisible: 'isVATInfoVisible',
  isManufacturerPriceRrp: 'isManufacturerPriceRRP',
  isShippingLinkVisible: 'isShippingLinkVisible',
  customisation: 'customisationInfo',
  reference: 'referencePriceInfo',
  orderUnit: 'orderUnitInfo',
  maxOrder: 'maxOrder',
  backorder: 'backorder',
  withdrawalExcluded: 'withdrawalExcluded',
  safety: 'safetyInfo',
  durabilityGuarantee: 'legalInfo',
  environmentalClaims: 'legalInfo',
  repairability: 'legalInfo',
  softwareUpdates: 'legalInfo',
  eprelNumber: 'legalInfo',
  hsCode: 'legalInfo',
  originCountry: 'legalInfo',
  productPassport: 'legalInfo',
  videos: 'video',
  dataSheet: 'productDataSheet',
  energyLabel: 'energyLabelsString',
  shippingMethodIds: 'shippingMethodsRestrictedTo',
  attributes: 'customAttributes',
  variationAttributes: 'variationAttributes',
  forSaleFrom: 'forSale',
  forSaleUntil: 'forSale',
  isBundle: 'isBundle',
  giftCard: 'giftCard',
  parts: 'parts',
  partsDiscount: 'price',
};

const COLUMN_NAMES: Readonly<Record<Exclude<keyof StoredProduct, 'facts'>, string | null>> = {
  productId: null,
  productNumber: 'productNumber',
  kind: 'productVariationType',
  masterId: null,
  selection: 'productVariationSelection',
  visible: 'visible',
  stock: 'stocklevel',
  minStock: 'minStocklevel',
  taxClassId: 'taxClassId',
  productTypeId: 'producttype',
  prices: 'price',
  mainImage: 'productImage',
};

const STOCK = COLUMN_NAMES.stock!;

/** The names of the fields that differ. */
export function changedFields(before: StoredProduct, after: StoredProduct): string[] {
  return [
    ...new Set([
      ...differences(COLUMN_NAMES, before, after),
      ...differences(FACT_NAMES, before.facts, after.facts),
    ]),
  ];
}

function differences<Key extends string>(
  names: Readonly<Record<Key, string | null>>,
  before: Partial<Record<Key, unknown>>,
  after: Partial<Record<Key, unknown>>,
): string[] {
  return (Object.keys(names) as Key[]).flatMap((key) => {
    const name = names[key];
    return name === null || isDeepStrictEqual(before[key], after[key]) ? [] : [name];
  });
}

/** Whether the stock is among the fields, and whether anything else is. */
export function changedParts(changed: readonly string[]): { stock: boolean; attributes: boolean } {
  return { stock: changed.includes(STOCK), attributes: changed.some((name) => name !== STOCK) };
}

/**
 * The events of a falling stock: to the merchant's warning level, and to zero. null is an untracked stock. A stock
 * that stays below a level, or rises, has none.
 */
export function stockEvents(
  before: number | null,
  after: number | null,
  minStock: number | null,
): Pick<NewEvent, 'type' | 'data'>[] {
  if (after === null) return [];
  const fallsTo = (level: number) => (before === null || before > level) && after <= level;
  const data = { stocklevel: after };
  return [
    ...(minStock !== null && fallsTo(minStock)
      ? [{ type: 'STOCK_LOW' as const, data: { ...data, minStocklevel: minStock } }]
      : []),
    ...(fallsTo(0) ? [{ type: 'STOCK_OUT' as const, data }] : []),
  ];
}

const reportedIn = new WeakSet<Transaction>();

/** Records the events of a stock changed by the merchant, and adds a low stock to the email of the hour. */
export function recordStockEvents(
  tx: Transaction,
  { shopId, lowStockLevel }: Pick<Settings, 'shopId' | 'lowStockLevel'>,
  { productId, minStock }: Pick<StoredProduct, 'productId' | 'minStock'>,
  before: number | null,
  after: number | null,
): void {
  const events = stockEvents(before, after, minStock ?? lowStockLevel);
  if (events.some(({ type }) => type === 'STOCK_LOW') && !reportedIn.has(tx)) {
    reportedIn.add(tx);
    stampAtCommit(tx, shopId, (count) => queueLowStockAtCommit(tx, shopId, count));
  }
  recordEvents(
    tx,
    shopId,
    events.map((event) => ({ ...event, resourceId: productId })),
  );
}

export function recordCreatedProducts(tx: Transaction, shopId: string, productIds: readonly string[]): void {
  recordEvents(
    tx,
    shopId,
    productIds.map((resourceId) => ({ type: 'PRODUCT_CREATE', resourceId })),
  );
}

/** For products whose rows this transaction has locked. One without a changed field is left out. */
export function recordChangedProducts(
  tx: Transaction,
  shopId: string,
  products: readonly { productId: string; changed: readonly string[] }[],
): void {
  const really = products.filter(({ changed }) => changed.length > 0);
  recordEvents(
    tx,
    shopId,
    really.map(({ productId, changed }) => ({
      type: 'PRODUCT_UPDATE',
      resourceId: productId,
      data: { changed },
    })),
  );
  for (const part of ['attributes', 'stock'] as const) {
    const ids = really.filter(({ changed }) => changedParts(changed)[part]).map(({ productId }) => productId);
    stampChangedProducts(tx, shopId, ids, part);
  }
}

/** After a visible change outside the product rows, such as of their categories. */
export async function touchProducts(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
  changed: readonly string[],
): Promise<void> {
  await moveVersions(tx, shopId, productIds);
  recordChangedProducts(
    tx,
    shopId,
    productIds.map((productId) => ({ productId, changed })),
  );
}

const changedIn = new WeakMap<Transaction, Record<'attributes' | 'stock', Set<string>>>();

/**
 * Sets the time of the change to that of the commit, so that `products/updated` never shows a later change before an
 * earlier one. The rows must be locked by this transaction. However often it is called, the number of statements does
 * not grow.
 */
export function stampChangedProducts(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
  part: 'attributes' | 'stock',
): void {
  if (productIds.length === 0) return;
  const known = changedIn.get(tx);
  const changed = known ?? { attributes: new Set(), stock: new Set() };
  if (!known) {
    changedIn.set(tx, changed);
    stampAtCommit(tx, shopId, () => updateTimes(tx, shopId, changed));
  }
  for (const productId of productIds) changed[part].add(productId);
}

function updateTimes(
  tx: Transaction,
  shopId: string,
  { attributes, stock }: Record<'attributes' | 'stock', ReadonlySet<string>>,
) {
  // Each row is written once, even where both have changed.
  return Promise.all(
    [
      { isAttributes: true, isStock: false, ids: [...attributes].filter((id) => !stock.has(id)) },
      { isAttributes: false, isStock: true, ids: [...stock].filter((id) => !attributes.has(id)) },
      { isAttributes: true, isStock: true, ids: [...attributes].filter((id) => stock.has(id)) },
    ]
      .filter(({ ids }) => ids.length > 0)
      .map(({ isAttributes, isStock, ids }) =>
        tx.run(sql`
          update product
          set attributes_changed_at = case when ${isAttributes} then ${timeOfCommit(shopId)} else attributes_changed_at end,
            stock_changed_at = case when ${isStock} then ${timeOfCommit(shopId)} else stock_changed_at end
          where shop_id = ${shopId} and product_id = any (${ids}::uuid[])`),
      ),
  );
}

import type { Transaction } from '../../db/database.ts';
import { keepFormerAddresses } from '../redirects/save.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { assignStock, queueNotices } from './backorder-queue.ts';
import { queueAvailabilityNotifications } from './availability-notifications.ts';
import { refreshStockOfBundles } from './bundle-stock.ts';
import { backorderOfParts, findPartProducts, lockBundlesOf, priceOfParts } from './bundles.ts';
import { setFact } from './facts.ts';
import { refreshListing } from './listing.ts';
import { recordPrices } from './price-history.ts';
import { changedFields, changedParts, recordChangedProducts, recordStockEvents } from './product-events.ts';
import { isBackInStock } from './orderable.ts';
import { lockProduct, moveVersions, updateProductRow, type StoredProduct } from './queries.ts';

/**
 * Saves a product whose row is locked, with everything that follows from the change: versions, the history of its
 * prices, lists and search, events, back-in-stock emails. Nothing is written when nothing differs.
 */
export async function saveProduct(
  tx: Transaction,
  shopId: string,
  before: StoredProduct,
  given: StoredProduct,
): Promise<void> {
  const after = await followParts(tx, shopId, before, given);
  const changed = changedFields(before, after);
  if (changed.length === 0) return;
  const [pricesBeforeReduction] = isSame(before.prices, after.prices)
    ? [after.facts.pricesBeforeReduction]
    : await recordPrices(tx, shopId, [
        {
          productId: after.productId,
          before: before.prices,
          after: after.prices,
          beforeReduction: before.facts.pricesBeforeReduction,
        },
      ]);
  const { pricesBeforeReduction: _old, ...facts } = after.facts;
  const saved = { ...after, facts: pricesBeforeReduction ? { ...facts, pricesBeforeReduction } : facts };
  await updateProductRow(tx, shopId, saved);
  const left = await assignStock(tx, shopId, before.stock === after.stock ? [] : [after.productId]);
  const stock = left.get(after.productId) ?? after.stock;
  if (changed.includes(BACKORDER)) await queueNotices(tx, shopId, [after.productId]);
  if (before.productNumber !== after.productNumber) {
    await keepFormerAddresses(tx, shopId, {
      kind: 'product',
      id: after.productId,
      before: [pathOf(before)],
      after: [pathOf(after)],
    });
  }
  recordChangedProducts(tx, shopId, [{ productId: after.productId, changed }]);
  if (before.stock !== after.stock) {
    recordStockEvents(tx, await shopSettings(tx, shopId), after, before.stock, stock);
  }
  if (isListedChange(before, after, changed)) {
    // The master was not changed itself.
    if (after.masterId !== null) await moveVersions(tx, shopId, [after.masterId]);
    const ids = [after.productId];
    await (areWordsSame(changed) ? refreshListing(tx, shopId, [], ids) : refreshListing(tx, shopId, ids));
  }
  if (isBackInStock(before.stock, stock)) await queueAvailabilityNotifications(tx, shopId, [after.productId]);
  if (after.facts.parts) await refreshStockOfBundles(tx, shopId, [after.productId]);
  else await refreshBundlesOf(tx, shopId, [after.productId], changedParts(changed));
}

const BACKORDER = 'backorder';

/** A bundle has the stock of its parts, and maybe their price; what was given for these is not used. */
async function followParts(
  tx: Transaction,
  shopId: string,
  before: StoredProduct,
  after: StoredProduct,
): Promise<StoredProduct> {
  const { parts, partsDiscount } = after.facts;
  if (!parts) return after;
  const partIds = parts.map(({ productId }) => productId);
  const known = await findPartProducts(tx, shopId, partIds);
  const next = { ...after, stock: before.stock };
  setFact(next, 'backorder', backorderOfParts(after.facts, known));
  if (partsDiscount === undefined) return next;
  return { ...next, prices: priceOfParts(after.facts, known, await shopSettings(tx, shopId)) };
}

/** After a change of products: brings the bundles up to date that they are parts of. */
export async function refreshBundlesOf(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
  changed: { stock: boolean; attributes: boolean },
): Promise<void> {
  const bundleIds = await lockBundlesOf(tx, shopId, productIds);
  if (bundleIds.length === 0) return;
  await refreshStockOfBundles(tx, shopId, bundleIds);
  if (!changed.attributes) return;
  for (const bundleId of bundleIds) await saveBundle(tx, shopId, bundleId);
  // Their pages and carts show the names of their parts.
  await moveVersions(tx, shopId, bundleIds);
}

/** After a change of a locked bundle, or of its parts: it follows their prices, and how they are sold beyond their stock. */
export async function saveBundle(tx: Transaction, shopId: string, bundleId: string): Promise<void> {
  const bundle = await lockProduct(tx, shopId, bundleId);
  if (bundle?.facts.parts) await saveProduct(tx, shopId, bundle, bundle);
}

const pathOf = ({ productNumber }: StoredProduct) => `/Products/${encodeURIComponent(productNumber)}`;

/**
 * Whether lists may show the changed fields. A stock is not listed, and neither is a variation: its master shows its
 * price, numbers and visibility.
 */
export function isListedChange(
  before: StoredProduct,
  after: StoredProduct,
  changed: readonly string[],
): boolean {
  if (!changedParts(changed).attributes) return false;
  if (after.masterId === null) return true;
  const listed = ({ prices, visible, productNumber, facts }: StoredProduct) => [
    prices,
    visible,
    productNumber,
    facts.reference,
    facts.manufacturerProductNumber,
    facts.ean,
    facts.upc,
    facts.productCode,
  ];
  return !isSame(listed(before), listed(after));
}

/** Fields that no word of a product, its categories or its variations is taken from. */
const WITHOUT_WORDS = new Set([
  'price',
  'manufacturerPrice',
  'depositPrice',
  'ecoParticipationPrice',
  'bulkPriceInfo',
  'customerSpecificPriceInfo',
  'taxClassId',
  'stocklevel',
  'minStocklevel',
  'backorder',
]);

/** Whether a product is found by the same words after these fields have changed. */
export function areWordsSame(changed: readonly string[]): boolean {
  return changed.every((name) => WITHOUT_WORDS.has(name));
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { invalid, Refusal } from '../../http/errors.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { BUNDLE_LIMIT } from './backorders.ts';
import type { BackorderTerms, BundlePart, Prices, ProductFacts } from './facts.ts';
import { priceIn } from './prices.ts';
import type { StoredProduct } from './queries.ts';
import { sumOfParts } from './sum-of-parts.ts';

/** Bundles: products that are made of others, whose stock, and maybe whose price, follows from their parts. */

export const MAX_PARTS = 20;
export const MAX_PART_QUANTITY = 999;

/** The bundles of these products. Of a variation, those too in which the customer chooses one of its master's. */
const bundlesOf = (shopId: string, productIds: readonly string[]) => sql`
  product.shop_id = ${shopId} and product.kind = 'regular' and product.facts ? 'parts'
  and jsonb_path_query_array(product.facts, '$.parts[*].productId') ?| array(
    select unnest(array[upper(part.product_id::text), upper(part.master_id::text)]) from product part
    where part.shop_id = ${shopId} and part.product_id = any (${productIds}::uuid[])
    union select upper(id::text) from unnest(${productIds}::uuid[]) as given (id))`;

/**
 * Locks the bundles of these products, in id order: after the products themselves, so that two transactions that take
 * stock cannot deadlock.
 */
export async function lockBundlesOf(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select upper(product.product_id::text) as "productId" from product
    where ${bundlesOf(shopId, productIds)} order by product.product_id for no key update`);
  return rows.map(({ productId }) => productId);
}

export interface BundleStock {
  productId: string;
  before: number | null;
  after: number | null;
}

/**
 * The stock of locked bundles from that of their parts: how many of them the scarcest part is enough for. Of a master
 * counts the variation with the largest stock. A part that was deleted leaves none; parts whose stock is not counted do
 * not limit it. Returns the bundles whose stock has changed.
 */
export async function refreshBundleStock(
  tx: Transaction,
  shopId: string,
  bundleIds: readonly string[],
  at: Date,
): Promise<BundleStock[]> {
  if (bundleIds.length === 0) return [];
  return tx.many<BundleStock>(sql`
    update product
    set stock = fresh.stock, stock_changed_at = ${at}, promised = fresh.promised,
      version = version + (product.promised <> fresh.promised)::int
    from (
      select bundle.product_id, bundle.stock as former, enough.stock,
        coalesce(greatest(
          (bundle.facts -> 'backorder' ->> 'limit')::numeric - (enough.orderable - enough.stock), 0), 0) as promised
      from product bundle
      cross join lateral (
        select min(floor(offers.stock / quantity)) as stock, min(floor(offers.orderable / quantity)) as orderable
        from (
          select (part ->> 'productId')::uuid as product_id, (part ->> 'quantity')::numeric as quantity
          from jsonb_array_elements(bundle.facts -> 'parts') as part
        ) part
        cross join lateral (
          select case when count(*) = 0 then 0 when bool_or(offer.stock is null) then null
              else greatest(max(offer.stock), 0) end as stock,
            case when count(*) = 0 then 0 when bool_or(offer.stock is null) then null
              else max(greatest(offer.stock, 0) + greatest(coalesce((coalesce(
                offer.facts -> 'backorder', master.facts -> 'backorder') ->> 'limit')::numeric - offer.promised, 0), 0))
              end as orderable
          from product offer
          left join product master on master.shop_id = ${shopId} and master.product_id = offer.master_id
          where offer.shop_id = ${shopId} and offer.kind <> 'master' and (
            offer.product_id = part.product_id or offer.master_id = part.product_id and offer.visible)
        ) offers
      ) enough
      where bundle.shop_id = ${shopId} and bundle.product_id = any (${bundleIds}::uuid[])
    ) fresh
    where product.shop_id = ${shopId} and product.product_id = any (${bundleIds}::uuid[])
      and product.product_id = fresh.product_id
      and (product.stock is distinct from fresh.stock or product.promised <> fresh.promised)
    returning upper(product.product_id::text) as "productId", fresh.former::float8 as before,
      product.stock::float8 as after`);
}

/** A product that can be a part, or a variation of it. */
export interface PartProduct {
  productId: string;
  masterId: string | null;
  productNumber: string;
  kind: StoredProduct['kind'];
  visible: boolean;
  /** Its own, else its master's. */
  prices: Prices | null;
  orderUnit: ProductFacts['orderUnit'] | null;
  backorder: BackorderTerms | null;
  isBundle: boolean;
  isGiftCard: boolean;
}

/** These products, and the variations of those that are masters. */
export function findPartProducts(
  tx: Pick<Transaction, 'many'>,
  shopId: string,
  productIds: readonly string[],
) {
  return tx.many<PartProduct>(sql`
    select upper(product.product_id::text) as "productId", upper(product.master_id::text) as "masterId",
      product.product_number as "productNumber", product.kind, product.visible,
      coalesce(product.prices, master.prices) as prices,
      coalesce(product.facts -> 'orderUnit', master.facts -> 'orderUnit') as "orderUnit",
      coalesce(product.facts -> 'backorder', master.facts -> 'backorder') as backorder,
      product.facts ? 'parts' as "isBundle",
      product.facts ? 'giftCard' or coalesce(master.facts ? 'giftCard', false) as "isGiftCard"
    from product
    left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    where product.shop_id = ${shopId} and (product.product_id = any (${productIds}::uuid[])
      or product.master_id = any (${productIds}::uuid[]))
    order by product.product_id`);
}

/** The parts that a merchant has chosen, if a bundle can be made of them. */
export async function requestedParts(
  tx: Transaction,
  shopId: string,
  product: Pick<StoredProduct, 'productId' | 'kind'>,
  parts: readonly BundlePart[],
): Promise<BundlePart[]> {
  if (product.kind !== 'regular') throw new Refusal('BUNDLE_IS_VARIATION');
  const given = parts.map(({ productId, quantity }) => ({ productId: productId.toUpperCase(), quantity }));
  const known = await findPartProducts(
    tx,
    shopId,
    given.map(({ productId }) => productId),
  );
  for (const [index, { productId }] of given.entries()) {
    const part = known.find((one) => one.productId === productId);
    const isTwice = given.findIndex((one) => one.productId === productId) < index;
    if (!part || isTwice || productId === product.productId)
      throw invalid('UNKNOWN_VALUE', `parts.${index}.productId`);
    if (part.isBundle) throw new Refusal('PART_IS_BUNDLE', { product: part.productNumber });
    if (part.isGiftCard) throw new Refusal('BUNDLE_OF_GIFT_CARDS');
  }
  const [above] = await lockBundlesOf(tx, shopId, [product.productId]);
  if (above !== undefined) throw new Refusal('BUNDLE_IS_PART');
  return given;
}

/**
 * The price of a bundle that has none of its own. Where the customer chooses a variation, it is that with the cheapest;
 * a dearer one costs more in the cart.
 */
export function priceOfParts(
  { parts = [], partsDiscount = 0 }: ProductFacts,
  known: readonly PartProduct[],
  settings: Settings,
): Prices | null {
  const offers = parts.map(({ productId, quantity }) => ({
    quantity,
    offers: known.filter((one) => fillsPart(one, productId)),
  }));
  if (offers.some((part) => part.offers.length === 0)) return null;
  const priced = offers.map(({ quantity, offers }) => {
    const priceOf = ({ prices }: PartProduct) =>
      priceIn(prices, settings.defaultCurrency, settings) ?? Infinity;
    const cheapest = offers.reduce((least, one) => (priceOf(one) < priceOf(least) ? one : least));
    const { prices, orderUnit } = cheapest;
    return { quantity, product: { prices, ...(orderUnit && { orderUnit }) } };
  });
  return sumOfParts(priced, partsDiscount, settings);
}

/** How a bundle is sold beyond its stock: as its parts are, when the last of them is there. */
export function backorderOfParts(
  { parts = [] }: ProductFacts,
  known: readonly PartProduct[],
): BackorderTerms | undefined {
  const terms = parts.flatMap(({ productId }) => {
    const part = known.find((one) => fillsPart(one, productId) && one.backorder);
    return part?.backorder ? [part.backorder] : [];
  });
  if (terms.length === 0) return undefined;
  const days = terms.flatMap(({ expectedOn }) => expectedOn ?? []).toSorted();
  // Where the day of one part is unknown, so is that of the bundle.
  const expectedOn = days.length === terms.length ? days.at(-1) : undefined;
  return {
    kind: terms.some(({ kind }) => kind === 'preorder') ? 'preorder' : 'backorder',
    limit: BUNDLE_LIMIT,
    ...(expectedOn !== undefined && { expectedOn }),
  };
}

const fillsPart = (one: PartProduct, partId: string) =>
  one.kind !== 'master' && (one.productId === partId || (one.masterId === partId && one.visible));

import { productVersion, productVersions } from '../pricing/cart-product-cache.ts';
import type { Transaction } from '../db/database.ts';
import { recordEntries } from '../http/audit-entry.ts';
import { insertEventsAt, timeAfter } from '../platform/events/log.ts';
import { queueJobs } from '../platform/jobs/queue.ts';
import { queueAssistantNotices } from '../orders/assistant-notices.ts';
import { addToCustomerTotals } from '../orders/customer-totals.ts';
import { recordCardPayments } from '../orders/card-payments.ts';
import { redeemableAmount, type GiftCard } from '../giftcards/card.ts';
import { redeemGiftCards } from '../giftcards/ledger.ts';
import { lockGiftCards } from '../giftcards/queries.ts';
import { addPlacedOrders, insertOrderLines } from '../orders/day-sums.ts';
import { queueLowStock } from '../catalogue/products/low-stock-email.ts';
import type { OrderRequest, Placement, PlacementOptions } from './placement.ts';
import { decideOrders, type PlacementState, type Verdict } from './decision.ts';
import { takenBy, waitingLines } from './taken-stock.ts';
import { placedEvents } from './placed-events.ts';
import { type LimitedPromotion, type NewOrder, insertOrders } from '../orders/insert-orders.ts';
import {
  addCouponRevenue,
  countRedemptions,
  countRedemptionsOfDay,
  lockCampaignsByCode,
  lockCoupons,
  redeemCoupons,
} from '../coupons/redemption-queries.ts';
import {
  countCustomerUses,
  countPromotionUses,
  findCustomerUses,
  findPromotionUses,
  lockPromotionUses,
} from '../coupons/promotion-queries.ts';
import { deleteCarts, lockCarts } from '../carts/queries.ts';
import {
  findOrderBuyers,
  findTakenNumbers,
  insertCustomers,
  type FoundBuyer,
  type NewBuyer,
  type NumberedCustomer,
} from '../people/customers/buyer-queries.ts';
import { moveCartValues } from '../fields/queries.ts';
import { limitLockWaits, unlimitLockWaits } from '../db/locks.ts';
import { lockCounters, setCounters, type Counters } from '../platform/counters.ts';
import { insertWaitingLines } from '../catalogue/products/backorder-queue.ts';
import { lockBundlesOf, refreshBundleStock } from '../catalogue/products/bundles.ts';
import { lockStock, takeStock } from '../catalogue/products/stock-queries.ts';
import { sql } from '../db/sql.ts';

export type { NewOrder, Placement, PlacementOptions };

/** Places one order, like `placeOrders`. */
export async function placeOrder(
  tx: Transaction,
  shopId: string,
  order: NewOrder,
  options: PlacementOptions,
): Promise<Placement> {
  const [placement] = await placeOrders(tx, shopId, [{ order, options }]);
  return placement!;
}

/**
 * Places orders of one shop: it locks what they depend on, decides, and writes. A refused order changes nothing and
 * leaves no gap in the numbers; the others are placed all the same. However many orders there are, the number of
 * statements is the same, and they are sent in two groups: all that lock and read, then all that write.
 *
 * Two transactions that place orders cannot deadlock, because each takes its locks in the same order: carts, products,
 * bundles of these products, coupons, campaigns, uses of promotions, each in the order of their keys, then the counters of orders, events and customers, which all
 * orders of the shop wait for and which are therefore the last; gift cards are locked only by their holder. Their holder has all that orders compete for:
 * customers and the sums of the day are written by one transaction at a time. Cancelling or editing an order locks
 * products, coupon, the counter of events and sums in the same order.
 *
 * Orders are dated while the counters are held, so their dates follow the commits: a client that asks for the orders
 * after the last one it saw misses none.
 *
 * `waits`: for a cart, product or coupon that another transaction has locked. A batch waits briefly, because not all
 * of its orders need the row, and then the transaction fails. The counters are always waited for.
 */
export async function placeOrders(
  tx: Transaction,
  shopId: string,
  requests: readonly OrderRequest[],
  { waits = 'long' }: { waits?: 'briefly' | 'long' } = {},
): Promise<Placement[]> {
  const loaded = await lockAndLoad(tx, shopId, requests, waits === 'briefly');
  const verdicts = decideOrders(
    requests.map(({ order, options: { expected } }) => ({
      order,
      buyer: buyerOf(loaded.buyers.get(order.orderId)!),
      expected: expected && {
        settingsVersion: expected.settingsVersion,
        productVersions: expected.products.map(productVersion),
      },
    })),
    loaded.state,
  );
  const accepted = requests.flatMap((request, index) => {
    const { isPlaced, promised } = verdicts[index]!;
    return isPlaced ? [{ ...request, promised }] : [];
  });
  const placings = await save(tx, shopId, accepted, loaded);
  return requests.map(({ order }, index) => {
    const { isCurrent, shortIds, isCardShort } = verdicts[index]!;
    return placings.get(order.orderId) ?? { ...NOT_PLACED, isCurrent, shortIds, isCardShort };
  });
}

const buyerOf = ({ customerId, emailKey }: FoundBuyer) => customerId ?? emailKey;

const NOT_PLACED = {
  orderNumber: null,
  createdAt: null,
  customerId: null,
  customerNumber: null,
  left: [],
  states: {},
};

interface Loaded {
  state: PlacementState;
  /** The bundles that the ordered products are parts of. */
  bundleIds: readonly string[];
  /** By the id of the order. */
  buyers: ReadonlyMap<string, FoundBuyer>;
  counters: Counters;
  /** Those already taken among the next customer numbers, one per order. */
  takenNumbers: ReadonlySet<number>;
  /** By their ids. */
  giftCards: ReadonlyMap<string, GiftCard>;
}

const idOf = ({ promotionId }: LimitedPromotion) => promotionId;

/** The rows that these orders lock. */
export function rowsToLock(requests: readonly OrderRequest[]) {
  const orders = requests.map(({ order }) => order);
  const unique = (keys: (string | null)[]) => [...new Set(keys.filter((key) => key !== null))];
  return {
    cartIds: unique(orders.map(({ cartId }) => cartId)),
    productIds: unique(orders.flatMap(({ content }) => content.lines.map(({ productId }) => productId))),
    codeKeys: unique(orders.map(({ couponCodeKey }) => couponCodeKey)),
    promotionIds: unique(orders.flatMap(({ limitedPromotions = [] }) => limitedPromotions.map(idOf))),
  };
}

/** Sends everything at once: the statements wait for each other in the database, not here. */
async function lockAndLoad(
  tx: Transaction,
  shopId: string,
  requests: readonly OrderRequest[],
  waitsBriefly: boolean,
): Promise<Loaded> {
  const { cartIds, productIds, codeKeys, promotionIds } = rowsToLock(requests);
  const orders = requests.map(({ order }) => order);
  const expectedIds = requests.flatMap(
    ({ options }) => options.expected?.products.map(({ productId }) => productId) ?? [],
  );
  const giftCardIds = [
    ...new Set(orders.flatMap(({ giftCards }) => giftCards.map(({ giftCardId }) => giftCardId))),
  ];
  const [, carts, products, bundleIds, coupons, campaigns, , , versions, counters, buyers, ...rest] =
    await Promise.all([
      waitsBriefly && limitLockWaits(tx),
      lockCarts(tx, shopId, cartIds),
      lockStock(tx, shopId, productIds),
      lockBundlesOf(tx, shopId, productIds),
      lockCoupons(tx, shopId, codeKeys),
      lockCampaignsByCode(tx, shopId, codeKeys),
      lockPromotionUses(tx, shopId, promotionIds),
      waitsBriefly && unlimitLockWaits(tx),
      lockVersions(tx, shopId, [...new Set(expectedIds)]),
      lockCounters(tx, shopId),
      findOrderBuyers(tx, shopId, orders),
      findTakenNumbers(tx, shopId, { skipped: 0, count: orders.length }),
      findPromotionUses(tx, shopId, promotionIds),
      findCustomerUses(tx, shopId, promotionIds, orders),
      giftCardIds.length > 0 ? lockGiftCards(tx, shopId, giftCardIds) : [],
    ]);
  const [takenNumbers, promotionUses, customerUses, cards] = rest;
  const giftCards = new Map(cards.map((card) => [card.giftCardId, card]));
  return {
    state: {
      cartVersions: new Map(carts.map(({ cartId, version }) => [cartId, version])),
      stock: new Map(products.map(({ productId, stock }) => [productId, stock])),
      backorders: new Map(
        products.flatMap(({ productId, promised, backorder }) =>
          backorder ? [[productId, { backorder, promised }]] : [],
        ),
      ),
      minStocks: new Map(
        products.flatMap(({ productId, minStock }) =>
          minStock === null ? [] : [[productId, Number(minStock)]],
        ),
      ),
      coupons,
      campaigns,
      promotionUses,
      customerUses,
      giftCards: new Map(
        cards.map((card) => [card.giftCardId, redeemableAmount(card, card.currency, tx.now)]),
      ),
      settingsVersion: versions.settingsVersion,
      productVersions: new Set(versions.productVersions),
    },
    bundleIds,
    buyers: new Map(buyers.map((buyer) => [buyer.orderId, buyer])),
    counters,
    takenNumbers,
    giftCards,
  };
}

/** Writes the accepted orders, and returns the outcome of each by its id. */
async function save(
  tx: Transaction,
  shopId: string,
  requests: readonly (OrderRequest & Pick<Verdict, 'promised'>)[],
  { state, bundleIds, buyers, counters, takenNumbers, giftCards }: Loaded,
): Promise<Map<string, Placement>> {
  if (requests.length === 0) return new Map();
  const customers = await numberCustomers(
    tx,
    shopId,
    newCustomers(requests, buyers),
    counters.customer,
    takenNumbers,
  );
  const createdAt = timeAfter(counters.lastEventAt, tx.now);
  const placed = requests.map(({ order, options, promised }, index) => {
    const { emailKey, customerId } = buyers.get(order.orderId)!;
    const orderNumber = `${order.numberPrefix}${counters.order + 1 + index}`;
    const buyerId = customerId ?? customers.get(emailKey)!.customerId;
    return { order: { ...order, createdAt, orderNumber, buyerId }, options, promised };
  });
  const orders = placed.map(({ order }) => order);
  const codeKeys = orders.flatMap(({ couponCodeKey }) => couponCodeKey ?? []);
  const campaignOf = new Map(state.coupons.map(({ codeKey, campaignId }) => [codeKey, campaignId]));

  const campaignIds = codeKeys.map((codeKey) => campaignOf.get(codeKey)!);
  const redeemed = orders.flatMap(({ couponCodeKey, content: { currency, grandTotal } }) =>
    couponCodeKey === null ? [] : [{ campaignId: campaignOf.get(couponCodeKey)!, currency, grandTotal }],
  );
  const promotionUses = orders.flatMap(({ limitedPromotions = [], buyerId }) =>
    limitedPromotions.map(({ promotionId }) => ({ promotionId, customerId: buyerId })),
  );
  const cartIds = orders.map(({ cartId }) => cartId);
  const withFields = orders.filter(({ hasCartFields }) => hasCartFields);
  const lineIds = withFields.flatMap(({ content }) => content.lines.map(({ lineItemId }) => lineItemId));
  const taken = takenBy(placed, state);
  const newCustomerIds = new Set([...customers.values()].map(({ customerId }) => customerId));
  const events = placedEvents(orders, newCustomerIds, { ...state, taken });
  const hasLowStock = events.some(({ type }) => type === 'STOCK_LOW');
  const entries = requests.flatMap(({ options }) => options.entry ?? []);
  const emails = requests.flatMap(({ options }) => options.emails);

  // Sent at once and executed one after the other, so the customers exist before their orders.
  const [left] = await Promise.all([
    takeStock(tx, shopId, taken, createdAt),
    refreshBundleStock(tx, shopId, bundleIds, createdAt),
    insertCustomers(tx, shopId, [...customers.values()]),
    redeemCoupons(tx, shopId, codeKeys),
    countRedemptions(tx, shopId, campaignIds),
    countRedemptionsOfDay(tx, shopId, campaignIds, createdAt),
    addCouponRevenue(tx, shopId, redeemed, createdAt),
    countPromotionUses(tx, shopId, promotionUses),
    countCustomerUses(tx, shopId, promotionUses),
    setCounters(tx, shopId, {
      order: counters.order + orders.length,
      customer: [...customers.values()].at(-1)?.number ?? counters.customer,
      event: counters.event + events.length,
      lastEventAt: createdAt.getTime(),
    }),
    insertOrders(tx, shopId, orders),
    insertOrderLines(tx, shopId, orders),
    insertWaitingLines(tx, shopId, waitingLines(placed, state)),
    withFields.length > 0 && moveCartValues(tx, shopId, withFields, lineIds),
    addPlacedOrders(tx, shopId, orders),
    addToCustomerTotals(tx, shopId, orders),
    deleteCarts(tx, shopId, cartIds),
    recordEntries(tx, shopId, entries),
    queueJobs(tx, shopId, 'mail', emails),
    queueAssistantNotices(tx, shopId, orders),
    insertEventsAt(tx, shopId, { position: counters.event, at: createdAt }, events),
    hasLowStock && queueLowStock(tx, shopId, { at: createdAt, after: counters.event }),
  ]);

  const statesOf = new Map<string, Placement['states']>();
  for (const { orderId, createdAt, giftCards: payments } of orders.filter(isPaidByCards)) {
    const ofCards = payments.map((payment) => ({ ...payment, ...giftCards.get(payment.giftCardId)! }));
    await redeemGiftCards(tx, shopId, { orderId, at: createdAt }, ofCards);
    statesOf.set(orderId, await recordCardPayments(tx, shopId, { orderId, at: createdAt }, payments));
  }

  return new Map(
    orders.map(({ orderId, orderNumber, buyerId, content }) => {
      const { emailKey, customerNumber } = buyers.get(orderId)!;
      const productIds = new Set(content.lines.map(({ productId }) => productId));
      const placement: Placement = {
        orderNumber,
        createdAt,
        customerId: buyerId,
        customerNumber: customerNumber ?? String(customers.get(emailKey)!.number),
        isCurrent: true,
        shortIds: [],
        isCardShort: false,
        states: statesOf.get(orderId) ?? {},
        left: left.filter(({ productId }) => productIds.has(productId)),
      };
      return [orderId, placement];
    }),
  );
}

const isPaidByCards = ({ giftCards }: NewOrder) => giftCards.length > 0;

/**
 * Gives new customers the next numbers that no merchant has assigned by hand. `taken` lists those among the first;
 * only if many are taken, more are requested.
 */
async function numberCustomers(
  tx: Transaction,
  shopId: string,
  customers: ReadonlyMap<string, NewBuyer>,
  lastNumber: number,
  taken: ReadonlySet<number>,
): Promise<Map<string, NumberedCustomer>> {
  const numbers: number[] = [];
  const addFree = (skipped: number, count: number, taken: ReadonlySet<number>) => {
    for (let place = 1; place <= count && numbers.length < customers.size; place++) {
      const number = lastNumber + skipped + place;
      if (!taken.has(number)) numbers.push(number);
    }
  };
  addFree(0, customers.size, taken);
  for (let skipped = customers.size; numbers.length < customers.size; skipped += 1_000) {
    addFree(skipped, 1_000, await findTakenNumbers(tx, shopId, { skipped, count: 1_000 }));
  }
  return new Map(
    [...customers].map(([emailKey, customer], index) => [emailKey, { ...customer, number: numbers[index]! }]),
  );
}

/** The unknown customers, by their email address: several orders may be of the same one. */
function newCustomers(
  requests: readonly OrderRequest[],
  buyers: ReadonlyMap<string, FoundBuyer>,
): Map<string, NewBuyer> {
  const customers = new Map<string, NewBuyer>();
  for (const { order } of requests) {
    const { customerId, emailKey, isOrderedAs } = buyers.get(order.orderId)!;
    if (customerId !== null || customers.has(emailKey)) continue;
    const { newCustomerId, createdAt, billingAddress } = order;
    customers.set(emailKey, { customerId: newCustomerId, emailKey, isOrderedAs, createdAt, billingAddress });
  }
  return customers;
}

/**
 * The current versions of the settings and of these products; a deleted shop has none. It locks the row of the shop as
 * an insert does, because that row must not be locked after the counter of events.
 */
export async function lockVersions(tx: Transaction, shopId: string, productIds: readonly string[]) {
  const row = await tx.one<{ settingsVersion: number; productVersions: string[] }>(sql`
    select settings_version as "settingsVersion", ${productVersions(shopId, productIds)} as "productVersions"
    from shop where shop_id = ${shopId} for key share`);
  return row ?? { settingsVersion: 0, productVersions: [] };
}

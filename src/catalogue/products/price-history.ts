import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Prices } from './facts.ts';

/**
 * Every change of a price is recorded. When a price is reduced, the lowest one of the 30 days before must be shown next
 * to it (article 6a of directive 98/6/EC): it is read once, when the reduction begins.
 */
const WINDOW = 30 * 24 * 3_600_000;

export interface PriceChange {
  productId: string;
  before: Prices | null;
  after: Prices | null;
  /** The lowest prices before reductions in force until now. */
  beforeReduction: Prices | undefined;
}

/**
 * Writes the history of these products, whose rows are locked. Returns, in the same order, the lowest price of the
 * 30 days before by currency, for the currencies in which a reduction is now in force.
 */
export async function recordPrices(
  tx: Transaction,
  shopId: string,
  changes: readonly PriceChange[],
): Promise<(Prices | undefined)[]> {
  const changed = changes.flatMap(({ productId, before, after }) =>
    [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
      .filter((currency) => before?.[currency] !== after?.[currency])
      .map((currency) => ({
        productId,
        currency,
        price: after?.[currency] ?? null,
        isReduced: isLess(after?.[currency], before?.[currency]),
      })),
  );
  const lowest = await findLowest(
    tx,
    shopId,
    changed.filter(({ isReduced }) => isReduced),
  );
  if (changed.length > 0) await insertPrices(tx, shopId, changed);
  return changes.map(({ productId, before, after, beforeReduction }) => {
    const next = Object.keys(after ?? {}).flatMap((currency) => {
      const isSame = before?.[currency] === after![currency];
      const price = isSame ? beforeReduction?.[currency] : lowest.get(`${productId} ${currency}`);
      return price === undefined ? [] : [[currency, price] as const];
    });
    return next.length > 0 ? Object.fromEntries(next) : undefined;
  });
}

function isLess(price: number | undefined, than: number | undefined): boolean {
  return price !== undefined && than !== undefined && price < than;
}

/** The prices in force at any moment of the window: those set in it, and the one at its start. */
async function findLowest(
  tx: Transaction,
  shopId: string,
  prices: readonly { productId: string; currency: string }[],
): Promise<Map<string, number>> {
  if (prices.length === 0) return new Map();
  const since = new Date(tx.now.getTime() - WINDOW);
  const rows = await tx.many<{ productId: string; currency: string; lowest: number }>(sql`
    select upper(requested."productId"::text) as "productId", requested.currency, min(history.price) as lowest
    from jsonb_to_recordset(${JSON.stringify(prices)}) as requested ("productId" uuid, currency text)
    join price_history history on history.shop_id = ${shopId} and history.product_id = requested."productId"
      and history.currency = requested.currency
    where history.valid_from >= coalesce((
      select max(first.valid_from) from price_history first
      where first.shop_id = ${shopId} and first.product_id = requested."productId"
        and first.currency = requested.currency and first.valid_from <= ${since}
    ), '-infinity')
    group by requested."productId", requested.currency`);
  return new Map(
    rows.flatMap(({ productId, currency, lowest }) =>
      lowest === null ? [] : [[`${productId} ${currency}`, lowest] as const],
    ),
  );
}

/** Two changes at one moment count as one: the later wins. */
function insertPrices(
  tx: Transaction,
  shopId: string,
  prices: readonly { productId: string; currency: string; price: number | null }[],
) {
  return tx.run(sql`
    insert into price_history (shop_id, product_id, currency, valid_from, price)
    select shop_id, "productId", currency, ${tx.now}::timestamptz, price
    from shop
    cross join jsonb_to_recordset(${JSON.stringify(prices)}) as entry ("productId" uuid, currency text, price bigint)
    where shop_id = ${shopId}
    on conflict (shop_id, product_id, currency, valid_from) do update set price = excluded.price`);
}

import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ListedProduct, ListingEntry } from './listing-entry.ts';
import { WHOLE_SHOP } from './listing-page.ts';

/* The number of products in each list, and its versions, by which caches of a list are validated. */

/** The previous places of a product in lists. */
export interface FormerPlaces {
  /** Its rows in the list of the shop; none: it is in no list yet. All of them have the same visibility. */
  was: Pick<ListingEntry, 'locale' | 'visible' | 'name' | 'price'>[];
  wasIn: { categoryId: string; visible: boolean }[];
  /** The categories that listed it because it was in one of their subcategories. */
  wasBelow: { categoryId: string; visible: boolean }[];
}

/** Its new places, besides its categories. */
export interface NewPlaces {
  entries: ListingEntry[];
  /** The categories that list it because it is in one of their subcategories. */
  above: string[];
}

/** The change in the number of products in a list, and in its order. Any change increments the version of the list. */
export interface SizeChange {
  categoryId: string;
  visible: boolean;
  /** For the products in the category itself, and for those in its subcategories. */
  change: number;
  changeBelow: number;
  /** Whether the list sorted by name, or by price, has another order than before. */
  movesNames: boolean;
  movesPrices: boolean;
}

/** The search data of products has changed, possibly without moving them in lists. */
export const CONTENT_CHANGE: SizeChange = {
  categoryId: WHOLE_SHOP,
  visible: true,
  change: 0,
  changeBelow: 0,
  movesNames: false,
  movesPrices: false,
};

/** A list that contains a product. */
interface Place {
  categoryId: string;
  visible: boolean;
  isBelow: boolean;
}

/** A product that stays in a list changes its order only with another name or price. */
export function sizeChanges(
  product: FormerPlaces & NewPlaces & Pick<ListedProduct, 'visible' | 'categories'>,
): SizeChange[] {
  const { visible, categories, above, entries, was, wasIn, wasBelow } = product;
  const before: Place[] = [
    ...was.slice(0, 1).map((row) => ({ categoryId: WHOLE_SHOP, visible: row.visible, isBelow: false })),
    ...wasIn.map((row) => ({ ...row, isBelow: false })),
    ...wasBelow.map((row) => ({ ...row, isBelow: true })),
  ];
  const after: Place[] = [
    { categoryId: WHOLE_SHOP, visible, isBelow: false },
    ...categories.map(({ categoryId }) => ({ categoryId, visible, isBelow: false })),
    ...above.map((categoryId) => ({ categoryId, visible, isBelow: true })),
  ];
  const keyOf = (place: Place) => `${place.categoryId} ${place.visible} ${place.isBelow}`;
  const [keysBefore, keysAfter] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
  const known = new Map(was.map((row) => [row.locale, row]));
  const isSameIn = (key: 'name' | 'price') =>
    entries.length === was.length && entries.every((entry) => known.get(entry.locale)?.[key] === entry[key]);
  const [movesNames, movesPrices] = [!isSameIn('name'), !isSameIn('price')];
  return [
    ...before.filter((place) => !keysAfter.has(keyOf(place))).map((place) => memberChange(place, -1)),
    ...after.flatMap((place) => {
      if (!keysBefore.has(keyOf(place))) return [memberChange(place, 1)];
      return movesNames || movesPrices ? [{ ...memberChange(place, 0), movesNames, movesPrices }] : [];
    }),
  ];
}

/** A product enters a list (1) or leaves it (-1). */
export function memberChange({ categoryId, visible, isBelow }: Place, change: number): SizeChange {
  return {
    categoryId,
    visible,
    change: isBelow ? 0 : change,
    changeBelow: isBelow ? change : 0,
    movesNames: true,
    movesPrices: true,
  };
}

/**
 * Sums the changes of each list. The size rows stay locked until the end of the transaction, and every writer of the
 * shop needs them: so this comes last, and always in the same order.
 */
export async function updateSizes(
  tx: Transaction,
  shopId: string,
  changes: readonly SizeChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const sums = new Map<string, SizeChange>();
  for (const change of changes) {
    const key = `${change.categoryId} ${change.visible}`;
    const sum = sums.get(key);
    sums.set(key, {
      ...change,
      change: change.change + (sum?.change ?? 0),
      changeBelow: change.changeBelow + (sum?.changeBelow ?? 0),
      movesNames: change.movesNames || sum?.movesNames === true,
      movesPrices: change.movesPrices || sum?.movesPrices === true,
    });
  }
  await tx.run(sql`
    insert into listing_size (shop_id, category_id, visible, products, products_below, name_version, price_version, version)
    select shop_id, "categoryId", visible, change, "changeBelow", "movesNames"::int, "movesPrices"::int, 1
    from shop
    cross join jsonb_to_recordset(${JSON.stringify([...sums.values()])}) as entry ("categoryId" uuid, visible boolean,
      change bigint, "changeBelow" bigint, "movesNames" boolean, "movesPrices" boolean)
    where shop_id = ${shopId}
    order by "categoryId", visible
    on conflict (shop_id, category_id, visible) do update set products = listing_size.products + excluded.products,
      products_below = listing_size.products_below + excluded.products_below,
      name_version = listing_size.name_version + excluded.name_version,
      price_version = listing_size.price_version + excluded.price_version,
      version = listing_size.version + excluded.version`);
}

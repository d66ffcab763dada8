import { findCategoryCards, findChosenCards, type CategoryCard } from '../catalogue/categories/queries.ts';
import { findPicturesByKeys, type LibraryPicture } from '../catalogue/media/queries.ts';
import { parseVersions } from '../catalogue/products/listing-page.ts';
import { findProductRows, findVersions } from '../catalogue/products/queries.ts';
import { renderProduct, type RenderOptions } from '../catalogue/products/render.ts';
import type { Product } from '../catalogue/products/schema.ts';
import type { CacheKind } from '../db/cache.ts';
import type { Queries, ShopDatabase } from '../db/database.ts';
import { isId } from '../kernel/ids.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { findBestSellingIds, findChosen, findInCategories, type ListedVersion } from './block-queries.ts';
import { MAX_PRODUCTS, picturesOf, type Block, type BlockOf } from './blocks.ts';
import { findFeatured } from './featured.ts';

/** Who sees the blocks: a visitor, or the readers of a mailing. */
export interface BlockReader {
  db: Pick<ShopDatabase, 'caches'>;
  shopId: string;
  locale: string;
  settings: Settings;
}

/** The products and categories that blocks show. The stamp changes when any of them does. */
export interface BlockRefs {
  /** The ids of the products of each list, by the place of its block. */
  lists: ReadonlyMap<number, readonly string[]>;
  /** How many products are marked as new. */
  marked: number;
  topCards: readonly CategoryCard[];
  chosenCards: readonly CategoryCard[];
  versionStamp: string;
}

/** As many cards as a row has on a wide screen. */
export const ROW = 4;

/** A list that names no number shows as many. */
const DEFAULT_COUNT = 8;

/** The number of statements does not depend on the number of blocks. A page without lists needs none. */
export async function findBlockRefs(
  reader: BlockReader,
  db: Queries,
  blocks: readonly Block[],
): Promise<BlockRefs> {
  const { shopId, locale } = reader;
  const lists = blocks.filter((block) => block.type === 'products');
  const uses = (source: BlockOf<'products'>['source']) => lists.some((list) => list.source === source);
  const numbers = [
    ...new Set(lists.flatMap((list) => (list.source === 'chosen' ? (list.numbers ?? []) : []))),
  ];
  const aliases = [
    ...new Set(lists.flatMap((list) => (list.source === 'category' ? (list.category ?? []) : []))),
  ];
  const chosen = numbers.length > 0 ? await findChosen(db, shopId, numbers) : [];
  const inCategories =
    aliases.length > 0 ? await findInCategories(db, shopId, locale, aliases, MAX_PRODUCTS) : [];
  const isFeatured = uses('newest') || uses('offers');
  const featured = isFeatured ? await findFeatured(db, shopId, featuredCount(lists)) : undefined;
  const best = uses('best sellers') ? await findBestSellers(reader, db) : [];
  const tiles = blocks.filter((block) => block.type === 'categories');
  const chosenAliases = [...new Set(tiles.flatMap(({ categories = [] }) => categories))];
  const topCards = tiles.some(({ categories = [] }) => categories.length === 0)
    ? await findCategoryCards(db, shopId, locale, undefined)
    : [];
  const chosenCards =
    chosenAliases.length > 0 ? await findChosenCards(db, shopId, locale, chosenAliases) : [];

  const idsOf = (list: BlockOf<'products'>): string[] => {
    switch (list.source) {
      case 'chosen':
        return (list.numbers ?? []).flatMap(
          (number) => chosen.find(({ key }) => key === number)?.productId ?? [],
        );
      case 'category':
        return inCategories.filter(({ key }) => key === list.category).map(({ productId }) => productId);
      case 'newest':
        return parseVersions(featured?.fresh ?? '').map(({ productId }) => productId);
      case 'offers':
        return parseVersions(featured?.offers ?? '').map(({ productId }) => productId);
      case 'best sellers':
        return best.map(({ productId }) => productId);
    }
  };
  return {
    lists: new Map(
      blocks.flatMap((block, index) =>
        block.type === 'products' ? [[index, idsOf(block).slice(0, candidateCount(block))] as const] : [],
      ),
    ),
    marked: featured?.marked ?? 0,
    topCards,
    chosenCards,
    versionStamp: [
      ...[...chosen, ...inCategories, ...best].map(({ productId, version }) => `${productId}:${version}`),
      featured ? `${featured.offers} ${featured.fresh} ${featured.marked}` : '',
      ...[...topCards, ...chosenCards].map(({ image }) => image?.imageKey ?? ''),
    ].join(),
  };
}

/** Of new products some more than are shown, because those that are not for sale are left out. */
const candidateCount = ({ source, count }: BlockOf<'products'>) =>
  source === 'newest' && count !== undefined ? 2 * count : (count ?? DEFAULT_COUNT);

/** Offers and new products are counted up to the longest list that shows them. */
const featuredCount = (lists: readonly BlockOf<'products'>[]) =>
  Math.max(...lists.filter(({ source }) => source === 'newest' || source === 'offers').map(candidateCount));

interface CachedBestSellers {
  ids: string[];
  /** In milliseconds since 1970. */
  until: number;
}

const bestSellerCache: CacheKind<CachedBestSellers> = { name: 'best sellers', limit: { megabytes: 2 } };

/** The order of best sellers changes slowly, and is counted again after this time. */
const BEST_SELLERS_LIFETIME = 10 * 60 * 1000;

async function findBestSellers(reader: BlockReader, db: Queries): Promise<ListedVersion[]> {
  const { shopId } = reader;
  const cache = reader.db.caches.of(bestSellerCache);
  let cached = cache.get(shopId);
  if (!cached || cached.until < db.now.getTime()) {
    // Some more than are shown, because hidden ones are left out.
    const ids = await findBestSellingIds(db, shopId, 2 * MAX_PRODUCTS);
    cached = { ids, until: db.now.getTime() + BEST_SELLERS_LIFETIME };
    cache.set(shopId, cached, 100 * ids.length + 100);
  }
  if (cached.ids.length === 0) return [];
  const found = await findVersions(db, shopId, cached.ids);
  return found
    .filter(({ visible }) => visible)
    .map(({ productId, version, stock }) => ({
      key: productId,
      productId,
      version: `${version}/${stock ?? ''}`,
    }));
}

/** Everything that the renderers of blocks need. */
export interface BlockData extends Omit<BlockRefs, 'lists'> {
  lists: ReadonlyMap<number, readonly Product[]>;
  /** The pictures of the shop's library, by their keys. */
  pictures: ReadonlyMap<string, LibraryPicture>;
  /** When a product changes without any change of the database. */
  expires: (Date | null)[];
}

export async function loadBlockData(
  { shopId, settings }: BlockReader,
  db: Queries,
  blocks: readonly Block[],
  refs: BlockRefs,
  options: RenderOptions,
): Promise<BlockData> {
  const ids = [...new Set([...refs.lists.values()].flat())];
  const rows = ids.length > 0 ? await findProductRows(db, shopId, ids) : [];
  const rendered = new Map(rows.map((row) => [row.productId, renderProduct(row, settings, options, db.now)]));
  const keys = [...new Set(picturesOf(blocks).flatMap((address) => keyOfPicture(address) ?? []))];
  const pictures = keys.length > 0 ? await findPicturesByKeys(db, shopId, keys) : [];
  return {
    ...refs,
    lists: new Map(
      [...refs.lists].map(([place, list]) => [
        place,
        list.flatMap((productId) => rendered.get(productId)?.product ?? []),
      ]),
    ),
    pictures: new Map(pictures.map((picture) => [picture.imageKey, picture])),
    expires: [...rendered.values()].map(({ until }) => until),
  };
}

/** A list of new products fills at least one row, with the newest others that are for sale. */
export function shownProducts(
  { source, count }: BlockOf<'products'>,
  { lists, marked }: BlockData,
  index: number,
): readonly Product[] {
  const products = lists.get(index) ?? [];
  if (source !== 'newest') return products;
  const shown = products.filter(
    ({ isNew, forSale, productVariationType }) => isNew || forSale || productVariationType === 'master',
  );
  return shown.slice(0, count ?? Math.min(Math.max(marked, ROW), DEFAULT_COUNT));
}

/** The key of a picture of the library in its address; undefined: it is elsewhere. */
export function keyOfPicture(address: string): string | undefined {
  const [, key] = /^\/media\/[^/]+\/([\dA-Fa-f-]{36})\//.exec(address) ?? [];
  return key !== undefined && isId(key) ? key.toUpperCase() : undefined;
}

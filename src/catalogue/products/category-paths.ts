import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { newPauses } from '../../http/pauses.ts';
import { aliasOf, aliasStart, freeAlias } from '../../kernel/aliases.ts';
import { newId } from '../../kernel/ids.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { findAliases, insertCategory, lockCategory, updateCategoryRow } from '../categories/queries.ts';
import { CellProblem } from './row-problem.ts';
import { takeNumber } from '../../platform/counters.ts';

/**
 * The categories of a product in a file: `Kitchen > Kettles | Sale`. Names are in the shop's default language;
 * categories are separated by bars, the main one first. A backslash escapes a separator inside a name.
 */
export interface CategoryPaths {
  /** The name of each category, with its parent; the root has no name in a path. */
  nodes: Map<string, { parentId: string | null; name: string }>;
  rootId: string | undefined;
  /** The written path of each category. */
  pathOf: Map<string, string>;
  /** By the path in lower case. */
  idOf: Map<string, string>;
}

const MAX_CATEGORIES = 20_000;
const MAX_PATHS = 50;
const DEEPEST = 20;

/** With the names of another locale where one is missing. */
export async function findCategoryTree(
  db: Queries,
  shopId: string,
  locale: string,
  otherLocale = locale,
): Promise<CategoryPaths> {
  const rows = await db.many<{ categoryId: string; parentId: string | null; name: Localised; alias: string }>(
    sql`
      select upper(category_id::text) as "categoryId", upper(parent_id::text) as "parentId", name, alias from category
      where shop_id = ${shopId} order by position, number limit ${MAX_CATEGORIES}`,
  );
  const nodes = new Map(
    rows.map(({ categoryId, parentId, name, alias }) => [
      categoryId,
      { parentId, name: textIn(name, locale, otherLocale) ?? alias },
    ]),
  );
  const tree: CategoryPaths = {
    nodes,
    rootId: rows.find(({ parentId }) => parentId === null)?.categoryId,
    pathOf: new Map(),
    idOf: new Map(),
  };
  const pause = newPauses();
  for (const { categoryId, parentId } of rows) {
    if (parentId !== null) addPath(tree, categoryId);
    await pause();
  }
  return tree;
}

function addPath(tree: CategoryPaths, categoryId: string): void {
  const names: string[] = [];
  for (let id: string | null = categoryId; id !== null && names.length <= DEEPEST;) {
    const node: { parentId: string | null; name: string } | undefined = tree.nodes.get(id);
    if (!node || node.parentId === null) break;
    names.unshift(node.name);
    id = node.parentId;
  }
  const path = pathText(names);
  tree.pathOf.set(categoryId, path);
  if (!tree.idOf.has(path.toLowerCase())) tree.idOf.set(path.toLowerCase(), categoryId);
}

function pathText(names: readonly string[]): string {
  return names.map((name) => name.trim().replaceAll(/[\\>|]/g, '\\$&')).join(' > ');
}

/** The paths of a cell in their canonical form. */
export function readPaths(cell: string): string[] {
  const paths = splitAt(cell, '|')
    .map((path) => splitAt(path, '>').map((name) => name.replaceAll(/\\(.)/g, '$1').trim()))
    .filter((names) => names.some((name) => name !== ''));
  for (const names of paths) {
    if (
      names.some((name) => name === '' || name.length > 255 || /\p{Cc}/u.test(name)) ||
      names.length > DEEPEST
    )
      throw new CellProblem('categoryPath', `is ${cell}, which is no path such as Kitchen > Kettles`);
  }
  if (paths.length > MAX_PATHS)
    throw new CellProblem('words', `names more than ${MAX_PATHS} categories`, { most: MAX_PATHS });
  return [...new Set(paths.map(pathText))];
}

/** Ignores separators escaped by a backslash. */
function splitAt(text: string, sign: '|' | '>'): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === sign) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

export const joinPaths = (paths: readonly string[]): string => paths.join(' | ');

/** The paths without a category, including their missing ancestors. */
export function missingPaths(tree: CategoryPaths, paths: Iterable<string>): string[] {
  const missing = new Map<string, string>();
  for (const path of paths) {
    const names = splitAt(path, '>');
    for (let depth = 1; depth <= names.length; depth++) {
      const above = names.slice(0, depth).join('>').trim();
      if (!tree.idOf.has(above.toLowerCase()) && !missing.has(above.toLowerCase()))
        missing.set(above.toLowerCase(), above);
    }
  }
  return [...missing.values()];
}

/** Creates the missing categories, visible in the shop, and adds them to the tree. */
export async function createPaths(
  tx: Transaction,
  shopId: string,
  locale: string,
  tree: CategoryPaths,
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0 || tree.rootId === undefined) return;
  await moveSettingsVersion(tx, shopId);
  for (const path of paths) {
    const parts = splitAt(path, '>');
    const name = parts.at(-1)!.replaceAll(/\\(.)/g, '$1').trim();
    const above = parts.slice(0, -1).join('>').trim().toLowerCase();
    const parentId = above === '' ? tree.rootId : tree.idOf.get(above)!;
    const alias = aliasOf(name, 'category');
    const categoryId = newId(tx.now);
    // Locked, because the next place among its children is counted.
    await lockCategory(tx, shopId, parentId);
    await insertCategory(tx, shopId, {
      categoryId,
      parentId,
      number: await takeNumber(tx, shopId, 'category'),
      alias: freeAlias(alias, await findAliases(tx, shopId, aliasStart(alias))),
      name: { [locale]: name },
      pageTitle: {},
      navigationCaption: {},
      description: {},
    });
    const created = (await lockCategory(tx, shopId, categoryId))!;
    await updateCategoryRow(tx, shopId, { ...created, visible: true });
    tree.nodes.set(categoryId, { parentId, name });
    addPath(tree, categoryId);
  }
}

/** The categories of these products as a file writes them, by product id; the main category comes first. */
export async function findAssignedPaths(
  db: Queries,
  shopId: string,
  { pathOf }: CategoryPaths,
  products: Iterable<{ productId: string }>,
): Promise<Map<string, string>> {
  const productIds = [...products].map(({ productId }) => productId);
  const rows = await db.many<{ productId: string; categoryIds: string[] }>(sql`
    select upper(product_id::text) as "productId",
      json_agg(upper(category_id::text) order by position, category_id) as "categoryIds"
    from product_category where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
    group by product_id`);
  return new Map(
    rows.map(({ productId, categoryIds }) => [
      productId,
      joinPaths(categoryIds.flatMap((categoryId) => pathOf.get(categoryId) ?? [])),
    ]),
  );
}

/** The category and all its descendants. */
export function idsBelow({ nodes }: CategoryPaths, categoryId: string): string[] {
  const ids = new Set([categoryId]);
  // Each round finds the next level.
  for (let size = 0; size < ids.size;) {
    size = ids.size;
    for (const [id, { parentId }] of nodes) if (parentId !== null && ids.has(parentId)) ids.add(id);
  }
  return [...ids];
}

/** Puts each product into these categories and no others, in this order. */
export async function replaceAssignments(
  tx: Transaction,
  shopId: string,
  products: readonly { productId: string; categoryIds: readonly string[] }[],
): Promise<void> {
  if (products.length === 0) return;
  const rows = products.flatMap(({ productId, categoryIds }) =>
    categoryIds.map((categoryId, position) => ({ productId, categoryId, position })),
  );
  await tx.run(sql`
    delete from product_category
    where shop_id = ${shopId} and product_id = any (${products.map(({ productId }) => productId)}::uuid[])`);
  await tx.run(sql`
    insert into product_category (shop_id, product_id, category_id, position)
    select shop.shop_id, "productId", "categoryId", position
    from shop cross join jsonb_to_recordset(${JSON.stringify(rows)})
      as entry ("productId" uuid, "categoryId" uuid, position bigint)
    where shop.shop_id = ${shopId}`);
}

import { Type } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { isId } from '../../kernel/ids.ts';
import { refreshListing } from '../products/listing.ts';
import { touchProducts } from '../products/product-events.ts';
import {
  deleteAssignmentRows,
  findAssignable,
  findAssigned,
  insertAssignments,
  lockCategories,
  lockProducts,
} from './queries.ts';

/** Each pair is a row here and one per locale in the lists: more would exceed the time limit. */
const MAX_PAIRS = 10_000;

/** A form or a query sends text for one value and a list for several. */
const Ids = (description: string) =>
  Type.Unsafe<string | string[]>({
    type: ['string', 'array'],
    items: { type: 'string' },
    minItems: 1,
    maxItems: 1000,
    description: `${description} May be repeated, up to 1,000 times.`,
    examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
  });

const fields = {
  categoryId: Ids('The category.'),
  productId: Ids(
    'The product. A variation stands for its master: the two are always in the same categories.',
  ),
};

const shared = { tag: 'product-category-assignments', access: 'products_write', status: 204 } as const;

export const createAssignments = operation({
  ...shared,
  labels: ['Base', 'Now'],
  method: 'POST',
  path: '/product-category-assignments',
  name: 'createAssignments',
  summary: 'Assign products',
  description: `Assigns every product to every category, at most ${MAX_PAIRS} pairs in a call; existing assignments stay. The first category of a product is its main category. An unknown id refuses the whole call.`,
  accepts: 'form',
  body: Type.Object(fields, { title: 'category assignment' }),
  constraints: { product_category_product: notFound },
});

export const deleteAssignments = operation({
  ...shared,
  labels: ['Base'],
  method: 'DELETE',
  path: '/product-category-assignments',
  name: 'deleteAssignments',
  summary: 'Unassign products',
  description:
    'Removes every product from every category; missing assignments are no error. An unknown id refuses the whole call.',
  query: Type.Object(fields),
});

export function assignments(api: Operations): void {
  api.write(createAssignments, async ({ tx, shopId, body }) =>
    changeAssignments(tx, shopId, body, insertAssignments),
  );

  api.write(deleteAssignments, async ({ tx, shopId, query }) =>
    changeAssignments(tx, shopId, query, deleteAssignmentRows),
  );
}

/** Assigns a product to these categories and to no others. */
export async function setCategories(
  tx: Transaction,
  shopId: string,
  productId: string,
  categoryIds: readonly string[],
): Promise<void> {
  const chosen = new Set(categoryIds.map((id) => id.toUpperCase()));
  const assigned = new Set(await findAssigned(tx, shopId, productId));
  const added = [...chosen].filter((id) => !assigned.has(id));
  const removed = [...assigned].filter((id) => !chosen.has(id));
  const change = (categoryId: string[], by: typeof insertAssignments) =>
    categoryId.length > 0 && changeAssignments(tx, shopId, { categoryId, productId }, by);
  await change(added, insertAssignments);
  await change(removed, deleteAssignmentRows);
}

async function changeAssignments(
  tx: Transaction,
  shopId: string,
  named: { categoryId: string | string[]; productId: string | string[] },
  change: typeof insertAssignments,
): Promise<void> {
  const [categoryIds, productIds] = [distinctIds(named, 'categoryId'), distinctIds(named, 'productId')];
  if (categoryIds.length * productIds.length > MAX_PAIRS) {
    throw new Refusal('TOO_MANY_ASSIGNMENTS', { limit: MAX_PAIRS });
  }
  if ((await lockCategories(tx, shopId, categoryIds)) < categoryIds.length) throw notFound('categoryId');
  const assignable = await findAssignable(tx, shopId, productIds);
  if (assignable.length < productIds.length) throw notFound('productId');
  const targets = [...new Set(assignable)];
  await lockProducts(tx, shopId, targets);
  const changed = await change(tx, shopId, categoryIds, targets);
  await touchProducts(tx, shopId, changed, ['categories']);
  await refreshListing(tx, shopId, changed);
}

/** In the order given. */
function distinctIds<Field extends string>(
  named: Readonly<Record<Field, string | string[]>>,
  field: Field,
): string[] {
  const ids = [named[field]].flat().map((id) => id.toUpperCase());
  if (!ids.every(isId)) throw notFound(field);
  return [...new Set(ids)];
}

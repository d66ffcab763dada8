import { Type } from 'typebox';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { refreshOrRebuild } from '../products/listing.ts';
import { findChildren, findProductsIn, lockCategory, lockTree, placeCategories } from './queries.ts';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const Place = Type.Object(
  {
    parentId: { ...Id, description: 'The category that it comes below.' },
    position: Type.Integer({
      description: 'Number of sibling categories before it; if there are fewer, it comes last.',
      examples: [0],
      minimum: 0,
      maximum: 1_000_000,
    }),
  },
  { title: 'category place' },
);

export const moveCategory = operation({
  under: 'manage',
  method: 'PUT',
  path: '/categories/:categoryId/place',
  name: 'moveCategory',
  summary: 'Move category',
  description: 'Moves a category with its subcategories: to another position, or to another parent category.',
  tag: 'categories',
  labels: [],
  access: 'products_write',
  params: Type.Object({ categoryId: Id }),
  body: Place,
  status: 204,
});

export function moveCategories(api: Operations): void {
  api.write(moveCategory, async ({ tx, shopId, params: { categoryId }, body }) => {
    // First, as with every change of the tree, so that changes are serialised.
    await moveSettingsVersion(tx, shopId);
    const stored = await lockCategory(tx, shopId, categoryId);
    if (!stored) throw notFound();
    if (stored.isRoot) throw new Refusal('ROOT_CATEGORY_NOT_MOVABLE');
    const parentId = body.parentId.toUpperCase();
    const parent = isId(parentId) ? await lockCategory(tx, shopId, parentId) : undefined;
    if (!parent) throw invalid('UNKNOWN_VALUE', 'parentId');
    const tree = await lockTree(tx, shopId, categoryId);
    if (tree.some((id) => id.toUpperCase() === parentId)) {
      throw new Refusal('CATEGORY_BELOW_ITSELF');
    }
    const siblings = await findChildren(tx, shopId, parentId);
    const others = siblings.filter((id) => id !== categoryId);
    await placeCategories(tx, shopId, parentId, others.toSpliced(body.position, 0, categoryId));
    if (siblings.length !== others.length) return;
    // The lists of the ancestors show its products, and search finds them by the ancestors' names.
    await refreshOrRebuild(tx, shopId, (limit) => findProductsIn(tx, shopId, tree, BEFORE_ALL, limit));
  });
}

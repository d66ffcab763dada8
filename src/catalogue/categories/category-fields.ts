import { Type } from 'typebox';
import { fieldOperations, fieldValues, type FieldedThing } from '../../fields/values.ts';
import { hasScope } from '../../http/callers.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { findCategory, lockCategory } from './queries.ts';

export const categoryFieldOperations = fieldOperations({
  noun: 'category',
  name: 'Category',
  path: '/categories/:categoryId',
  tag: 'categories',
  params: Type.Object({ categoryId: Id }),
  read: 'products_read',
  write: 'products_write',
});

export function categoryFields(api: Operations): void {
  fieldValues(api, categoryFieldOperations, {
    find: async ({ db, shopId, params, caller }) => {
      const row = await findCategory(db, shopId, params.categoryId, hasScope(caller, 'products_write'));
      return row && toThing(params.categoryId);
    },
    lock: async ({ tx, shopId, params }) => {
      // As a change of a category does: pages of the storefront show it.
      await moveSettingsVersion(tx, shopId);
      return (await lockCategory(tx, shopId, params.categoryId)) && toThing(params.categoryId);
    },
  });
}

const toThing = (categoryId: string): FieldedThing => ({
  resource: 'category',
  owner: { resourceId: categoryId, categoryId },
});

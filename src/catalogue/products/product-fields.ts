import { Type } from 'typebox';
import { fieldOperations, fieldValues, type FieldedThing } from '../../fields/values.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { touchProducts } from './product-events.ts';
import { findProductKind, lockProduct } from './queries.ts';
import { canWriteProducts } from './render-options.ts';

export const productFieldOperations = fieldOperations({
  noun: 'product',
  name: 'Product',
  path: '/products/:productId',
  tag: 'products',
  params: Type.Object({ productId: Id }),
  read: 'products_read',
  write: 'products_write',
});

/** The custom fields of products and of variations, which have definitions of their own. */
export function productFields(api: Operations): void {
  fieldValues(api, productFieldOperations, {
    find: async (call) => {
      const { db, shopId, params } = call;
      const found = await findProductKind(db, shopId, params.productId);
      return found && (found.visible || canWriteProducts(call))
        ? toThing(params.productId, found)
        : undefined;
    },
    lock: async ({ tx, shopId, params }) => {
      const product = await lockProduct(tx, shopId, params.productId);
      return product && toThing(params.productId, product);
    },
    changed: ({ tx, shopId, params }) => touchProducts(tx, shopId, [params.productId], ['customFields']),
  });
}

function toThing(productId: string, { kind }: { kind: string }): FieldedThing {
  return {
    resource: kind === 'variation' ? 'variation' : 'product',
    owner: { resourceId: productId, productId },
  };
}

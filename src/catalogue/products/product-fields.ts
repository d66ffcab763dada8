import { Type } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { fieldOperations, fieldValues, type FieldedThing } from '../../fields/values.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import type { CustomField } from '../../shops/settings/settings.ts';
import { refreshListing } from './listing.ts';
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
export function productFieldRoutes(api: Operations): void {
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
    changed: async ({ tx, shopId, params: { productId } }, _product, fields) => {
      await touchProducts(tx, shopId, [productId], ['customFields']);
      await refreshFacets(tx, shopId, productId, fields);
    },
  });
}

/** Brings lists and search up to date after these fields of a product were written. No word is taken from a field. */
export async function refreshFacets(
  tx: Transaction,
  shopId: string,
  productId: string,
  written: readonly CustomField[],
): Promise<void> {
  if (written.some(({ isFacet }) => isFacet)) await refreshListing(tx, shopId, [], [productId]);
}

function toThing(productId: string, { kind }: { kind: string }): FieldedThing {
  return {
    resource: kind === 'variation' ? 'variation' : 'product',
    owner: { resourceId: productId, productId },
  };
}

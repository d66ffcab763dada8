import { notFound } from '../../http/errors.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { readProduct } from '../products/product-page.ts';
import type { ShopVisit } from '../visit.ts';

/** An id in the address of a page. */
export function idOf({ params }: Pick<PageRequest, 'params'>, name: string): string {
  const id = params[name]!;
  if (!isId(id)) throw notFound();
  return id.toUpperCase();
}

/** A master is not sold: its variations have files and keys. */
export async function readSold(visit: ShopVisit, request: Pick<PageRequest, 'params'>): Promise<ProductRow> {
  const row = await readProduct(visit, idOf(request, 'productId'));
  if (row.kind === 'master') throw notFound();
  return row;
}

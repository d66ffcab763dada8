import type { Transaction } from '../../db/database.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { findProductRows } from './queries.ts';
import { renderProduct, type RenderOptions } from './render.ts';
import type { Product } from './schema.ts';

/** Renders the data that a transaction has just written. */
export async function renderStored(
  tx: Transaction,
  settings: Settings,
  productId: string,
  options: RenderOptions,
): Promise<Product> {
  const [row] = await findProductRows(tx, settings.shopId, [productId]);
  return renderProduct(row!, settings, options, tx.now).product;
}

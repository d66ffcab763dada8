import type { Transaction } from '../../db/database.ts';
import { Refusal } from '../../http/errors.ts';
import { insertProduct, type StoredProduct } from './queries.ts';
import { takeNumber } from '../../platform/counters.ts';

export const numberTaken = () => new Refusal('PRODUCT_NUMBER_TAKEN');

/** With its own number, or the next one not yet assigned by hand. Returns the number. */
export async function insertNumbered(
  tx: Transaction,
  shopId: string,
  product: StoredProduct,
): Promise<string> {
  if (product.productNumber !== '') {
    if (!(await insertProduct(tx, shopId, product))) throw numberTaken();
    return product.productNumber;
  }
  for (;;) {
    const productNumber = String(await takeNumber(tx, shopId, 'product'));
    if (await insertProduct(tx, shopId, { ...product, productNumber })) return productNumber;
  }
}

import type { ImportSource } from '../source.ts';
import type { SourceFile } from '../source-files.ts';
import { isProductTable, wooCommerceProducts } from './products.ts';

/** The export files of a WooCommerce shop. Whether a reduction counts is a question of `now`. */
export function wooCommerceSource(files: readonly SourceFile[], now: Date): ImportSource {
  const tables = files.filter(isProductTable);
  return {
    name: 'woocommerce',
    product: () => wooCommerceProducts(tables, now),
    unknownFiles: files.filter((file) => !tables.includes(file)).map(({ file }) => file.name),
  };
}

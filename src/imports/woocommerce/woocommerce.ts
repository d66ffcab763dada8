import type { ImportSource } from '../source.ts';
import { filesWith, type SourceFile } from '../source-files.ts';
import { isOrderTable, wooCommerceOrders } from './orders.ts';
import { isCouponTable, isCustomerTable, wooCommerceCoupons, wooCommerceCustomers } from './people.ts';
import { isProductTable, wooCommerceProducts } from './products.ts';

const isCoupons = (file: SourceFile) => isCouponTable(file) && !isOrderTable(file) && !isProductTable(file);
const isCustomers = (file: SourceFile) => isCustomerTable(file) && !isOrderTable(file) && !isCoupons(file);

/**
 * The export files of a WooCommerce shop. Whether a reduction counts is a question of `now`; some files of orders leave
 * out their currency, and it is that of the shop.
 */
export function wooCommerceSource(files: readonly SourceFile[], now: Date, currency: string): ImportSource {
  const products = files.filter(isProductTable);
  return {
    name: 'woocommerce',
    product: () => wooCommerceProducts(products, now),
    customer: () => filesWith(files, isCustomers, wooCommerceCustomers),
    order: () => filesWith(files, isOrderTable, (file) => wooCommerceOrders(file, currency)),
    coupon: () => filesWith(files, isCoupons, wooCommerceCoupons),
    unknownFiles: files
      .filter((file) => ![isProductTable, isCustomers, isOrderTable, isCoupons].some((is) => is(file)))
      .map(({ file }) => file.name),
  };
}

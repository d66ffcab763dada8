import type { ImportSource } from '../source.ts';
import { filesWith, type SourceFile } from '../source-files.ts';
import { shopwareCategories, shopwareIndex, type ShopwareFiles } from './names.ts';
import { shopwareCustomers, shopwareOrders } from './people.ts';
import { shopwareProducts } from './products.ts';
import { shopwareCoupons } from './promotions.ts';

const isProducts = ({ columns }: SourceFile) => columns.has('product_number') && columns.has('name');
const isOrders = ({ columns }: SourceFile) => columns.has('order_number') && columns.has('amount_total');
const isCustomers = ({ columns }: SourceFile) => columns.has('customer_number') && columns.has('email');
const isDiscounts = ({ columns }: SourceFile) => columns.has('promotion_id') && columns.has('scope');
const isCodes = ({ columns }: SourceFile) =>
  columns.has('promotion_id') && columns.has('code') && !columns.has('scope');
const isProperties = ({ columns }: SourceFile) => columns.has('group_name') && columns.has('name');
const isCategories = ({ columns }: SourceFile) =>
  columns.has('parent_id') && columns.has('name') && !columns.has('product_number');

/** What the files do not say: the currency of orders, and whether prices are taken with or without tax. */
export interface ShopwareOptions {
  currency: string;
  taxModel: 'GROSS' | 'NET';
}

/** The export files of a Shopware 6 shop, made with the default profiles. */
export function shopwareSource(
  files: readonly SourceFile[],
  { currency, taxModel }: ShopwareOptions,
): ImportSource {
  const tables: ShopwareFiles = {
    products: files.filter(isProducts),
    properties: files.filter(isProperties),
    categories: files.filter((file) => isCategories(file) && !isProperties(file)),
    discounts: files.filter(isDiscounts),
    codes: files.filter(isCodes),
  };
  const index = shopwareIndex(tables);
  return {
    name: 'shopware',
    category: () => shopwareCategories(tables.categories, index),
    product: () => shopwareProducts(tables.products, index, taxModel),
    customer: () => filesWith(files, (file) => isCustomers(file) && !isOrders(file), shopwareCustomers),
    order: () => filesWith(files, isOrders, (file) => shopwareOrders(file, index, currency)),
    coupon: () => shopwareCoupons(tables),
    unknownFiles: files
      .filter((file) => !isOrders(file) && !isCustomers(file))
      .filter((file) => !Object.values(tables).some((known: readonly SourceFile[]) => known.includes(file)))
      .map(({ file }) => file.name),
  };
}

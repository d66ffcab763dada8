import { shopifySource } from './shopify/shopify.ts';
import { shopwareSource, type ShopwareOptions } from './shopware/shopware.ts';
import type { ImportSource } from './source.ts';
import type { SourceFile } from './source-files.ts';
import { wooCommerceSource } from './woocommerce/woocommerce.ts';

/** The systems whose export files can be read. */
export const EXPORTS = ['shopify', 'woocommerce', 'shopware'] as const;
export type ExportSystem = (typeof EXPORTS)[number];

export const EXPORT_NAMES: Readonly<Record<ExportSystem, string>> = {
  shopify: 'Shopify',
  woocommerce: 'WooCommerce',
  shopware: 'Shopware',
};

/** What files leave out and the shop here says. */
export interface ExportOptions extends ShopwareOptions {
  now: Date;
}

export function exportSource(
  system: ExportSystem,
  files: readonly SourceFile[],
  options: ExportOptions,
): ImportSource {
  if (system === 'shopify') return shopifySource(files);
  if (system === 'shopware') return shopwareSource(files, options);
  return wooCommerceSource(files, options.now, options.currency);
}

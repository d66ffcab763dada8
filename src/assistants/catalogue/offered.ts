import { dayAt } from '../../catalogue/products/backorders.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findVersions, type ProductVersion } from '../../catalogue/products/queries.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { preferredVariation } from '../../storefront/product/variations.ts';
import type { AssistantContext } from '../context.ts';
import type { Message } from '../messages.ts';
import { productMessages, productPolicies, type Policy } from './disclosures.ts';
import { shownProduct, type OfferedProduct, type ShownProduct } from './product.ts';
import { findCategoryNames, findVariationVersions } from './queries.ts';

/** As visitors without an account see them, in lists. */
const renderOptions = ({ locale, currency, origin }: AssistantContext) =>
  ({ locale, currency, origin, canWrite: false, variant: 'list' }) as const;

/** Rendered products, of which most are in the cache. */
export function readProducts(
  context: AssistantContext,
  versions: readonly ProductVersion[],
): Promise<Product[]> {
  return productValues(context.db, context.settings, versions, renderOptions(context));
}

/** A product and its requested variations; none: the best one. */
export interface RequestedProduct {
  productId: string;
  variantIds: readonly string[];
}

/** The products in this order, each with the requested variations. The number of statements does not grow with theirs. */
export async function loadOffered(
  context: AssistantContext,
  requested: readonly RequestedProduct[],
): Promise<OfferedProduct[]> {
  const { db, shopId, settings, locale } = context;
  const productIds = requested.map(({ productId }) => productId);
  const [products, names] = await Promise.all([
    findVersions(db, shopId, productIds).then((versions) =>
      readProducts(
        context,
        versions.filter(({ visible }) => visible),
      ),
    ),
    findCategoryNames(db, shopId, productIds, { locale, defaultLocale: settings.defaultLocale }),
  ]);
  const masterIds = products.flatMap(({ productId, productVariationType }) =>
    productVariationType === 'master' ? [productId] : [],
  );
  const today = dayAt(db.now, settings.deliveryTimes.timeZone);
  const variations = masterIds.length > 0 ? await findVariationVersions(db, shopId, masterIds, today) : [];
  const chosen = masterIds.flatMap((masterId) => {
    const ofMaster = variations.filter((variation) => variation.masterId === masterId);
    const named = requested.find(({ productId }) => productId === masterId)!.variantIds;
    const best = preferredVariation(context, ofMaster);
    const ofNamed = ofMaster.filter(({ productId }) => named.includes(productId));
    return ofNamed.length > 0 ? ofNamed : best ? [best] : [];
  });
  const variants = chosen.length > 0 ? await readProducts(context, chosen) : [];
  const namesOf = new Map(names.map((row) => [row.productId, row.names]));
  return products.map((product) => ({
    product,
    variants:
      product.productVariationType === 'master'
        ? variants.filter(({ productVariationMasterId }) => productVariationMasterId === product.productId)
        : [product],
    categories: namesOf.get(product.productId) ?? [],
  }));
}

/** Products with what a buyer must know of each. Those without a price can't be shown. */
export function describeProducts(
  context: AssistantContext,
  offered: readonly OfferedProduct[],
): { products: ShownProduct[]; messages: Message[]; policies: Policy[] } {
  const products: ShownProduct[] = [];
  const messages: Message[] = [];
  const policies: Policy[] = [];
  for (const one of offered) {
    const shown = shownProduct(one, context);
    if (!shown) continue;
    const path = `$.products[${products.length}]`;
    for (const variant of one.variants) {
      const place = shown.variants.findIndex(({ id }) => id === variant.productId);
      if (place === -1) continue;
      const variantPath = `${path}.variants[${place}]`;
      messages.push(...productMessages(variant, variantPath, context));
      policies.push(...productPolicies(variant, variantPath, context));
    }
    products.push(shown);
  }
  return { products, messages, policies };
}

import { findCampaign } from '../coupons/queries.ts';
import { toCampaign } from '../coupons/wire.ts';
import { productJson } from '../catalogue/products/product-cache.ts';
import { findVersions } from '../catalogue/products/queries.ts';
import type { Queries } from '../db/database.ts';
import { shopUrl } from '../http/links.ts';
import { cachedOrder } from '../orders/order-cache.ts';
import { deliveryOption } from '../orders/render.ts';
import { findOrder, findOrderVersions } from '../orders/queries.ts';
import { findCustomer } from '../people/customers/queries.ts';
import { toCustomer } from '../people/customers/routes.ts';
import { hasTokenWith } from '../apps/queries.ts';
import { shopSettings, withCachedSettings } from '../shops/settings/settings.ts';
import { toShop } from '../shops/shop/routes.ts';
import type {
  DeliveryOptionReader,
  Entity,
  EntityReader,
  WebhookReader,
  WebhookEntities,
} from '../apps/webhooks/render.ts';

/**
 * The resources that webhooks send with an event. Carts are missing, because only the holder of its token may read a
 * cart; apps have no address.
 */
export const WEBHOOK_ENTITIES: WebhookEntities = {
  order: oneByOne((db, shopId, orderId, { origin }) =>
    withCachedSettings(db, shopId, async (settings, verify) => {
      const versions = await findOrderVersions(db, shopId, orderId);
      verify(versions?.settingsVersion);
      if (!versions) return undefined;
      return cachedOrder(db, orderId, versions, { locale: settings.defaultLocale, origin, settings });
    }),
  ),
  product: readProducts,
  customer: oneByOne(async (db, shopId, customerId, { origin }) => {
    const row = await findCustomer(db, shopId, customerId);
    const base = shopUrl(origin, shopId);
    return row && toCustomer(row, (path) => base + path);
  }),
  'coupon campaign': oneByOne(async (db, shopId, campaignId, { origin }) => {
    const [settings, row] = await Promise.all([
      shopSettings(db, shopId),
      findCampaign(db, shopId, campaignId),
    ]);
    const base = shopUrl(origin, shopId);
    return row && toCampaign(row, settings, settings.defaultLocale, (path) => base + path);
  }),
  shop: oneByOne(async (db, shopId, _, { origin }) => {
    const settings = await shopSettings(db, shopId);
    return toShop(settings, settings.defaultLocale, origin);
  }),
};

/** In the default language of the shop, as the order itself is sent. */
export const readDeliveryOption: DeliveryOptionReader = async (db, shopId, orderId, origin) => {
  const [settings, order] = await Promise.all([shopSettings(db, shopId), findOrder(db, shopId, orderId)]);
  return order ? deliveryOption(order.content, { locale: settings.defaultLocale, origin, settings }) : null;
};

/** Scopes for the GET of a product that shoppers do not see. */
const SEE_HIDDEN = ['products_read', 'products_write'] as const;

/** An import changes many products at once, so they are read together. */
async function readProducts(
  db: Queries,
  shopId: string,
  ids: readonly string[],
  { origin, appId }: WebhookReader,
) {
  const [found, canWrite] = await Promise.all([
    findVersions(db, shopId, ids),
    appId !== null && hasTokenWith(db, shopId, appId, SEE_HIDDEN),
  ]);
  const visible = found.filter((version) => version.visible || canWrite);
  const products = new Map<string, Entity>();
  if (visible.length === 0) return products;
  const settings = await shopSettings(db, shopId);
  const { defaultLocale: locale, defaultCurrency: currency } = settings;
  const options = { locale, currency, origin, canWrite, variant: 'full' } as const;
  const all = await productJson(db, settings, visible, options);
  for (const [index, version] of visible.entries()) {
    // If one was deleted in the meantime, the others are read one by one.
    const json =
      all.length === visible.length ? all[index] : (await productJson(db, settings, [version], options))[0];
    if (json) products.set(version.productId.toUpperCase(), json);
  }
  return products;
}

function oneByOne(
  read: (db: Queries, shopId: string, id: string, recipient: WebhookReader) => Promise<Entity | undefined>,
): EntityReader {
  return async (db, shopId, ids, recipient) => {
    const found = await Promise.all(
      ids.map(async (id) => [id, await read(db, shopId, id, recipient)] as const),
    );
    return new Map(found.flatMap(([id, entity]) => (entity ? [[id, entity] as const] : [])));
  };
}
